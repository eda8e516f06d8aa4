import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type InstanceInit, weighted } from '../../bindings/index.js'
import { slowStartShare } from '../../bindings/service/slow-starts.js'
import { handClock } from '../conformance/services.js'

/** Envoy's documentation of slow start mode: window 60 s; exact where it rounds. */
describe('the share of an instance of this age', () => {
  const windowMs = 60_000
  it.each([
    [15_000, 1, 0.25],
    [30_000, 1, 0.5],
    [15_000, 2, 0.5],
    [30_000, 2, 0.7071067811865476],
    [15_000, 1.5, 0.3968502629920499],
    [30_000, 1.5, 0.6299605249474366],
    [0, 1, 0.1],
    [3_000, 1, 0.1],
    [60_000, 1, 1],
    [90_000, 3, 1],
  ])('%i ms with aggression %d: %d', (ageMs, aggression, share) => {
    expect(slowStartShare(ageMs, { windowMs, aggression, minShare: 0.1 })).toBeCloseTo(share, 12)
  })

  it('is above 0 from the first millisecond on, also without a least share', () => {
    expect(slowStartShare(0, { windowMs, aggression: 1, minShare: 0 })).toBe(1 / 60_000)
  })
})

function balanced(count: number, policy: string, options: object = {}) {
  const clock = handClock()
  const lb = createLoadBalancer({
    clock: clock.now,
    seed: 1,
    services: {
      s: { instances: hosts(count), suppliers: [weighted({ slowStart: { windowMs: 60_000, ...options } })], policy },
    },
  })
  return { clock, service: lb.service('s') }
}

const hosts = (count: number): InstanceInit[] => Array.from({ length: count }, (_, i) => ({ host: `h${i}`, port: 80 }))

function shareOf({ service }: ReturnType<typeof balanced>, host: string, picks = 12_000): number {
  let count = 0
  for (let i = 0; i < picks; i++) {
    const lease = service.pick()
    if (lease?.instance.host === host) count++
    lease?.done()
  }
  return count / picks
}

const POLICIES = ['round-robin', 'random', 'smooth-round-robin', 'edf', 'stride', 'least-request']

describe.each(POLICIES)('%s', (policy) => {
  it('gives a new one beside one other a third of the traffic half way (envoy 19437), then half', () => {
    const one = balanced(1, policy)
    expect(shareOf(one, 'h0', 10)).toBe(1)
    one.service.update(hosts(2))
    expect(shareOf(one, 'h1')).toBeCloseTo(0.1 / 1.1, 1)
    one.clock.advance(30_000)
    expect(shareOf(one, 'h1')).toBeGreaterThan(0.31)
    one.clock.advance(30_000)
    expect(shareOf(one, 'h1')).toBeCloseTo(0.5, 1)
  })
})

describe('slow start', () => {
  it('ends with the shares of all the others: two of 132 (envoy 29259)', () => {
    const one = balanced(130, 'round-robin')
    one.service.pick()?.done()
    one.service.update(hosts(132))
    one.clock.advance(60_000)
    for (const host of ['h130', 'h131']) expect(shareOf(one, host, 132 * 50)).toBe(1 / 132)
  })

  it('is not for those of a first list', () => {
    const { service: all } = balanced(3, 'round-robin')
    expect(all.stats().instances.map(({ weight }) => weight)).toEqual([1, 1, 1])
  })

  it('goes on over refreshes, follows another weight, and ends when its instance leaves', () => {
    const { service: s, clock } = balanced(1, 'round-robin')
    const weights = () => s.stats().instances.map(({ weight }) => weight)
    s.update(hosts(2))
    clock.advance(30_000)
    expect(weights()).toEqual([1, 0.5])
    s.update([...hosts(1), { host: 'h1', port: 80, weight: 4 }])
    expect(weights()).toEqual([1, 2])
    s.update(hosts(1))
    s.update(hosts(2))
    expect(weights()).toEqual([1, 0.1])
    clock.advance(60_000)
    expect(weights()).toEqual([1, 1])
  })

  it('is not disturbed by the ramp of who had its row before', () => {
    const clock = handClock()
    const supplier = weighted({ rampMs: 60_000, slowStart: { windowMs: 1_000 } })
    const lb = createLoadBalancer({ clock: clock.now, services: { s: { instances: hosts(2), suppliers: [supplier] } } })
    const s = lb.service('s')
    s.update([...hosts(1), { host: 'h1', port: 80, weight: 10 }])
    clock.advance(30_000)
    s.stats()
    s.update(hosts(1))
    s.update([...hosts(1), { host: 'h2', port: 80 }])
    for (const ms of [1_000, 20_000, 60_000]) {
      clock.advance(ms)
      expect(s.stats().instances.map(({ weight }) => weight)).toEqual([1, 1])
    }
  })

  it('stands still while the clock goes back', () => {
    const { service: s, clock } = balanced(1, 'round-robin')
    const weights = () => s.stats().instances.map(({ weight }) => weight)
    s.update(hosts(2))
    clock.advance(30_000)
    expect(weights()).toEqual([1, 0.5])
    clock.advance(-3_600_000)
    expect(weights()).toEqual([1, 0.5])
    clock.advance(30_000)
    expect(weights()).toEqual([1, 1])
  })

  it.each([
    [{}, 'windowMs'],
    [{ windowMs: 0 }, 'windowMs'],
    [{ windowMs: 1, aggression: 0 }, 'aggression'],
    [{ windowMs: 1, minShare: 2 }, 'minShare'],
  ])('%j is an error that names %s', (slowStart, name) => {
    expect(() => weighted({ slowStart: slowStart as { windowMs: number } })).toThrow(name)
  })
})
