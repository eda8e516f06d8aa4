import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type InstanceInit, type LoadBalancerOptions } from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)
type Compat = NonNullable<LoadBalancerOptions['compat']>

/** A registry that takes `afterMs` to say what it is set to say. */
function setup(compat: Compat, options: LoadBalancerOptions['defaults'] = {}) {
  const registry = { says: ['http://a:1'] as readonly InstanceInit[] | Error | undefined | null, afterMs: 0, asked: 0 }
  const lb = createLoadBalancer({
    compat,
    services: {
      s: {
        cache: { ttlMs: 1_000, staleMs: 0 },
        ...options,
        discovery: {
          name: 'registry',
          async get() {
            registry.asked++
            if (registry.afterMs > 0) await new Promise((resolve) => setTimeout(resolve, registry.afterMs))
            if (registry.says instanceof Error) throw registry.says
            return registry.says as readonly InstanceInit[]
          },
        },
      },
    },
  })
  return { registry, lb, service: lb.service('s') }
}

describe('a registry that takes longer than discoveryTimeoutMs', () => {
  it('has failed then', async () => {
    const { registry, service } = setup([], { discoveryTimeoutMs: 100 })
    registry.afterMs = 150
    const chosen = service.choose().catch((error) => error)
    await passMs(100)
    expect(await chosen).toMatchObject({ code: 'EVENKEEL_DISCOVERY', message: expect.stringMatching(/within 100 ms/) })
  })

  it('discovery-timeout-late: is waited for, and then has nobody', async () => {
    const { registry, service } = setup(['discovery-timeout-late'], { discoveryTimeoutMs: 100 })
    registry.afterMs = 150
    let over = false
    const chosen = service.choose().finally(() => {
      over = true
    })
    await passMs(149)
    expect(over).toBe(false)
    await passMs(1)
    expect(await chosen).toBeUndefined()
    expect(service.stats()).toMatchObject({ discovered: 0, discoveryErrors: 1 })
    registry.afterMs = 99
    const next = service.choose()
    await passMs(99)
    expect((await next)?.instance.host).toBe('a')
  })
})

describe('a registry that fails', () => {
  it('leaves its last list in force', async () => {
    const { registry, service } = setup([])
    await service.choose()
    registry.says = new Error('down')
    await passMs(1_000)
    expect((await service.choose())?.instance.host).toBe('a')
  })

  it('discovery-failure-empties: leaves nobody, and is counted', async () => {
    const { registry, service } = setup(['discovery-failure-empties'])
    await service.choose()
    registry.says = new Error('down')
    await passMs(1_000)
    expect(await service.choose()).toBeUndefined()
    expect(service.stats()).toMatchObject({ discovered: 0, discoveryErrors: 1 })
    expect((await service.explain()).notes).toContain('discovery failed: nobody is served')
    registry.says = ['http://b:1']
    expect((await service.choose())?.instance.host).toBe('b')
  })

  it('discovery-failure-empties: is not an error to the first call either', async () => {
    const { registry, service } = setup(['discovery-failure-empties'])
    registry.says = new Error('down')
    expect(await service.choose()).toBeUndefined()
    expect(service.stats().discoveryErrors).toBe(1)
  })
})

describe('calls that find no fresh list', () => {
  it('ask once, together', async () => {
    const { registry, service } = setup([])
    await Promise.all([service.choose(), service.choose(), service.choose()])
    expect(registry.asked).toBe(1)
  })

  it('cache-no-single-flight: ask each on its own', async () => {
    const { registry, service, lb } = setup(['cache-no-single-flight'])
    registry.afterMs = 10
    const three = Promise.all([service.choose(), service.choose(), service.choose()])
    expect(registry.asked).toBe(3)
    await passMs(10)
    await three
    await service.choose()
    expect(registry.asked).toBe(3)
    const waiting = [service.refresh(), service.refresh()].map((call) => call.catch((error) => error.code))
    await lb.close()
    expect(await Promise.all(waiting)).toEqual(['EVENKEEL_CLOSED', 'EVENKEEL_CLOSED'])
    await passMs(10)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('cache-no-stale: wait for the new list as soon as the old one is not fresh', async () => {
    const { registry, service } = setup(['cache-no-stale'], { cache: { ttlMs: 1_000 } })
    await service.choose()
    registry.says = ['http://b:1']
    await passMs(1_000)
    expect((await service.choose())?.instance.host).toBe('b')
  })
})

describe('a registry that answers nothing at all', () => {
  it.each([undefined, null])('has failed: %s', async (nothing) => {
    const { registry, service } = setup([])
    registry.says = nothing
    await expect(service.choose()).rejects.toMatchObject({
      code: 'EVENKEEL_DISCOVERY',
      message: expect.stringMatching(/answered (undefined|null) for "s": a list was expected, \[\] if there is nobody/),
    })
  })

  it.each([undefined, null])('no-list-no-response: has nobody: %s', async (nothing) => {
    const { registry, service } = setup(['no-list-no-response'])
    registry.says = nothing
    expect(await service.choose()).toBeUndefined()
    expect(service.stats().discoveryErrors).toBe(0)
  })

  it('has failed also where it pushes or answers at once', async () => {
    const lb = createLoadBalancer({
      services: {
        now: { discovery: () => undefined as never },
        push: {
          discovery: {
            name: 'push',
            async *watch() {
              yield undefined as never
              await new Promise(() => {})
            },
          },
        },
      },
    })
    for (const id of ['now', 'push'] as const) {
      await expect(lb.choose(id)).rejects.toMatchObject({ message: expect.stringMatching(/a list was expected/) })
    }
    await lb.close()
  })
})

describe('refresh', () => {
  it('asks once within the time to live, however many ask together with picks', async () => {
    const { registry, service } = setup([])
    await service.choose()
    expect(registry.asked).toBe(1)
    registry.afterMs = 10
    const refreshes = [service.refresh(), service.refresh()]
    service.pick()
    const chosen = service.choose()
    refreshes.push(service.refresh())
    await passMs(10)
    await Promise.all([...refreshes, chosen])
    expect(registry.asked).toBe(2)
    service.pick()
    expect(registry.asked).toBe(2)
  })
})
