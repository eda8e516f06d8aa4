/** @module Ten minutes with Consul, in virtual time: everything changes and fails at random, the list is always right. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { consulDiscovery } from '../../bindings/discovery/consul/index.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { entry } from './consul-setup.js'
import { FakeConsul } from './fakes/consul.js'
import { inProcess } from './in-process.js'

/** Lehmer's, so that a failure can be repeated. */
function seeded(seed: number): () => number {
  return () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
}

describe('soak', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([[1], [2], [3]])('seed %d: after each change the list is the registry’s within a second', async (seed) => {
    const random = seeded(seed)
    const below = (n: number) => Math.floor(random() * n)
    const fake = new FakeConsul({ random })
    const fetch = inProcess(fake)
    const discovery = consulDiscovery({ fetch, random, waitMs: 20_000 })
    const lb = createLoadBalancer({ services: { orders: { discovery } }, clock: () => performance.now() })
    const service = lb.service('orders')
    for (let n = 0; n < 5; n++) fake.add('orders', entry(n))
    await service.choose()
    let outages = 0
    let changes = 0
    while (performance.now() < 600_000) {
      const chance = random()
      const n = below(12)
      if (chance < 0.4) fake.add('orders', entry(n, { weight: 1 + below(3) }))
      else if (chance < 0.7) fake.remove('orders', `orders-${n}`)
      else if (chance < 0.85)
        fake.setStatus('orders', `orders-${n}`, (['passing', 'critical'] as const)[below(2)] as 'passing')
      else if (chance < 0.9) fake.catalog.restore(BigInt(1 + below(50)))
      else if (chance < 0.95) fake.catalog.wakeAll()
      else fake.isChurning = !fake.isChurning
      changes++
      if (random() < 0.05) {
        outages++
        const before = service.instances().length
        fake.fault = () =>
          random() < 0.5 ? new Response('No cluster leader', { status: 500 }) : Promise.reject(new Error('gone'))
        fake.catalog.wakeAll()
        await vi.advanceTimersByTimeAsync(below(8_000))
        // Whatever was true before, nobody is lost for a failure.
        if (before > 0) expect(service.instances().length).toBeGreaterThan(0)
        fake.fault = undefined
        // Until it has asked again: the longest pause is half as long again as 30 s.
        const asked = fake.requests.length
        for (let ms = 0; ms < 45_000 && fake.requests.length === asked; ms += 1_000) {
          await vi.advanceTimersByTimeAsync(1_000)
        }
        expect(fake.requests.length).toBeGreaterThan(asked)
      }
      await vi.advanceTimersByTimeAsync(1_000)
      const listed = service.instances().map(({ instanceId }) => instanceId)
      expect(listed).toEqual(fake.listed('orders'))
      expect(new Set(listed).size).toBe(listed.length)
      for (let picks = 0; picks < 5; picks++) {
        const lease = service.pick()
        if (lease === undefined) expect(listed).toEqual([])
        else expect(listed).toContain(lease.instance.instanceId)
        lease?.done()
      }
    }
    expect(outages).toBeGreaterThan(8)
    expect(changes).toBeGreaterThan(200)
    await lb.close()
    fake.close()
  })
})
