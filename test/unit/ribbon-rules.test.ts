/** Ribbon's rules as policies: the vectors of its source, and each quirk of theirs from both sides. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LIST_ROWS } from '../../assembly/layout.js'
import {
  FORMULA_MAX,
  FORMULA_SUM,
  RIBBON_DROPS_GOOD,
  RIBBON_LIFETIME,
  RIBBON_ZERO_FIRST,
} from '../../assembly/ribbon-flags.js'
import type { Core } from '../../bindings/core/core.js'
import {
  availabilityFiltering,
  bestAvailable,
  createLoadBalancer,
  filtering,
  type Policy,
  retryRule,
  roundRobin,
  type ServiceInstance,
  weightedResponseTime,
  zoneAvoidance,
  zoneAware,
} from '../../bindings/index.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'
import { CORES } from './cores.js'
import { GivenZones, type Snapshot } from './given-zones.js'
import { bench, refused, tally } from './ribbon-service.js'

const HEALTH = { healthCheck: { repeat: false } }
const REST = [{}, HEALTH] as const

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe("round robin with Ribbon's counter", () => {
  it.each([
    ['a b c', 'bcabca'],
    ['a', 'aaa'],
  ])('over %s: %s', (list, expected) => {
    expect(bench(list, 'round-robin', ['ribbon-counter']).picks(expected.length)).toBe(expected)
  })

  it('is stored reduced: after a shrink from 5 to 2 the next pick is at (c + 1) mod 2', () => {
    const { service, picks } = bench('a b c d e', 'round-robin', ['ribbon-counter'])
    expect(picks(4)).toBe('bcde')
    service.update(['http://a:80', 'http://b:80'])
    expect(picks(3)).toBe('bab')
  })

  it('without the quirk goes on from a random place and is not reduced by the list that it was last used on', () => {
    const first = (seed: number) => bench('a b c d e f g', 'round-robin', [], { seed }).picks(1)
    expect(new Set(Array.from({ length: 40 }, (_, seed) => first(seed))).size).toBe(7)
    const { service, picks } = bench('a b c d e', roundRobin({ start: -1 }))
    expect(picks(4)).toBe('abcd')
    service.update(['http://a:80', 'http://b:80'])
    // Position 4 of two: a. Reduced by five it would be (3 + 1) mod 2 as well, so one more of three.
    expect(picks(1)).toBe('a')
    service.update(['http://a:80', 'http://b:80', 'http://c:80'])
    expect(picks(1)).toBe('c')
  })

  it.each([
    ['a b c', 'b', 'caca'],
    ['a b c d', 'b', 'cdacda'],
  ])('passes over the dead: %s without %s gives %s', async (list, dead, expected) => {
    const one = bench(list, 'round-robin', ['ribbon-counter', 'ribbon-ten-probes'], ...REST)
    await one.down(dead)
    expect(one.picks(expected.length)).toBe(expected)
  })

  it('gives up after ten probes, of eleven with only the first alive every other time', async () => {
    const one = bench('a b c d e f g h i j k', 'round-robin', ['ribbon-counter', 'ribbon-ten-probes'], ...REST)
    await one.down(...'bcdefghijk')
    expect(one.picks(4)).toBe('-a-a')
  })

  it('without the quirk the dead are no candidates', async () => {
    const one = bench('a b c d e f g h i j k', 'round-robin', [], ...REST)
    await one.down(...'bcdefghijk')
    expect(one.picks(4)).toBe('aaaa')
  })
})

describe('best available', () => {
  it('is the least busy, the first of equals; past the tripped; in turn when all are tripped', () => {
    const one = bench('a b c', bestAvailable(), ['ribbon-counter'])
    one.hold('a', 2)
    expect(one.picks(3)).toBe('bbb')
    one.trip('b')
    expect(one.picks(3)).toBe('ccc')
    one.trip('a')
    one.trip('c')
    // Each lease that tripped one moved nothing: a single candidate is found without the counter.
    expect(tally(one.picks(6))).toEqual({ a: 2, b: 2, c: 2 })
  })

  it('ribbon-best-ignores-alive: chooses the dead', async () => {
    const ribbon = bench('a b', 'best-available', ['ribbon-best-ignores-alive'], ...REST)
    await ribbon.down()
    ribbon.hold('b', 5)
    await ribbon.down('a')
    expect(ribbon.picks(2)).toBe('aa')
    const ours = bench('a b', 'best-available', [], ...REST)
    await ours.down()
    ours.hold('b', 5)
    await ours.down('a')
    expect(ours.picks(2)).toBe('bb')
  })
})

describe('availability filtering', () => {
  it('takes in turn who is not tripped and below the limit', () => {
    const one = bench('a b c d', availabilityFiltering({ activeLimit: 2 }), ['ribbon-counter'])
    one.trip('b')
    one.hold('c', 2)
    expect(tally(one.picks(60))).toEqual({ a: 30, d: 30 })
  })

  it('the limit: at most five in flight for 5', () => {
    const { service } = bench('a b', availabilityFiltering({ activeLimit: 5 }))
    for (let i = 0; i < 10; i++) service.pick()
    expect(service.stats().instances.map(({ inFlight }) => inFlight)).toEqual([5, 5])
  })

  it('after eleven that will not do in turn among those that will, from the first', () => {
    const letters = 'abcdefghijklmnopqrst'
    const one = bench([...letters].join(' '), availabilityFiltering(), ['ribbon-counter'])
    for (const host of letters.slice(0, 18)) one.trip(host)
    // Twelve draws a pick: 1 … 12, 13 … 18 then s at 18, …
    const hosts = one.picks(40)
    expect(new Set(hosts)).toEqual(new Set(['s', 't']))
    expect(hosts[0]).toBe('s')
  })

  it('then in turn among all; filterTripped: false asks no breaker', () => {
    const all = bench('a b', availabilityFiltering())
    all.trip('a')
    all.trip('b')
    expect(tally(all.picks(10))).toEqual({ a: 5, b: 5 })
    const off = bench('a b', availabilityFiltering({ filterTripped: false }))
    off.trip('a')
    expect(tally(off.picks(10))).toEqual({ a: 5, b: 5 })
  })

  it('lets the tripped back when their time is over', () => {
    const one = bench('a b', availabilityFiltering())
    one.trip('a')
    one.time.now += 9_999
    expect(one.picks(4)).toBe('bbbb')
    one.time.now += 1
    expect(tally(one.picks(4))).toEqual({ a: 2, b: 2 })
  })
})

/** The zones left, as letters, of a snapshot written into the core. */
function zonesLeft(core: Core, given: readonly Snapshot[], flags: number, place = 1): string {
  const zones = new GivenZones(core, given)
  const count = core.exports.availableZones(zones.pointer, 0.2, 0.99999, flags, place)
  const left = zones.open()
  expect(count).toBe(left.length)
  zones.free()
  return left.map((zone) => String.fromCharCode(97 + zone)).join('')
}

/** The table of getAvailableZones. */
const SNAPSHOTS: readonly [Snapshot[], ribbon: string, ours: string, place?: number][] = [
  [
    [
      [3, 0, 0.1],
      [3, 0, 0.15],
    ],
    'ab',
    'ab',
  ],
  [
    [
      [3, 0, 0.1],
      [3, 0, 0.5],
    ],
    'a',
    'a',
  ],
  [
    [
      [2, 2, -1],
      [2, 0, 0],
      [2, 0, 0],
    ],
    'c',
    'bc',
    2,
  ],
  [
    [
      [2, 2, -1],
      [2, 0, 0],
      [2, 0, 0],
    ],
    'b',
    'bc',
    3,
  ],
  [
    [
      [2, 2, -1],
      [2, 0, 0],
    ],
    '',
    'b',
  ],
  [
    [
      [2, 0, 0.1],
      [0, 0, 0],
    ],
    '',
    'a',
  ],
  [
    [
      [1, 0, 0.4],
      [3, 0, 0.4],
      [4, 0, 0],
    ],
    'bc',
    'bc',
    1,
  ],
  [
    [
      [1, 0, 0.4],
      [3, 0, 0.4],
      [4, 0, 0],
    ],
    'ac',
    'ac',
    2,
  ],
  [
    [
      [1, 0, 0.4],
      [3, 0, 0.4],
      [4, 0, 0],
    ],
    'ac',
    'ac',
    4,
  ],
  [[[4, 4, -1]], 'a', 'a'],
  [
    [
      [2, 2, -1],
      [2, 0, 0.1],
      [2, 0, 0.05],
    ],
    'c',
    'c',
  ],
]

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it.each(SNAPSHOTS)('of the zones %j Ribbon leaves "%s", evenkeel "%s" (place %s)', (zones, ribbon, ours, place) => {
    expect(zonesLeft(core, zones, RIBBON_DROPS_GOOD, place)).toBe(ribbon)
    expect(zonesLeft(core, zones, 0, place)).toBe(ours)
  })

  /** Weights by response time: rows with these means, in ms; the cumulative weights as shares of whole points. */
  function weighed(means: readonly number[], formula: number) {
    const { exports } = core
    const members = new Members(core)
    members.adopt(means.map((_, i) => toInstance({ host: 'h', port: i }, 's', 's')))
    const { block } = members
    exports.openServerStats(block, 3, 10_000, 30_000, 600_000, 1_000, 300_000)
    exports.openPublishedWeights(block)
    exports.seedBlock(block, 1, 1)
    means.forEach((mean, row) => {
      if (mean > 0) exports.endRequest(block, row, 0, mean, 0)
    })
    const list = exports.createList(means.length)
    means.forEach((_, i) => {
      core.i32[(list + LIST_ROWS) / 4 + i] = i
    })
    const pick = () => exports.pickByResponseTime(block, list, list, 0, 30_000, 30_000, formula, RIBBON_LIFETIME)
    return { pick, owner: (point: number, flags = 0) => exports.ownerByResponseTime(list, point, flags) }
  }

  it.each([
    [[10, 40, 50, 0], FORMULA_SUM, [90, 150, 200, 300]],
    [[100, 0], FORMULA_SUM, [0, 100]],
    [[5, 5], FORMULA_SUM, [5, 10]],
    // The third article's example: 66.7, 33.3 and 0 %.
    [[100, 200, 300], FORMULA_MAX, [200, 300, 300]],
  ])('the means %j weigh, by formula %s, cumulatively %j', (means, formula, cumulative) => {
    const { pick, owner } = weighed(means, formula)
    pick()
    cumulative.forEach((sum, i) => {
      const before = cumulative[i - 1] ?? 0
      if (sum === before) return
      expect(owner(before)).toBe(i)
      expect(owner(sum - 1e-9)).toBe(i)
    })
  })

  it.each([[[100]], [[0, 0, 0]]])('the means %j go in turn', (means) => {
    const { pick } = weighed(means, FORMULA_SUM)
    const picked = Array.from({ length: means.length * 3 }, pick)
    for (let i = 0; i < means.length; i++) expect(picked.filter((index) => index === i)).toHaveLength(3)
  })

  it('ribbon-weights-zero-first: a draw of 0 chooses a first server without weight', () => {
    const { pick, owner } = weighed([100, 0], FORMULA_SUM)
    pick()
    expect(owner(0, RIBBON_ZERO_FIRST)).toBe(0)
    expect(owner(0)).toBe(1)
  })
})

describe('zone avoidance', () => {
  it('starts at the first and goes in turn while all zones will do', () => {
    expect(bench('a1 b2 c1', zoneAvoidance(), ['ribbon-counter']).picks(6)).toBe('abcabc')
  })

  it('leaves the most loaded zone, and who is tripped in the others', () => {
    const one = bench('a1 b1 c2 d2', zoneAvoidance())
    one.hold('a')
    one.trip('c')
    expect(one.picks(4)).toBe('dddd')
  })

  it('triggeringLoad: below it no zone is left', () => {
    const one = bench('a1 b1 c2 d2', zoneAvoidance({ triggeringLoad: 0.6 }))
    one.hold('a')
    expect(tally(one.picks(8))).toEqual({ a: 2, b: 2, c: 2, d: 2 })
  })

  it('keeps who has no zone, knows zones in any case, and does nothing for a single one', () => {
    const some = bench('a1 b c2', zoneAvoidance())
    some.hold('a')
    expect(tally(some.picks(8))).toEqual({ b: 4, c: 4 })
    const single = bench('aX bx', zoneAvoidance())
    single.hold('a')
    expect(tally(single.picks(8))).toEqual({ a: 4, b: 4 })
  })

  it('looks at the zones of the whole list, also where suppliers leave some of it', () => {
    const suppliers = [
      { name: 'no-a', filter: (list: readonly ServiceInstance[]) => list.filter(({ host }) => host !== 'a') },
    ]
    const one = bench('a1 b1 c2', zoneAvoidance(), [], {}, { suppliers })
    // Nobody of zone 1 but a is loaded, and a is no candidate.
    one.hold('b', 2)
    expect(one.picks(3)).toBe('ccc')
  })

  it('ribbon-zone-drops-good: one of two idle zones is left out beside a broken one, and the last one too', () => {
    const broken = (list: string, compat: 'ribbon-zone-drops-good'[]) => {
      const one = bench(list, 'zone-avoidance', compat, { seed: 5 })
      one.trip('a')
      return one
    }
    expect(tally(broken('a1 b2 c3', []).picks(40))).toEqual({ b: 20, c: 20 })
    // Drawn anew by each pick, and only one zone is left: in turn, with the counter over lists of one.
    expect(new Set(broken('a1 b2 c3', ['ribbon-zone-drops-good']).picks(40))).toEqual(new Set(['b', 'c']))
    // Nobody is left: the fallback offers whoever is available.
    expect(broken('a1 b2', ['ribbon-zone-drops-good']).picks(2)).toBe('bb')
  })

  it('ribbon-zone-draw-per-server: one pass may leave both of two equally loaded zones, or none', () => {
    const seen = (compat: 'ribbon-zone-draw-per-server'[]) => {
      const one = bench(
        'a1 b2 c3',
        filtering({ predicates: [{ type: 'zone-avoidance', triggeringLoad: 0.5 }], fallbacks: [] }),
        compat,
      )
      one.hold('a')
      one.hold('b')
      return new Set(Array.from({ length: 60 }, () => one.picks(1)))
    }
    // c passes always; by one draw exactly one of a and b does too.
    expect(seen([])).toEqual(new Set(['a', 'b', 'c']))
    expect(seen(['ribbon-zone-draw-per-server'])).toEqual(new Set(['a', 'b', 'c']))
    const passing = (compat: 'ribbon-zone-draw-per-server'[]) => {
      let hosts = ''
      const counts = new Set<number>()
      const spy = (instance: ServiceInstance) => {
        hosts += instance.host
        return true
      }
      const policy = filtering({ predicates: [{ type: 'zone-avoidance', triggeringLoad: 0.5 }, spy] })
      const one = bench('a1 b2 c3', policy, compat)
      one.hold('a')
      one.hold('b')
      for (let i = 0; i < 60; i++) {
        hosts = ''
        one.picks(1)
        counts.add(hosts.length)
      }
      return counts
    }
    expect(passing([])).toEqual(new Set([2]))
    expect(passing(['ribbon-zone-draw-per-server'])).toEqual(new Set([1, 2, 3]))
  })
})

describe('zone aware', () => {
  it('draws one of the other zones by its number of instances, and has a cursor for each', () => {
    const one = bench('a1 b2 c3 d3 e3', zoneAware({ policy: 'round-robin' }), ['ribbon-counter'])
    one.trip('a')
    const hosts = one.picks(4_000)
    const counted = tally(hosts)
    expect(counted.a).toBeUndefined()
    // b's zone has one of four instances: five standard deviations.
    expect(Math.abs((counted.b as number) - 1_000)).toBeLessThan(5 * Math.sqrt(4_000 * 0.25 * 0.75))
    // Within zone 3 strictly in turn, from the second as Ribbon's counter has it.
    const third = hosts.replaceAll('b', '')
    expect(third).toBe('dec'.repeat(2_000).slice(0, third.length))
  })

  it('the cursors survive refreshes, also where zones are named in another order', () => {
    const one = bench('a1 b2 c2 d2', zoneAware({ policy: 'round-robin' }), ['ribbon-counter'])
    one.trip('a')
    expect(one.picks(1)).toBe('c')
    one.service.update([
      { url: 'http://b:80', zone: '2' },
      { url: 'http://c:80', zone: '2' },
      { url: 'http://d:80', zone: '2' },
      { url: 'http://a:80', zone: '1' },
    ])
    expect(one.picks(4)).toBe('dbcd')
  })

  it('is the policy over everything while no zone is left out, with one zone, and by default zone avoidance', () => {
    expect(bench('a1 b2 c2', zoneAware({ policy: 'round-robin' }), ['ribbon-counter']).picks(6)).toBe('bcabca')
    expect(bench('a1 b1 c1', zoneAware({ policy: 'round-robin' }), ['ribbon-counter']).picks(3)).toBe('bca')
    expect(bench('a1 b2 c2', 'zone-aware', ['ribbon-counter']).picks(3)).toBe('abc')
  })

  it("lets a policy of the user's own pick within the zone, and passes endings on to it", () => {
    const ended: string[] = []
    const policy: Policy = {
      name: 'last',
      pick: (candidates) => candidates.length - 1,
      done: ({ host }) => void ended.push(host),
    }
    const one = bench('a1 b2 c2 d1', zoneAware({ policy }))
    expect(one.picks(1)).toBe('d')
    one.trip('a')
    one.trip('d')
    expect(one.picks(2)).toBe('cc')
    expect(ended.join('')).toBe('daaadddcc')
  })
})

describe('filtering', () => {
  it('names and functions together, by instance and by what the candidates carry', () => {
    const policy = filtering({
      predicates: ['availability', (_, { candidates, index }) => candidates.inFlight(index) < 1],
    })
    const one = bench('a b c', policy)
    one.trip('a')
    one.hold('b')
    expect(one.picks(3)).toBe('ccc')
  })

  it('fallbacks filter the original list, in order; the last result stands', () => {
    const isHost = (host: string) => (instance: ServiceInstance) => instance.host === host
    const seen = (options: Parameters<typeof filtering>[0]) => bench('a b c', filtering(options)).picks(2)
    expect(seen({ predicates: [isHost('x')], fallbacks: [[isHost('c')], [isHost('a')]] })).toBe('cc')
    expect(seen({ predicates: [isHost('x')], fallbacks: [[isHost('y')], [isHost('a')]] })).toBe('aa')
    expect(seen({ predicates: [isHost('x')], fallbacks: [] })).toBe('--')
    expect(seen({ predicates: [isHost('a')], fallbacks: [[isHost('b')]], minFiltered: 2 })).toBe('bb')
    expect(new Set(seen({ predicates: [isHost('x')] })).has('-')).toBe(false)
  })

  it('minFilteredShare: more than the floor of that share', () => {
    const two = (instance: ServiceInstance) => instance.host < 'c'
    const seen = (minFilteredShare: number) =>
      tally(bench('a b c d', filtering({ predicates: [two], minFilteredShare })).picks(4))
    expect(seen(0.49)).toEqual({ a: 2, b: 2 })
    expect(seen(0.5)).toEqual({ a: 1, b: 1, c: 1, d: 1 })
  })

  it('minFilteredShare is taken as Java does: 0.29 of 100 are 29', () => {
    const hosts = Array.from({ length: 100 }, (_, i) => ({ host: 'h', port: 1_000 + i }))
    const lb = createLoadBalancer({
      services: {
        s: {
          instances: hosts,
          policy: filtering({
            predicates: [({ port }) => port < 1_029],
            fallbacks: [[({ port }) => port === 1_099]],
            minFilteredShare: 0.29,
          }),
        },
      },
    })
    expect(lb.service('s').pick()?.instance.port).toBe(1_099)
  })

  it('the request decides; what a predicate throws fails the pick', () => {
    const policy = filtering({ predicates: [({ host }, { request }) => host === request.key] })
    expect(bench('a b c', policy).picks(2, { key: 'b' })).toBe('bb')
    const failing = filtering({
      predicates: [
        () => {
          throw new Error('no')
        },
      ],
    })
    expect(() => bench('a b', failing).picks(1)).toThrow('no')
  })

  it('a predicate may pick again, update and close', () => {
    let again = false
    const one = bench('a1 b2 c2', filtering({ predicates: ['zone-avoidance', () => (again || enter(), true)] }))
    function enter() {
      again = true
      one.picks(1)
      one.service.update(['http://d:80'])
      again = false
    }
    expect(one.picks(1)).toMatch(/[abc]/)
  })

  it('refuses what is no predicate, by its place', () => {
    expect(() => filtering({ predicates: ['alive' as 'availability'] })).toThrow(/predicates\[0\] must be/)
    expect(() => filtering({ fallbacks: [[{ type: 'availability', activeLimit: 0 }]] })).toThrow(
      /fallbacks\[0\]\[0\]\.activeLimit/,
    )
  })
})

describe('weighted response time', () => {
  it('shares by weight once the weights are worked out, in turn before', () => {
    const one = bench('a b c', weightedResponseTime({ formula: 'max', updateMs: 1_000 }))
    expect(tally(one.picks(30))).toEqual({ a: 10, b: 10, c: 10 })
    one.answer('a', 100)
    one.answer('b', 200)
    one.answer('c', 300)
    expect(tally(one.picks(30))).toEqual({ a: 10, b: 10, c: 10 })
    one.time.now += 1_000
    const counted = tally(one.picks(3_000))
    expect(counted.c).toBeUndefined()
    expect(Math.abs((counted.a as number) - 2_000)).toBeLessThan(5 * Math.sqrt((3_000 * 2) / 9))
  })

  it('ribbon-weights-lifetime: one without samples is infinitely fast; ours has the mean weight', () => {
    const seen = (compat: 'ribbon-weights-lifetime'[]) => {
      const one = bench('a b c', weightedResponseTime({ updateMs: 1_000 }), compat)
      one.picks(1)
      one.answer('a', 100)
      one.answer('b', 300)
      one.time.now += 1_000
      return tally(one.picks(8_000))
    }
    // Ribbon: 300, 100 and 400 of 800; ours: 300, 100 and 200 of 600. Five standard deviations at most 224.
    const [ribbon, ours] = [seen(['ribbon-weights-lifetime']), seen([])]
    expect(Math.abs((ribbon.c as number) - 4_000)).toBeLessThan(224)
    expect(Math.abs((ours.c as number) - 8_000 / 3)).toBeLessThan(224)
  })

  it('what gets nothing for being the slowest is tried again when its samples are old', () => {
    const one = bench('a b', weightedResponseTime({ formula: 'max', updateMs: 1_000, windowMs: 10_000 }))
    one.picks(1)
    one.answer('a', 10)
    one.answer('b', 500)
    one.time.now += 1_000
    expect(one.picks(20)).toBe('a'.repeat(20))
    one.time.now += 10_000
    expect(new Set(one.picks(20))).toEqual(new Set(['a', 'b']))
  })
})

describe('retry rule', () => {
  it('asks again at once where the next answer may be another', async () => {
    const quirks = ['ribbon-counter', 'ribbon-ten-probes'] as const
    const one = bench('a b c d e f g h i j k', retryRule(), [...quirks], ...REST)
    await one.down(...'bcdefghijk')
    expect(one.picks(3)).toBe('aaa')
    await one.down(...'abcdefghijk')
    expect(one.picks(1)).toBe('-')
  })

  it('never answers one that is down', async () => {
    const one = bench('a b', retryRule({ policy: 'best-available' }), ['ribbon-best-ignores-alive'], ...REST)
    await one.down('a')
    expect(one.picks(1)).toBe('-')
  })

  const timed = (options: Parameters<typeof retryRule>[0] = {}, balancer = {}) => {
    const lb = createLoadBalancer({
      clock: () => Date.now(),
      fetch: async () => new Response('ok'),
      ...balancer,
      services: { s: { instances: [], policy: retryRule(options), noInstance: 'throw' } },
    })
    return { lb, service: lb.service('s') }
  }
  const fake = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })

  it('choose and fetch wait for somebody, pick does not', async () => {
    fake()
    const { service } = timed()
    expect(service.pick()).toBeUndefined()
    const chosen = service.choose()
    const sent = service.fetch('/')
    await vi.advanceTimersByTimeAsync(300)
    service.update(['http://late:80'])
    await vi.advanceTimersByTimeAsync(10)
    expect((await chosen)?.instance.host).toBe('late')
    expect((await sent).status).toBe(200)
    // One pick that found nobody: those that waited found somebody.
    expect(service.stats().noInstance).toBe(1)
  })

  it('asks no more when a policy has taken all of the time', () => {
    let nowMs = 0
    let asked = 0
    const slow = {
      name: 'slow',
      pick() {
        asked++
        nowMs += 80
        return -1
      },
    }
    const lb = createLoadBalancer({
      clock: () => nowMs,
      services: {
        s: {
          instances: [1, 2, 3, 4, 5].map((n) => `http://h${n}:80`),
          policy: retryRule({ policy: slow, maxRetryMs: 200 }),
        },
      },
    })
    expect(lb.service('s').pick()).toBeUndefined()
    expect(asked).toBe(3)
  })

  it('gives up after maxRetryMs, counted once', async () => {
    fake()
    const { service } = timed({ maxRetryMs: 200 })
    const began = Date.now()
    const chosen = service.choose().then((lease) => [lease, Date.now() - began])
    const sent = service.fetch('/').catch((error) => [error.code, Date.now() - began])
    await vi.runAllTimersAsync()
    expect(await chosen).toEqual([undefined, 200])
    expect(await sent).toEqual(['EVENKEEL_NO_INSTANCE', 200])
    expect(service.stats().noInstance).toBe(2)
  })

  it('ends with a clock that stands still', async () => {
    fake()
    const { service } = timed({}, { clock: () => 5 })
    const chosen = service.choose()
    await vi.runAllTimersAsync()
    expect(await chosen).toBeUndefined()
  })

  it('its wait ends with the signal, the time limit and the service', async () => {
    fake()
    const { service, lb } = timed({ maxRetryMs: 10_000 })
    const code = (error: { code?: string; message: string }) => error.code ?? error.message
    const controller = new AbortController()
    const ended = [
      service.choose({}, { signal: controller.signal }).catch(code),
      service.choose({}, { timeoutMs: 50 }).catch(code),
      service.fetch('/', { signal: controller.signal }).catch(code),
      lb.with({ timeoutMs: 60 }).fetch('http://s/').catch(code),
    ]
    await vi.advanceTimersByTimeAsync(100)
    controller.abort(new Error('enough'))
    expect(await Promise.all(ended)).toEqual(['enough', 'EVENKEEL_TIMEOUT', 'enough', 'EVENKEEL_TIMEOUT'])
    const [choosing, sending] = [service.choose().catch(code), service.fetch('/').catch(code)]
    lb.remove('s')
    await vi.advanceTimersByTimeAsync(300)
    expect([await choosing, await sending]).toEqual(['EVENKEEL_CLOSED', 'EVENKEEL_CLOSED'])
  })
})

describe('options and names', () => {
  it.each([
    [() => availabilityFiltering({ activeLimit: 0 }), /activeLimit/],
    [() => zoneAvoidance({ avoidAboveTripped: 2 }), /avoidAboveTripped/],
    [() => weightedResponseTime({ formula: 'avg' as 'sum' }), /formula/],
    [() => retryRule({ maxRetryMs: 0 }), /maxRetryMs/],
    [() => retryRule({ policy: 'randum' }), /retryRule\.policy: there is no policy "randum"/],
    [() => zoneAware({ policy: { type: 'random', odd: 1 } }), /zoneAware\.policy/],
    [() => bestAvailable({ odd: 1 } as object), /odd/],
  ])('%s is refused by name', (make, message) => {
    expect(make).toThrow(message)
  })

  it('nest, as JSON', () => {
    const policy = { type: 'retry-rule', policy: { type: 'zone-aware', policy: { type: 'weighted-response-time' } } }
    expect(new Set(bench('a1 b2', policy).picks(20))).toEqual(new Set(['a', 'b']))
  })

  it('do not know weights, and drained instances stay out', () => {
    const lb = createLoadBalancer({
      seed: 1,
      services: {
        s: {
          instances: [
            { url: 'http://a:80', weight: 9 },
            { url: 'http://b:80', weight: 1 },
            { url: 'http://c:80', weight: 0 },
          ],
          suppliers: ['weighted'],
          policy: 'availability-filtering',
        },
      },
    })
    const hosts = Array.from({ length: 10 }, () => lb.pick('s')?.instance.host).join('')
    expect(tally(hosts)).toEqual({ a: 5, b: 5 })
  })
})

describe('instances without a zone', () => {
  const LIST = 'a1 b2 c d e f'

  it('are one of their own for zone aware picks, and none for zone avoidance', () => {
    const aware = bench(LIST, zoneAware({ policy: 'round-robin' }))
    aware.trip('a')
    const seen = tally(aware.picks(500))
    // Zone 1 is out; of the five others four have no zone.
    expect(seen.a).toBeUndefined()
    for (const host of 'bcdef') expect(seen[host], host).toBeGreaterThan(60)
    const avoiding = bench(LIST, zoneAvoidance())
    avoiding.trip('a')
    expect(tally(avoiding.picks(50))).toEqual({ b: 10, c: 10, d: 10, e: 10, f: 10 })
  })

  it('are unknown in the statistics, also with an empty zone', () => {
    const lb = createLoadBalancer({
      services: {
        s: {
          instances: [{ url: 'http://a', zone: 'X' }, { url: 'http://b', metadata: { zone: '' } }, 'http://c'],
          serverStats: true,
        },
      },
    })
    const { zones } = lb.service('s').stats()
    expect(Object.entries(zones).map(([zone, { instances }]) => [zone, instances])).toEqual([
      ['x', 1],
      ['unknown', 2],
    ])
  })
})

it('a promise of a predicate is no yes, and is reported once', () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const one = bench('a b', filtering({ predicates: [(async () => true) as never], fallbacks: [] }))
  expect(one.picks(3)).toBe('---')
  expect(error).toHaveBeenCalledTimes(1)
  error.mockRestore()
})

it('a connection refused trips after three, and no sooner', () => {
  const one = bench('a b', availabilityFiltering())
  for (let i = 0; i < 2; i++) one.answer('a', 1, { error: refused() })
  expect(tally(one.picks(4))).toEqual({ a: 2, b: 2 })
  one.answer('a', 1, { error: refused() })
  expect(one.picks(4)).toBe('bbbb')
})
