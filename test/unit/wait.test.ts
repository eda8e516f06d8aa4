import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type LoadBalancer, type WaitOptions } from '../../bindings/index.js'
import { waitFor } from '../../bindings/runtime/wait.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const never = new Promise<never>(() => {})
const options = (given: Record<string, unknown>) => given as WaitOptions

/** A service whose list comes after `ms`. */
function slow(ms: number, healthCheck?: object): LoadBalancer {
  return createLoadBalancer({
    fetch: async () => new Response(),
    services: {
      x: {
        discovery: {
          name: 'slow',
          get: () => new Promise((resolve) => setTimeout(() => resolve(['http://a:1']), ms)),
        },
        ...(healthCheck !== undefined && { healthCheck }),
      },
    },
  })
}

describe('a wait whose signal has aborted already', () => {
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown) => unhandled.push(error)
  beforeEach(() => {
    vi.useRealTimers()
    unhandled.length = 0
    process.on('unhandledRejection', onUnhandled)
  })
  afterEach(() => {
    process.off('unhandledRejection', onUnhandled)
  })
  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

  it('rejects with its reason, and a rejection of what was waited for is seen to', async () => {
    const reason = new Error('enough')
    const waiting = waitFor(Promise.reject(new Error('later')), { signal: AbortSignal.abort(reason) }, 'it')
    await expect(waiting).rejects.toBe(reason)
    await settled()
    expect(unhandled).toEqual([])
  })

  it.each(['fetch', 'choose', 'check'] as const)(
    'leaves nothing unhandled: %s of a cold, checked service',
    async (how) => {
      const lb = slow(60_000, {})
      const signal = AbortSignal.abort()
      const call = {
        fetch: () => lb.fetch('http://x/', { signal }),
        choose: () => lb.choose('x', {}, { signal }),
        check: () => lb.service('x').check({ signal }),
      }[how]
      await expect(call()).rejects.toMatchObject({ name: 'AbortError' })
      await lb.close()
      await settled()
      expect(unhandled).toEqual([])
    },
  )
})

describe('the limit of a wait', () => {
  it('of Infinity is none', async () => {
    const lb = slow(50)
    const chosen = lb.choose('x', {}, { timeoutMs: Number.POSITIVE_INFINITY })
    await passMs(50)
    expect((await chosen)?.instance.host).toBe('a')
    expect(vi.getTimerCount()).toBe(0)
  })

  it('may be a text', async () => {
    for (const [timeoutMs, ms] of [
      ['5s', 5_000],
      ['PT0.2S', 200],
    ] as const) {
      const waiting = waitFor(never, options({ timeoutMs }), 'it').catch((error) => error)
      await passMs(ms - 1)
      expect(vi.getTimerCount()).toBe(1)
      await passMs(1)
      expect(await waiting).toMatchObject({ code: 'EVENKEEL_TIMEOUT', message: `it took longer than ${ms} ms` })
    }
  })

  it.each([[2 ** 31], [Number.NaN], [-1], ['soon'], [null], [true]])('is refused if it is %s', async (timeoutMs) => {
    const expected = { code: 'EVENKEEL_CONFIG', option: 'timeoutMs', message: /^timeoutMs must be/ }
    const refusal = { ...expected, message: expect.stringMatching(expected.message) }
    await expect(waitFor(never, options({ timeoutMs }), 'it')).rejects.toMatchObject(refusal)
    for (const lb of [slow(50), slow(50, {}), createLoadBalancer({ services: { x: ['http://a:1'] } })]) {
      // Of a list that is at hand as of one that is waited for.
      await expect(lb.choose('x', {}, options({ timeoutMs }))).rejects.toMatchObject(refusal)
      await lb.close()
    }
    const lb = slow(50)
    await expect(lb.service('x').refresh(options({ timeoutMs }))).rejects.toMatchObject(refusal)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the signal of a wait', () => {
  it.each([['x'], [5], [null], [{}], [new AbortController()]])('is refused if it is %s', async (signal) => {
    const lb = slow(50, {})
    const refusal = { code: 'EVENKEEL_CONFIG', option: 'signal' }
    await expect(lb.choose('x', {}, options({ signal }))).rejects.toMatchObject(refusal)
    await expect(lb.service('x').check(options({ signal }))).rejects.toMatchObject(refusal)
    await expect(waitFor(never, options({ signal }), 'it')).rejects.toMatchObject(refusal)
  })
})
