/** Which calls are tried again, where, how often and after how long. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { attemptsOf, isConnectionError, type Policy, type RetryOptions, roundRobin } from '../../bindings/index.js'
import { type Answer, errorOf, failure, hosts, hostsOf, make, makeSpring, observer, spring } from './kit.js'

afterEach(() => void vi.useRealTimers())

const refused = failure('ECONNREFUSED')
/** Of the instances that are left, always the first: a, and b once a is avoided. */
const first: Policy = { name: 'first', pick: () => 0 }
const service = { instances: hosts('a', 'b', 'c', 'd', 'e'), policy: first }
const twice: RetryOptions = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 1 }

const retrying = (retry: RetryOptions | false | undefined, ...answers: Answer[]) =>
  make({ ...service, ...(retry !== undefined && { retry }) }, {}, ...answers)

describe('BlockingLoadBalancedRetryPolicyTests', () => {
  it('with one retry on the same and one on the next, gives up at the fourth failure, having moved on once', async () => {
    const { lb, reached } = retrying(twice, refused)
    expect(await errorOf(lb.fetch('http://s/'))).toBe(refused)
    expect(reached()).toBe('aabb')
  })

  it('walks so by properties', async () => {
    const { lb, reached } = makeSpring(
      {
        'retry.max-retries-on-same-service-instance': '1',
        'retry.max-retries-on-next-service-instance': '1',
        'retry.retryable-status-codes': '500',
      },
      service,
      {},
      500,
    )
    expect((await lb.fetch('http://s/')).status).toBe(500)
    expect(reached()).toBe('aabb')
  })

  it.each([
    [0, 0, 'a'],
    [0, 1, 'ab'],
    [1, 0, 'aa'],
    [0, 2, 'abc'],
    [2, 1, 'aaabbb'],
    [1, 2, 'aabbcc'],
  ])(
    'with %i on the same and %i on the next instance, (1 + same) · (1 + next) attempts: %s',
    async (same, next, all) => {
      const { lb, reached } = retrying(
        { maxRetriesOnSameServiceInstance: same, maxRetriesOnNextServiceInstance: next },
        refused,
      )
      await errorOf(lb.fetch('http://s/'))
      expect(reached()).toBe(all)
    },
  )

  it('refuses POST', async () => {
    const { lb, reached } = retrying({ ...twice, statusCodes: [500] }, refused)
    await errorOf(lb.fetch('http://s/', { method: 'POST' }))
    expect(reached()).toBe('a')
  })

  it('allows POST by the flag', async () => {
    const { lb, reached } = makeSpring({ 'retry.retry-on-all-operations': 'true' }, service, {}, refused)
    await errorOf(lb.fetch('http://s/', { method: 'POST', body: 'x' }))
    expect(reached()).toBe('ab')
  })

  it('counts as failures the statuses that are listed, and no others', async () => {
    for (const [status, all] of [
      [404, 'ab'],
      [502, 'ab'],
      [500, 'a'],
      [200, 'a'],
    ] as const) {
      const { lb, reached } = makeSpring({ 'retry.retryable-status-codes': '404,502' }, service, {}, status)
      expect((await lb.fetch('http://s/')).status).toBe(status)
      expect(reached()).toBe(all)
    }
  })

  it('by default repeats once, on another instance', async () => {
    const { lb, reached } = retrying(undefined, refused)
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('ab')
  })
})

describe('InterceptorRetryPolicyTest', () => {
  it('the first attempt is always made, and asks the balancer', async () => {
    for (const retry of [false, { methods: [] }, { exceptions: () => false }] as const) {
      const { lb, reached } = retrying(retry, 200)
      await lb.fetch('http://s/', { method: 'DELETE' })
      expect(reached()).toBe('a')
    }
  })

  it('the policy says whether there is a next one', async () => {
    const once = retrying({ maxRetriesOnNextServiceInstance: 1 }, refused, 200)
    expect((await once.lb.fetch('http://s/')).status).toBe(200)
    const never = retrying({ maxRetriesOnNextServiceInstance: 0 }, refused, 200)
    expect(await errorOf(never.lb.fetch('http://s/'))).toBe(refused)
  })

  it('there is none after an error that is not retryable', async () => {
    const mistake = new RangeError('mistake')
    const { lb, reached } = retrying(twice, mistake)
    expect(await errorOf(lb.fetch('http://s/'))).toBe(mistake)
    expect(reached()).toBe('a')
  })

  it('each call counts for itself, though they overlap', async () => {
    const { lb, sent } = retrying({ maxRetriesOnNextServiceInstance: 2 }, refused)
    await Promise.all([1, 2, 3].map(() => errorOf(lb.fetch('http://s/'))))
    expect(sent).toHaveLength(9)
  })
})

describe('LoadBalancedRetryContextTest', () => {
  it('what was tried can be asked of a response: instance, status and duration of each attempt', async () => {
    const made = retrying({ statusCodes: [503] }, () => ((made.time.now += 5), new Response('', { status: 503 })), 200)
    const response = await made.lb.fetch('http://s/')
    expect(attemptsOf(response)).toEqual([
      { instance: made.service.instances()[0], status: 503, durationMs: 5 },
      { instance: made.service.instances()[1], status: 200, durationMs: 0 },
    ])
  })

  it('and of an error', async () => {
    const { lb, service } = retrying(undefined, refused)
    expect(attemptsOf(await errorOf(lb.fetch('http://s/')))).toEqual([
      { instance: service.instances()[0], error: refused, durationMs: 0 },
      { instance: service.instances()[1], error: refused, durationMs: 0 },
    ])
  })

  it('each attempt knows the request and the previous instances', async () => {
    const { lifecycle, onStart } = observer()
    const { lb } = make(service, { lifecycle: [lifecycle] }, refused, 200)
    await lb.fetch('http://s/x')
    expect(onStart.map(({ request, attempt }) => [request.url, attempt, hostsOf(request.previous ?? [])])).toEqual([
      ['http://s/x', 1, ''],
      ['http://s/x', 2, 'a'],
    ])
  })
})

describe('ClientHttpResponseStatusCodeExceptionTest', () => {
  it('the last response replays status, its text, headers and body', async () => {
    const { lb, reached } = retrying({ statusCodes: [503] }, 503, () => {
      return new Response('busy', { status: 503, statusText: 'Come back later', headers: { 'retry-after': '7' } })
    })
    const response = await lb.fetch('http://s/')
    expect([response.status, response.statusText, response.headers.get('retry-after')]).toEqual([
      503,
      'Come back later',
      '7',
    ])
    expect(await response.text()).toBe('busy')
    expect(reached()).toBe('ab')
  })

  it('what calls are told of a status is a response, never an error', async () => {
    const { lb } = retrying({ statusCodes: [500] }, 500)
    expect(await (await lb.fetch('http://s/')).text()).toBe('status 500')
  })
})

describe('RetryLoadBalancerInterceptorTests', () => {
  it('switched off, there is one attempt, and its error is the caller’s', async () => {
    const { lb, reached } = makeSpring({ 'retry.enabled': 'false' }, service, {}, refused)
    expect(await errorOf(lb.fetch('http://s/'))).toBe(refused)
    expect(reached()).toBe('a')
  })

  it('a URL without a host is refused, and nothing is sent', async () => {
    const { lb, sent } = retrying(undefined, 200)
    for (const url of ['/x', 'http:///x', 'not a url']) {
      expect(await errorOf(lb.fetch(url))).toMatchObject({
        code: 'EVENKEEL_CONFIG',
        message: expect.stringContaining(JSON.stringify(url)),
      })
    }
    expect(sent).toEqual([])
  })

  it('a good answer is given as it is', async () => {
    const answer = new Response('ok')
    const { lb, reached } = retrying(twice, () => answer)
    expect(await lb.fetch('http://s/')).toBe(answer)
    expect(reached()).toBe('a')
  })

  it('a 404 that is listed is tried again; the stream of the first answer is closed', async () => {
    const cancelled = vi.fn()
    const first = () => new Response(new ReadableStream({ cancel: cancelled }), { status: 404 })
    const { lb, reached } = retrying({ statusCodes: [404] }, first, 200)
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(reached()).toBe('ab')
    expect(cancelled).toHaveBeenCalledTimes(1)
  })

  it('a last 404 is given with its body', async () => {
    const { lb, reached } = retrying({ statusCodes: [404] }, 404, () => new Response('not here', { status: 404 }))
    const response = await lb.fetch('http://s/')
    expect([response.status, await response.text(), reached()]).toEqual([404, 'not here', 'ab'])
  })

  it('an error is tried again after one pause', async () => {
    vi.useFakeTimers()
    const { lb, reached } = retrying({ backoff: { minMs: 50, jitter: 0 } }, refused, 200)
    const call = lb.fetch('http://s/')
    await vi.advanceTimersByTimeAsync(49)
    expect(reached()).toBe('a')
    await vi.advanceTimersByTimeAsync(1)
    expect(reached()).toBe('ab')
    expect((await call).status).toBe(200)
  })

  it('when retries fail, the last error is thrown as it was', async () => {
    const [first, last] = [failure('ECONNREFUSED'), failure('ECONNRESET')]
    const { lb } = retrying(undefined, first, last)
    expect(await errorOf(lb.fetch('http://s/'))).toBe(last)
  })

  it('observers are told of each attempt’s error', async () => {
    const { lifecycle, onComplete } = observer()
    const { lb } = make(service, { lifecycle: [lifecycle] }, refused)
    await errorOf(lb.fetch('http://s/'))
    expect(onComplete.map(({ attempt, status, error }) => [attempt, status, error])).toEqual([
      [1, 'FAILED', refused],
      [2, 'FAILED', refused],
    ])
  })

  it('an observer can’t veto: one that throws is reported once, and the call goes on', async () => {
    const complaint = vi.spyOn(console, 'error').mockImplementation(() => {})
    const onStart = () => {
      throw new Error('no')
    }
    const { lb, reached } = make(service, { lifecycle: [{ onStart }] }, refused, 200)
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect([reached(), complaint.mock.calls.length]).toEqual(['ab', 1])
    complaint.mockRestore()
  })

  it('observers hear of each attempt once: an instance that is tried again is not selected again', async () => {
    const { lifecycle, order } = observer()
    const { lb } = make({ ...service, retry: twice }, { lifecycle: [lifecycle] }, refused)
    await errorOf(lb.fetch('http://s/'))
    const selected = ['onStart', 'onStartRequest', 'FAILED', 'onStartRequest', 'FAILED']
    expect(order).toEqual([...selected, ...selected])
  })
})

describe('RetryableLoadBalancerExchangeFilterFunctionIntegrationTests', () => {
  it('after an error, goes on at the same and at the next instance', async () => {
    const { lb, reached } = retrying(twice, refused, refused, refused, 200)
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(reached()).toBe('aabb')
  })

  it('after a status, goes on at the same and at the next instance', async () => {
    const { lb, reached } = retrying({ ...twice, statusCodes: [500] }, 500, 500, 500, 200)
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(reached()).toBe('aabb')
  })

  it('after a 200, does not', async () => {
    const { lb, reached } = retrying({ ...twice, statusCodes: [500] }, 200)
    await lb.fetch('http://s/')
    expect(reached()).toBe('a')
  })

  it('the rotation goes on over those that are left', async () => {
    const { lb, reached } = make({ ...service, policy: roundRobin({ start: -1 }) }, {}, refused)
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('ac')
  })

  it('the next instance is another one, however the policy would pick', async () => {
    const { lb, reached } = make({ ...service, retry: { maxRetriesOnNextServiceInstance: 3 } }, {}, refused)
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('abcd')
  })

  it('pauses are doubled from the least to the most', async () => {
    vi.useFakeTimers()
    const backoff = { minMs: 100, maxMs: 500, jitter: 0 }
    const { lb, sent } = retrying({ maxRetriesOnNextServiceInstance: 4, backoff }, () => {
      times.push(Date.now() - begin)
      throw refused
    })
    const times: number[] = []
    const begin = Date.now()
    const call = errorOf(lb.fetch('http://s/'))
    await vi.advanceTimersByTimeAsync(10_000)
    await call
    expect([times, sent.length]).toEqual([[0, 100, 300, 700, 1_200], 5])
  })

  it('jitter moves a pause by its part of it, within the least and the most', async () => {
    vi.useFakeTimers()
    const pauses = new Set<number>()
    for (let seed = 0; seed < 40; seed++) {
      const begin = Date.now()
      let second = 0
      const backoff = { minMs: 80, maxMs: 1_000, jitter: 0.5 }
      const { lb } = make(
        { ...service, retry: { maxRetriesOnNextServiceInstance: 2, backoff } },
        { seed },
        refused,
        () => ((second = Date.now() - begin), Promise.reject(refused)),
        () => (pauses.add(Date.now() - begin - second), new Response()),
      )
      const call = lb.fetch('http://s/')
      await vi.advanceTimersByTimeAsync(2_000)
      expect((await call).status).toBe(200)
      expect(second).toBeGreaterThanOrEqual(80)
      expect(second).toBeLessThanOrEqual(120)
    }
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(80)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(240)
    expect(Math.min(...pauses)).toBeLessThan(120)
    expect(Math.max(...pauses)).toBeGreaterThan(200)
  })

  it('is switched on by property: 5 ms, doubled, half of it jitter', () => {
    expect(spring({ 'retry.backoff.enabled': 'true' }).options.defaults?.retry).toEqual({ backoff: {} })
    expect(spring({ 'retry.backoff.min-backoff': '1s' }).options.defaults?.retry).toBeUndefined()
  })
})

describe('RetryableLoadBalancerExchangeFilterFunctionTests', () => {
  const nested = (depth: number): Error => {
    let error: Error = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    for (let i = 0; i < depth; i++) error = new Error('outer', { cause: error })
    return error
  }

  it.each([0, 1, 2])('an error is retryable if its cause is, %i levels down', async (depth) => {
    const error = nested(depth)
    expect(isConnectionError(error)).toBe(true)
    const { lb, reached } = retrying(twice, error, 200)
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(reached()).toBe('aa')
  })

  it('but not three levels down', async () => {
    const { lb, reached } = retrying(twice, nested(3))
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('a')
  })

  it('POST is tried again after a status only with the flag', async () => {
    const post = { method: 'POST', body: 'x' }
    const without = retrying({ statusCodes: [500] }, 500)
    await without.lb.fetch('http://s/', post)
    const allowed = retrying({ statusCodes: [500], retryOnAllOperations: true }, 500)
    await allowed.lb.fetch('http://s/', post)
    expect([without.reached(), allowed.reached()]).toEqual(['a', 'ab'])
  })

  it('POST is not tried again after an error either, unless SCLB’s reactive client is asked for', async () => {
    const post = { method: 'POST', body: 'x' }
    const own = retrying(undefined, refused)
    await errorOf(own.lb.fetch('http://s/', post))
    const reactive = make(service, { compat: ['retry-post-on-exception'] }, refused)
    await errorOf(reactive.lb.fetch('http://s/', post))
    expect([own.reached(), reactive.reached()]).toEqual(['a', 'ab'])
  })

  it('an error that is not known is not tried again', async () => {
    const { lb, reached } = retrying(twice, new Error('unknown'))
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('a')
  })

  it('any error is with the flag for all exceptions', async () => {
    const all = { 'retry.retry-on-all-exceptions': 'true' }
    const { lb, reached } = makeSpring(all, service, {}, new Error('unknown'))
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('ab')
  })

  it('a list of exceptions of one’s own replaces the default', async () => {
    const timeouts = { 'retry.retryable-exceptions': 'java.util.concurrent.TimeoutException' }
    const connection = makeSpring(timeouts, service, {}, refused)
    await errorOf(connection.lb.fetch('http://s/'))
    expect(connection.reached()).toBe('a')
    vi.useFakeTimers()
    const late = makeSpring(
      timeouts,
      { ...service, attemptTimeoutMs: 100 },
      {},
      ({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      200,
    )
    const call = late.lb.fetch('http://s/')
    await vi.advanceTimersByTimeAsync(100)
    expect((await call).status).toBe(200)
    expect(late.reached()).toBe('ab')
  })

  it('statuses stay retryable, whatever exceptions are listed', async () => {
    const { lb, reached } = makeSpring(
      {
        'retry.retryable-exceptions': 'java.util.concurrent.TimeoutException',
        'retry.retryable-status-codes': '503',
      },
      service,
      {},
      503,
      200,
    )
    expect((await lb.fetch('http://s/')).status).toBe(200)
    expect(reached()).toBe('ab')
  })

  it('the same instance is the same one, unless SCLB’s reactive client is asked for', async () => {
    const moving = make(
      { ...service, retry: twice, policy: roundRobin({ start: -1 }) },
      { compat: ['retry-same-moves-on'] },
      refused,
    )
    await errorOf(moving.lb.fetch('http://s/'))
    expect(moving.reached()[1]).toBe('b')
    const staying = retrying(twice, refused)
    await errorOf(staying.lb.fetch('http://s/'))
    expect(staying.reached()).toBe('aabb')
  })
})
