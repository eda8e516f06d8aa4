/** Lists that are asked for by a timer. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type InstanceInit, type ServiceOptions } from '../../bindings/index.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)

function setup(get: () => readonly InstanceInit[] | Promise<readonly InstanceInit[]>, options: ServiceOptions = {}) {
  const asked: number[] = []
  const startedAt = performance.now()
  const discovery = () => {
    asked.push(performance.now() - startedAt)
    return get()
  }
  const lb = createLoadBalancer({ seed: 1, services: { s: { discovery, polling: {}, ...options } } })
  return { asked, lb, service: lb.service('s') }
}

const list = ['http://a:1']

describe('polling', () => {
  it('begins with the first use, after 1 s, and then each 30 s', async () => {
    const { asked, service } = setup(() => list)
    await passMs(5_000)
    expect(asked).toEqual([])
    service.pick()
    await passMs(61_000)
    expect(asked).toEqual([5_000, 6_000, 36_000, 66_000])
  })

  it('with eager begins with the service', async () => {
    const { asked } = setup(() => list, { eager: true, polling: { initialDelayMs: 10, intervalMs: 100 } })
    await passMs(210)
    expect(asked).toEqual([0, 10, 110, 210])
  })

  it('counts its interval from the end of a poll', async () => {
    const get = () => new Promise<string[]>((resolve) => setTimeout(() => resolve(list), 50))
    const { asked, service } = setup(get, { polling: { initialDelayMs: 100, intervalMs: 100 } })
    void service.choose()
    await passMs(500)
    expect(asked).toEqual([0, 100, 250, 400])
  })

  it('brings new lists without a call', async () => {
    const lists = [['http://a:1'], ['http://b:1']]
    const { service } = setup(() => lists[0] as string[])
    service.pick()
    lists.shift()
    await passMs(1_000)
    expect(service.instances().map(({ host }) => host)).toEqual(['b'])
  })

  it('leaves picks nothing to ask, however old the list is', async () => {
    let hangs = false
    const { asked, service } = setup(() => (hangs ? new Promise<never>(() => {}) : list), {
      discoveryTimeoutMs: 1_000_000,
    })
    service.pick()
    hangs = true
    await passMs(100_000)
    expect(asked).toHaveLength(2)
    for (let i = 0; i < 5; i++) expect((await service.choose())?.instance.host).toBe('a')
    expect([asked.length, service.state, service.stats().cacheMisses]).toEqual([2, 'ready', 1])
  })

  it('goes on after an error, which is told', async () => {
    let fails = true
    const { asked, service } = setup(() => {
      if (fails) throw new Error('down')
      return list
    })
    const errors: unknown[] = []
    service.on('discoveryError', ({ error }) => errors.push((error as Error).message))
    service.pick()
    await passMs(31_000)
    expect(errors).toEqual(['down', 'down', 'down'])
    fails = false
    await passMs(30_000)
    expect(asked).toHaveLength(4)
    expect(service.pick()?.instance.host).toBe('a')
  })

  it('ends with the service', async () => {
    const { asked, lb, service } = setup(() => list)
    service.pick()
    await lb.close()
    expect(vi.getTimerCount()).toBe(0)
    await passMs(100_000)
    expect(asked).toHaveLength(1)
  })

  it('keeps no process alive', () => {
    const unref = vi.fn()
    vi.stubGlobal('setTimeout', () => ({ unref }))
    setup(() => list).service.pick()
    expect(unref).toHaveBeenCalled()
  })

  it('tells how many polls have brought nothing', async () => {
    let hangs = false
    const { service } = setup(() => (hangs ? new Promise<never>(() => {}) : list), {
      discoveryTimeoutMs: 1_000_000,
    })
    expect(service.stats().missedCycles).toBeNaN()
    service.pick()
    hangs = true
    await passMs(29_999)
    expect(service.stats()).toMatchObject({ missedCycles: 0, listAgeMs: 29_999 })
    await passMs(1)
    expect(service.stats().missedCycles).toBe(1)
    await passMs(60_000)
    expect(service.stats().missedCycles).toBe(3)
    expect(setup(() => list, { polling: false }).service.stats().missedCycles).toBeNaN()
  })

  it('asks nothing while an answer goes on', async () => {
    let asked = 0
    const discovery = async function* () {
      asked++
      yield list
      await new Promise(() => {})
    }
    const client = { name: 'stream', get: discovery as never }
    const lb = createLoadBalancer({ services: { s: { discovery: client, polling: {} } } })
    await lb.service('s').choose()
    await passMs(100_000)
    expect(asked).toBe(1)
  })

  it('on Workers has no timer: who finds the list an interval old asks', async () => {
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    const { asked, service } = setup(() => list)
    service.pick()
    expect(vi.getTimerCount()).toBe(0)
    await passMs(29_999)
    service.pick()
    expect(asked).toHaveLength(1)
    await passMs(1)
    service.pick()
    expect(asked).toHaveLength(2)
  })

  it('takes the place of refetchMs', async () => {
    const { asked, service } = setup(() => list, {
      healthCheck: { ping: 'dummy', refetchMs: 100 },
      polling: { intervalMs: 10_000 },
    })
    service.pick()
    await passMs(9_000)
    expect(asked).toEqual([0, 1_000])
  })

  it.each([
    [{ intervalMs: 0 }, 'intervalMs'],
    [{ initialDelayMs: -1 }, 'initialDelayMs'],
    [{ every: 1 }, 'every'],
  ])('%j is refused', (polling, option) => {
    const make = () => setup(() => list, { polling: polling as never })
    expect(make).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: `services.s.polling.${option}` }))
  })
})
