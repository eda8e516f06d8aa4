/** Weights that change over rampMs: shares of traffic over time, by an injected clock. */

import { describe, expect, it } from 'vitest'
import {
  aperture,
  createLoadBalancer,
  type LoadBalancerOptions,
  type ServiceOptions,
  simpleDiscovery,
  type WeightedOptions,
  weighted,
} from '../../bindings/index.js'

const RAMP_MS = 20_000

/** Hosts a, b, c, … with these weights. */
const weighing = (weights: readonly number[]) =>
  weights.map((weight, i) => ({ url: `http://${String.fromCharCode(97 + i)}`, weight }))

function ramped(weights: readonly number[], options: ServiceOptions = {}, balancer: LoadBalancerOptions = {}) {
  let nowMs = 0
  let reads = 0
  const suppliers = [weighted({ rampMs: RAMP_MS })]
  const lb = createLoadBalancer({
    seed: 4,
    clock: () => {
      reads++
      return nowMs
    },
    ...balancer,
    services: { orders: { instances: weighing(weights), suppliers, ...options } },
  })
  const service = lb.service('orders')
  const weight = (host = 'a') => service.stats().instances.find(({ instanceId }) => instanceId === `${host}:80`)?.weight
  /** Of `count` picks, each over before the next. */
  const shareOf = (host: string, count: number) => {
    let own = 0
    for (let i = 0; i < count; i++) {
      const lease = service.pick()
      if (lease?.instance.host === host) own++
      lease?.done()
    }
    return own / count
  }
  const at = (ms: number) => {
    nowMs = ms
  }
  return {
    service,
    weight,
    shareOf,
    at,
    reads: () => reads,
    update: (to: readonly number[]) => service.update(weighing(to)),
  }
}

describe('a weight that goes from 1 to 100 beside another 1', () => {
  it.each(['round-robin', 'random', 'least-request', 'peak-ewma', 'dynamic-weight', 'relative-weight'])(
    'moves its share evenly from 1/2 to 100/101 with %s',
    (policy) => {
      const { shareOf, at, update } = ramped([1, 1], { policy })
      expect(Math.abs(shareOf('a', 4_000) - 0.5)).toBeLessThan(0.03)
      update([100, 1])
      expect(Math.abs(shareOf('a', 4_000) - 0.5)).toBeLessThan(0.03)
      for (let step = 1; step <= 20; step++) {
        at((step * RAMP_MS) / 20)
        const expected = 0.5 + (100 / 101 - 0.5) * (step / 20)
        expect(Math.abs(shareOf('a', 4_000) - expected), `step ${step}`).toBeLessThan(0.04)
      }
      at(10 * RAMP_MS)
      expect(Math.abs(shareOf('a', 10_100) - 100 / 101)).toBeLessThan(0.005)
    },
  )

  it('has the weight in force in stats(), with two digits on the way, and the exact one at the end', () => {
    const { weight, at, update } = ramped([1, 1])
    update([100, 1])
    expect(weight()).toBe(1)
    at(RAMP_MS / 2)
    // Half way by share: q = ½·2 / (½·101 + ½·2) = 0.0194 of the way by weight, 1 + 99 q = 2.92.
    expect(weight()).toBe(2.9)
    expect(weight('b')).toBe(1)
    at(0.9 * RAMP_MS)
    // q = 0.9·2 / (0.1·101 + 0.9·2) = 0.151: 15.98.
    expect(weight()).toBe(16)
    at(RAMP_MS)
    expect(weight()).toBe(100)
  })

  it('moves at picks alone, at most every twentieth of the ramp', () => {
    const { weight, service, at, update } = ramped([1, 1])
    update([100, 1])
    at(999)
    expect(weight()).toBe(1)
    at(1_000)
    service.pick()?.done()
    expect(weight()).toBeGreaterThan(1)
    const before = weight()
    at(1_999)
    expect(weight()).toBe(before)
    at(2_000)
    expect(weight()).toBeGreaterThan(before as number)
  })
})

describe('a ramp', () => {
  it('is of the weights that the source has, not of what an aperture makes of them', () => {
    const suppliers = [weighted({ rampMs: RAMP_MS }), aperture({ clients: 3, index: 0, minAperture: 2 })]
    const tens = [10, 10, 10, 10]
    const { service, weight, at } = ramped(tens, { policy: 'random', suppliers })
    const weights = () => {
      service.pick()?.done()
      return ['a', 'b', 'c', 'd'].map(weight)
    }
    const before = weights()
    const labelled = (all: readonly number[]) =>
      weighing(all).map((each, i) => (i === 1 ? { ...each, metadata: { label: 'x' } } : each))
    service.update(labelled(tens))
    for (const ms of [1_000, 10_000, RAMP_MS]) {
      at(ms)
      expect(weights()).toEqual(before)
    }
    // A true change is on its way between the two weights, times the same part.
    service.update(labelled([10, 20, 10, 10]))
    at(1.5 * RAMP_MS)
    const [, halfway] = weights() as [number, number]
    const part = (before[1] as number) / 10
    expect(halfway / part).toBeGreaterThan(10)
    expect(halfway / part).toBeLessThan(20)
    at(2 * RAMP_MS)
    expect((weights()[1] as number) / part).toBeCloseTo(20, 9)
  })

  it('goes on from where it is when the clock goes back', () => {
    const { weight, at, update } = ramped([1, 1])
    at(3_600_000)
    update([100, 1])
    at(3_600_000 + RAMP_MS / 2)
    expect(weight()).toBe(2.9)
    at(0)
    expect(weight()).toBe(2.9)
    at(RAMP_MS / 4)
    expect(weight()).toBeGreaterThan(2.9)
    at(RAMP_MS / 2)
    expect(weight()).toBe(100)
  })

  it('goes on from the weight in force when the weight changes again', () => {
    const { weight, at, update } = ramped([1, 1])
    update([100, 1])
    at(RAMP_MS / 2)
    expect(weight()).toBe(2.9)
    update([1, 1])
    expect(weight()).toBe(2.9)
    at(RAMP_MS)
    const halfway = weight() as number
    expect(halfway).toBeGreaterThan(1)
    expect(halfway).toBeLessThan(2.9)
    at(1.5 * RAMP_MS)
    expect(weight()).toBe(1)
  })

  it('is not begun again by a refresh that says the same, nor by another weight', () => {
    const { weight, at, update } = ramped([1, 1])
    update([100, 1])
    at(RAMP_MS / 2)
    update([100, 1])
    update([100, 2])
    at(RAMP_MS)
    expect(weight()).toBe(100)
    expect(weight('b')).toBeLessThan(2)
    at(1.5 * RAMP_MS)
    expect(weight('b')).toBe(2)
  })

  it('brings a drained instance in, and takes one out', () => {
    const { shareOf, at, update } = ramped([0, 1], { policy: 'random' })
    update([1, 1])
    expect(shareOf('a', 100)).toBe(0)
    at(RAMP_MS / 2)
    expect(Math.abs(shareOf('a', 4_000) - 0.25)).toBeLessThan(0.03)
    at(RAMP_MS)
    expect(Math.abs(shareOf('a', 4_000) - 0.5)).toBeLessThan(0.03)
    update([0, 1])
    at(1.5 * RAMP_MS)
    expect(Math.abs(shareOf('a', 4_000) - 0.25)).toBeLessThan(0.03)
    at(2 * RAMP_MS)
    expect(shareOf('a', 1_000)).toBe(0)
  })

  it('keeps equal shares equal when all weights change alike', () => {
    const { weight, at, update } = ramped([1, 1, 1])
    update([50, 50, 50])
    for (let step = 0; step <= 20; step++) {
      at((step * RAMP_MS) / 20)
      expect(weight('b')).toBe(weight('a'))
      expect(weight('c')).toBe(weight('a'))
    }
    expect(weight()).toBe(50)
  })

  it('goes from and to a list of zeroes', () => {
    const { weight, shareOf, at, update } = ramped([0, 0], { policy: 'random' })
    update([4, 4])
    expect(Math.abs(shareOf('a', 4_000) - 0.5)).toBeLessThan(0.03)
    at(RAMP_MS / 2)
    expect(weight()).toBe(2)
    at(RAMP_MS)
    update([0, 0])
    at(2 * RAMP_MS)
    expect(weight()).toBe(0)
    expect(Math.abs(shareOf('a', 4_000) - 0.5)).toBeLessThan(0.03)
  })

  it('is not for a new instance, nor for one that has left and comes back', () => {
    const { service, weight, at, update } = ramped([1, 1])
    update([1, 1, 7])
    expect(weight('c')).toBe(7)
    update([100, 1, 7])
    at(RAMP_MS / 4)
    expect(weight()).toBeLessThan(100)
    service.update(weighing([1, 1, 7]).slice(1))
    service.update(weighing([50, 1, 7]))
    expect(weight()).toBe(50)
    at(RAMP_MS)
    expect(weight()).toBe(50)
  })

  it('works for discovered lists', async () => {
    let nowMs = 0
    const lists = { orders: weighing([1, 1]) }
    const lb = createLoadBalancer({
      seed: 4,
      clock: () => nowMs,
      discovery: simpleDiscovery(lists),
      defaults: { suppliers: [weighted({ rampMs: '20s' } as unknown as WeightedOptions)] },
      services: { orders: {} },
    })
    const service = lb.service('orders')
    const weight = () => service.stats().instances[0]?.weight
    await service.refresh()
    lists.orders = weighing([100, 1])
    await service.refresh()
    expect(weight()).toBe(1)
    nowMs = RAMP_MS / 2
    expect(weight()).toBe(2.9)
    nowMs = RAMP_MS
    expect(weight()).toBe(100)
    await lb.close()
  })

  it('goes by whole numbers where weights are SCLB ints', () => {
    for (const compat of [['weighted-java-int'], ['weighted-expanded']]) {
      const { weight, shareOf, at, update } = ramped([1, 1], {}, { compat })
      update([100, 1])
      at(RAMP_MS / 2)
      expect(weight()).toBe(3)
      expect(shareOf('a', 400)).toBe(0.75)
    }
  })

  it('costs nothing when it is over: picks look at no clock again', () => {
    const { shareOf, at, reads, update } = ramped([1, 1])
    const readsOf = (act: () => void) => {
      const before = reads()
      act()
      return reads() - before
    }
    expect(readsOf(() => shareOf('a', 100))).toBe(0)
    update([100, 1])
    expect(readsOf(() => shareOf('a', 100))).toBeGreaterThan(99)
    at(RAMP_MS)
    shareOf('a', 1)
    expect(readsOf(() => shareOf('a', 100))).toBe(0)
  })

  it('is not there without rampMs', () => {
    const { weight, update } = ramped([1, 1], { suppliers: ['weighted'] })
    update([100, 1])
    expect(weight()).toBe(100)
  })

  it('refuses a time that is none', () => {
    expect(() => weighted({ rampMs: -1 })).toThrow('weighted.rampMs')
  })
})
