/** @module etcd for ten minutes of virtual time: changes, outages, compactions. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { clientOf, elapse, settled } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** mulberry32 */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test.each([1, 2, 3])(
  'ten minutes, seed %d: the list is the registry, and nobody who has gone is picked',
  async (seed) => {
    const random = seeded(seed)
    const fake = new FakeEtcd()
    const client = clientOf(fake, { random })
    const lb = createLoadBalancer({ seed, services: { orders: { discovery: client } } })
    const service = lb.service('orders')
    fake.add('orders', { instanceId: 'i0', host: '10.0.0.0', port: 80 })
    await Promise.all([service.choose(), settled()])
    const endAt = performance.now() + 600_000
    let [changes, outages] = [0, 0]
    while (performance.now() < endAt) {
      const kind = random()
      const id = `i${Math.floor(random() * 20)}`
      let boundMs = 1_000
      if (kind < 0.45) {
        const port = 80 + Math.floor(random() * 3)
        fake.add('orders', {
          instanceId: id,
          host: `10.0.0.${id.slice(1)}`,
          port,
          weight: 1 + Math.floor(random() * 3),
        })
      } else if (kind < 0.85) fake.remove('orders', id)
      else if (kind < 0.9) fake.compact()
      else {
        outages++
        fake.fault = () => new Response('', { status: 503 })
        fake.endWatches()
        if (random() < 0.5) fake.remove('orders', id)
        await elapse(random() * 10_000)
        fake.fault = () => undefined
        // The longest wait of all: 30 s on average, and half of it more.
        boundMs = 45_000
      }
      changes++
      await elapse(boundMs)
      const listed = fake.listed('orders')
      expect(
        service
          .instances()
          .map(({ instanceId }) => instanceId)
          .sort(),
      ).toEqual(listed)
      const addresses = service.instances().map(({ host, port }) => `${host}:${port}`)
      expect(new Set(addresses).size).toBe(addresses.length)
      for (let i = 0; i < 3; i++) {
        const lease = service.pick()
        lease?.done()
        if (listed.length > 0) expect(listed).toContain(lease?.instance.instanceId)
      }
      await elapse(random() * 4_000)
    }
    expect(changes).toBeGreaterThan(50)
    expect(outages).toBeGreaterThan(3)
    expect(fake.openStreams).toBe(1)
    await lb.close()
    await settled()
    expect(fake.openStreams).toBe(0)
    fake.close()
    expect(vi.getTimerCount()).toBe(0)
  },
  30_000,
)
