/** @module SCLB's BlockingLoadBalancedRetryPolicy: where each attempt of a call goes that always fails. */

import { expect } from 'chai'
import { createLoadBalancer, roundRobin } from 'evenkeel'
import file from '../../vectors/sclb-retry-policy.json'
import { placed, replayed } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface RetryPolicyVector extends Vector {
  maxSame: number
  maxNext: number
  allOperations: boolean
  method: string
  /** After k failures: may the same instance be tried, may the next, is it exhausted, is the instance given up. */
  walk: [boolean, boolean, boolean, boolean][]
}

const INSTANCES = 20

/** The places that the policy's answers lead to, as far as it was asked. */
function attemptsOf(walk: RetryPolicyVector['walk']): number[] {
  const attempts = [0]
  for (const [, goesOn, exhausted, givenUp] of walk.slice(1)) {
    if (!goesOn || exhausted) break
    const last = attempts.at(-1) as number
    attempts.push(givenUp ? last + 1 : last)
  }
  return attempts
}

export const cases = replayed<RetryPolicyVector>(file, async ({ maxSame, maxNext, allOperations, method, walk }) => {
  const exchanges: number[] = []
  const lb = createLoadBalancer({
    // The blocking client's: to go on with the same instance is no new pick.
    compat: ['retry-aware-one-row', 'retry-aware-no-second-list', 'retry-exceptions-drop-status', 'retry-get-only'],
    seed: 1,
    async fetch(input) {
      exchanges.push(Number(/^http:\/\/i(\d+):/.exec(String(input))?.[1]))
      throw new Error('refused')
    },
    services: {
      svc: {
        instances: placed(new Array(INSTANCES).fill({})),
        policy: roundRobin({ start: -1 }),
        retry: {
          maxRetriesOnSameServiceInstance: maxSame,
          maxRetriesOnNextServiceInstance: maxNext,
          retryOnAllOperations: allOperations,
          exceptions: () => true,
          avoidPreviousInstance: false,
        },
      },
    },
  })
  await lb.fetch('http://svc/', { method }).catch(() => {})
  await lb.close()
  const expected = attemptsOf(walk)
  const isWhole = expected.length < walk.length
  expect(isWhole ? exchanges : exchanges.slice(0, expected.length)).to.deep.equal(expected)
})
