/** What is told of instances that checks and breakers keep out, and what `explain` says of them. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ServiceOptions } from '../../bindings/types/options.js'
import { type Bench, bench, refused } from './ribbon-service.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

const HEALTH = { healthCheck: { repeat: false, intervalMs: 9 } }

function watched(
  options: ServiceOptions = {},
  policy: NonNullable<ServiceOptions['policy']> = 'availability-filtering',
) {
  const one = bench('a b', policy, [], {}, options)
  const told: string[] = []
  one.service.on('eject', ({ instance, forMs }) => told.push(`-${instance.host} ${forMs}`))
  one.service.on('restore', ({ instance }) => told.push(`+${instance.host}`))
  const ejectedForMs = () => one.service.stats().instances[0]?.ejectedForMs
  return { ...one, told, ejectedForMs }
}

const fail = ({ answer }: Bench) => answer('a', 1, { error: refused() })

describe('breakers', () => {
  it('are told when they trip and close, and by ejectedForMs while they keep out', () => {
    const one = watched()
    one.trip('a')
    one.time.now += 4_000
    expect(one.ejectedForMs()).toBe(4_000)
    one.time.now += 6_000
    expect(one.ejectedForMs()).toBe(0)
    expect(one.told).toEqual(['-a 10000'])
    one.answer('a', 1)
    expect(one.told).toEqual(['-a 10000', '+a'])
    expect(one.service.timeline().flatMap(({ event }) => (/ed$/.test(event) ? [event] : []))).toEqual(
      expect.arrayContaining(['ejected', 'restored']),
    )
  })

  it('are told again when they stay open for longer, and not when nothing changes', () => {
    const one = watched()
    for (let i = 0; i < 7; i++) {
      fail(one)
      one.time.now += 0.1
    }
    expect(one.told).toEqual(['-a 10000', '-a 20000', '-a 30000'])
    expect(one.ejectedForMs()).toBeCloseTo(0.5)
  })

  it('are told again when they trip after their time was over', () => {
    const one = watched({ serverStats: { maxTripMs: 10_000 } })
    one.trip('a')
    one.time.now += 10_000
    fail(one)
    expect(one.told).toEqual(['-a 10000', '-a 10000'])
    expect(one.ejectedForMs()).toBe(0)
    one.time.now += 1
    expect(one.ejectedForMs()).toBe(1)
  })

  it('and checks are told as one: out with the first, back with the last', async () => {
    const one = watched(HEALTH)
    await one.down()
    one.trip('a')
    await one.down('a')
    expect(one.told).toEqual(['-a 10000'])
    await one.down()
    expect(one.told).toEqual(['-a 10000'])
    one.time.now += 10_000
    one.answer('a', 1)
    expect(one.told).toEqual(['-a 10000', '+a'])
  })

  it('do not bring back whom a check keeps out', async () => {
    const one = watched(HEALTH)
    await one.down()
    const held = [1, 2, 3, 4].map(() => one.service.pick({ previous: one.service.instances().slice(1) }))
    await one.down('a')
    for (const lease of held.slice(1)) lease?.done({ error: refused() })
    held[0]?.done({ status: 200 })
    expect(one.told).toEqual(['-a 9'])
    await one.down()
    expect(one.told).toEqual(['-a 9', '+a'])
  })

  it.each<[string, NonNullable<ServiceOptions['policy']>, ServiceOptions, number]>([
    ['the policy goes by them', 'zone-avoidance', {}, 1],
    ['a policy inside of it does', { type: 'retry-rule', policy: 'best-available' }, {}, 1],
    ['a supplier does', 'round-robin', { suppliers: [{ type: 'zone-affinity', zone: 'x' }] }, 1],
    ['the service has the statistics', 'round-robin', { serverStats: true }, 1],
    ['nothing goes by them', 'filtering', {}, 0],
    ['a supplier only counts failures', 'round-robin', { suppliers: ['server-list-subset'] }, 0],
  ])('are told where %s', (_, policy, options, count) => {
    const one = watched(options, policy)
    one.trip('a')
    expect(one.told).toHaveLength(count)
  })

  it('are a note of explain while they are open, where the policy goes by them', async () => {
    const one = watched()
    one.trip('a')
    one.time.now += 4_000
    const id = one.service.instances()[0]?.instanceId
    expect((await one.service.explain()).notes).toEqual([`"${id}": breaker open for another 6000 ms`])
    one.time.now += 6_000
    expect((await one.service.explain()).notes).toEqual([])
    const plain = watched({ serverStats: true }, 'round-robin')
    plain.trip('a')
    expect((await plain.service.explain()).notes).toEqual([])
  })
})

it.each(['zone-avoidance', 'zone-aware', { type: 'filtering', predicates: ['zone-avoidance'] }] as const)(
  'explain does not call zones unused where the policy is %j',
  async (policy) => {
    expect((await bench('a1 b2', policy).service.explain()).notes).toEqual([])
    expect((await bench('a1 b2', 'round-robin').service.explain()).notes).toHaveLength(1)
  },
)

describe('whom a check leaves in the list as marked', () => {
  it('is excluded and no candidate where the policy passes it over', async () => {
    const one = bench('a b c', 'round-robin', ['ribbon-ten-probes'], {}, HEALTH)
    await one.down('a')
    const { candidates, excluded } = await one.service.explain()
    expect(candidates.map(({ host }) => host)).toEqual(['b', 'c'])
    expect(excluded).toMatchObject([{ by: 'health-check', reason: 'health check: status 500' }])
    expect(one.service.stats().candidates).toBe(2)
  })

  it('is a candidate where the policy may choose it', async () => {
    const one = bench('a b c', 'best-available', ['ribbon-best-ignores-alive'], {}, HEALTH)
    await one.down('a')
    const { candidates, excluded } = await one.service.explain()
    expect([candidates.length, excluded.length, one.service.stats().candidates]).toEqual([3, 0, 3])
  })
})

it('latencies have a limit', () => {
  const one = bench('a', 'round-robin', [], {}, { serverStats: true })
  for (const latencyMs of [1e308, 1e308]) one.answer('a', latencyMs)
  const { latencyMs, server } = one.service.stats().instances[0] ?? {}
  expect(server?.responseTimes).toMatchObject({ meanMs: 2 ** 31, variance: 0 })
  expect(latencyMs).toBe(2 ** 31)
})

it('compat takes both groups and ids in one array', () => {
  const { service } = bench('a', 'round-robin', ['spring', 'ribbon'])
  expect(service.pick()?.instance.host).toBe('a')
})
