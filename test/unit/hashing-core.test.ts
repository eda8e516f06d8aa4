/** The hashes and tables of consistent hashing in each form of the core: golden values, and against the models. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_PLAN } from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import * as model from '../model/hashing.js'
import { ModelPrng } from '../model/prng.js'
import { bytesOf, xxh64 } from '../model/xxh64.js'
import { CORES } from './cores.js'
import { KeyedList, type Plan } from './keyed-list.js'

const hosts = [90, 91, 92, 93, 94, 95].map((port) => `127.0.0.1:${port}`)

function hashIn(core: Core, bytes: Uint8Array, seed = 0): bigint {
  const at = core.exports.allocate(bytes.length + 16)
  core.u8.set(bytes, at + 8)
  core.exports.hashBytes(at + 8, bytes.length, seed, at)
  const words = new Uint32Array(core.i32.buffer)
  const hash = (BigInt(words[(at >>> 2) + 1] as number) << 32n) | BigInt(words[at >>> 2] as number)
  core.exports.release(at)
  return hash
}

function jumpIn(core: Core, key: bigint, buckets: number): number {
  const at = core.exports.allocate(8)
  core.u8.set(bytesOf(key), at)
  const bucket = core.exports.jumpBucket(at, buckets)
  core.exports.release(at)
  return bucket
}

/** How many representable numbers lie between the two. */
function ulpsBetween(a: number, b: number): number {
  const [x, y] = new BigInt64Array(new Float64Array([a, b]).buffer) as unknown as [bigint, bigint]
  return Math.abs(Number(x - y))
}

const text = fc.string({ unit: 'binary', maxLength: 40 })
const weight = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.integer({ min: 0, max: 2 ** 31 - 1 }),
  fc.integer({ min: 1, max: 5000 }).map((thousandths) => thousandths / 1000),
)
const PRIMES = [2, 3, 5, 7, 13, 101, 251, 997]
const trace = fc.record({
  plan: fc.constantFrom<Plan[]>('ring', 'sizedRing', 'maglev', 'rendezvous', 'jump'),
  members: fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1, maxLength: 12 }), weight }), {
    selector: ({ id }) => id,
    minLength: 2,
    maxLength: 9,
  }),
  weighted: fc.boolean(),
  points: fc.integer({ min: 1, max: 60 }),
  most: fc.integer({ min: 1, max: 300 }),
  prime: fc.constantFrom(...PRIMES),
  keys: fc.array(text, { minLength: 1, maxLength: 12 }),
  loads: fc.array(fc.nat({ max: 4 }), { minLength: 9, maxLength: 9 }),
  excluded: fc.subarray([0, 1, 2, 3, 4, 5, 6, 7, 8]),
  excludes: fc.boolean(),
  loadFactor: fc.option(fc.integer({ min: 1001, max: 3000 }), { nil: 0 }),
})
type Trace = typeof trace extends fc.Arbitrary<infer T> ? T : never

/** The order in which the policy goes over the ids for a key. */
function walkOf(given: Trace, members: readonly model.Member[], key: string): Iterable<string> {
  const hash = xxh64(key)
  const { plan, points, most, prime } = given
  if (plan === 'ring') return model.clockwise(model.ring(members, points, most), hash)
  if (plan === 'sizedRing') return model.clockwise(model.sizedRing(members, points, Math.max(points, most)), hash)
  if (plan === 'maglev') return model.bySlots(model.maglevTable(members, prime), hash)
  if (plan === 'rendezvous') return model.byScore(members, hash)
  return model.byBucket(members, hash)
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()
  const { exports } = core
  const encode = (value: string) => new TextEncoder().encode(value)

  it('XXH64: known values', () => {
    // xxHash's own test values; sim/golden.mjs.
    expect(hashIn(core, encode(''))).toBe(0xef46db3751d8e999n)
    expect(hashIn(core, encode('abc'))).toBe(0x44bc2cf5ad770999n)
  })

  it('XXH64: as the model, of any bytes and seed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.maxSafeNat(), (bytes, seed) => {
        expect(hashIn(core, bytes, seed)).toBe(xxh64(bytes, BigInt(seed)))
      }),
      { seed: 20260101, numRuns: 400 },
    )
    for (let length = 0; length < 100; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => i * 37 + length)
      expect(hashIn(core, bytes)).toBe(xxh64(bytes))
    }
  })

  it('ln: within two units in the last place of the host’s', () => {
    fc.assert(
      fc.property(fc.double({ min: 2 ** -53, max: 1, noNaN: true }), (x) => {
        expect(ulpsBetween(exports.ln(x), Math.log(x))).toBeLessThanOrEqual(2)
      }),
      { seed: 20260101, numRuns: 2000 },
    )
    for (const x of [1, 1 - 2 ** -53, 1 - 2 ** -30, Math.SQRT1_2, 0.5, 2 ** -53, Math.SQRT2, 3, 1e300]) {
      expect(ulpsBetween(exports.ln(x), Math.log(x)), String(x)).toBeLessThanOrEqual(2)
    }
  })

  it('jump: golden values', () => {
    // Lamping and Veach's function as others publish it (spec §3.4); the last three: sim/hashing.out.
    const golden: [bigint, number, number][] = [
      [1n, 1, 0],
      [42n, 57, 43],
      [0xdead10ccn, 666, 361],
      [256n, 1024, 520],
      [0xdeadbeefn, 10, 5],
      [10863919174838991n, 11, 6],
      [2016238256797177309n, 11, 3],
      [1673758223894951030n, 11, 5],
    ]
    for (const [key, buckets, bucket] of golden) expect(jumpIn(core, key, buckets)).toBe(bucket)
  })

  it('jump: as the model', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), (key, n) => {
        expect(jumpIn(core, key, n)).toBe(model.jump(key, n))
      }),
      { seed: 20260101, numRuns: 300 },
    )
  })

  it('ring: Envoy’s entries for six hosts and a least size of 12', () => {
    // envoy test/common/upstream/ring_hash_lb_test.cc, spec §3.1.
    const list = new KeyedList(core, [...hosts].reverse()).build('sizedRing', 12, 8_388_608)
    expect(list.ring()).toEqual([
      { hash: 833437586790550860n, id: '127.0.0.1:94' },
      { hash: 928266305478181108n, id: '127.0.0.1:92' },
      { hash: 1033482794131418490n, id: '127.0.0.1:90' },
      { hash: 3551244743356806947n, id: '127.0.0.1:95' },
      { hash: 3851675632748031481n, id: '127.0.0.1:93' },
      { hash: 5583722120771150861n, id: '127.0.0.1:91' },
      { hash: 6311230543546372928n, id: '127.0.0.1:91' },
      { hash: 7700377290971790572n, id: '127.0.0.1:93' },
      { hash: 13144177310400110813n, id: '127.0.0.1:95' },
      { hash: 13444792449719432967n, id: '127.0.0.1:92' },
      { hash: 15516499411664133160n, id: '127.0.0.1:94' },
      { hash: 16117243373044804889n, id: '127.0.0.1:90' },
    ])
    list.free()
  })

  it('ring: Envoy’s entries by host name', () => {
    // As above, with use_hostname_for_hashing; sim/golden.mjs.
    const list = new KeyedList(core, ['90', '91', '92', '93', '94', '95']).build('sizedRing', 12, 8_388_608)
    const entries = new Map<string, bigint[]>()
    for (const { hash, id } of list.ring()) entries.set(id, [...(entries.get(id) ?? []), hash])
    expect(Object.fromEntries(entries)).toEqual({
      '95': [1975508444536362413n, 2376063919839173711n],
      '93': [2386806903309390596n, 6803900775736438537n],
      '94': [6749904478991551885n, 15364271037087512980n],
      '92': [7225015537174310577n, 11282020843382717940n],
      '90': [8787465352164086522n, 13776502110861797421n],
      '91': [13723418369486627818n, 14338313586354474791n],
    })
    list.free()
  })

  it('ring: a key goes to the first point at or after its hash, beyond the last one to the first', () => {
    const list = new KeyedList(core, hosts).build('sizedRing', 12, 8_388_608)
    const points = list.ring()
    const last = points.at(-1)?.hash as bigint
    let wrapped = 0
    for (let i = 0; i < 500; i++) {
      const hash = xxh64(`key${i}`)
      const owner = points.find((point) => point.hash >= hash) ?? points[0]
      if (hash > last) wrapped++
      expect(list.pickId('ring', `key${i}`)).toBe(owner?.id)
    }
    expect(wrapped).toBeGreaterThan(20)
    list.free()
  })

  it('ring: a point at the key’s very hash is the key’s own', () => {
    // An instance's points are hashes of its id and a number, which is a key like any other.
    const list = new KeyedList(core, hosts).build('ring', 40)
    for (const id of hosts) for (let j = 0; j < 40; j++) expect(list.pickId('ring', `${id}_${j}`)).toBe(id)
    list.free()
  })

  it('Maglev: Envoy’s tables of seven slots', () => {
    // envoy test/common/upstream/maglev_lb_test.cc, spec §3.2.
    const list = new KeyedList(core, [...hosts].reverse()).build('maglev', 7)
    const slots = [...list.slots()].map((index) => list.ids[index]?.slice(-2))
    expect(slots).toEqual(['92', '94', '90', '91', '95', '90', '93'])
    list.free()
    const named = new KeyedList(core, ['95', '90', '94', '91', '93', '92']).build('maglev', 7)
    const names = [...named.slots()].map((index) => named.ids[index])
    expect(names).toEqual(['92', '95', '90', '93', '94', '91', '90'])
    named.free()
  })

  it('Maglev: slots in proportion to weights', () => {
    // envoy maglev_lb_test.cc, Weighted.
    const list = new KeyedList(core, ['127.0.0.1:90', '127.0.0.1:91'], [1, 2]).build('maglev', 65_537)
    const slots = list.slots()
    expect([0, 1].map((index) => slots.filter((owner) => owner === index).length)).toEqual([21_846, 43_691])
    list.free()
  })

  it('Maglev: a table takes no longer where one outweighs all others', () => {
    const list = new KeyedList(
      core,
      Array.from({ length: 20_000 }, (_, i) => `node-${i}`),
      Array.from({ length: 20_000 }, (_, i) => (i === 0 ? 1e6 : 1)),
    )
    // Turn by turn over all instances these are 45 537 × 20 000 looks: seconds.
    const from = performance.now()
    list.build('maglev', 65_537)
    expect(performance.now() - from).toBeLessThan(2_000)
    const counts = new Map<number, number>()
    for (const index of list.slots()) counts.set(index, (counts.get(index) ?? 0) + 1)
    expect([counts.get(0), counts.size]).toEqual([45_538, 20_000])
    list.free()
  })

  it('Maglev: the same table as turn by turn, however unequal the weights', () => {
    const heavy = [2 ** 31 - 1, 0.001, 7, 2 ** 31 - 2, 0.5, 1e6, 3.25, 0, 1]
    for (const count of [2, 3, 9, 40]) {
      for (const size of [7, 251, 997]) {
        const members = Array.from({ length: count }, (_, i) => ({ id: `n${i}`, weight: heavy[i % 9] as number }))
        const list = new KeyedList(
          core,
          members.map(({ id }) => id),
          members.map(({ weight }) => weight),
        ).build('maglev', size)
        expect([...list.slots()].map((index) => list.ids[index])).toEqual(model.maglevTable(members, size))
        list.free()
      }
    }
  })

  it('picks as the models do: any ids, weights, keys, loads, bounds and exclusions', () => {
    fc.assert(
      fc.property(trace, (given) => {
        const { plan, points, most, prime, loadFactor } = given
        const list = new KeyedList(
          core,
          given.members.map(({ id }) => id),
          given.weighted ? given.members.map((member) => member.weight) : undefined,
        )
        const even = !given.weighted || given.members.every((member) => member.weight === 0)
        const members = given.members.map((member, i) => ({
          id: member.id,
          weight: even ? 1 : member.weight,
          inFlight: given.loads[i] as number,
        }))
        if (plan === 'maglev') list.build(plan, prime)
        else if (plan === 'sizedRing') list.build(plan, points, Math.max(points, most))
        else list.build(plan, points, most)
        for (const [i, { inFlight }] of members.entries()) for (let n = 0; n < inFlight; n++) list.hold(i)

        const excluded = given.excludes ? given.excluded.filter((i) => i < members.length) : []
        for (const row of excluded) exports.exclude(row)
        const left = excluded.length < members.length ? members.filter((_, i) => !excluded.includes(i)) : members
        const bounded = loadFactor > 0 && plan !== 'jump'
        const withinBound = bounded ? model.boundedBy(left, loadFactor / 1000) : () => true
        const ids = new Set(left.map(({ id }) => id))
        for (const key of given.keys) {
          const walk = [...walkOf(given, members, key)]
          const wanted = model.firstOf(walk, (id) => ids.has(id) && withinBound(id))
          const picked = list.pickId(plan, key, loadFactor)
          if (wanted !== undefined) expect(picked).toBe(wanted)
          else {
            // Nobody in its own order is open: some other open one, or else where the key is at home.
            const others = left.filter(({ id, weight: share }) => share > 0 && withinBound(id))
            if (others.length === 0) expect(picked).toBe(walk[0])
            else expect(others.map(({ id }) => id)).toContain(picked)
          }
        }
        exports.includeAll()
        list.free()
      }),
      { seed: 20260101, numRuns: 700 },
    )
  })

  it('an id and a key are hashed as UTF-8, half a surrogate pair as U+FFFD', () => {
    const ids = ['größe', '日本', '🐟🐠', 'x\ud800y', '\udc00']
    const list = new KeyedList(core, ids).build('ring', 20)
    const points = model.ring(
      ids.map((id) => ({ id, weight: 1 })),
      20,
    )
    expect(list.ring()).toEqual(points)
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
        (key) => {
          expect(list.pickId('ring', key)).toBe(model.firstOf(model.clockwise(points, xxh64(key))))
        },
      ),
      { seed: 20260101, numRuns: 500 },
    )
    list.free()
  })

  it('keys of any length', () => {
    const list = new KeyedList(core, hosts).build('rendezvous')
    const members = hosts.map((id) => ({ id, weight: 1 }))
    for (const length of [0, 1, 255, 256, 257, 5_000, 100_000, 3]) {
      const key = 'é'.repeat(length)
      expect(list.pickId('rendezvous', key)).toBe(model.byScore(members, xxh64(key))[0])
    }
    list.free()
  })

  it('without a key: a random hash from the service’s generator', () => {
    const list = new KeyedList(core, hosts).build('maglev', 101)
    const table = model.maglevTable(
      hosts.map((id) => ({ id, weight: 1 })),
      101,
    )
    const prng = new ModelPrng(1, 7)
    prng.below(1000)
    prng.u32()
    prng.u32()
    for (let i = 0; i < 200; i++) {
      const hash = (BigInt(prng.u32()) << 32n) | BigInt(prng.u32())
      expect(list.pickId('maglev', undefined)).toBe(model.firstOf(model.bySlots(table, hash)))
    }
    list.free()
  })

  it('says so where the list has no plan, or another’s, and draws nothing for it', () => {
    const list = new KeyedList(core, hosts)
    const other = new KeyedList(core, hosts).build('maglev', 101)
    for (const plan of ['ring', 'maglev', 'rendezvous', 'jump'] as const)
      expect(list.pick(plan, undefined)).toBe(NO_PLAN)
    list.build('maglev', 101)
    for (const plan of ['ring', 'rendezvous', 'jump'] as const) expect(list.pick(plan, 'k')).toBe(NO_PLAN)
    expect(list.pick('maglev', undefined)).toBe(other.pick('maglev', undefined))
    list.free()
    other.free()
  })

  it('of nobody nobody, of one that one', () => {
    for (const plan of ['ring', 'maglev', 'rendezvous', 'jump'] as const) {
      const nobody = new KeyedList(core, []).build(plan, 7)
      const one = new KeyedList(core, ['a']).build(plan, 7)
      expect([nobody.pick(plan, 'k', 1250), one.pick(plan, 'k', 1250)]).toEqual([-1, 0])
      nobody.free()
      one.free()
    }
  })

  it('a plan is laid out whatever has become of the weights: all 0 counts as all alike', () => {
    const list = new KeyedList(core, ['a', 'b', 'c'], [1, 2, 3])
    for (const row of [0, 1, 2]) list.members.setWeight(row, 0)
    for (const plan of ['ring', 'sizedRing', 'maglev', 'rendezvous', 'jump'] as const) {
      list.build(plan, 11, 100)
      const picked = new Set(Array.from({ length: 100 }, (_, i) => list.pick(plan, `key${i}`, 1250)))
      expect(picked, plan).toEqual(new Set([0, 1, 2]))
    }
    list.free()
  })
})
