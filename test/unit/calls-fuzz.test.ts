/** Whatever instances, answers, retries and aborts come together: retries are bounded, and every lease ends once. */

import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import {
  attemptsOf,
  createLoadBalancer,
  type FetchLike,
  type Lease,
  type Lifecycle,
  type Policy,
  roundRobin,
  type Service,
} from '../../bindings/index.js'

type Answer = number | 'refused' | 'broken' | 'never'

interface Plan {
  readonly instances: number
  readonly answers: readonly Answer[]
  readonly same: number
  readonly next: number
  readonly allOperations: boolean
  readonly method: string
  readonly statusCodes: readonly number[]
  readonly attemptTimeout: boolean
  readonly timeout: boolean
  readonly abortAfterMs: number | undefined
  readonly release: 'headers' | 'body'
  readonly drainFirst: boolean
  readonly closeAfterMs: number | undefined
  readonly noInstance: 'throw' | 'response'
}

const plans: fc.Arbitrary<Plan> = fc.record({
  instances: fc.integer({ min: 0, max: 4 }),
  answers: fc.array(fc.constantFrom<Answer>(200, 404, 500, 503, 'refused', 'broken', 'never'), {
    minLength: 1,
    maxLength: 8,
  }),
  same: fc.integer({ min: 0, max: 2 }),
  next: fc.integer({ min: 0, max: 3 }),
  allOperations: fc.boolean(),
  method: fc.constantFrom('GET', 'HEAD', 'POST'),
  statusCodes: fc.subarray([404, 500, 503]),
  attemptTimeout: fc.boolean(),
  timeout: fc.boolean(),
  abortAfterMs: fc.option(fc.integer({ min: 0, max: 80 }), { nil: undefined, freq: 3 }),
  release: fc.constantFrom('headers', 'body'),
  drainFirst: fc.boolean(),
  closeAfterMs: fc.option(fc.integer({ min: 0, max: 80 }), { nil: undefined, freq: 5 }),
  noInstance: fc.constantFrom('throw', 'response'),
})

/** Answers by the plan, the last answer again and again; ends with its signal. */
function transportFor({ answers }: Plan): FetchLike & { calls: number } {
  const send: FetchLike = (_, init) => {
    const answer = answers[Math.min(transport.calls++, answers.length - 1)]
    if (typeof answer === 'number') return Promise.resolve(new Response('body', { status: answer }))
    if (answer === 'broken') return Promise.reject(new Error('broken'))
    if (answer === 'refused') {
      return Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }))
    }
    return new Promise((_, reject) => {
      const { signal } = init ?? {}
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  }
  const transport = Object.assign(send, { calls: 0 })
  return transport
}

/** Counts how often a policy is told that a lease has ended. */
function countingPolicy(): Policy & { ended: number } {
  const turns = roundRobin({ start: -1 })
  const policy = {
    name: 'counting',
    ended: 0,
    pick: turns.pick,
    done: () => {
      policy.ended++
    },
  }
  return policy
}

function sumsOf(service: Service) {
  const { instances } = service.stats()
  const sum = (key: 'picks' | 'inFlight' | 'successes' | 'failures' | 'cancelled') =>
    instances.reduce((total, instance) => total + instance[key], 0)
  return {
    picks: sum('picks'),
    inFlight: sum('inFlight'),
    ended: sum('successes') + sum('failures') + sum('cancelled'),
  }
}

async function callBy(plan: Plan): Promise<void> {
  const transport = transportFor(plan)
  const policy = countingPolicy()
  const told = { starts: 0, requests: 0, completes: 0 }
  const observer: Lifecycle = {
    onStart: () => void told.starts++,
    onStartRequest: () => void told.requests++,
    onComplete: () => void told.completes++,
  }
  const lb = createLoadBalancer({
    fetch: transport,
    lifecycle: [observer],
    services: {
      s: {
        instances: Array.from({ length: plan.instances }, (_, i) => `http://h${i}:80`),
        policy,
        release: plan.release,
        noInstance: plan.noInstance,
        metrics: {},
        retry: {
          maxRetriesOnSameServiceInstance: plan.same,
          maxRetriesOnNextServiceInstance: plan.next,
          retryOnAllOperations: plan.allOperations,
          statusCodes: plan.statusCodes,
        },
        ...(plan.attemptTimeout && { attemptTimeoutMs: 20 }),
        ...(plan.timeout && { timeoutMs: 50 }),
      },
    },
  })
  const service = lb.service('s')
  if (plan.drainFirst) service.drain('h0:80')
  const abort = new AbortController()
  if (plan.abortAfterMs !== undefined) setTimeout(() => abort.abort(), plan.abortAfterMs)
  if (plan.closeAfterMs !== undefined) setTimeout(() => void lb.close(), plan.closeAfterMs)
  let result: unknown
  let settled = false
  void lb
    .fetch('http://s/x', { method: plan.method, signal: abort.signal })
    .then(
      async (response) => {
        result = response
        await response.text()
      },
      (error) => {
        result = error
      },
    )
    .then(() => {
      settled = true
    })
  await vi.advanceTimersByTimeAsync(100)
  // What nothing limits is still under way: its caller gives up now.
  abort.abort()
  await vi.advanceTimersByTimeAsync(1)

  expect(settled).toBe(true)
  const most = (1 + plan.same) * (1 + plan.next)
  expect(transport.calls).toBeLessThanOrEqual(most)
  if (plan.method === 'POST' && !plan.allOperations) expect(transport.calls).toBeLessThanOrEqual(1)
  if (plan.instances > 0 || plan.noInstance === 'throw') {
    expect(attemptsOf(result).length).toBe(transport.calls)
  }
  expect(told.requests).toBe(transport.calls)
  expect(told.completes).toBeGreaterThanOrEqual(told.requests)
  expect(told.completes).toBeLessThanOrEqual(told.requests + 1)
  if (plan.closeAfterMs === undefined) {
    expect(sumsOf(service)).toEqual({ picks: transport.calls, inFlight: 0, ended: transport.calls })
    expect(policy.ended).toBe(transport.calls)
    const active = service.stats().meters.filter(({ name }) => name === 'loadbalancer.requests.active')
    expect(active.every(({ count }) => count === 0)).toBe(true)
  }
  await lb.close()
  expect(vi.getTimerCount()).toBe(0)
}

it('a call makes no more attempts than allowed, ends each lease once, and leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    await fc.assert(fc.asyncProperty(plans, callBy), { seed: 20_261_130, numRuns: 500 })
  } finally {
    vi.useRealTimers()
  }
})

it('a lease of one’s own ends once, however often and in whatever order it is ended', () => {
  const ends = fc.array(fc.constantFrom('done', 'status', 'error', 'cancel', 'dispose'), { minLength: 1, maxLength: 6 })
  const end = (lease: Lease, how: string) => {
    if (how === 'dispose') return lease[Symbol.dispose]()
    const outcome = {
      done: undefined,
      status: { status: 503 },
      error: { error: new Error('x') },
      cancel: { cancelled: true },
    }
    lease.done(outcome[how as keyof typeof outcome])
  }
  fc.assert(
    fc.property(fc.array(ends, { minLength: 1, maxLength: 20 }), (leases) => {
      const policy = countingPolicy()
      const lb = createLoadBalancer({ services: { s: { instances: ['http://a:80', 'http://b:80'], policy } } })
      for (const how of leases) {
        const lease = lb.pick('s') as Lease
        for (const each of how) end(lease, each)
      }
      expect(sumsOf(lb.service('s'))).toEqual({ picks: leases.length, inFlight: 0, ended: leases.length })
      expect(policy.ended).toBe(leases.length)
      void lb.close()
    }),
    { seed: 20_261_130, numRuns: 300 },
  )
})
