import { describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type DiscoveryClient, type InstanceInit } from '../../bindings/index.js'
import { claimed, shared } from '../../bindings/runtime/single-flight.js'

/** A registry that answers when the test says so. */
function registry() {
  const waiting: { resolve(list: readonly InstanceInit[]): void; reject(error: unknown): void }[] = []
  const client: DiscoveryClient = {
    name: 'registry',
    get: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
    describe: () => ({ address: 'registry:8500' }),
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    client,
    get asked() {
      return waiting.length
    },
    async answer(at: number, list: readonly InstanceInit[]) {
      waiting[at]?.resolve(list)
      await settled()
    },
    async fail(at: number, error: unknown) {
      waiting[at]?.reject(error)
      await settled()
    },
  }
}

function setup(cache?: false | { ttlMs?: number; staleMs?: number }) {
  const time = { now: 0 }
  const source = registry()
  const lb = createLoadBalancer({
    clock: () => time.now,
    seed: 1,
    services: { s: { discovery: source.client, ...(cache !== undefined && { cache }) } },
  })
  return { time, source, lb, service: lb.service('s') }
}

const one = ['http://a:1']
const two = ['http://a:1', 'http://b:1']

describe('a list that is asked for', () => {
  it('is asked once by any number of calls, and waited for by choose, not by pick', async () => {
    const { source, service } = setup()
    expect(service.state).toBe('cold')
    expect(service.pick()).toBeUndefined()
    const chosen = Promise.all([service.choose(), service.choose()])
    expect(source.asked).toBe(1)
    await source.answer(0, one)
    expect((await chosen).map((lease) => lease?.instance.host)).toEqual(['a', 'a'])
    expect(service.state).toBe('ready')
    expect(service.pick()?.instance.host).toBe('a')
    expect(source.asked).toBe(1)
  })

  it('is fresh for its time to live, counted from the answer', async () => {
    const { time, source, service } = setup({ ttlMs: 100 })
    service.pick()
    await source.answer(0, one)
    time.now = 99
    service.pick()
    expect(source.asked).toBe(1)
    time.now = 100
    expect(service.pick()?.instance.host).toBe('a')
    expect(service.state).toBe('stale')
    expect(source.asked).toBe(2)
    expect(service.stats()).toMatchObject({ cacheHits: 1, cacheMisses: 2, listAgeMs: 100 })
  })

  it('is served stale while one call refreshes it, then waited for', async () => {
    const { time, source, service } = setup({ ttlMs: 100, staleMs: 50 })
    service.pick()
    await source.answer(0, one)
    time.now = 149
    expect((await service.choose())?.instance.host).toBe('a')
    expect((await service.choose())?.instance.host).toBe('a')
    expect(source.asked).toBe(2)
    time.now = 150
    const waiting = service.choose()
    await source.answer(1, ['http://c:1'])
    expect((await waiting)?.instance.host).toBe('c')
  })

  it('stays as it was when the registry fails, and says so', async () => {
    const { time, source, service } = setup({ ttlMs: 100 })
    const errors: unknown[] = []
    service.on('discoveryError', (event) => errors.push(event))
    service.pick()
    await source.answer(0, one)
    time.now = 5_000
    const waiting = service.choose()
    const down = new Error('registry is down')
    await source.fail(1, down)
    expect((await waiting)?.instance.host).toBe('a')
    expect(service.state).toBe('stale')
    expect(errors).toEqual([{ error: down, servedAgeMs: 5_000 }])
    expect(service.stats()).toMatchObject({ discoveryErrors: 1, listAgeMs: 5_000 })
    const explanation = await service.explain()
    expect(explanation.layers[0]).toMatchObject({ name: 'discovery', reason: 'failed: registry is down', ageMs: 5_000 })
    expect(explanation.source).toMatchObject({ address: 'registry:8500', discovery: 'registry' })
  })

  it('is not asked for again at once after a failure, and the later the more failures there were', async () => {
    const spread = vi.spyOn(Math, 'random').mockReturnValue(0.5)
    try {
      const { time, source, service } = setup({ ttlMs: 10_000 })
      service.pick()
      await source.answer(0, one)
      time.now = 10_000
      // 1 s, 5 s, up to the time to live: older than that no list is to be by the pauses alone.
      for (const [i, pauseMs] of [1_000, 5_000, 10_000, 10_000].entries()) {
        service.pick()
        expect(source.asked).toBe(i + 2)
        await source.fail(i + 1, new Error('down'))
        time.now += pauseMs - 1
        expect((await service.choose())?.instance.host).toBe('a')
        expect(source.asked).toBe(i + 2)
        time.now += 1
      }
      service.pick()
      await source.answer(5, one)
      // One answer, and it begins anew; the pause is drawn, from half to one and a half of it.
      for (const [i, random] of [0, 0.999].entries()) {
        spread.mockReturnValue(random)
        time.now += 10_000
        service.pick()
        await source.fail(6 + 2 * i, new Error('down'))
        time.now += 1_000 * (0.5 + random) - 1
        service.pick()
        expect(source.asked).toBe(7 + 2 * i)
        time.now += 2
        service.pick()
        await source.answer(7 + 2 * i, one)
      }
    } finally {
      spread.mockRestore()
    }
  })

  it('is asked for at once by calls that have none, however often it failed, together', async () => {
    const { source, service } = setup()
    for (let i = 0; i < 6; i++) {
      const calls = [service.choose(), service.choose()].map((call) => call.catch((error) => error.code))
      expect(source.asked).toBe(i + 1)
      await source.fail(i, new Error('down'))
      expect(await Promise.all(calls)).toEqual(['EVENKEEL_DISCOVERY', 'EVENKEEL_DISCOVERY'])
      service.pick()
      expect(source.asked).toBe(i + 1)
    }
  })

  it('has its pauses from elsewhere than the picks, which a seed makes the same whatever the registry does', async () => {
    const hosts = async (fails: boolean) => {
      const time = { now: 0 }
      let isDown = false
      const get = async () => {
        if (isDown) throw new Error('down')
        return ['http://a:1', 'http://b:1', 'http://c:1']
      }
      const lb = createLoadBalancer({
        clock: () => time.now,
        seed: 7,
        services: { s: { policy: 'random', discovery: get } },
      })
      await lb.choose('s')
      isDown = fails
      const picked: (string | undefined)[] = []
      for (let i = 0; i < 50; i++) {
        time.now += 20_000
        picked.push(lb.pick('s')?.instance.host)
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(lb.service('s').stats().discoveryErrors > 0).toBe(fails)
      return picked
    }
    expect(await hosts(true)).toEqual(await hosts(false))
  })

  it('tells an empty registry from a failed one', async () => {
    const empty = setup()
    const waiting = empty.service.choose()
    await empty.source.answer(0, [])
    expect(await waiting).toBeUndefined()
    const refused = expect(empty.lb.fetch('http://s/')).rejects.toMatchObject({
      code: 'EVENKEEL_NO_INSTANCE',
      message: expect.stringMatching(/list is empty/),
    })
    await empty.source.answer(1, [])
    await refused

    const failed = setup()
    const cause = new Error('no route')
    const rejected = expect(failed.lb.fetch('http://s/')).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      serviceId: 's',
      cause,
    })
    await failed.source.fail(0, cause)
    await rejected
    expect(failed.service.state).toBe('failed')
  })

  it('counts an unreadable answer as a failure and keeps the old list', async () => {
    const { time, source, service } = setup({ ttlMs: 100 })
    service.pick()
    await source.answer(0, one)
    time.now = 100
    service.pick()
    await source.answer(1, [{ host: 'x', port: 99_999 }])
    expect(service.pick()?.instance.host).toBe('a')
    expect((await service.explain()).layers[0]?.reason).toMatch(/port must be/)
  })

  it('takes what can be read of a list, and tells once of what can not', async () => {
    const { source, service } = setup()
    const told: unknown[] = []
    service.on('discoveryError', ({ error }) => told.push(error))
    service.pick()
    const odd = { host: 'x', port: 99_999 }
    await source.answer(0, [odd, ...one])
    const [before] = service.instances()
    expect([service.instances().length, service.state]).toEqual([1, 'ready'])
    const { notes, layers } = await service.explain()
    expect(notes).toContainEqual(expect.stringMatching(/^left out, as it can't be read: list\[0\]\.port must be/))
    expect(layers[0]).not.toHaveProperty('reason')
    expect(told).toMatchObject([{ code: 'EVENKEEL_DISCOVERY', failure: 'malformed', serviceId: 's' }])
    for (const [i, list] of [[odd, ...one], [...one, {}, ...Array(5).fill(null)], one].entries()) {
      const refreshed = service.refresh()
      await source.answer(i + 1, list)
      await refreshed
    }
    expect(service.instances()[0]).toBe(before)
    expect(told).toHaveLength(2)
    expect((told[1] as Error).message).toMatch(/list\[1\] needs .*; list\[2\] must .*; list\[3\] must .*; and 3 more$/)
    expect(service.stats().discoveryErrors).toBe(2)
    expect((await service.explain()).notes.join()).not.toMatch(/left out/)
  })

  it('knows entries again that stand behind one that can not be read, and finds its duplicates', async () => {
    const { source, service } = setup()
    service.pick()
    await source.answer(0, [{}, ...two])
    const before = service.instances()
    for (const [i, list] of [
      [{}, ...two],
      ['http://c:1', {}, ...two],
      [{}, {}, ...two, 'http://a:1'],
    ].entries()) {
      const refreshed = service.refresh()
      await source.answer(i + 1, list as never)
      await refreshed
      expect(service.instances().filter((each) => before.includes(each))).toHaveLength(2)
    }
    expect(service.instances()).toHaveLength(2)
    expect((await service.explain()).notes.join()).toMatch(/"a:1" was listed more than once/)
  })

  it('merges what a registry lists twice, and explain names it', async () => {
    const { source, service } = setup()
    service.pick()
    await source.answer(0, [...two, 'http://a:1'])
    expect(service.instances().map(({ host }) => host)).toEqual(['a', 'b'])
    expect((await service.explain()).notes).toContainEqual(expect.stringMatching(/"a:1" was listed more than once/))
  })

  it('is asked for each call without a cache', async () => {
    const { source, service } = setup(false)
    const first = service.choose()
    await source.answer(0, one)
    await first
    const second = service.choose()
    await source.answer(1, ['http://b:1'])
    expect((await second)?.instance.host).toBe('b')
  })

  it('reports changes, and an unchanged list keeps its identity', async () => {
    const { source, service } = setup()
    const changes: unknown[] = []
    service.on('change', (change) => changes.push(change))
    service.pick()
    await source.answer(0, two)
    const before = service.instances()
    const refresh = service.refresh()
    await source.answer(1, ['http://a:1', { host: 'b', port: 1, scheme: 'http' }])
    expect(await refresh).toEqual({ added: [], removed: [], changed: [] })
    expect(service.instances()).toBe(before)
    const next = service.refresh()
    await source.answer(2, [{ url: 'http://b:1', weight: 2 }, 'http://c:1'])
    expect(await next).toMatchObject({
      added: [{ host: 'c' }],
      removed: [{ host: 'a' }],
      changed: [{ host: 'b', metadata: { weight: '2' } }],
    })
    expect(changes).toHaveLength(2)
  })

  it('may be answered at once: then even the first pick has it', () => {
    const lb = createLoadBalancer({ discovery: { name: 'now', get: (id) => [`http://${id}:1`] } })
    expect(lb.pick('anything')?.instance.host).toBe('anything')
  })

  it('gives up waiting when the signal or the time limit says so', async () => {
    const { service } = setup()
    await expect(service.choose({}, { timeoutMs: 5 })).rejects.toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
    const reason = new Error('enough')
    await expect(service.choose({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it('hands a background refresh to waitUntil', async () => {
    const { time, source, lb } = setup({ ttlMs: 100 })
    lb.pick('s')
    await source.answer(0, one)
    time.now = 100
    const background: Promise<unknown>[] = []
    lb.with({ waitUntil: (promise) => background.push(promise) }).pick('s')
    expect(background).toHaveLength(1)
    await source.answer(1, two)
    await background[0]
    expect(lb.service('s').instances()).toHaveLength(2)
  })

  it('an answer that comes after a later one changes nothing', async () => {
    // Workers: an abandoned question is taken over by another request.
    const agent = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Cloudflare-Workers' }, configurable: true })
    try {
      const { time, source, service } = setup()
      service.pick()
      time.now = 1_001
      service.pick()
      expect(source.asked).toBe(2)
      await source.answer(1, ['http://new:1'])
      await source.answer(0, ['http://old:1'])
      expect(service.instances().map(({ host }) => host)).toEqual(['new'])
    } finally {
      if (agent === undefined) Reflect.deleteProperty(globalThis, 'navigator')
      else Object.defineProperty(globalThis, 'navigator', agent)
    }
  })

  it('a refresh that the service does not outlive is refused', async () => {
    const { source, lb, service } = setup()
    service.pick()
    await source.answer(0, one)
    const refresh = expect(service.refresh()).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
    await lb.close()
    await refresh
    await expect(service.refresh()).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
  })

  it('a client that comes back to its own service waits for itself, not for ever deeper', async () => {
    let depth = 0
    const client: DiscoveryClient = {
      name: 'recursive',
      get: (id) => {
        depth++
        void lb.choose(id as 's').catch(() => {})
        return ['http://a:1']
      },
    }
    const lb = createLoadBalancer({ services: { s: { discovery: client } } })
    expect((await lb.choose('s'))?.instance.host).toBe('a')
    expect(depth).toBe(1)
  })

  it('every client that was asked is closed with the balancer, once', async () => {
    const closed: string[] = []
    const client = (name: string): DiscoveryClient => ({
      name,
      get: () => one,
      close: async () => void closed.push(name),
    })
    const lb = createLoadBalancer({ discovery: client('unused'), services: { s: { discovery: client('own') } } })
    await lb.remove('s')
    await Promise.all([lb.close(), lb.close()])
    expect(closed.sort()).toEqual(['own', 'unused'])
  })

  it('ends with the service: a late answer changes nothing', async () => {
    const { source, lb, service } = setup()
    const waiting = expect(service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
    await lb.close()
    await source.answer(0, one)
    await waiting
    expect(service.state).toBe('closed')
    expect(() => service.pick()).toThrow(expect.objectContaining({ code: 'EVENKEEL_CLOSED' }))
  })
})

describe('ready', () => {
  it('waits for the eager services alone', async () => {
    const eager = registry()
    const lazy = registry()
    const lb = createLoadBalancer({
      services: { e: { discovery: eager.client, eager: true }, l: { discovery: lazy.client } },
    })
    const ready = lb.ready()
    await eager.answer(0, one)
    await ready
    expect([eager.asked, lazy.asked]).toEqual([1, 0])
  })
})

describe('a list that is watched', () => {
  it('is in force as soon as it is pushed', async () => {
    const pushes: ((list: readonly InstanceInit[]) => void)[] = []
    const discovery: DiscoveryClient = {
      name: 'push',
      async *watch() {
        for (;;) yield await new Promise<readonly InstanceInit[]>((resolve) => pushes.push(resolve))
      },
    }
    const service = createLoadBalancer({ services: { s: { discovery } } }).service('s')
    const first = service.choose()
    await new Promise((resolve) => setImmediate(resolve))
    pushes[0]?.(one)
    expect((await first)?.instance.host).toBe('a')
    await new Promise((resolve) => setImmediate(resolve))
    pushes[1]?.(['http://z:1'])
    await new Promise((resolve) => setImmediate(resolve))
    expect(service.pick()?.instance.host).toBe('z')
  })

  it('is begun again after a pause that grows with each failure, and is short after a good list', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const spread = vi.spyOn(Math, 'random').mockReturnValue(0.5)
    try {
      const starts: number[] = []
      let now = 0
      const discovery: DiscoveryClient = {
        name: 'push',
        async *watch() {
          starts.push(now)
          if (starts.length <= 3) throw new Error('gone')
          yield one
        },
      }
      const lb = createLoadBalancer({ services: { s: { discovery } } })
      lb.pick('s')
      for (; now < 16_000; now += 100) await vi.advanceTimersByTimeAsync(100)
      // 1, 5 and 5 s after the failures, as there is no list yet; one that ended after a list is begun again in a second.
      expect(starts.map((at) => Math.round(at / 1_000))).toEqual([0, 1, 6, 11, 12, 13, 14, 15, 16])
      expect(lb.pick('s')?.instance.host).toBe('a')
      await lb.close()
      await vi.advanceTimersByTimeAsync(60_000)
      expect(starts).toHaveLength(9)
    } finally {
      spread.mockRestore()
      vi.useRealTimers()
    }
  })

  it('fails while there is no list, and is told', async () => {
    const discovery: DiscoveryClient = {
      name: 'push',
      // biome-ignore lint/correctness/useYield: it fails before its first list
      async *watch() {
        throw new Error('gone')
      },
    }
    const lb = createLoadBalancer({ services: { s: { discovery } } })
    await expect(lb.choose('s')).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      message: expect.stringMatching(/gone/),
    })
    await lb.close()
  })
})

describe('single flight', () => {
  const deferred = () => {
    let resolve = () => {}
    const promise = new Promise<void>((done) => {
      resolve = done
    })
    return { promise, resolve }
  }

  it('shares one run among callers', async () => {
    const flight = shared()
    const work = deferred()
    let runs = 0
    const run = () => flight.run(() => (runs++, work.promise))
    const both = Promise.all([run(), run()])
    work.resolve()
    await both
    expect([runs, flight.busy]).toEqual([1, false])
    await flight.run(() => (runs++, Promise.resolve()))
    expect(runs).toBe(2)
  })

  it('by claims: others look until the claim is given back', async () => {
    const time = { now: 0 }
    const pauses: number[] = []
    const work = deferred()
    const flight = claimed(
      () => time.now,
      async (ms) => {
        pauses.push(ms)
        time.now += ms
        if (pauses.length === 3) work.resolve()
        await new Promise((resolve) => setImmediate(resolve))
      },
    )
    let runs = 0
    const own = flight.run(() => (runs++, work.promise))
    await flight.run(() => (runs++, Promise.resolve()))
    await own
    expect(runs).toBe(1)
    expect(pauses).toEqual([2, 4, 8])
  })

  it('by claims: one that is never given back is taken over', async () => {
    const time = { now: 0 }
    const flight = claimed(
      () => time.now,
      async (ms) => {
        time.now += ms
      },
    )
    let runs = 0
    void flight.run(() => (runs++, new Promise(() => {})))
    await flight.run(() => (runs++, Promise.resolve()))
    expect(runs).toBe(2)
    expect(time.now).toBeGreaterThanOrEqual(1_000)
    expect(time.now).toBeLessThan(1_100)
    expect(flight.busy).toBe(false)
  })
})
