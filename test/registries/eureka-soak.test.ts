/** @module Ten minutes of a Eureka registry that changes and fails at random, in virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { world } from './eureka-world.js'

const INTERVAL_MS = 5_000
const CACHE_MS = 2_000
/** An answer, the server's cache, and what a question may take. */
const BOUND_MS = INTERVAL_MS + CACHE_MS + 500

function seeded(seed: number): () => number {
  return () => {
    seed = (seed * 48_271) % (2 ** 31 - 1)
    return seed / (2 ** 31 - 1)
  }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe.each([1, 2, 3])('ten minutes, seed %i', (seed) => {
  it('the list is what is registered within the bound, and nobody is picked after that', async () => {
    const random = seeded(seed)
    const { fake, client, asked } = world(
      { registryFetchIntervalMs: INTERVAL_MS, random },
      { responseCacheMs: CACHE_MS },
    )
    const lb = createLoadBalancer({ discovery: client })
    const services = ['orders', 'billing', 'stock']
    const numbers = [0, 0, 0]
    const idsOf = (service: string) =>
      lb
        .service(service)
        .instances()
        .map(({ instanceId }) => instanceId)
    const change = () => {
      const which = Math.floor(random() * services.length)
      const service = services[which] as string
      const listed = fake.listed(service)
      const some = listed[Math.floor(random() * listed.length)]
      const kind = random()
      if (some === undefined || kind < 0.4) {
        const n = (numbers[which] as number) + 1
        numbers[which] = n
        fake.add(service, { instanceId: `${service}-${n}`, host: `10.${which}.${n >> 8}.${n & 255}`, port: 80 })
      } else if (kind < 0.7) fake.remove(service, some)
      else if (kind < 0.85) fake.override(service, some, 'OUT_OF_SERVICE')
      else fake.register({ ...fake.instance(service, some), metadata: { weight: String(Math.floor(random() * 9)) } })
    }
    for (const service of services) lb.pick(service)
    const endsAt = Date.now() + 600_000
    let settled = 0
    while (Date.now() < endsAt) {
      for (let i = 0; i < 3; i++) {
        change()
        if (random() < 0.1) {
          fake.fault = () => {
            if (random() < 0.5) throw new Error('gone')
            return new Response(null, { status: 503 })
          }
          await vi.advanceTimersByTimeAsync(random() * 90_000)
          fake.fault = undefined
          // The longest wait after a failure.
          await vi.advanceTimersByTimeAsync(1.5 * 3 * INTERVAL_MS)
        }
        if (random() < 0.02) fake.forget()
        await vi.advanceTimersByTimeAsync(random() * 4_000)
        for (const service of services) {
          const ids = idsOf(service)
          expect(new Set(ids).size).toBe(ids.length)
        }
      }
      await vi.advanceTimersByTimeAsync(BOUND_MS)
      settled += services.length
      for (const service of services) {
        const listed = fake.listed(service)
        expect(idsOf(service)).toEqual(listed)
        const picked = new Set(Array.from({ length: 20 }, () => lb.pick(service)?.instance.instanceId))
        for (const id of picked) if (id !== undefined) expect(listed).toContain(id)
      }
    }
    expect(settled).toBeGreaterThan(30)
    const questions = asked()
    expect(questions.filter((each) => each.includes('delta')).length).toBeGreaterThan(30)
    await lb.close()
  })
})
