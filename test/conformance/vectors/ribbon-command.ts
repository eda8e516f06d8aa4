/** @module Ribbon's LoadBalancerCommand: whom the attempts of one call reach, and how it ends. */

import { expect } from 'chai'
import { createLoadBalancer, type Policy, retryHandler, roundRobin } from 'evenkeel'
import file from '../../vectors/ribbon-command.json'
import { placed } from './replay.js'
import { placeOf, type RibbonVector, replayedRibbon } from './ribbon.js'
import { failureAs } from './ribbon-errors.js'

interface CommandVector extends RibbonVector {
  readonly size: number
  readonly rule: string
  readonly maxSame: number
  readonly maxNext: number
  readonly ok: readonly [onConnectErrors: boolean, onAllErrors: boolean]
  readonly answers: readonly string[]
  readonly attempts: readonly number[]
  readonly error?: string
  /** Each one's requests and failures in a row. */
  readonly stats: readonly (readonly number[])[]
}

const first: Policy = { name: 'always the first', pick: () => 0 }

export const cases = replayedRibbon<CommandVector>(file, async (vector) => {
  const { size, rule, maxSame, maxNext, ok, answers, error } = vector
  const [onConnectErrors, onAllErrors] = ok
  const attempts: number[] = []
  const byDefault = retryHandler({ kind: 'default' })
  const lb = createLoadBalancer({
    compat: 'ribbon',
    seed: 1,
    async fetch(input) {
      const answer = answers[Math.min(attempts.length, answers.length - 1)] as string
      attempts.push(placeOf(input instanceof Request ? input.url : String(input)))
      if (answer === 'ok') return new Response('ok')
      const failure = failureAs(answer)
      if (failure.status !== undefined) return new Response(answer, { status: failure.status })
      throw Object.assign(failure.error as Error, { java: answer })
    },
    services: {
      svc: {
        instances: placed(new Array(size).fill({})),
        policy: rule === first.name ? first : roundRobin(),
        serverStats: { trips: byDefault.trips },
        retry: {
          handler: onConnectErrors ? 'rest-client' : byDefault,
          maxRetriesOnSameServiceInstance: maxSame,
          maxRetriesOnNextServiceInstance: maxNext,
        },
      },
    },
  })
  const ended = await lb
    .fetch('http://svc/', { method: onAllErrors ? 'GET' : 'POST' })
    .catch((thrown: unknown) => thrown)
  const { instances } = lb.service('svc').stats()
  await lb.close()
  expect(attempts, 'attempts').to.deep.equal(vector.attempts)
  expect(
    instances.map(({ server }) => [server?.requests, server?.connectionFailures]),
    'stats',
  ).to.deep.equal(vector.stats)
  // Ours is the last attempt's ending itself.
  const last = error?.replace(/^ClientException NUMBEROF_RETRIES_\w+<(.*)>$/, '$1')
  if (size === 0) expect(ended).to.have.property('code', 'EVENKEEL_NO_INSTANCE')
  else if (last === undefined) expect(ended).to.have.property('status', 200)
  else if (last === 'ClientException SERVER_THROTTLED') expect(ended).to.have.property('status', 503)
  else expect(ended).to.have.property('java', last)
})
