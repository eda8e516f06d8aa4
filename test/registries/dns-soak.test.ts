import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dnsDiscovery } from '../../bindings/discovery/dns/index.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { FakeDoh } from './fakes/doh.js'
import { inProcess } from './in-process.js'

const DOH = 'http://name.server/dns-query'
const TTL_MS = 5_000
/** The TTL and a tenth of it. */
const BOUND_MS = 1.1 * TTL_MS + 100

/** Park and Miller's generator. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % (2 ** 31 - 1)
    return state / (2 ** 31 - 1)
  }
}

describe('10 minutes of changes and outages', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([1, 2, 3])('the list is what the name server says, within the bound (seed %i)', async (seed) => {
    const random = seeded(seed)
    const fake = new FakeDoh({ ttl: TTL_MS / 1_000 })
    const discovery = dnsDiscovery({
      name: '_http._tcp.{service}.lan',
      resolver: { doh: DOH },
      fetch: inProcess(fake),
      maxTtlMs: TTL_MS,
      random,
    })
    const lb = createLoadBalancer({ services: { orders: { discovery } } })
    const service = lb.service('orders')
    const ids = () => service.instances().map(({ instanceId }) => instanceId)
    const entries = new Map<string, { instanceId: string; host: string; port: number }>()
    const add = (i: number) => {
      const entry = { instanceId: `n${i}`, host: `n${i % 40}.lan`, port: 8_000 + (i % 40) }
      entries.set(entry.instanceId, entry)
      fake.add('orders', entry)
    }
    for (let i = 0; i < 10; i++) add(i)
    void service.choose()
    await vi.advanceTimersByTimeAsync(0)
    const end = performance.now() + 600_000
    for (let i = 10; performance.now() < end; i++) {
      const draw = random()
      if (draw < 0.45) add(i)
      else if (draw < 0.9) {
        const gone = [...entries.keys()][Math.floor(random() * entries.size)]
        if (gone !== undefined) fake.remove('orders', gone)
        if (gone !== undefined) entries.delete(gone)
      } else {
        const before = ids()
        fake.rcode = random() < 0.5 ? 2 : 5
        await vi.advanceTimersByTimeAsync(20_000 * random())
        expect(ids().length > 0 || before.length === 0 || fake.listed('orders').length === 0).toBe(true)
        fake.rcode = undefined
        // The longest pause after failures: four usual ones, and half of that for the draw.
        await vi.advanceTimersByTimeAsync(4 * TTL_MS * 1.5)
      }
      await vi.advanceTimersByTimeAsync(BOUND_MS)
      expect(ids()).toEqual(fake.listed('orders'))
      for (let pick = 0; pick < 5; pick++) {
        const id = service.pick()?.instance.instanceId
        if (id !== undefined) expect(fake.listed('orders')).toContain(id)
      }
    }
    await lb.close()
  })
})
