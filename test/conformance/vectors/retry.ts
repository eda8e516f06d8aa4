/** @module Calls with retries through SCLB's two clients, each with the quirks that are its own. */

import { expect } from 'chai'
import { createLoadBalancer, roundRobin } from 'evenkeel'
import file from '../../vectors/sclb-retry.json'
import { chainOf } from './chains.js'
import { isCaught, thrownAs } from './java-exceptions.js'
import { placed, replayed } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface RetryVector extends Vector {
  client: 'blocking' | 'reactive'
  instances: number
  suppliers?: string[]
  method: string
  retry?: {
    enabled?: boolean
    maxSame?: number
    maxNext?: number
    retryOnAllOperations?: boolean
    retryOnAllExceptions?: boolean
    retryableStatusCodes?: number[]
    retryableExceptions?: string[]
  }
  outcomes: (number | string)[]
  exchanges: number[]
  status?: number
  error?: string
}

/** `compat: 'spring'` has those of both clients, which contradict each other. */
const SHARED = ['retry-get-only', 'retry-aware-one-row', 'retry-aware-no-second-list', 'same-instance-by-metadata']
const CLIENTS = {
  blocking: { compat: [...SHARED, 'retry-exceptions-drop-status'], noInstance: 'throw', causes: 1 },
  reactive: {
    compat: [...SHARED, 'retry-post-on-exception', 'retry-same-moves-on'],
    noInstance: 'response',
    causes: 2,
  },
} as const

/** SCLB's default, with what is an IOException in Java. */
const RETRYABLE = ['IOException', 'ConnectException', 'RetryableStatusCodeException', 'TimeoutException']

function optionsOf({ client, retry = {} }: RetryVector) {
  const names = retry.retryableExceptions?.map((name) => name.replace(/.*\./, '')) ?? RETRYABLE
  return {
    ...(retry.maxSame !== undefined && { maxRetriesOnSameServiceInstance: retry.maxSame }),
    ...(retry.maxNext !== undefined && { maxRetriesOnNextServiceInstance: retry.maxNext }),
    retryOnAllOperations: retry.retryOnAllOperations ?? false,
    statusCodes: retry.retryableStatusCodes ?? [],
    exceptions: (error: unknown) =>
      retry.retryOnAllExceptions === true || isCaught(error, names, 1 + CLIENTS[client].causes),
  }
}

export const cases = replayed<RetryVector>(file, async (vector) => {
  const { client, instances, suppliers = ['retry-aware'], method, retry = {}, outcomes, status, error } = vector
  const { compat, noInstance } = CLIENTS[client]
  const chain = chainOf(suppliers, undefined)
  const exchanges: number[] = []
  const lb = createLoadBalancer({
    compat,
    seed: 1,
    async fetch(input) {
      exchanges.push(Number(/^http:\/\/i(\d+):/.exec(String(input))?.[1]))
      const outcome = outcomes[Math.min(exchanges.length, outcomes.length) - 1] as number | string
      if (typeof outcome === 'string') throw thrownAs(outcome)
      return new Response(null, { status: outcome })
    },
    services: {
      svc: {
        ...chain,
        instances: placed(new Array(instances).fill({})),
        policy: roundRobin({ start: -1 }),
        noInstance,
        retry: retry.enabled === false ? false : { ...chain.retry, ...optionsOf(vector) },
      },
    },
  })
  const result = await lb.fetch('http://svc/', { method }).catch((thrown: Error) => thrown)
  await lb.close()
  expect(exchanges).to.deep.equal(vector.exchanges)
  // The reactive client wraps what ended the last retry twice.
  const thrown = error?.replace(/^(?:RetryExhaustedException<){2}(.*)>>$/, '$1')
  if (status !== undefined) expect(result).to.have.property('status', status)
  else if (instances === 0) expect(result).to.have.property('code', 'EVENKEEL_NO_INSTANCE')
  else expect(result).to.have.property('message', thrown)
})
