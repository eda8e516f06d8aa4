/** Instances that are new to the list get no picks until they have answered once. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createLoadBalancer,
  type FetchLike,
  type InstanceInit,
  type LoadBalancerOptions,
  type PrimeOptions,
  type Service,
  type ServiceOptions,
} from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)

type Behaviour = number | 'refuse' | 'hang' | { afterMs: number }

function setup(
  behaviours: Record<string, Behaviour>,
  prime: PrimeOptions = {},
  rest: ServiceOptions = {},
  balancer: LoadBalancerOptions = {},
) {
  const asked: string[] = []
  const state = { inFlight: 0, most: 0, aborted: 0 }
  const startedAt = performance.now()
  const fetch: FetchLike = (input, init) => {
    const url = new URL(String(input))
    asked.push(`${url.hostname}@${performance.now() - startedAt}`)
    state.most = Math.max(state.most, ++state.inFlight)
    const behaviour = behaviours[url.hostname] ?? 200
    const sent = new Promise<Response>((resolve, reject) => {
      init?.signal?.addEventListener('abort', () => {
        state.aborted++
        reject(init.signal?.reason)
      })
      if (behaviour === 'refuse') reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }))
      else if (typeof behaviour === 'number') resolve(new Response('x', { status: behaviour }))
      else if (behaviour !== 'hang') setTimeout(() => resolve(new Response('x')), behaviour.afterMs)
    })
    return sent.finally(() => state.inFlight--)
  }
  const instances = rest.discovery ? {} : { instances: Object.keys(behaviours).map((host) => `http://${host}:80`) }
  const lb = createLoadBalancer({
    fetch,
    seed: 1,
    ...balancer,
    services: { s: { ...instances, prime, policy: { type: 'round-robin', start: -1 }, ...rest } },
  })
  return { behaviours, asked, state, lb, service: lb.service('s') }
}

function picked(service: Service, count = 6): string {
  return Array.from({ length: count }, () => {
    const lease = service.pick()
    lease?.done()
    return lease?.instance.host ?? '-'
  }).join('')
}

describe('the first list', () => {
  it('is primed at first use: until then there is no pick, and choose waits', async () => {
    const { service, asked } = setup({ a: 200, b: { afterMs: 100 } })
    await passMs(1_000)
    expect(asked).toEqual([])
    expect(picked(service, 1)).toBe('-')
    expect(asked).toEqual(['a@1000', 'b@1000'])
    const chosen = service.choose()
    await passMs(99)
    expect([picked(service, 1), service.state]).toEqual(['-', 'cold'])
    await passMs(1)
    expect((await chosen)?.instance.host).toBe('a')
    expect(picked(service, 2)).toBe('ba')
  })

  it.each([404, 500, 301])('counts an answer of %d: a connection was made', async (status) => {
    const { service } = setup({ a: status })
    await service.choose()
    expect(picked(service, 1)).toBe('a')
    expect((await service.explain()).layers.map(({ name }) => name)).toEqual(['discovery', 'primed'])
  })

  it('is tried 10 times, each pause 100 ms longer, and once more after totalMs', async () => {
    const { service, asked, behaviours } = setup({ a: 'refuse', b: 200 })
    void service.choose()
    await passMs(4_499)
    expect(asked.filter((each) => each.startsWith('a'))).toHaveLength(9)
    expect(picked(service, 1)).toBe('-')
    await passMs(1)
    expect(asked.filter((each) => each.startsWith('a'))).toEqual(
      [0, 100, 300, 600, 1_000, 1_500, 2_100, 2_800, 3_600, 4_500].map((ms) => `a@${ms}`),
    )
    // Nothing more is to come of it: the others are used.
    expect(picked(service)).toBe('bbbbbb')
    const explained = await service.explain()
    expect(explained.layers[1]).toMatchObject({ name: 'primed', in: 2, out: 1, reason: '1 of 2 are primed' })
    expect(explained.excluded).toEqual([
      { instanceId: 'a:80', by: 'primed', reason: 'not primed: attempt 10 of 10: fetch failed (ECONNREFUSED)' },
    ])
    behaviours.a = 200
    await passMs(29_999)
    expect(picked(service, 2)).toBe('bb')
    await passMs(1)
    expect([...picked(service, 2)].sort()).toEqual(['a', 'b'])
  })

  it('an attempt ends after timeoutMs', async () => {
    const { service, asked, state } = setup({ a: 'hang', b: 200 }, { attempts: 2, timeoutMs: 500 })
    void service.choose()
    await passMs(600)
    expect([asked, state.aborted]).toEqual([['a@0', 'b@0', 'a@600'], 1])
  })

  it('is waited for no longer than totalMs, also by ready()', async () => {
    const { lb, service } = setup({ a: 'hang', b: 200 }, { totalMs: 1_000 }, { eager: true })
    let ready = false
    void lb.ready().then(() => (ready = true))
    await passMs(999)
    expect(ready).toBe(false)
    await passMs(1)
    expect(ready).toBe(true)
    expect(picked(service, 3)).toBe('bbb')
  })

  it('need not be primed whole: minShare', async () => {
    const { service } = setup({ a: 200, b: 200, c: 'hang', d: 'hang' }, { minShare: 0.5 })
    await service.choose()
    expect([...picked(service, 4)].sort().join('')).toBe('aabb')
  })

  it('of which nobody answers is used all the same, and told as a fallback', async () => {
    const { service } = setup({ a: 'refuse', b: 'refuse' }, { attempts: 1 })
    await service.choose()
    const told: unknown[] = []
    service.on('fallback', (event) => told.push(event))
    expect([...picked(service, 2)].sort()).toEqual(['a', 'b'])
    expect(told[0]).toEqual({ supplier: 'primed', reason: 'no instance is primed: all are offered' })
  })

  it('that is large is primed 64 at a time', async () => {
    const behaviours = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`h${i}`, { afterMs: 10 }]))
    const { service, state } = setup(behaviours)
    void service.choose()
    await passMs(20)
    expect([state.most, service.stats().candidates]).toEqual([64, 100])
  })

  it('goes through the fetcher of an instance', async () => {
    const urls: string[] = []
    const fetcher = {
      fetch: async (request: Request | string | URL) => {
        urls.push((request as Request).url)
        return new Response('ok')
      },
    }
    const { service, asked } = setup({}, { path: '/warm' }, { instances: [{ instanceId: 'own', fetcher }] })
    expect((await service.choose())?.instance.instanceId).toBe('own')
    expect([urls, asked]).toEqual([['http://s/warm'], []])
  })
})

describe('a later list', () => {
  const lists = (...given: InstanceInit[][]) => {
    let at = 0
    return () => given[Math.min(at++, given.length - 1)] as InstanceInit[]
  }

  it('primes only who is new, and picks go on meanwhile', async () => {
    const { service, asked } = setup(
      { a: 200, b: { afterMs: 50 } },
      {},
      { discovery: lists(['http://a:80'], ['http://a:80', 'http://b:80']) },
    )
    await service.choose()
    await service.refresh()
    expect(picked(service, 3)).toBe('aaa')
    expect(asked).toEqual(['a@0', 'b@0'])
    await passMs(50)
    expect([...picked(service, 2)].sort()).toEqual(['a', 'b'])
    await service.refresh()
    expect(asked).toHaveLength(2)
  })

  it('primes anew who has another address', async () => {
    const { service, asked } = setup(
      {},
      {},
      { discovery: lists([{ instanceId: 'x', host: 'a', port: 1 }], [{ instanceId: 'x', host: 'b', port: 1 }]) },
    )
    await service.choose()
    await service.refresh()
    expect(asked).toEqual(['a@0', 'b@0'])
  })

  it('that is wholly new is used at once: no outage', async () => {
    const { service } = setup({ b: 'hang' }, {}, { discovery: lists(['http://a:80'], ['http://b:80']) })
    await service.choose()
    await service.refresh()
    expect(picked(service, 2)).toBe('bb')
  })

  it('ends what is under way for who has left', async () => {
    const { service, state, asked } = setup(
      { a: 'hang', b: 'refuse', c: 200 },
      {},
      { discovery: lists(['http://a:80', 'http://b:80', 'http://c:80'], ['http://c:80']) },
    )
    void service.choose()
    await passMs(0)
    await service.refresh()
    expect([state.aborted, picked(service, 1)]).toEqual([1, 'c'])
    await passMs(60_000)
    expect(asked).toEqual(['a@0', 'b@0', 'c@0'])
  })

  it('of nobody is waited for by nobody, and the next is primed', async () => {
    const { service } = setup({ a: { afterMs: 10 } }, {}, { discovery: lists([], ['http://a:80']) })
    expect(await service.choose()).toBeUndefined()
    const chosen = service.choose()
    await passMs(9)
    expect(picked(service, 1)).toBe('-')
    await passMs(1)
    expect((await chosen)?.instance.host).toBe('a')
  })

  it('that becomes empty lets go of who waits', async () => {
    const { service } = setup({ a: 'hang' }, {}, { discovery: lists(['http://a:80'], []) })
    const chosen = service.choose()
    await passMs(0)
    await service.refresh()
    expect(await chosen).toBeUndefined()
  })
})

describe('priming', () => {
  it('goes with health checks: both must be good', async () => {
    const { service } = setup(
      { a: 200, b: 200, c: 'refuse' },
      { attempts: 1 },
      { healthCheck: { ping: { name: 'own', isAlive: ({ host }) => host !== 'a' } } },
    )
    await service.choose()
    expect(picked(service, 2)).toBe('bb')
    expect((await service.explain()).layers.map(({ name, out }) => [name, out])).toEqual([
      ['discovery', 3],
      ['health-check', 2],
      ['primed', 1],
    ])
  })

  it.each([
    ['drained', {}, []],
    ['down', { policy: 'availability-filtering', healthCheck: { repeat: false } }, ['ribbon-ten-probes']],
  ] as const)('an instance that is primed and %s is nobody to fall back on', async (state, rest, compat) => {
    const isDown = state === 'down'
    const ping = { name: 'own', isAlive: ({ host }: { host: string }) => host !== 'a' }
    const { service } = setup(
      { a: 200, b: 'refuse' },
      { attempts: 1 },
      { ...rest, ...(isDown && { healthCheck: { ping, repeat: false } }) },
      { compat },
    )
    await service.choose()
    if (!isDown) service.drain(service.instances()[0]?.instanceId as string)
    expect(picked(service, 3)).toBe('bbb')
    expect((await service.explain()).layers.at(-1)).toMatchObject({ name: 'primed', fellBack: true })
  })

  it('pauses no longer than timers take', async () => {
    const { asked, service } = setup({ a: 'refuse' }, { attempts: 3, pauseMs: 2 ** 30 })
    service.pick()
    await passMs(2 ** 30)
    await passMs(1_000)
    expect(asked).toHaveLength(2)
  })

  it('forgets in a new go why the last one failed', async () => {
    const { behaviours, service } = setup({ a: 'refuse', b: 200 }, { attempts: 1, totalMs: 100, timeoutMs: 10_000 })
    service.pick()
    await passMs(0)
    const reason = async () => (await service.explain()).excluded[0]?.reason
    expect(await reason()).toMatch('attempt 1 of 1')
    behaviours.a = 'hang'
    await passMs(150)
    expect(await reason()).toBe('not primed yet')
  })

  it('ends with the service', async () => {
    const { lb, service, state } = setup({ a: 'hang', b: 'refuse' })
    const chosen = service.choose()
    await passMs(0)
    const refused = expect(chosen).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
    await lb.close()
    await refused
    expect([state.aborted, vi.getTimerCount()]).toEqual([1, 0])
  })

  it('is not done on Workers, and explain says so', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    const { service, asked } = setup({ a: 200 })
    expect(picked(service, 1)).toBe('a')
    expect(asked).toEqual([])
    expect((await service.explain()).layers[1]).toMatchObject({ reason: 'nothing is primed on Workers' })
  })

  it.each([
    [{ attempts: 0 }, 'attempts'],
    [{ minShare: 1.1 }, 'minShare'],
    [{ path: 5 }, 'path'],
    [{ ratio: 1 }, 'ratio'],
  ])('%j is refused', (prime, option) => {
    const make = () => setup({ a: 200 }, prime as never)
    expect(make).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: `services.s.prime.${option}` }))
  })
})
