/** @module Ten minutes of a Nacos server that changes, fails and comes back, in virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { FakeNacos } from './fakes/nacos.js'
import { inProcess } from './in-process.js'

const POLL_MS = 2_000
const MINUTES = 10

/** Xorshift, seeded. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

describe('soak', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([7])('seed %i: the list is what the server lists, within one interval, and nobody twice', async (seed) => {
    const random = randomOf(seed)
    const fake = new FakeNacos()
    const url = ['http://one:8848', 'http://two:8848']
    const user = { username: 'u', password: 'p', ttlMs: 60_000 }
    fake.logins.user = user
    const { username, password } = user
    const discovery = nacosDiscovery({ url, fetch: inProcess(fake), pollMs: POLL_MS, random, username, password })
    const lb = createLoadBalancer({ services: { orders: { discovery } }, seed, clock: () => performance.now() })
    const service = lb.service('orders')
    service.pick()
    const known: string[] = []
    let isDown = false
    let steps = 0
    const endsAt = performance.now() + MINUTES * 60_000
    while (performance.now() < endsAt) {
      steps++
      const dice = random()
      if (dice < 0.45) {
        const id = `i-${steps}`
        known.push(id)
        fake.add('orders', { instanceId: id, host: `10.0.${steps >> 8}.${steps & 255}`, port: 80, weight: 1 })
      } else if (dice < 0.8 && known.length > 0) {
        fake.remove('orders', known.splice(Math.floor(random() * known.length), 1)[0] as string)
      } else if (dice < 0.85) {
        fake.logins.forget()
        // One that was given just now is not replaced at once.
        isDown = true
      } else if (dice < 0.9) {
        fake.apis = new Set(random() < 0.5 ? ['v1'] : ['v3'])
      } else {
        isDown = true
        fake.fault = () => {
          if (random() < 0.5) throw new TypeError('fetch failed')
          return new Response('server is DOWN now', { status: 503 })
        }
        const before = service.instances().map(({ instanceId }) => instanceId)
        await vi.advanceTimersByTimeAsync(random() * 20_000)
        // Nothing is taken from the list while nothing is heard.
        expect(service.instances().map(({ instanceId }) => instanceId)).toEqual(before)
        fake.fault = undefined
      }
      // After an outage the longest wait may have begun just before its end.
      await vi.advanceTimersByTimeAsync(isDown ? POLL_MS * 6 : POLL_MS)
      isDown = false
      const listed = fake.listed('orders')
      const ids = service.instances().map(({ instanceId }) => instanceId)
      expect(ids).toEqual(listed)
      expect(new Set(ids).size).toBe(ids.length)
      for (let i = 0; i < 20; i++) {
        const lease = service.pick()
        if (lease === undefined) expect(listed).toEqual([])
        else expect(listed).toContain(lease.instance.instanceId)
        lease?.done()
      }
    }
    expect(steps).toBeGreaterThan(100)
    await lb.close()
    const asked = fake.log.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(fake.log.length).toBe(asked)
  })
})
