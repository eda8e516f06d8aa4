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
})
afterEach(() => {
  vi.useRealTimers()
})

const some = ['http://a:1', 'http://b:1']
const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A registry that says what it is set to say. The clock is the fake timers'. */
function asked(options: ServiceOptions = {}) {
  const registry = { says: some as readonly InstanceInit[] | Error, asked: 0 }
  const lb = createLoadBalancer({
    services: {
      s: {
        discovery: {
          name: 'registry',
          async get() {
            registry.asked++
            if (registry.says instanceof Error) throw registry.says
            return registry.says
          },
        },
        ...options,
      },
    },
  })
  return { registry, lb, service: lb.service('s') }
}

function pushed(options: ServiceOptions = {}) {
  let push = (_: readonly InstanceInit[]) => {}
  const discovery: DiscoveryClient = {
    name: 'push',
    async *watch() {
      for (;;) {
        yield await new Promise<readonly InstanceInit[]>((resolve) => {
          push = resolve
        })
      }
    },
  }
  const lb = createLoadBalancer({ services: { s: { discovery, ...options } } })
  const service = lb.service('s')
  service.pick()
  return {
    lb,
    service,
    async say(list: readonly InstanceInit[]) {
      await passMs(0)
      push(list)
      await passMs(0)
    },
  }
}

describe('a list of nobody', () => {
  it('is never fresh: each call that can wait asks again, those that come together once', async () => {
    const { registry, service } = asked()
    registry.says = []
    expect(await service.choose()).toBeUndefined()
    expect(service.state).toBe('ready')
    expect(await service.choose()).toBeUndefined()
    expect(registry.asked).toBe(2)
    await Promise.all([service.choose(), service.choose(), service.choose()])
    expect(registry.asked).toBe(3)
    registry.says = some
    expect((await service.choose())?.instance.host).toMatch(/a|b/)
  })

  it('is asked for by picks in the background, once a second', async () => {
    const { registry, service } = asked()
    registry.says = []
    await service.choose()
    for (let ms = 0; ms < 3_000; ms += 100) {
      service.pick()
      await passMs(100)
    }
    // At 1 and 2 s after the answer.
    expect(registry.asked).toBe(3)
    registry.says = some
    service.pick()
    await passMs(0)
    expect(service.pick()).toBeDefined()
  })

  it('of a registry that then fails is still told from a failure', async () => {
    const { registry, service } = asked()
    registry.says = []
    await service.choose()
    registry.says = new Error('down')
    expect(await service.choose()).toBeUndefined()
    expect(service.state).toBe('stale')
    expect((await service.explain()).layers[0]?.reason).toBe('failed: down')
  })
})

describe('a sudden list of nobody, asked for, with protectMs', () => {
  const protect: ServiceOptions = { emptyList: { protectMs: 5_000 }, cache: { ttlMs: 1_000 } }

  it('is not believed until it has been said for that long, and the registry is asked once a second', async () => {
    const { registry, service } = asked(protect)
    await service.choose()
    registry.says = []
    await service.refresh()
    expect(service.instances()).toHaveLength(2)
    expect(service.state).toBe('stale')
    await passMs(1_500)
    const { notes } = await service.explain()
    expect(notes).toContain('the registry lists nobody since 1500 ms; the last list is kept for 3500 ms')
    const before = registry.asked
    for (let ms = 0; ms < 3_000; ms += 50) {
      expect(service.pick()).toBeDefined()
      await passMs(50)
    }
    expect(registry.asked - before).toBe(3)
    await passMs(500)
    expect(await service.choose()).toBeUndefined()
    expect(service.instances()).toHaveLength(0)
    expect((await service.explain()).notes).toEqual([])
  })

  it('is forgotten when the registry lists somebody again', async () => {
    const { registry, service } = asked(protect)
    await service.choose()
    for (let i = 0; i < 3; i++) {
      registry.says = []
      await service.refresh()
      await passMs(4_000)
      registry.says = some
      await service.refresh()
    }
    expect([service.instances().length, service.state]).toEqual([2, 'ready'])
  })

  it('is doubted since the first of them, whatever comes between that can not be read', async () => {
    const { registry, service } = asked(protect)
    await service.choose()
    registry.says = []
    await service.refresh()
    await passMs(4_000)
    registry.says = {} as never
    await expect(service.refresh()).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    registry.says = []
    await passMs(1_000)
    await service.refresh()
    expect(service.instances()).toHaveLength(0)
  })

  it('is believed at once where it is the first, or protectMs is not given', async () => {
    const first = asked(protect)
    first.registry.says = []
    expect(await first.service.choose()).toBeUndefined()
    const trusting = asked()
    await trusting.service.choose()
    trusting.registry.says = []
    await trusting.service.refresh()
    expect(trusting.service.instances()).toHaveLength(0)
  })
})

describe('a sudden list of nobody, pushed, with protectMs', () => {
  /** Watches that say what they are told, until they are told to fail. */
  function failing() {
    let next = (_: readonly InstanceInit[] | Error) => {}
    const discovery: DiscoveryClient = {
      name: 'push',
      async *watch() {
        for (;;) {
          const said = await new Promise<readonly InstanceInit[] | Error>((resolve) => {
            next = resolve
          })
          if (said instanceof Error) throw said
          yield said
        }
      },
    }
    const lb = createLoadBalancer({ services: { s: { discovery, emptyList: { protectMs: 5_000 } } } })
    const service = lb.service('s')
    service.pick()
    const say = async (said: readonly InstanceInit[] | Error) => {
      await passMs(0)
      next(said)
      await passMs(0)
    }
    return { lb, service, say }
  }

  it('is forgotten when the watch fails, and begins anew with the next', async () => {
    const { service, say, lb } = failing()
    await say(some)
    await say([])
    await passMs(3_000)
    await say(new Error('broke'))
    await passMs(900)
    const { notes, layers } = await service.explain()
    expect(notes).toEqual(['discovery failed: the last good list is served'])
    expect(layers[0]?.reason).toBe('failed: broke')
    // Watched again after a second; until then, and after the five seconds, the list is kept.
    await passMs(5_000)
    expect([service.instances().length, service.state]).toEqual([2, 'stale'])
    await say([])
    await passMs(4_999)
    expect(service.instances()).toHaveLength(2)
    await passMs(1)
    expect([service.instances().length, service.state]).toEqual([0, 'ready'])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not believed for an answer that can not be read, but by the next that can', async () => {
    const { service, say, lb } = failing()
    await say(some)
    await say([])
    await passMs(3_000)
    await say({} as never)
    await passMs(10_000)
    expect(service.instances()).toHaveLength(2)
    await say([])
    expect(service.instances()).toHaveLength(0)
    await lb.close()
  })

  it('comes into force by itself after that time, without another push', async () => {
    const { service, say, lb } = pushed({ emptyList: { protectMs: 5_000 } })
    await say(some)
    await say([])
    await passMs(4_999)
    expect(service.pick()).toBeDefined()
    expect(service.state).toBe('stale')
    expect((await service.explain()).notes[0]).toMatch(/lists nobody since 4999 ms; the last list is kept for 1 ms/)
    await passMs(1)
    expect([service.pick(), service.state]).toEqual([undefined, 'ready'])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is forgotten when somebody is pushed, and leaves no timer behind', async () => {
    const { service, say, lb } = pushed({ emptyList: { protectMs: 5_000 } })
    await say(some)
    await say([])
    await passMs(3_000)
    await say(['http://c:1'])
    expect(vi.getTimerCount()).toBe(0)
    await passMs(10_000)
    expect(service.pick()?.instance.host).toBe('c')
    await say([])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is told by the timeline', async () => {
    const { service, say, lb } = pushed({ emptyList: { protectMs: 5_000 } })
    await say(['http://a:1'])
    await say([])
    await passMs(5_000)
    const [, removed, dropped] = service.timeline('a:1')
    expect([removed?.event, dropped?.event]).toEqual(['removed-by-registry', 'dropped-from-cache'])
    expect((dropped?.at ?? 0) - (removed?.at ?? 0)).toBe(5_000)
    await lb.close()
  })

  it('of a refresh comes into force in its time, until the watch confirms its own list', async () => {
    let options: WatchOptions | undefined
    const discovery: DiscoveryClient = {
      name: 'push',
      get: () => [],
      async *watch(_, given) {
        options = given
        yield some
        await new Promise(() => {})
      },
    }
    const lb = createLoadBalancer({ services: { s: { discovery, emptyList: { protectMs: 5_000 } } } })
    const service = lb.service('s')
    await service.choose()
    await service.refresh()
    await passMs(4_999)
    expect(service.instances()).toHaveLength(2)
    await passMs(1)
    expect(service.instances()).toHaveLength(0)
    options?.confirmed?.()
    expect([service.instances().length, service.state]).toEqual([2, 'ready'])
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
