import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  compositeDiscovery,
  createLoadBalancer,
  type DiscoveryClient,
  type InstanceInit,
  type LoadBalancerOptions,
  type WatchOptions,
} from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const hostsOf = (of: { instances(): readonly { host: string }[] }) => of.instances().map(({ host }) => host)

type Said = readonly InstanceInit[] | Error

/** A registry that pushes what it is told to. */
function pushing(name: string, rest: Partial<DiscoveryClient> = {}) {
  const queue: Said[] = []
  let wake = () => {}
  const registry = {
    begun: 0,
    ended: 0,
    options: undefined as WatchOptions | undefined,
    async say(said: Said) {
      queue.push(said)
      wake()
      await passMs(0)
    },
  }
  const client: DiscoveryClient = {
    name,
    async *watch(_, options) {
      registry.begun++
      registry.options = options
      options.signal.addEventListener('abort', () => wake(), { once: true })
      try {
        while (!options.signal.aborted) {
          const said = queue.shift()
          if (said instanceof Error) throw said
          if (said !== undefined) yield said
          else
            await new Promise<void>((resolve) => {
              wake = resolve
            })
        }
      } finally {
        registry.ended++
      }
    },
    ...rest,
  }
  return Object.assign(registry, { client })
}

/** A registry that is asked. */
function asked(name: string, says: Said | 'never') {
  const registry = { says, asked: [] as number[], signals: [] as AbortSignal[] }
  const client: DiscoveryClient = {
    name,
    async get(_, { signal }) {
      registry.asked.push(Date.now())
      registry.signals.push(signal)
      if (registry.says === 'never') return new Promise<never>(() => {})
      if (registry.says instanceof Error) throw registry.says
      return registry.says
    },
  }
  return Object.assign(registry, { client })
}

function setup(clients: DiscoveryClient[], discoveryMode: 'first' | 'merge', rest: LoadBalancerOptions = {}) {
  vi.setSystemTime(0)
  const lb = createLoadBalancer({ discovery: clients, discoveryMode, ...rest })
  const service = lb.service('s')
  const errors: string[] = []
  service.on('discoveryError', ({ error }) => errors.push((error as Error).message))
  const changes: unknown[] = []
  service.on('change', (change) => changes.push(change))
  service.pick()
  const end = async () => {
    await lb.close()
    await passMs(0)
    expect(vi.getTimerCount()).toBe(0)
  }
  return { lb, service, errors, changes, end }
}

describe('the first of several that push', () => {
  it('who lists anybody is followed: what it pushes is in force at once', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, end } = setup([x.client, y.client], 'first')
    await x.say(['http://a:1'])
    await y.say(['http://b:1'])
    expect([hostsOf(service), (await service.explain()).source.from]).toEqual([['a'], 'x'])
    await y.say(['http://c:1'])
    expect(hostsOf(service)).toEqual(['a'])
    await x.say(['http://d:1'])
    expect(hostsOf(service)).toEqual(['d'])
    await x.say([])
    expect([hostsOf(service), (await service.explain()).source.from]).toEqual([['c'], 'y'])
    await y.say([])
    expect([hostsOf(service), service.state]).toEqual([[], 'ready'])
    await x.say(['http://e:1'])
    expect(hostsOf(service)).toEqual(['e'])
    await end()
    expect([x.begun, x.ended, y.begun, y.ended]).toEqual([1, 1, 1, 1])
  })

  it('is not that of a later one as long as an earlier has a share of the time to answer', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, errors, end } = setup([x.client, y.client], 'first', { defaults: { discoveryTimeoutMs: 10_000 } })
    await y.say(['http://b:1'])
    await passMs(4_499)
    expect([service.state, hostsOf(service)]).toEqual(['cold', []])
    await passMs(1)
    expect([service.state, hostsOf(service)]).toEqual(['ready', ['b']])
    expect(errors).toEqual(['discovery "x" did not answer within 4500 ms'])
    expect((await service.explain()).source).toMatchObject({
      from: 'y',
      'x.failed': 'discovery "x" did not answer within 4500 ms',
    })
    await x.say(['http://a:1'])
    expect(hostsOf(service)).toEqual(['a'])
    expect((await service.explain()).source).not.toHaveProperty('x.failed')
    await end()
  })

  it('passes over who fails before it has ever listed anybody', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, errors, end } = setup([x.client, y.client], 'first')
    await x.say(new Error('no route'))
    expect([service.state, errors]).toEqual(['cold', []])
    await y.say(['http://b:1'])
    expect([service.state, hostsOf(service), errors]).toEqual(['ready', ['b'], ['no route']])
    expect(service.stats().discoveryErrors).toBe(1)
    await end()
  })

  it('goes on being the one that fails, with its last list, and is not current then', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, errors, end } = setup([x.client, y.client], 'first')
    await x.say(['http://a:1'])
    await y.say(['http://b:1'])
    await passMs(3_000)
    x.options?.failed?.(new Error('down'))
    await passMs(0)
    expect([hostsOf(service), service.state, service.stats().listAgeMs]).toEqual([['a'], 'stale', 3_000])
    expect([errors, (await service.explain()).source]).toMatchObject([['down'], { from: 'x', 'x.failed': 'down' }])
    y.options?.confirmed?.()
    await passMs(0)
    expect(service.state).toBe('stale')
    x.options?.confirmed?.()
    await passMs(0)
    expect([service.state, service.stats().listAgeMs]).toEqual(['ready', 0])
    await end()
  })

  it('counts a failure of another without calling the list old', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, errors, end } = setup([x.client, y.client], 'first')
    await x.say(['http://a:1'])
    y.options?.failed?.(new Error('down'))
    await passMs(0)
    expect([service.state, errors]).toEqual(['ready', ['down']])
    await end()
  })

  it('fails where nobody is listed and one has never said so', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, end } = setup([x.client, y.client], 'first')
    const chosen = service.choose().catch((error) => error)
    await x.say(new Error('no route'))
    await y.say([])
    expect(await chosen).toMatchObject({ code: 'EVENKEEL_DISCOVERY', message: expect.stringMatching(/no route/) })
    await y.say(['http://b:1'])
    expect((await service.choose())?.instance.host).toBe('b')
    // Now nobody is listed again by the one that answers: the other may have somebody.
    await y.say([])
    expect([hostsOf(service), service.state]).toEqual([['b'], 'stale'])
    await passMs(600)
    await x.say([])
    expect([hostsOf(service), service.state]).toEqual([[], 'ready'])
    await end()
  })
})

describe('several merged, some of which push', () => {
  it('list all at once when all have answered, then each change as it comes', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, changes, end } = setup([x.client, y.client], 'merge')
    await x.say([{ url: 'http://a:1', zone: 'x' }])
    expect(service.state).toBe('cold')
    await y.say(['http://a:1', 'http://b:1'])
    expect([hostsOf(service), service.instances()[0]?.metadata.zone]).toEqual([['a', 'b'], 'x'])
    await y.say(['http://b:1', 'http://c:1'])
    expect(hostsOf(service)).toEqual(['a', 'b', 'c'])
    await x.say([])
    expect(hostsOf(service)).toEqual(['b', 'c'])
    expect([changes.length, (await service.explain()).source.from]).toEqual([3, undefined])
    await end()
  })

  it('keep the last list of one that fails, and tell of it', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, errors, end } = setup([x.client, y.client], 'merge')
    await x.say(['http://a:1'])
    await y.say(['http://b:1'])
    await x.say(new Error('down'))
    await y.say(['http://c:1'])
    expect([hostsOf(service), service.state, errors]).toEqual([['a', 'c'], 'ready', ['down']])
    expect((await service.explain()).source).toMatchObject({ 'x.failed': 'down' })
    await y.say(new Error('out of order'))
    expect([hostsOf(service), service.state]).toEqual([['a', 'c'], 'stale'])
    // Both watches are begun again, half a second later.
    await passMs(500)
    expect([x.begun, y.begun]).toEqual([2, 2])
    await x.say(['http://a:1'])
    await y.say(['http://c:1'])
    expect([hostsOf(service), service.state]).toEqual([['a', 'c'], 'ready'])
    await end()
  })

  it('wait for one that never answers no longer than its share', async () => {
    const [x, y, z] = [pushing('x'), pushing('y'), pushing('z')]
    const clients = [x.client, y.client, z.client]
    const { service, end } = setup(clients, 'merge', { defaults: { discoveryTimeoutMs: 9_000 } })
    await x.say(['http://a:1'])
    await z.say(['http://c:1'])
    await passMs(2_699)
    expect(service.state).toBe('cold')
    await passMs(1)
    expect([service.state, hostsOf(service)]).toEqual(['ready', ['a', 'c']])
    await end()
  })

  it('ask those that do not push each ttlMs, and after failures by pauses that grow', async () => {
    const [x, y] = [pushing('x'), asked('y', ['http://b:1'])]
    const { service, errors, end } = setup([x.client, y.client], 'merge', { defaults: { cache: { ttlMs: 10_000 } } })
    await x.say(['http://a:1'])
    expect(hostsOf(service)).toEqual(['a', 'b'])
    y.says = ['http://b:1', 'http://c:1']
    await passMs(9_999)
    expect(hostsOf(service)).toEqual(['a', 'b'])
    await passMs(1)
    expect(hostsOf(service)).toEqual(['a', 'b', 'c'])
    y.says = new Error('down')
    await passMs(10_000)
    expect([hostsOf(service), service.state, errors]).toEqual([['a', 'b', 'c'], 'ready', ['down']])
    await passMs(20_000)
    // Half of 1, 5 and at most 10 s after each other.
    expect(y.asked.map((at) => at / 1_000)).toEqual([0, 10, 20, 20.5, 23, 28, 33, 38])
    await end()
    expect(y.signals.every(({ aborted }) => !aborted)).toBe(true)
  })

  it('end the question to one that hangs when the service closes', async () => {
    const [x, y] = [pushing('x'), asked('y', 'never')]
    const { end } = setup([x.client, y.client], 'merge')
    await passMs(100)
    await end()
    expect([x.ended, y.signals[0]?.aborted]).toEqual([1, true])
  })

  it('take an unreadable list for a failure of its client', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, errors, end } = setup([x.client, y.client], 'merge')
    await x.say(['http://a:1'])
    await y.say([{ host: 'x', port: 99_999 }])
    expect([hostsOf(service), errors]).toEqual([
      ['a'],
      [expect.stringMatching(/^the list of discovery "y"\[0\]\.port must be/)],
    ])
    await y.say('abc' as never)
    await y.say(null as never)
    expect([hostsOf(service), errors.length]).toEqual([['a'], 3])
    await end()
  })
})

describe('an unchanged list of a composite', () => {
  it('keeps its identity, and is as new as if it had come again', async () => {
    for (const mode of ['first', 'merge'] as const) {
      const [x, y] = [pushing('x'), pushing('y')]
      const composite = compositeDiscovery([x.client, y.client], { mode }) as Required<DiscoveryClient>
      const stop = new AbortController()
      const lists: (readonly InstanceInit[])[] = []
      let confirmed = 0
      const run = (async () => {
        for await (const list of composite.watch('s', { signal: stop.signal, confirmed: () => confirmed++ }))
          lists.push(list)
      })()
      await x.say(['http://a:1', { host: 'b', port: 1, metadata: { zone: 'z' } }])
      await y.say([])
      await x.say(['http://a:1', { host: 'b', port: 1, metadata: { zone: 'z' } }])
      expect([lists.length, confirmed > 0]).toEqual([1, true])
      await x.say(['http://a:1'])
      expect(lists).toHaveLength(2)
      if (mode === 'merge') expect(lists[1]?.[0]).toBe(lists[0]?.[0])
      stop.abort()
      await run
      expect([x.ended, y.ended, vi.getTimerCount()]).toEqual([1, 1, 0])
    }
  })

  it('confirmed by one is as old as the other says while that fails', async () => {
    const [x, y] = [pushing('x'), pushing('y')]
    const { service, end } = setup([x.client, y.client], 'merge')
    await x.say(['http://a:1'])
    await y.say(['http://b:1'])
    await passMs(1_000)
    x.options?.failed?.(new Error('down'))
    y.options?.confirmed?.()
    await passMs(1_000)
    expect(service.stats().listAgeMs).toBe(2_000)
    x.options?.confirmed?.()
    await passMs(500)
    expect(service.stats().listAgeMs).toBe(500)
    await end()
  })
})

describe('a composite', () => {
  it('can be watched where one of its clients pushes, and no quirk is of asking', () => {
    const [x, y] = [pushing('x'), asked('y', [])]
    expect(compositeDiscovery([y.client]).watch).toBeUndefined()
    expect(compositeDiscovery([y.client, x.client]).watch).toBeDefined()
    expect(compositeDiscovery([y.client, compositeDiscovery([x.client, y.client])]).watch).toBeDefined()
  })

  it('is asked, not watched, under SCLB quirks of composites', async () => {
    for (const compat of ['composite-race', 'composite-stops-at-error'] as const) {
      const x = pushing('x', { get: async () => ['http://a:1'] })
      const { service, lb } = setup([x.client, asked('y', []).client], 'first', { compat: [compat] })
      expect((await service.choose())?.instance.host).toBe('a')
      expect(x.begun).toBe(0)
      await lb.close()
    }
  })

  it('of composites passes what is pushed on, and what failed', async () => {
    const [x, y, z] = [pushing('x'), pushing('y'), pushing('z')]
    const inner = compositeDiscovery([x.client, y.client], { mode: 'merge' })
    const { service, errors, end } = setup([inner, z.client], 'first')
    await x.say(['http://a:1'])
    await y.say(['http://b:1'])
    await z.say(['http://c:1'])
    expect(hostsOf(service)).toEqual(['a', 'b'])
    await y.say(new Error('down'))
    expect([service.state, errors]).toEqual(['ready', ['down']])
    await y.say(['http://b:1', 'http://d:1'])
    await passMs(500)
    expect(hostsOf(service)).toEqual(['a', 'b', 'd'])
    await end()
    expect([x.ended, y.ended, z.ended]).toEqual([1, 2, 1])
  })

  it('asks its clients by refresh, and is told again by its watch', async () => {
    const x = pushing('x', { get: async () => ['http://refreshed:1'] })
    const y = pushing('y', { get: async () => [] })
    const { service, end } = setup([x.client, y.client], 'first')
    await x.say(['http://a:1'])
    await service.refresh()
    expect(hostsOf(service)).toEqual(['refreshed'])
    x.options?.confirmed?.()
    await passMs(0)
    expect(hostsOf(service)).toEqual(['a'])
    await end()
  })
})
