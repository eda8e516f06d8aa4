import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createLoadBalancer,
  type DiscoveryClient,
  type InstanceInit,
  type ServiceOptions,
  type WatchOptions,
} from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const some = ['http://a:1', 'http://b:1']
const others = ['http://c:1']
const hostsOf = (of: { instances(): readonly { host: string }[] }) => of.instances().map(({ host }) => host)

/** A registry that pushes what it is told to, and may be asked beside. */
function pushed(options: ServiceOptions = {}, get?: DiscoveryClient['get']) {
  let next: (said: readonly InstanceInit[] | Error) => void = () => {}
  const told: { options: WatchOptions | undefined; begun: number } = { options: undefined, begun: 0 }
  const discovery: DiscoveryClient = {
    name: 'push',
    ...(get && { get }),
    async *watch(_, watchOptions) {
      told.options = watchOptions
      told.begun++
      for (;;) {
        const said = await new Promise<readonly InstanceInit[] | Error>((resolve) => {
          next = resolve
        })
        if (said instanceof Error) throw said
        yield said
      }
    },
  }
  const lb = createLoadBalancer({ services: { s: { discovery, ...options } } })
  const service = lb.service('s')
  const errors: { error: unknown; servedAgeMs: number }[] = []
  service.on('discoveryError', (event) => errors.push(event))
  service.pick()
  const say = async (said: readonly InstanceInit[] | Error) => {
    await passMs(0)
    next(said)
    await passMs(0)
  }
  return { lb, service, say, errors, told }
}

/** A registry that says nothing until it is told to, and does not hear of the end. Nobody has asked it yet. */
function silent(get?: DiscoveryClient['get'], options: ServiceOptions = {}) {
  const queue: (readonly InstanceInit[])[] = []
  let wake = () => {}
  const client = {
    name: 'silent',
    begun: 0,
    ...(get && { get }),
    watch() {
      client.begun++
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            while (queue.length === 0) {
              await new Promise<void>((resolve) => {
                wake = resolve
              })
            }
            return { done: false as const, value: queue.shift() as readonly InstanceInit[] }
          },
        }),
      }
    },
  }
  const lb = createLoadBalancer({ services: { s: { discovery: client, ...options } } })
  const push = async (list: readonly InstanceInit[]) => {
    queue.push(list)
    wake()
    await passMs(0)
  }
  return { lb, client, push }
}

describe('a watch that confirms its list', () => {
  it('makes no list of none, and ends no failure where there is none', async () => {
    const { service, told, lb } = pushed()
    await passMs(0)
    told.options?.failed?.(new Error('no route'))
    told.options?.confirmed?.()
    expect(service.state).toBe('failed')
    await expect(service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    await lb.close()
  })

  it('makes it as new as if it had been pushed again', async () => {
    const { service, say, told, lb } = pushed()
    await say(some)
    await passMs(20_000)
    expect(service.stats().listAgeMs).toBe(20_000)
    told.options?.confirmed?.()
    await passMs(3_000)
    expect(service.stats().listAgeMs).toBe(3_000)
    expect((await service.explain()).layers[0]).toMatchObject({ name: 'discovery', ageMs: 3_000 })
    await lb.close()
  })

  it('ends what it said of a failure', async () => {
    const { service, say, told, errors, lb } = pushed()
    await say(some)
    await passMs(5_000)
    const down = new Error('down')
    told.options?.failed?.(down)
    expect([service.state, service.stats().discoveryErrors, service.stats().listAgeMs]).toEqual(['stale', 1, 5_000])
    expect(errors).toEqual([{ error: down, servedAgeMs: 5_000 }])
    expect((await service.explain()).layers[0]?.reason).toBe('failed: down')
    told.options?.confirmed?.()
    expect([service.state, service.stats().listAgeMs, hostsOf(service)]).toEqual(['ready', 0, ['a', 'b']])
    expect((await service.explain()).notes).toEqual([])
    expect(told.begun).toBe(1)
    await lb.close()
  })

  it('says nothing of a list where there is none yet', async () => {
    const { service, told, lb } = pushed()
    await passMs(0)
    told.options?.confirmed?.()
    expect([service.state, service.stats().listAgeMs]).toEqual(['cold', Number.NaN])
    await lb.close()
  })

  it('puts its list in force again where a refresh has brought another', async () => {
    const { service, say, told, lb } = pushed({}, () => others)
    await say(some)
    await service.refresh()
    expect(hostsOf(service)).toEqual(['c'])
    told.options?.confirmed?.()
    expect(hostsOf(service)).toEqual(['a', 'b'])
    await lb.close()
  })

  it('does not make an unreadable list a good one', async () => {
    const { service, say, told, lb } = pushed()
    await say(some)
    await say([{ host: 'x', port: 99_999 }])
    expect(service.state).toBe('stale')
    told.options?.confirmed?.()
    expect([service.state, service.stats().discoveryErrors, hostsOf(service)]).toEqual(['stale', 2, ['a', 'b']])
    await lb.close()
  })
})

describe('a watch that fails without ending', () => {
  it('fails the calls that wait for a first list, and is not begun again', async () => {
    const { service, told, lb } = pushed()
    const chosen = service.choose().catch((error) => error)
    await passMs(0)
    told.options?.failed?.(new Error('no route'))
    expect(await chosen).toMatchObject({ code: 'EVENKEEL_DISCOVERY', message: expect.stringMatching(/no route/) })
    expect(service.state).toBe('failed')
    await passMs(60_000)
    expect(told.begun).toBe(1)
    await lb.close()
  })

  it('counts what failed in part, and leaves the list current', async () => {
    const { service, say, told, errors, lb } = pushed()
    await say(some)
    told.options?.partlyFailed?.(new Error('one of two'))
    expect([service.state, service.stats().discoveryErrors, errors.length]).toEqual(['ready', 1, 1])
    await lb.close()
  })

  it('tells nobody any more when the service has closed', async () => {
    const { service, say, told, errors, lb } = pushed()
    await say(some)
    await lb.close()
    told.options?.failed?.(new Error('late'))
    told.options?.partlyFailed?.(new Error('late'))
    told.options?.confirmed?.()
    expect([errors.length, service.state, vi.getTimerCount()]).toEqual([0, 'closed', 0])
  })
})

describe('a sudden list of nobody of a watch that fails and confirms', () => {
  const protect: ServiceOptions = { emptyList: { protectMs: 5_000 } }

  it('is doubted on while it is confirmed, and comes into force in its time', async () => {
    const { service, say, told, lb } = pushed(protect)
    await say(some)
    await say([])
    await passMs(2_000)
    told.options?.confirmed?.()
    expect([service.state, service.stats().listAgeMs]).toEqual(['stale', 2_000])
    await passMs(2_999)
    expect(service.instances()).toHaveLength(2)
    await passMs(1)
    expect([service.instances().length, service.state]).toEqual([0, 'ready'])
    await lb.close()
  })

  it('is doubted anew when it is confirmed after a failure', async () => {
    const { service, say, told, lb } = pushed(protect)
    await say(some)
    await say([])
    await passMs(3_000)
    told.options?.failed?.(new Error('down'))
    await passMs(10_000)
    expect([service.instances().length, service.state]).toEqual([2, 'stale'])
    // The same answer as before the failure: nobody.
    told.options?.confirmed?.()
    await passMs(4_999)
    expect([service.instances().length, service.state]).toEqual([2, 'stale'])
    await passMs(1)
    expect([service.instances().length, service.state]).toEqual([0, 'ready'])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a refresh beside a watch', () => {
  it('asks, and what it says is in force', async () => {
    let asked = 0
    const { service, say, lb } = pushed({}, () => (asked++, others))
    await say(some)
    const change = await service.refresh()
    expect(asked).toBe(1)
    expect(change.added.map(({ host }) => host)).toEqual(['c'])
    expect(hostsOf(service)).toEqual(['c'])
    await lb.close()
  })

  it('changes nothing where a list was pushed meanwhile: that is newer', async () => {
    let answer: (list: readonly InstanceInit[]) => void = () => {}
    const { service, say, lb } = pushed(
      {},
      () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    )
    await say(some)
    const refreshed = service.refresh()
    await say(['http://new:1'])
    answer(others)
    expect(await refreshed).toEqual({ added: [], removed: [], changed: [] })
    expect(hostsOf(service)).toEqual(['new'])
    await lb.close()
  })

  it('rejects with what the registry failed with, and the watch goes on', async () => {
    const down = new Error('down')
    const { service, say, errors, lb } = pushed({}, () => Promise.reject(down))
    await say(some)
    await expect(service.refresh()).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      message: 'discovery "push" could not list "s": down',
      cause: down,
    })
    expect([service.state, service.stats().discoveryErrors, errors]).toEqual([
      'ready',
      1,
      [{ error: down, servedAgeMs: 0 }],
    ])
    expect(hostsOf(service)).toEqual(['a', 'b'])
    await say(others)
    expect(hostsOf(service)).toEqual(['c'])
    await lb.close()
  })
})

describe('a refresh of a list that nobody has asked for yet', () => {
  it('begins the watch too, which else nothing would ever begin', async () => {
    const { lb, client, push } = silent(() => some)
    const service = lb.service('s')
    await service.refresh()
    expect([hostsOf(service), client.begun]).toEqual([['a', 'b'], 1])
    await push(others)
    expect(hostsOf(service)).toEqual(['c'])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('fails with a list that can not be read, and is told; the watch says nothing of that', async () => {
    const { lb, push } = silent(() => [{ host: 'x', port: 99_999 }])
    const service = lb.service('s')
    await expect(service.refresh()).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      message: expect.stringMatching(/^discovery "silent" could not list "s": list\[0\]\.port must be/),
    })
    expect([service.state, service.stats().discoveryErrors]).toEqual(['cold', 1])
    await push(some)
    expect(service.state).toBe('ready')
    await lb.close()
  })

  it('that can not be read ends no failure of the watch', async () => {
    const { service, told, lb } = pushed({}, () => [{ host: 'x', port: 99_999 }])
    await passMs(0)
    told.options?.failed?.(new Error('no route'))
    await expect(service.refresh()).rejects.toThrow(/port must be/)
    expect(service.state).toBe('failed')
    await expect(service.choose()).rejects.toThrow(/no route/)
    await lb.close()
  })

  it('of a client that can not be asked fails while its watch does', async () => {
    const { service, say, told, lb } = pushed()
    await say(some)
    expect(await service.refresh()).toEqual({ added: [], removed: [], changed: [] })
    told.options?.failed?.(new Error('down'))
    await expect(service.refresh()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    await lb.close()
  })
})

describe('a watch that says nothing', () => {
  it('fails calls after discoveryTimeoutMs, until it says something', async () => {
    const { lb, push } = silent(undefined, { discoveryTimeoutMs: 5_000 })
    const service = lb.service('s')
    const ends = [service.choose(), service.refresh(), service.fetch('http://s/')].map((call) =>
      call.then(() => 'done').catch((error) => error),
    )
    const explained = service.explain()
    await passMs(4_999)
    expect(service.state).toBe('cold')
    await passMs(1)
    for (const end of await Promise.all(ends)) {
      expect(end).toMatchObject({
        code: 'EVENKEEL_DISCOVERY',
        failure: 'timeout',
        message: 'discovery "silent" could not list "s": discovery "silent" did not answer within 5000 ms',
      })
    }
    expect((await explained).layers[0]?.reason).toMatch(/did not answer within 5000 ms/)
    await expect(service.choose()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    expect([service.state, service.stats().discoveryErrors]).toEqual(['failed', 1])
    await push(some)
    expect([service.state, (await service.choose())?.instance.port]).toEqual(['ready', 1])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not late once it has said something, and then says nothing for long', async () => {
    const { lb, push } = silent(undefined, { discoveryTimeoutMs: 5_000 })
    lb.pick('s')
    await push(some)
    await passMs(60_000)
    expect([lb.service('s').state, lb.service('s').stats().discoveryErrors]).toEqual(['ready', 0])
    await lb.close()
  })

  it('keeps no close waiting, though it never hears of the end', async () => {
    const { lb } = silent()
    const chosen = lb.choose('s').catch((error) => error)
    await lb.close()
    expect(await chosen).toMatchObject({ code: 'EVENKEEL_CLOSED' })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a listener that closes the service', () => {
  it('ends the watch at once, whatever it was told of', async () => {
    for (const event of ['change', 'discoveryError'] as const) {
      const { service, say, told, lb } = pushed({}, () => others)
      if (event === 'discoveryError') await say(some)
      service.on(event, () => void lb.close())
      if (event === 'change') await say(some)
      else told.options?.failed?.(new Error('down'))
      await passMs(60_000)
      expect([service.state, told.begun, told.options?.signal.aborted, vi.getTimerCount()]).toEqual([
        'closed',
        1,
        true,
        0,
      ])
    }
  })

  it('ends a refresh with EVENKEEL_CLOSED', async () => {
    const { service, say, lb } = pushed({}, () => others)
    await say(some)
    service.on('change', () => void lb.close())
    await expect(service.refresh()).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a watch that throws or ends', () => {
  it('is begun again by pauses that are drawn, of 1 s, 5 s, 25 s, 30 s', async () => {
    const spread = vi.spyOn(Math, 'random')
    for (const [random, hasList] of [
      [0, true],
      [0.25, true],
      [0.999, true],
      [0.5, false],
    ] as const) {
      spread.mockReturnValue(random)
      const begun: number[] = []
      const discovery: DiscoveryClient = {
        name: 'push',
        async *watch() {
          begun.push(Date.now())
          if (hasList && begun.length === 1) yield some
          throw new Error('gone')
        },
      }
      const lb = createLoadBalancer({ services: { s: { discovery } } })
      lb.pick('s')
      await passMs(200_000)
      await lb.close()
      const pauses = begun.slice(1, 9).map((at, i) => at - (begun[i] as number))
      // Calls fail as long as there is no list: then it is tried more often.
      const means = [1_000, 5_000, 25_000, 30_000, 30_000, 30_000, 30_000, 30_000].map((ms) =>
        hasList ? ms : Math.min(ms, 5_000),
      )
      for (const [i, pauseMs] of pauses.entries()) {
        expect(Math.abs(pauseMs - (means[i] as number) * (0.5 + random))).toBeLessThanOrEqual(1)
      }
      expect(vi.getTimerCount()).toBe(0)
    }
  })
})

describe('on Workers', () => {
  it('a client that pushes is asked, and nothing is begun that outlives the question', async () => {
    const agent = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    Object.defineProperty(globalThis, 'navigator', { value: { userAgent: 'Cloudflare-Workers' }, configurable: true })
    try {
      let watched = 0
      const discovery: DiscoveryClient = {
        name: 'both',
        get: async () => ['http://a:1'],
        async *watch() {
          watched++
          yield others
        },
      }
      const lb = createLoadBalancer({
        services: { s: { discovery }, several: { discovery: [discovery, async () => []] } },
      })
      expect((await lb.choose('s'))?.instance.host).toBe('a')
      expect((await lb.choose('several'))?.instance.host).toBe('a')
      expect([watched, vi.getTimerCount()]).toEqual([0, 0])
      await lb.close()
    } finally {
      if (agent === undefined) Reflect.deleteProperty(globalThis, 'navigator')
      else Object.defineProperty(globalThis, 'navigator', agent)
    }
  })
})
