import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  compositeDiscovery,
  createLoadBalancer,
  type DiscoveryClient,
  type InstanceInit,
  type LoadBalancerOptions,
  simpleDiscovery,
} from '../../bindings/index.js'

type Says = readonly InstanceInit[] | Error | null | 'never'

/** A registry whose answer may be changed, with what was asked of it. */
function client(name: string, says: Says, rest: Partial<DiscoveryClient> = {}) {
  const registry: DiscoveryClient & { says: Says; asked: number; signals: AbortSignal[] } = {
    name,
    says,
    asked: 0,
    signals: [] as AbortSignal[],
    async get(_: string, { signal }: { signal: AbortSignal }): Promise<readonly InstanceInit[]> {
      registry.asked++
      registry.signals.push(signal)
      if (registry.says === 'never') return new Promise<never>(() => {})
      if (registry.says instanceof Error) throw registry.says
      return registry.says as readonly InstanceInit[]
    },
    ...rest,
  }
  return registry
}

const a = ['http://a:1']
const b = ['http://b:1']
const down = new Error('down')
const out = new Error('out of order')

const list = async (discovery: DiscoveryClient) =>
  (discovery as Required<DiscoveryClient>).get('s', { signal: new AbortController().signal })

function service(discovery: LoadBalancerOptions['discovery'], rest: LoadBalancerOptions = {}) {
  const time = { now: 0 }
  const lb = createLoadBalancer({ discovery: discovery ?? [], clock: () => time.now, seed: 1, ...rest })
  return { time, lb, service: lb.service('s') }
}

const hostsOf = (of: { instances(): readonly { host: string }[] }) => of.instances().map(({ host }) => host)

describe('the first client that lists anybody', () => {
  it('wins, and the later ones are not asked', async () => {
    const clients = [client('empty', []), client('a', a), client('b', b)]
    expect(await list(compositeDiscovery(clients))).toBe(a)
    expect(clients.map(({ asked }) => asked)).toEqual([1, 1, 0])
  })

  it('is looked for in ascending order, equals as they were given', async () => {
    const clients = [
      client('last', a, { order: 5 }),
      client('second', b),
      client('third', a),
      client('first', b, { order: -1 }),
    ]
    expect(compositeDiscovery(clients).name).toBe('first, second, third, last')
  })

  it('may answer at once: then even the first pick has it', () => {
    const { lb } = service([simpleDiscovery({}), simpleDiscovery({ s: a })])
    expect(lb.pick('s')?.instance.host).toBe('a')
  })

  it('is found behind one that fails, which explain tells of', async () => {
    const consul = client('consul', down)
    const { service: s } = service([consul, client('fixed', a, { describe: () => ({ file: 'x' }) })])
    expect((await s.choose())?.instance.host).toBe('a')
    expect(s.state).toBe('ready')
    expect((await s.explain()).source).toMatchObject({
      discovery: 'consul, fixed',
      'consul.failed': 'down',
      'fixed.file': 'x',
    })
    consul.says = []
    await s.refresh()
    expect((await s.explain()).source).not.toHaveProperty('consul.failed')
  })

  it('is named by explain, as long as its list is the one in force', async () => {
    const [one, two] = [client('consul', []), client('consul', a)]
    const { service: s } = service([one, two])
    await s.choose()
    expect((await s.explain()).source).toMatchObject({ discovery: 'consul, consul', from: 'consul-2' })
    one.says = b
    await s.refresh()
    expect((await s.explain()).source.from).toBe('consul')
    one.says = two.says = down
    await expect(s.refresh()).rejects.toThrow(/down/)
    expect((await s.explain()).source.from).toBe('consul')
    one.says = two.says = []
    await s.refresh()
    expect((await s.explain()).source).not.toHaveProperty('from')
  })

  it('is found behind one whose answer can not be read', async () => {
    for (const answer of ['http://a:1', [{ host: 'a', port: 99_999 }], {}, [null]]) {
      const { service: s } = service([client('odd', answer as never), client('fixed', b)])
      expect((await s.choose())?.instance.host).toBe('b')
      expect((await s.explain()).source['odd.failed']).toMatch(/^the list of discovery "odd"/)
      expect(s.stats().discoveryErrors).toBe(1)
    }
  })

  it('is found behind one that throws what has no text', async () => {
    const odd = client('odd', [])
    odd.get = async () => Promise.reject(Object.create(null))
    const { service: s } = service([odd, client('fixed', a)])
    expect((await s.choose())?.instance.host).toBe('a')
    expect((await s.explain()).source['odd.failed']).toBe('an error that has no text')
    const alone = service([odd, odd])
    await expect(alone.service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
  })

  it('does not exist: then it fails with the error of the one that failed, or with all of them', async () => {
    const one = service([client('x', down), client('y', [])])
    await expect(one.service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY', cause: down })
    const two = service([client('x', down), client('y', []), client('z', out)])
    await expect(two.service.choose()).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      message: expect.stringMatching(/down; out of order/),
      cause: { errors: [down, out] },
    })
  })

  it('does not exist and none failed: then there is nobody', async () => {
    const { service: s } = service([client('x', []), client('y', [])])
    expect(await s.choose()).toBeUndefined()
    expect(s.stats().discoveryErrors).toBe(0)
  })

  it('is not looked for any more when the service has closed', async () => {
    for (const compat of [[], ['composite-race']]) {
      const [hanging, next] = [client('hanging', 'never'), client('next', a)]
      hanging.get = (_, { signal }) =>
        new Promise((_, reject) => {
          hanging.signals.push(signal)
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      // In a race the next would be asked, and win, at once.
      if (compat.length > 0) next.says = 'never'
      const { lb, service: s } = service([hanging, next], { compat })
      const chosen = s.choose().catch((error) => error)
      await lb.close()
      expect(await chosen).toMatchObject({ code: 'EVENKEEL_CLOSED' })
      expect([next.asked, hanging.signals[0]?.aborted]).toEqual([compat.length, true])
    }
  })

  it('may be one that pushes: its first list is taken', async () => {
    let ended = 0
    const pushing: DiscoveryClient = {
      name: 'pushing',
      async *watch() {
        try {
          yield a
          yield b
        } finally {
          ended++
        }
      },
    }
    expect(await list(compositeDiscovery([client('x', []), pushing]))).toBe(a)
    expect(ended).toBe(1)
  })
})

describe('merged clients', () => {
  it('list all that any of them lists; an instance of several is that of the earlier', async () => {
    const { service: s } = service(
      [
        client('x', ['http://a:1', { url: 'http://b:1', zone: 'x' }]),
        client('y', [{ host: 'b', port: 1, zone: 'y' }, 'http://c:1']),
      ],
      { discoveryMode: 'merge' },
    )
    await s.choose()
    expect(hostsOf(s)).toEqual(['a', 'b', 'c'])
    expect(s.instances()[1]?.metadata.zone).toBe('x')
    expect((await s.explain()).notes.join()).not.toMatch(/more than once/)
  })

  it('list what one that fails has last said', async () => {
    const [x, y] = [client('x', a), client('y', b)]
    const { service: s } = service([x, y], { discoveryMode: 'merge' })
    await s.choose()
    x.says = down
    y.says = ['http://c:1']
    await s.refresh()
    expect(hostsOf(s)).toEqual(['a', 'c'])
    x.says = []
    await s.refresh()
    expect(hostsOf(s)).toEqual(['c'])
  })

  it('fail if nobody is listed and one has never said anything', async () => {
    const [x, y] = [client('x', down), client('y', [])]
    const { service: s } = service([x, y], { discoveryMode: 'merge' })
    await expect(s.choose()).rejects.toMatchObject({ cause: down })
    x.says = []
    expect(await s.choose()).toBeUndefined()
    x.says = down
    expect(await s.choose()).toBeUndefined()
    expect(s.stats().discoveryErrors).toBe(2)
  })

  it('list what one has last said whose answer can not be read, and tell of it', async () => {
    const [x, y] = [client('x', a), client('y', b)]
    const { service: s } = service([x, y], { discoveryMode: 'merge' })
    const told: unknown[] = []
    s.on('discoveryError', ({ error }) => told.push(error))
    await s.choose()
    for (const answer of [[{ host: 'x', port: 99_999 }, {}], 'abc']) {
      y.says = answer as never
      await s.refresh()
      expect([hostsOf(s), s.state]).toEqual([['a', 'b'], 'ready'])
    }
    expect(told.map((error) => (error as Error).message)).toEqual([
      expect.stringMatching(/^the list of discovery "y"\[0\]\.port must be/),
      expect.stringMatching(/^the list of discovery "y" must be an array/),
    ])
  })

  it('list all of one that can be read, and tell once of what can not', async () => {
    const odd = ['http://c:1', { host: 'x', port: 99_999 }]
    const [x, y] = [client('x', a), client('y', odd)]
    const { service: s } = service([x, y], { discoveryMode: 'merge' })
    const told: string[] = []
    s.on('discoveryError', ({ error }) => told.push((error as Error).message))
    await s.choose()
    for (const says of [odd, [...odd, {}], [...odd, {}], odd.slice(0, 1)]) {
      y.says = says as never
      await s.refresh()
      expect([hostsOf(s), s.state]).toEqual([['a', 'c'], 'ready'])
    }
    expect(told).toEqual([
      expect.stringMatching(/^left out, as it can't be read: the list of discovery "y"\[1\]\.port must be[^;]*$/),
      expect.stringMatching(/"y"\[1\]\.port must be .*; the list of discovery "y"\[2\] needs/),
    ])
  })

  it('list the others if one can not be read that has never said anything', async () => {
    const { service: s } = service([client('x', a), client('y', [{}])], { discoveryMode: 'merge' })
    expect((await s.choose())?.instance.host).toBe('a')
    expect(hostsOf(s)).toEqual(['a'])
  })

  it('name nobody as the one whose list it is', async () => {
    const { service: s } = service([client('x', a), client('y', b)], { discoveryMode: 'merge' })
    await s.choose()
    expect((await s.explain()).source).not.toHaveProperty('from')
  })
})

describe('a client that hangs', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  const limited = (...clients: DiscoveryClient[]) => ({
    clients,
    rest: { defaults: { discoveryTimeoutMs: 10_000 } } satisfies LoadBalancerOptions,
  })

  it('is passed over at its share of the time that is left', async () => {
    const [one, two, three] = [client('one', 'never'), client('two', 'never'), client('three', a)]
    const { clients, rest } = limited(one, two, three)
    const { service: s } = service(clients, rest)
    const chosen = s.choose()
    await passMs(2_999)
    expect([one.asked, two.asked]).toEqual([1, 0])
    await passMs(1)
    expect([one.signals[0]?.aborted, two.asked, three.asked]).toEqual([true, 1, 0])
    await passMs(3_000)
    expect((await chosen)?.instance.host).toBe('a')
    expect((await s.explain()).source).toMatchObject({
      'one.failed': 'discovery "one" did not answer within 3000 ms',
      'two.failed': 'discovery "two" did not answer within 3000 ms',
      from: 'three',
    })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('has the more time the sooner those before it have answered', async () => {
    const { clients, rest } = limited(client('one', []), client('two', 'never'), client('three', a))
    const { service: s } = service(clients, rest)
    const chosen = s.choose()
    await passMs(4_499)
    expect(s.state).toBe('cold')
    await passMs(1)
    expect((await chosen)?.instance.host).toBe('a')
  })

  it('leaves its error with those of the others where all fail', async () => {
    const { clients, rest } = limited(client('one', down), client('two', 'never'))
    const { service: s } = service(clients, rest)
    const chosen = s.choose().catch((error) => error)
    await passMs(9_000)
    expect(await chosen).toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      message: expect.stringMatching(/down; discovery "two" did not answer within 9000 ms/),
    })
  })

  it('contributes what it last said to a merged list, before the time of all is up', async () => {
    const [one, two] = [client('one', a), client('two', b)]
    const { clients, rest } = limited(one, two)
    const { service: s } = service(clients, { ...rest, discoveryMode: 'merge' })
    await s.choose()
    one.says = 'never'
    two.says = ['http://c:1']
    const refreshed = s.refresh()
    await passMs(9_000)
    await refreshed
    expect([hostsOf(s), s.state]).toEqual([['a', 'c'], 'ready'])
    expect(s.stats().discoveryErrors).toBe(1)
    expect([one.signals[1]?.aborted, two.signals[1]?.aborted, vi.getTimerCount()]).toEqual([true, false, 0])
  })

  it('that is a composite has the time of its place, and its own clients have shares of that', async () => {
    const inner = compositeDiscovery([client('hanging', 'never'), client('fixed', a)])
    const { clients, rest } = limited(inner, client('other', b))
    const { service: s } = service(clients, rest)
    const chosen = s.choose()
    // 9 000 / 2, less a tenth, / 2
    await passMs(2_025)
    expect((await chosen)?.instance.host).toBe('a')
  })

  it('has all the time where an error ends it all, or the answer comes too late anyway', async () => {
    for (const compat of [['composite-stops-at-error'], ['discovery-timeout-late']]) {
      const [one, two] = [client('one', 'never'), client('two', a)]
      const { clients, rest } = limited(one, two)
      const { lb, service: s } = service(clients, { ...rest, compat })
      const chosen = s.choose().catch((error) => error)
      await passMs(9_999)
      expect([one.signals[0]?.aborted, two.asked]).toEqual([false, 0])
      await lb.close()
      await chosen
    }
  })
})

describe("SCLB's composites", () => {
  it('composite-stops-at-error: an error of an earlier client is final', async () => {
    const clients = [client('x', []), client('y', down), client('z', a)]
    const { service: s } = service(clients, { compat: ['composite-stops-at-error'] })
    await expect(s.choose()).rejects.toMatchObject({ cause: down })
    expect(clients.map(({ asked }) => asked)).toEqual([1, 1, 0])
  })

  it('composite-race: all are asked, the first with anybody or an error wins, the others are ended', async () => {
    const [slow, quick] = [client('slow', 'never'), client('quick', a)]
    const first = service([slow, quick], { compat: ['composite-race'] })
    expect((await first.service.choose())?.instance.host).toBe('a')
    expect(slow.signals[0]?.aborted).toBe(true)

    const failing = service([client('slow', 'never'), client('x', down)], { compat: ['composite-race'] })
    await expect(failing.service.choose()).rejects.toMatchObject({ cause: down })

    const empty = service([client('x', []), client('y', [])], { compat: ['composite-race'] })
    expect(await empty.service.choose()).toBeUndefined()
  })

  it('composite-race: who answers at once has won before the next is asked', async () => {
    const later = client('later', b)
    const { lb } = service([simpleDiscovery({ s: a }), later], { compat: ['composite-race'] })
    expect(lb.pick('s')?.instance.host).toBe('a')
    expect(later.asked).toBe(0)
  })
})

describe('a composite', () => {
  it('names the services of all its clients, each once', async () => {
    const composite = compositeDiscovery([
      simpleDiscovery({ x: a, y: a }),
      client('without', a),
      simpleDiscovery({ z: a, x: b }),
    ])
    expect(await composite.services?.({ signal: new AbortController().signal })).toEqual(['x', 'y', 'z'])
  })

  it('tells clients of one name apart', () => {
    const same = (address: string) => client('consul', a, { describe: () => ({ address }) })
    expect(compositeDiscovery([same('one'), same('two')]).describe?.('s')).toEqual({
      'consul.address': 'one',
      'consul-2.address': 'two',
    })
  })

  it('takes functions, and closes its clients', async () => {
    let closed = 0
    const composite = compositeDiscovery([async () => [], client('x', a, { close: async () => void closed++ })])
    expect(await list(composite)).toBe(a)
    await composite.close?.()
    expect(closed).toBe(1)
  })

  it('closes all its clients although some fail to close, and tells the first failure', async () => {
    const closed: string[] = []
    const clients = [
      client('x', a, {
        close() {
          throw down
        },
      }),
      client('y', a, { close: () => Promise.reject(out) }),
      client('z', a, { close: async () => void closed.push('z') }),
    ]
    await expect(compositeDiscovery(clients).close?.()).rejects.toBe(down)
    const lb = createLoadBalancer({ discovery: clients })
    await expect(lb.close()).rejects.toBe(down)
    expect(closed).toEqual(['z', 'z'])
  })

  it('needs a client, and nothing else', () => {
    expect(() => compositeDiscovery([])).toThrow(/needs a client/)
    expect(() => createLoadBalancer({ discovery: [] })).toThrow(/discovery must be a discovery client, or several/)
    expect(() => createLoadBalancer({ discovery: [client('x', a), {} as never] })).toThrow(/^discovery\[1\] must be/)
    expect(() => createLoadBalancer({ discovery: client('x', a, { order: Number.NaN }) })).toThrow(/discovery\.order/)
  })

  it('shares its clients with others: the balancer closes each once', async () => {
    const closed: string[] = []
    const closing = (name: string) => client(name, a, { close: async () => void closed.push(name) })
    const [x, y, z] = [closing('x'), closing('y'), closing('z')]
    const lb = createLoadBalancer({
      discovery: [x, y],
      services: {
        one: {},
        two: { discovery: [y, x, z] },
        three: { discovery: [compositeDiscovery([compositeDiscovery([z]), x]), y] },
      },
    })
    await lb.close()
    expect(closed.sort()).toEqual(['x', 'y', 'z'])
  })
})

describe('a service that is removed', () => {
  it('closes the clients that only it has asked', async () => {
    const closed: string[] = []
    const closing = (name: string) => client(name, a, { close: async () => void closed.push(name) })
    const [own, shared, lone] = [closing('own'), closing('shared'), closing('lone')]
    const lb = createLoadBalancer({
      discovery: own,
      services: { one: {}, two: { discovery: [shared, own] }, three: { discovery: [lone, shared] } },
    })
    await lb.remove('one')
    await lb.remove('two')
    expect(closed).toEqual([])
    await lb.remove('three')
    expect(closed.sort()).toEqual(['lone', 'shared'])
    await lb.close()
    expect(closed.sort()).toEqual(['lone', 'own', 'shared'])
  })

  it('keeps open what its health checks keep open under the quirk', async () => {
    let closed = 0
    const lb = createLoadBalancer({
      compat: ['health-keeps-client-open'],
      services: { one: { discovery: client('x', a, { close: async () => void closed++ }), healthCheck: {} } },
    })
    await lb.remove('one')
    await lb.close()
    expect(closed).toBe(0)
  })
})

describe('simpleDiscovery', () => {
  it('reads the map at every call, by exact names', async () => {
    const map: Record<string, InstanceInit[]> = { s: ['http://host1:80'] }
    const simple = simpleDiscovery(map, { order: 3 })
    expect([simple.name, simple.order]).toEqual(['simple', 3])
    expect(await list(simple)).toEqual(['http://host1:80'])
    map.s = [{ host: 'host2', port: 0, secure: true }]
    expect(await list(simple)).toHaveLength(1)
    delete map.s
    map.S = a
    expect(await list(simple)).toEqual([])
    expect(simple.get?.('toString', { signal: new AbortController().signal })).toEqual([])
    expect(() => simpleDiscovery([] as never)).toThrow(/object of lists/)
  })
})

describe("SCLB's health checks", () => {
  it('health-keeps-client-open: what only they use is not closed', async () => {
    const closed: string[] = []
    const closing = (name: string) => client(name, a, { close: async () => void closed.push(name) })
    const [checked, shared, unused] = [closing('checked'), closing('shared'), closing('unused')]
    const make = (compat: LoadBalancerOptions['compat'] & {}) =>
      createLoadBalancer({
        compat,
        discovery: unused,
        services: {
          one: { discovery: checked, healthCheck: {} },
          two: { discovery: shared, healthCheck: {} },
          three: { discovery: shared },
        },
      })
    await make(['health-keeps-client-open']).close()
    expect(closed.sort()).toEqual(['shared', 'unused'])
    closed.length = 0
    await make([]).close()
    expect(closed.sort()).toEqual(['checked', 'shared', 'unused'])
  })
})
