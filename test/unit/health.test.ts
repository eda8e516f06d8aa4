import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createLoadBalancer,
  type DiscoveryClient,
  type HealthCheckOptions,
  type InstanceInit,
  type LoadBalancerOptions,
  type Service,
  type ServiceOptions,
} from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

type Behaviour = number | 'hang' | 'refuse' | { afterMs: number; status: number }

/** Servers by host, and what was asked of them. Time is the fake timers'. */
function servers(behaviours: Record<string, Behaviour> = {}) {
  const asked: string[] = []
  const state = { inFlight: 0, most: 0, aborted: 0, cancelled: 0 }
  const answer = (status: number) => {
    const body = new ReadableStream({ cancel: () => void state.cancelled++ })
    return new Response(status === 204 ? null : body, { status })
  }
  const transport = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = String(input)
    asked.push(url)
    state.most = Math.max(state.most, ++state.inFlight)
    const behaviour = behaviours[new URL(url).hostname] ?? 200
    const signal = init?.signal
    const sent = new Promise<Response>((resolve, reject) => {
      signal?.addEventListener('abort', () => {
        state.aborted++
        reject(signal.reason)
      })
      if (behaviour === 'refuse') reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }))
      else if (typeof behaviour === 'number') resolve(answer(behaviour))
      else if (behaviour !== 'hang') setTimeout(() => resolve(answer(behaviour.status)), behaviour.afterMs)
    })
    return sent.finally(() => state.inFlight--)
  }
  return { behaviours, asked, state, transport }
}

const hosts = (...names: string[]): InstanceInit[] => names.map((name) => `http://${name}:8080`)

function setup(
  instances: ServiceOptions['instances'],
  healthCheck: HealthCheckOptions,
  behaviours: Record<string, Behaviour> = {},
  rest: ServiceOptions = {},
  balancer: LoadBalancerOptions = {},
) {
  const net = servers(behaviours)
  const list = instances === undefined ? {} : { instances }
  const lb = createLoadBalancer({
    fetch: net.transport,
    seed: 1,
    ...balancer,
    services: { s: { ...list, healthCheck, policy: { type: 'round-robin', start: -1 }, ...rest } },
  })
  return { ...net, lb, service: lb.service('s') }
}

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** The hosts of the candidates, in their order. */
async function candidates(service: Service): Promise<string[]> {
  return (await service.explain()).candidates.map(({ host }) => host)
}

function pickedHosts(service: Service, count: number): (string | undefined)[] {
  return Array.from({ length: count }, () => {
    const lease = service.pick()
    lease?.done()
    return lease?.instance.host
  })
}

describe('rounds of checks', () => {
  it("keep SCLB's timeline: each begins an interval after the one before has ended", async () => {
    const { service, behaviours, asked } = setup(
      hosts('i'),
      { initialDelayMs: 1_000, intervalMs: 25_000 },
      { i: 'hang' },
    )
    expect(service.pick()).toBeUndefined()
    await passMs(999)
    expect(asked).toHaveLength(0)
    await passMs(1)
    expect(asked).toEqual(['http://i:8080/actuator/health'])
    await passMs(24_999)
    expect(service.state).toBe('cold')
    await passMs(1)
    expect(service.state).toBe('ready')
    expect(await candidates(service)).toEqual([])
    behaviours.i = 200
    await passMs(24_999)
    expect([asked.length, service.pick()]).toEqual([1, undefined])
    await passMs(1)
    expect(await candidates(service)).toEqual(['i'])
    await passMs(24_999)
    expect(asked).toHaveLength(2)
    await passMs(1)
    expect(asked).toHaveLength(3)
    expect(await candidates(service)).toEqual(['i'])
  })

  it('leave the alive ones, in the order of the list, and all of them in the list', async () => {
    const { service } = setup(
      hosts('slow', 'dead', 'gone', 'quick'),
      {},
      { slow: { afterMs: 10, status: 200 }, dead: 503, gone: 'refuse' },
    )
    service.pick()
    await passMs(10)
    expect(await candidates(service)).toEqual(['slow', 'quick'])
    expect(service.instances()).toHaveLength(4)
    expect(pickedHosts(service, 4)).toEqual(['slow', 'quick', 'slow', 'quick'])
    expect(service.stats()).toMatchObject({ discovered: 4, cached: 0, candidates: 2 })
  })

  it('publish once: a pick sees no half of a round (spring-cloud-commons 1157)', async () => {
    const late = (afterMs: number) => ({ afterMs, status: 200 })
    const { service } = setup(hosts('a', 'b', 'c'), { intervalMs: 1_000 }, { a: late(30), b: late(20), c: late(10) })
    service.pick()
    await passMs(29)
    expect(service.pick()).toBeUndefined()
    await passMs(1)
    const seen = new Set<string | undefined>()
    for (let ms = 0; ms < 3_000; ms += 10) {
      await passMs(10)
      for (const host of pickedHosts(service, 3)) seen.add(host)
      expect(service.stats().candidates).toBe(3)
    }
    expect([...seen].sort()).toEqual(['a', 'b', 'c'])
  })

  it("publish: 'each' gives those who have answered so far, in the order of their answers", async () => {
    const late = (afterMs: number) => ({ afterMs, status: 200 })
    const { service, behaviours } = setup(
      hosts('a', 'b', 'c'),
      { intervalMs: 1_000, publish: 'each' },
      { a: late(30), b: late(20), c: late(10) },
    )
    service.pick()
    await passMs(10)
    expect(await candidates(service)).toEqual(['c'])
    expect((await service.explain()).excluded[0]).toMatchObject({ by: 'health-check', reason: /not checked yet/ })
    await passMs(10)
    expect(await candidates(service)).toEqual(['c', 'b'])
    await passMs(10)
    expect(await candidates(service)).toEqual(['c', 'b', 'a'])
    // The next round begins with the last one's candidates, and shrinks to the first answer.
    await passMs(1_000 + 9)
    expect(await candidates(service)).toEqual(['c', 'b', 'a'])
    await passMs(1)
    expect(await candidates(service)).toEqual(['c'])
    Object.assign(behaviours, { a: 500, b: 500, c: 500 })
    await passMs(20 + 1_000)
    expect(await candidates(service)).toEqual([])
  })

  it('go on for ever, or with repeat: false once for each list', async () => {
    const often = setup(hosts('i'), { intervalMs: 1_000 })
    often.service.pick()
    await passMs(10_000)
    expect(often.asked).toHaveLength(11)
    const once = setup(hosts('i'), { intervalMs: 1_000, repeat: false })
    once.service.pick()
    await passMs(10_000)
    expect(once.asked).toHaveLength(1)
    once.service.update(hosts('i'))
    await passMs(10_000)
    expect(once.asked).toHaveLength(2)
  })

  it('never have more than maxConcurrent checks under way', async () => {
    const many = Array.from({ length: 500 }, (_, i) => `http://10.0.${i >> 8}.${i & 255}:80`)
    const answers = Object.fromEntries(
      many.map((url, i) => [new URL(url).hostname, { afterMs: 1 + (i % 7), status: 200 }]),
    )
    const { service, state, asked } = setup(many, { maxConcurrent: 64 }, answers)
    service.pick()
    await passMs(100)
    expect([asked.length, state.most]).toEqual([500, 64])
    expect(service.stats().candidates).toBe(500)
  })

  it('take no answer after timeoutMs, and end what was asked', async () => {
    const { service, state } = setup(hosts('slow', 'quick'), { timeoutMs: 50 }, { slow: { afterMs: 60, status: 200 } })
    service.pick()
    await passMs(50)
    expect(await candidates(service)).toEqual(['quick'])
    expect(state.aborted).toBe(1)
    expect((await service.explain()).excluded).toEqual([
      { instanceId: 'slow:8080', by: 'health-check', reason: 'health check: timed out' },
    ])
  })

  it('take no answer after timeoutMs from a transport that knows no signals, and let its body go', async () => {
    let cancelled = 0
    const { service } = setup(
      hosts('deaf'),
      { timeoutMs: 50 },
      {},
      {},
      {
        fetch: () =>
          new Promise((resolve) => {
            setTimeout(() => resolve(new Response(new ReadableStream({ cancel: () => void cancelled++ }))), 80)
          }),
      },
    )
    service.pick()
    await passMs(50)
    expect(await candidates(service)).toEqual([])
    await passMs(30)
    expect([cancelled, (await candidates(service)).length]).toEqual([1, 0])
  })

  it('leave the bodies unread', async () => {
    const { service, state } = setup(hosts('a', 'b'), {}, { b: 503 })
    service.pick()
    await passMs(0)
    expect(state.cancelled).toBe(2)
  })
})

describe('a check', () => {
  const urlsOf = async (
    instances: InstanceInit[],
    healthCheck: HealthCheckOptions,
    balancer: LoadBalancerOptions = {},
  ) => {
    const { service, asked, lb } = setup(instances, healthCheck, {}, {}, balancer)
    service.pick()
    await passMs(0)
    await lb.close()
    return asked
  }

  it('asks by scheme, host and port of the instance', async () => {
    expect(
      await urlsOf(
        [
          { host: 'a', port: 81 },
          { host: 'b', port: 0 },
          { host: 'c', secure: true },
          { host: 'd', port: 444, secure: true },
          { host: '2001:db8::1', port: 82 },
          { url: 'ws://e:83' },
        ],
        {},
      ),
    ).toEqual([
      'http://a:81/actuator/health',
      'http://b:80/actuator/health',
      'https://c:443/actuator/health',
      'https://d:444/actuator/health',
      'http://[2001:db8::1]:82/actuator/health',
      'http://e:83/actuator/health',
    ])
  })

  it('asks for the path, with its query, and begins it with a slash', async () => {
    expect(await urlsOf(hosts('a'), { path: 'health?x=y' })).toEqual(['http://a:8080/health?x=y'])
  })

  it('asks at another port, the traffic goes to the own (spring-cloud-commons 976, 1039)', async () => {
    const { service, asked } = setup(hosts('a'), { port: 8_081 })
    service.pick()
    await passMs(0)
    expect(asked).toEqual(['http://a:8081/actuator/health'])
    expect(service.pick()?.instance.port).toBe(8_080)
  })

  it('without a path asks nobody: all are alive at once', async () => {
    const { service, asked, lb } = setup(hosts('a', 'b'), { path: ' ' })
    expect(pickedHosts(service, 2)).toEqual(['a', 'b'])
    await service.check()
    await passMs(60_000)
    expect(asked).toEqual([])
    expect((await service.explain()).layers[1]?.reason).toMatch(/path is empty/)
    await lb.close()
  })

  it('does not bracket IPv6 under the quirk, which no server survives', async () => {
    const { service } = setup([{ host: '::1', port: 80 }], {}, {}, {}, { compat: ['ipv6-unbracketed'] })
    service.pick()
    await passMs(0)
    expect((await service.explain()).excluded).toHaveLength(1)
  })

  it('is answered well by status 200 alone, or by what `accept` says, however late', async () => {
    const strict = setup(hosts('a', 'b'), {}, { a: 204 })
    strict.service.pick()
    await passMs(0)
    expect(await candidates(strict.service)).toEqual(['b'])

    const own = setup(
      hosts('a', 'b', 'c'),
      {
        accept: async (response) => {
          if (response.status === 201) throw new Error('not that')
          return response.status === 204
        },
      },
      { a: 204, c: 201 },
    )
    own.service.pick()
    await passMs(0)
    const { candidates: alive, excluded } = await own.service.explain()
    expect(alive.map(({ host }) => host)).toEqual(['a'])
    expect(excluded.map(({ reason }) => reason)).toEqual(['health check: status 200', 'health check: not that'])
  })

  it('that rejects with what has no text is a bad answer, and rounds go on', async () => {
    const thrown = [Object.create(null), null, undefined, Object.assign(new Error('x'), { cause: null })]
    const cursed = new Error('cursed')
    Object.defineProperty(cursed, 'message', { value: Symbol('m') })
    for (const error of [...thrown, cursed]) {
      let works = false
      const fetch = async () => (works ? new Response() : Promise.reject(error))
      const { service, lb } = setup(hosts('a'), { intervalMs: 1_000 }, {}, {}, { fetch })
      service.pick()
      await passMs(0)
      expect((await service.explain()).excluded[0]?.reason).toMatch(/^health check: /)
      works = true
      await passMs(1_000)
      expect(await candidates(service)).toEqual(['a'])
      await lb.close()
    }
  })

  it('whose round breaks down ends no other: it is told once', async () => {
    const told = vi.spyOn(console, 'error').mockImplementation(() => {})
    let broken = false
    const clock = () => {
      if (broken) throw new Error('no time')
      return Date.now()
    }
    const { service, behaviours, lb } = setup(hosts('a', 'b'), { intervalMs: 1_000 }, {}, {}, { clock })
    service.pick()
    await passMs(0)
    behaviours.a = 503
    broken = true
    await passMs(2_500)
    broken = false
    expect(await candidates(service)).toEqual(['a', 'b'])
    await passMs(1_000)
    expect(await candidates(service)).toEqual(['b'])
    expect(told.mock.calls.map(String)).toEqual([expect.stringMatching(/a round of health checks of "s" threw/)])
    told.mockRestore()
    await lb.close()
  })

  it('goes through the transport, never through a service of the same name (spring-cloud-commons 978)', async () => {
    const { transport, asked } = servers()
    const lb = createLoadBalancer({
      fetch: transport,
      services: { a: hosts('nowhere'), s: { instances: hosts('a'), healthCheck: {} } },
    })
    lb.pick('s')
    await passMs(0)
    expect(asked).toEqual(['http://a:8080/actuator/health'])
    await lb.close()
  })

  it('goes through the binding of an instance that has one', async () => {
    const asked: string[] = []
    const fetcher = {
      fetch: async (request: string | URL | Request) => {
        asked.push((request as Request).url)
        return new Response()
      },
    }
    const { service, asked: byTransport } = setup([{ instanceId: 'bound', fetcher }], {})
    service.pick()
    await passMs(0)
    expect(asked).toEqual(['http://s/actuator/health'])
    expect(byTransport).toEqual([])
    expect(service.pick()?.instance.instanceId).toBe('bound')
  })
})

describe('before the first round is over', () => {
  it('pick gives nobody; choose, fetch, explain and ready of an eager service wait', async () => {
    const { service, lb } = setup(hosts('a', 'b'), {}, { a: { afterMs: 20, status: 200 }, b: 503 }, { eager: true })
    let waiting = 4
    const done = () => waiting--
    const chosen = service.choose().finally(done)
    const fetched = lb.fetch('http://s/x').finally(done)
    const explained = service.explain().finally(done)
    const ready = lb.ready().finally(done)
    await passMs(19)
    expect([waiting, service.pick(), service.state]).toEqual([4, undefined, 'cold'])
    await passMs(1)
    expect((await chosen)?.instance.host).toBe('a')
    await passMs(20)
    expect((await fetched).status).toBe(200)
    expect((await explained).candidates).toHaveLength(1)
    await ready
  })

  it('choose waits no longer than its caller, for the list and the round together', async () => {
    const discovery: DiscoveryClient = {
      name: 'slow',
      get: () => new Promise((resolve) => setTimeout(() => resolve(hosts('a')), 40)),
    }
    const { service } = setup(undefined, {}, { a: 'hang' }, { discovery })
    const late = service.choose({}, { timeoutMs: 60 }).catch((error) => error)
    await passMs(59)
    const reason = new Error('enough')
    const stop = new AbortController()
    const stopped = service.choose({}, { signal: stop.signal }).catch((error) => error)
    stop.abort(reason)
    expect(await stopped).toBe(reason)
    await passMs(1)
    expect(await late).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
  })

  it('a call that waits is enough to begin it', async () => {
    const { service } = setup(hosts('a'), {})
    expect((await service.choose())?.instance.host).toBe('a')
  })

  it('a list that changes in the initial delay does not end the delay', async () => {
    const { service, asked } = setup(hosts('a'), { initialDelayMs: 1_000 })
    service.pick()
    await passMs(500)
    service.update(hosts('b'))
    await passMs(499)
    expect(asked).toEqual([])
    await passMs(1)
    expect(asked).toEqual(['http://b:8080/actuator/health'])
  })

  it('somebody who waits keeps the process alive, the checks alone do not', async () => {
    vi.useRealTimers()
    const timers = new Set<{ hasRef(): boolean }>()
    const spy = vi.spyOn(globalThis, 'setTimeout')
    const { service, lb } = setup(hosts('a'), { initialDelayMs: 60_000 })
    service.pick()
    const waiting = service.choose().catch((error) => error)
    await new Promise((resolve) => setImmediate(resolve))
    for (const { value } of spy.mock.results) timers.add(value)
    spy.mockRestore()
    expect([...timers].map((timer) => timer.hasRef()).sort()).toEqual([false, true])
    await lb.close()
    expect(await waiting).toMatchObject({ code: 'EVENKEEL_CLOSED' })
  })

  it('a registry that fails or lists nobody is not waited for', async () => {
    const failing = setup(
      undefined,
      {},
      {},
      {
        discovery: async () => {
          throw new Error('down')
        },
      },
    )
    await expect(failing.service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    const empty = setup(undefined, {}, {}, { discovery: async () => [] })
    expect(await empty.service.choose()).toBeUndefined()
  })
})

describe('a list that changes', () => {
  it('begins a round at once; who stays stays what he was, who comes has to pass first', async () => {
    const { service, asked, behaviours } = setup(hosts('a', 'dead'), { intervalMs: 10_000 }, { dead: 503 })
    service.pick()
    await passMs(100)
    behaviours.new = { afterMs: 30, status: 200 }
    service.update(hosts('new', 'dead', 'a'))
    expect(asked).toHaveLength(5)
    expect(await candidates(service)).toEqual(['a'])
    await passMs(30)
    expect(await candidates(service)).toEqual(['new', 'a'])
    await passMs(9_999)
    expect(asked).toHaveLength(5)
    await passMs(1)
    expect(asked).toHaveLength(8)
  })

  it('replaces the running round: its requests are aborted, its late answers ignored', async () => {
    const { service, state } = setup(hosts('a', 'b'), {}, { a: 'hang', b: { afterMs: 40, status: 200 } })
    service.pick()
    await passMs(10)
    service.update(hosts('a', 'c'))
    expect(state.aborted).toBe(2)
    await passMs(25_000)
    expect(await candidates(service)).toEqual(['c'])
    expect(service.stats()).toMatchObject({ healthChecks: 2, healthFailures: 1 })
  })

  it('replaces a round of which not everybody has been asked: nobody else is', async () => {
    const many = Array.from({ length: 10 }, (_, i) => `h${i}`)
    const { service, asked } = setup(hosts(...many), { maxConcurrent: 2 }, { h0: 'hang', h1: 'hang' })
    service.pick()
    await passMs(10)
    service.update(hosts('new'))
    await passMs(10)
    expect(asked.map((url) => new URL(url).hostname)).toEqual(['h0', 'h1', 'new'])
  })

  it('replaces a round in which an alive instance has not answered: it stays alive', async () => {
    const { service, behaviours } = setup(hosts('a', 'b'), { intervalMs: 1_000 })
    service.pick()
    await passMs(0)
    behaviours.a = 'hang'
    await passMs(1_000)
    service.update(hosts('a', 'b', 'c'))
    expect(await candidates(service)).toEqual(['a', 'b'])
  })

  it('that says the same begins no round', async () => {
    const { service, asked } = setup(undefined, { refetchMs: 5_000 }, {}, { discovery: async () => hosts('a') })
    service.pick()
    await passMs(20_000)
    expect(asked).toHaveLength(1)
    expect(service.stats()).toMatchObject({ discovered: 1, cached: 0 })
  })

  it('that changes faster than checks end still has whom its rounds have heard', async () => {
    const { service } = setup(hosts('hang', 'a'), { intervalMs: 25_000 }, { hang: 'hang' })
    service.pick()
    for (let i = 0; i < 5; i++) {
      await passMs(1_000)
      service.update(hosts('hang', 'a', `n${i}`))
    }
    await passMs(1_000)
    service.update(hosts('hang', 'a', 'n4', 'n5'))
    expect(await candidates(service)).toEqual(['a', 'n4'])
  })

  it('a second time in a round leaves the checks under way alone, of who is still listed', async () => {
    const late = { afterMs: 40, status: 200 }
    const { service, state, asked } = setup(hosts('a', 'b'), {}, { a: late, b: late, c: late })
    service.pick()
    await passMs(10)
    service.update(hosts('a', 'b', 'c'))
    expect([state.aborted, asked.length]).toEqual([2, 5])
    await passMs(10)
    service.update(hosts('c', 'a', 'd'))
    expect([state.aborted, asked.length]).toEqual([3, 6])
    await passMs(30)
    expect(await candidates(service)).toEqual(['c', 'a', 'd'])
    expect(service.stats()).toMatchObject({ healthChecks: 3 })
  })

  it('again and again in a round: no more than maxConcurrent checks are under way', async () => {
    const { service, state, asked } = setup(hosts('a', 'b', 'c', 'd'), { maxConcurrent: 2 }, { a: 'hang', b: 'hang' })
    service.pick()
    for (let i = 0; i < 5; i++) {
      service.update(hosts('a', 'b', 'c', 'd', `n${i}`))
      await passMs(10)
    }
    // Of the first round and of the one that replaced it.
    expect([asked.length, state.inFlight]).toEqual([4, 2])
  })

  it('for ever within its rounds: who was heard an interval ago is asked again', async () => {
    const { service, behaviours } = setup(hosts('a'), { intervalMs: 1_000 })
    service.pick()
    for (let ms = 0; ms < 3_000; ms += 100) {
      behaviours[`n${ms}`] = 'hang'
      if (ms === 1_000) behaviours.a = 503
      service.update(hosts('a', `n${ms}`))
      await passMs(100)
    }
    expect(await candidates(service)).toEqual([])
    expect((await service.explain()).excluded[0]?.reason).toBe('health check: status 503')
  })

  it('another port under the same id is another instance; other metadata is the same', async () => {
    const one = (port: number, zone: string) => [{ instanceId: 'x', host: 'x', port, zone }]
    const { service, behaviours } = setup(one(1, 'z'), {})
    service.pick()
    await passMs(0)
    behaviours.x = { afterMs: 10, status: 200 }
    service.update(one(1, 'y'))
    expect(service.pick()?.instance.metadata.zone).toBe('y')
    service.update(one(2, 'y'))
    expect(service.pick()).toBeUndefined()
    await passMs(10)
    expect(service.pick()?.instance.port).toBe(2)
  })

  it("another port under the same id is another instance with publish: 'each' too", async () => {
    const one = (port: number) => [{ instanceId: 'x', host: 'x', port }]
    const { service, behaviours } = setup(one(1), { publish: 'each' })
    service.pick()
    await passMs(0)
    behaviours.x = 'hang'
    service.update(one(2))
    expect(service.pick()).toBeUndefined()
  })

  it('is asked for again every refetchMs without any traffic (spring-cloud-commons 842, 899)', async () => {
    let list = hosts('old')
    let asked = 0
    const discovery: DiscoveryClient = { name: 'registry', get: async () => (asked++, list) }
    const { service, lb } = setup(undefined, { refetchMs: 5_000 }, {}, { discovery })
    service.pick()
    await passMs(4_999)
    list = hosts('new')
    expect(asked).toBe(1)
    await passMs(1)
    expect([asked, await candidates(service)]).toEqual([2, ['new']])
    await passMs(20_000)
    expect(asked).toBe(6)
    await lb.close()
    await passMs(60_000)
    expect(asked).toBe(6)
  })

  it('is not asked for again where refetchMs is Infinity, or SCLB would not', async () => {
    for (const [healthCheck, balancer] of [
      [{ refetchMs: Number.POSITIVE_INFINITY }, {}],
      [{}, { compat: ['health-list-once'] }],
    ] as [HealthCheckOptions, LoadBalancerOptions][]) {
      let asked = 0
      const discovery: DiscoveryClient = { name: 'registry', get: async () => (asked++, hosts('a')) }
      const { service } = setup(undefined, healthCheck, {}, { discovery }, balancer)
      service.pick()
      await passMs(600_000)
      expect(service.pick()).toBeDefined()
      expect(asked).toBe(1)
    }
  })

  it.each([300, 5_000])('is asked for again after its registry failed at once, every %s ms', async (refetchMs) => {
    const registry = { fails: true, asked: 0 }
    const discovery: DiscoveryClient = {
      name: 'registry',
      get: async () => {
        registry.asked++
        if (registry.fails) throw new Error('down')
        return hosts('a')
      },
    }
    const { lb, service } = setup(undefined, { refetchMs }, {}, { discovery, eager: true })
    await passMs(10_000)
    expect(registry.asked).toBeGreaterThan(1)
    registry.fails = false
    // The longest pause that is drawn after failures, one and a half times 5 s, and the next look after it.
    await passMs(12_500)
    expect(service.pick()?.instance.host).toBe('a')
    await lb.close()
  })

  it('is asked for again also after its registry failed', async () => {
    let asked = 0
    const discovery: DiscoveryClient = {
      name: 'registry',
      get: async () => {
        if (++asked === 2) throw new Error('down')
        return hosts('a')
      },
    }
    const { service } = setup(undefined, { refetchMs: 5_000 }, {}, { discovery })
    service.pick()
    await passMs(5_000)
    expect([asked, service.state]).toEqual([2, 'stale'])
    await passMs(5_000)
    expect([asked, service.state]).toEqual([3, 'ready'])
  })
})

describe('nobody passes', () => {
  it('none: nobody is a candidate, and it is told why', async () => {
    const { service, lb } = setup(hosts('a', 'b'), {}, { a: 500, b: 'refuse' })
    service.pick()
    await passMs(0)
    expect(service.pick()).toBeUndefined()
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_NO_INSTANCE' })
    const { layers, excluded } = await service.explain()
    expect(layers).toEqual([
      { name: 'discovery', in: 2, out: 2, ageMs: expect.any(Number) },
      { name: 'health-check', in: 2, out: 0, reason: 'no instance passed its check' },
    ])
    expect(excluded.map(({ reason }) => reason)).toEqual([
      'health check: status 500',
      'health check: fetch failed (ECONNREFUSED)',
    ])
    expect(service.stats().fallbacks).toEqual({})
  })

  it('all: everybody is, as a fallback that is counted and told', async () => {
    const { service } = setup(hosts('a', 'b'), { allUnhealthy: 'all' }, { a: 500, b: 500 })
    const told: unknown[] = []
    service.on('fallback', (event) => told.push(event))
    service.pick()
    await passMs(0)
    expect(pickedHosts(service, 2)).toEqual(['a', 'b'])
    expect(told[0]).toEqual({ supplier: 'health-check', reason: 'no instance passed its check' })
    expect(service.stats().fallbacks).toEqual({ 'health-check': 2 })
    expect((await service.explain()).layers[1]).toMatchObject({ in: 2, out: 2, fellBack: true })
  })
})

describe('what is told', () => {
  it('eject when an instance stops to pass, restore when it passes again', async () => {
    const { service, behaviours } = setup(hosts('a', 'b'), { intervalMs: 1_000 }, { b: 500 })
    const told: string[] = []
    service.on('eject', ({ instance, reason, forMs }) => told.push(`${instance.host} out: ${reason}, ${forMs}`))
    service.on('restore', ({ instance }) => told.push(`${instance.host} back`))
    service.pick()
    await passMs(0)
    // One that never was a candidate does not stop to be one, nor does it come back.
    expect(told).toEqual([])
    behaviours.a = 503
    behaviours.b = 200
    await passMs(2_000)
    behaviours.a = 200
    await passMs(1_000)
    expect(told).toEqual(['a out: health check: status 503, 1000', 'a back'])
    expect(service.timeline('a:8080').map(({ event }) => event)).toEqual(
      expect.arrayContaining(['discovered', 'ejected', 'restored']),
    )
  })

  it('the checks, the failed ones, and how long they took', async () => {
    const { service } = setup(
      hosts('a', 'b'),
      { intervalMs: 1_000 },
      { a: { afterMs: 10, status: 200 }, b: { afterMs: 30, status: 404 } },
    )
    expect(service.stats()).toMatchObject({ healthChecks: 0, healthFailures: 0, healthCheckMs: Number.NaN })
    service.pick()
    await passMs(30 + 1_000 + 30)
    expect(service.stats()).toMatchObject({ healthChecks: 4, healthFailures: 2, healthCheckMs: 20 })
  })

  it('the suppliers see the alive ones only', async () => {
    const { service } = setup(
      [
        { url: 'http://a:1', zone: 'here' },
        { url: 'http://b:1', zone: 'there' },
      ],
      {},
      { a: 503 },
      { suppliers: ['zone-preference'] },
      { zone: 'here' },
    )
    service.pick()
    await passMs(0)
    const { layers } = await service.explain()
    expect(layers.map(({ name, in: before, out }) => [name, before, out])).toEqual([
      ['discovery', 2, 2],
      ['health-check', 2, 1],
      ['zone-preference', 1, 1],
    ])
    expect(pickedHosts(service, 2)).toEqual(['b', 'b'])
  })

  it('an instance keeps its state while it is out', async () => {
    const { service, behaviours } = setup(hosts('a'), { intervalMs: 1_000 })
    service.pick()
    await passMs(0)
    service.pick()?.done({ status: 200 })
    behaviours.a = 500
    await passMs(1_000)
    behaviours.a = 200
    await passMs(1_000)
    service.pick()?.done({ status: 200 })
    expect(service.stats().instances[0]).toMatchObject({ picks: 2, successes: 2 })
  })
})

describe('check()', () => {
  it('makes a round now, which the next follows after an interval', async () => {
    const { service, asked, behaviours } = setup(hosts('a'), { intervalMs: 10_000 })
    service.pick()
    await passMs(5_000)
    behaviours.a = 503
    await service.check()
    expect(service.pick()).toBeUndefined()
    await passMs(9_999)
    expect(asked).toHaveLength(2)
    await passMs(1)
    expect(asked).toHaveLength(3)
  })

  it('is one round for all who call together', async () => {
    const { service, asked } = setup(hosts('a'), {}, { a: { afterMs: 10, status: 200 } })
    const checks = Promise.all([service.check(), service.check()])
    await passMs(10)
    await checks
    expect(asked).toHaveLength(1)
  })

  it('does not wait for the initial delay, and asks for the list first', async () => {
    const { service, asked } = setup(undefined, { initialDelayMs: 60_000 }, {}, { discovery: async () => hosts('a') })
    await service.check()
    expect(service.pick()?.instance.host).toBe('a')
    await passMs(25_000)
    expect(asked).toHaveLength(2)
  })

  it('ends with its caller, the round goes on', async () => {
    const { service } = setup(hosts('a'), {}, { a: { afterMs: 10, status: 200 } })
    const late = service.check({ timeoutMs: 5 }).catch((error) => error)
    await passMs(5)
    expect(await late).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
    await passMs(5)
    expect(service.pick()).toBeDefined()
  })

  it('ends when all have been heard who were listed and still are, however fast lists change', async () => {
    const late = { afterMs: 30, status: 200 }
    const { service, behaviours, lb } = setup(hosts('a'), {}, { a: late, b: late })
    let done = false
    const check = service.check().then(() => {
      done = true
    })
    for (let i = 0; i < 4; i++) {
      behaviours[`n${i}`] = late
      await passMs(10)
      service.update(hosts('a', `n${i}`))
      expect([i, done]).toEqual([i, false])
    }
    await passMs(0)
    await check
    expect(service.pick()?.instance.host).toBe('a')
    await lb.close()
  })

  it('refuses limits that are none', async () => {
    const { service, asked } = setup(hosts('a'), {})
    await expect(service.check({ timeoutMs: -1 })).rejects.toMatchObject({ option: 'timeoutMs' })
    expect(asked).toHaveLength(0)
  })

  it('is an error without health checks', async () => {
    const lb = createLoadBalancer({ services: { s: hosts('a') } })
    await expect(lb.service('s').check()).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'healthCheck' })
  })
})

describe('on Workers', () => {
  const agent = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  beforeEach(() => {
    Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Cloudflare-Workers' }, configurable: true })
  })
  afterEach(() => {
    if (agent === undefined) Reflect.deleteProperty(globalThis, 'navigator')
    else Object.defineProperty(globalThis, 'navigator', agent)
  })

  it('everybody counts as alive until check() is called, and no timer runs', async () => {
    const { service, asked, lb } = setup(hosts('a', 'b'), {}, { a: 503 }, { eager: true })
    const told: string[] = []
    service.on('eject', ({ instance }) => told.push(instance.host))
    await lb.ready()
    expect(pickedHosts(service, 2)).toEqual(['a', 'b'])
    expect((await service.explain()).layers[1]?.reason).toMatch(/before check\(\)/)
    await passMs(60_000)
    expect([asked.length, vi.getTimerCount()]).toEqual([0, 0])
    await service.check()
    expect(pickedHosts(service, 2)).toEqual(['b', 'b'])
    expect([told, vi.getTimerCount()]).toEqual([['a'], 0])
  })

  it('no timer asks for a list either', async () => {
    const { service } = setup(undefined, {}, {}, { discovery: async () => hosts('a') })
    await service.choose()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('requests check for themselves; the later round counts', async () => {
    const { service, asked, behaviours } = setup(hosts('a'), {}, { a: { afterMs: 20, status: 503 } })
    const slow = service.check()
    await passMs(0)
    behaviours.a = 200
    await service.check()
    await passMs(20)
    await slow
    expect(asked).toHaveLength(2)
    expect(service.pick()?.instance.host).toBe('a')
  })
})

describe('closing', () => {
  it('leaves no timer and no request, and lets go who waits', async () => {
    const { service, lb, state } = setup(hosts('a', 'b'), {}, { a: 'hang' })
    const waiting = [service.choose(), service.check(), service.explain()].map((call) => call.catch((error) => error))
    await passMs(10)
    expect(state.inFlight).toBe(1)
    await lb.close()
    for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ code: 'EVENKEEL_CLOSED' })
    expect([state.inFlight, state.aborted, vi.getTimerCount()]).toEqual([0, 1, 0])
  })

  it('between rounds, in the delay, and with a list to refetch leaves no timer either', async () => {
    const between = setup(undefined, {}, {}, { discovery: async () => hosts('a') })
    between.service.pick()
    const before = setup(hosts('a'), { initialDelayMs: 5_000 })
    before.service.pick()
    await passMs(10)
    expect(vi.getTimerCount()).toBe(3)
    await Promise.all([between.lb.close(), before.lb.close()])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('by a listener of what a round found', async () => {
    const { service, lb, behaviours } = setup(hosts('a', 'b'), { intervalMs: 1_000 })
    service.on('eject', () => void lb.close())
    service.pick()
    await passMs(0)
    Object.assign(behaviours, { a: 500, b: 500 })
    await passMs(1_000)
    expect([service.state, vi.getTimerCount()]).toEqual(['closed', 0])
  })
})
