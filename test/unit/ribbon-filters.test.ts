/** What Ribbon's filters and its percentiles compute, by themselves; test/conformance has them within a service. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serverListSubset, zoneAffinity } from '../../bindings/index.js'
import { toInstance } from '../../bindings/instance.js'
import { PercentilesPublisher, percentilesOf } from '../../bindings/policy/response-percentiles.js'
import { nextSubset } from '../../bindings/supplier/server-list-subset.js'
import { expectedSubset, type Load } from '../model/server-list-subset.js'

const names = (count: number) => Array.from({ length: count }, (_, i) => `s${i}`)

const IDLE: Load = { failures: 0, active: 0 }
const TERMS = { size: 20, forceEliminatePercent: 0.1, failureThreshold: 0, connectionThreshold: 0, biased: false }

describe('the next subset', () => {
  it('leaves, stays and is drawn as the model says', () => {
    const load = fc.record({ failures: fc.nat({ max: 3 }), active: fc.nat({ max: 3 }) })
    const given = fc.record({
      loads: fc.array(load, { minLength: 14, maxLength: 14 }),
      current: fc.subarray(names(14)),
      pool: fc.subarray(names(14), { minLength: 1 }),
      size: fc.integer({ min: 1, max: 12 }),
      tenths: fc.integer({ min: 0, max: 10 }),
      failureThreshold: fc.nat({ max: 3 }),
      connectionThreshold: fc.nat({ max: 3 }),
      biased: fc.boolean(),
      draws: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 12, maxLength: 12 }),
    })
    fc.assert(
      fc.property(given, ({ loads, current, pool, size, tenths, draws, ...terms }) => {
        const of = new Map(names(14).map((id, i) => [id, loads[i] as Load]))
        let drawn = 0
        const next = nextSubset(new Set(current), pool, {
          ...terms,
          size,
          forceEliminatePercent: tenths / 10,
          loadOf: (id) => of.get(id) as Load,
          draw: () => draws[drawn++] as number,
        })
        // Tenths of up to 12, as Ribbon's floats come out: never below the whole number.
        const least = Math.floor((size * tenths) / 10)
        const expected = expectedSubset(current, pool, of, { ...terms, size, least })
        const joined = [...next.members].filter((id) => !expected.staying.includes(id))
        expect([...next.members].filter((id) => expected.staying.includes(id)).toSorted()).toEqual(
          expected.staying.toSorted(),
        )
        expect(next.forced).toBe(expected.forced)
        expect(next.eliminated).toBe(expected.leaving.length)
        expect(joined.length).toBe(expected.missing)
        for (const id of joined) expect(expected.newcomers).toContain(id)
        expect(drawn).toBe(expected.missing < expected.newcomers.length ? expected.missing : 0)
      }),
      { seed: 20260101, numRuns: 1000 },
    )
  })

  it('multiplies shares as floats, so that 0.29 of 100 are 29', () => {
    const all = names(200)
    const { forced } = nextSubset(new Set(all.slice(0, 100)), all, {
      ...TERMS,
      size: 100,
      forceEliminatePercent: 0.29,
      loadOf: () => IDLE,
      draw: () => 0,
    })
    expect(forced).toBe(29)
  })

  /** Every sequence of draws of a subset of 2 of 3, each as likely as the others: 3 · 2, or 3 · 3 in Ribbon. */
  it.each([
    [false, { s0: 4, s1: 4, s2: 4 }],
    [true, { s0: 6, s1: 7, s2: 5 }],
  ])('draws each alike, or with Ribbon’s shuffle (%s) not', (biased, counts) => {
    const counted: Record<string, number> = { s0: 0, s1: 0, s2: 0 }
    for (const first of [0, 1, 2]) {
      for (const second of biased ? [0, 1, 2] : [0, 1]) {
        const draws = [first / 3, second / (biased ? 3 : 2)]
        const terms = { ...TERMS, size: 2, biased, loadOf: () => IDLE, draw: () => (draws.shift() as number) + 0.01 }
        for (const id of nextSubset(new Set(), names(3), terms).members) counted[id] = (counted[id] as number) + 1
      }
    }
    expect(counted).toEqual(counts)
  })
})

describe('percentiles', () => {
  /** Ribbon 2.7, netflix-statistics 0.1 DataBuffer.computePercentile. */
  it.each([
    [
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      [2, 3.5, 6, 8.5, 10, 10, 10, 10, 10],
    ],
    [
      [20, 10],
      [12, 15, 20, 20, 20, 20, 20, 20, 20],
    ],
    [[100], Array(9).fill(100)],
  ])('of %j', (samples, expected) => {
    const found = percentilesOf(samples)
    expect([10, 25, 50, 75, 90, 95, 98, 99, 99.5].map((percent) => found[percent as 10])).toEqual(expected)
  })

  it('of a thousand, at their exact places', () => {
    const found = percentilesOf(Array.from({ length: 1_000 }, (_, i) => 1_000 - i))
    expect([found[10], found[50], found[99], found[99.5]]).toEqual([101, 501, 991, 996])
  })

  it('keep the last samples of a period', () => {
    const publisher = new PercentilesPublisher(3, 100, 'keeps', 0)
    for (const ms of [900, 800, 1, 2, 3]) publisher.add(ms, 10)
    expect(publisher.at(100)).toMatchObject({ 10: 1.3, 50: 2.5, 99.5: 3 })
  })

  it('are of the period before, however late somebody looks', () => {
    const publisher = new PercentilesPublisher(3, 100, 'keeps', 0)
    publisher.add(5, 10)
    expect(publisher.at(99)[50]).toBeNaN()
    publisher.add(7, 110)
    expect([publisher.at(199)[50], publisher.at(200)[50], publisher.at(9_999)[50]]).toEqual([5, 7, 7])
    const zeros = new PercentilesPublisher(3, 100, 'zeros', 0)
    zeros.add(5, 10)
    expect([zeros.at(100)[50], zeros.at(200)[50]]).toEqual([5, 0])
    zeros.add(5, 210)
    expect(zeros.at(9_999)[50]).toBe(0)
  })
})

describe('a filter outside of a service', () => {
  const list = ['a', 'B', 'a'].map((zone, i) => toInstance({ host: 'h', port: i, zone }, 's', 's'))

  it('zoneAffinity knows no statistics: it keeps the zone', () => {
    expect(zoneAffinity({ zone: 'b' }).filter(list, {})).toEqual({ list: [list[1]], reason: 'keeps zone "b"' })
    expect(zoneAffinity({ zone: 'c' }).filter(list, {})).toMatchObject({ list, fellBack: true })
    expect(zoneAffinity({ zone: 'c', exclusive: true }).filter(list, {})).toMatchObject({ list: [] })
    expect(zoneAffinity().filter(list, {})).toEqual({ list, reason: 'own zone unset' })
  })

  it('serverListSubset keeps the first', () => {
    expect(serverListSubset({ size: 2 }).filter(list, {})).toEqual(list.slice(0, 2))
  })
})

describe('an option', () => {
  it.each([
    [() => zoneAffinity({ maxBlackOutShare: 1.5 }), 'zoneAffinity.maxBlackOutShare'],
    [() => zoneAffinity({ minAvailable: 0.5 }), 'zoneAffinity.minAvailable'],
    [() => zoneAffinity({ periodMs: 0 }), 'zoneAffinity.periodMs'],
    [() => serverListSubset({ size: 0 }), 'serverListSubset.size'],
    [() => serverListSubset({ forceEliminatePercent: 10 }), 'serverListSubset.forceEliminatePercent'],
    [() => serverListSubset({ failureThreshold: -1 }), 'serverListSubset.failureThreshold'],
  ])('out of range is named: %s', (make, option) => {
    expect(make).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option }))
  })
})
