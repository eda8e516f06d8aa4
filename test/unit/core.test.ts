import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ENDED_SUCCESS,
  LIST_LENGTH,
  LIST_POSITIONS,
  LIST_ROWS,
  ORDER_BLOCK,
  ORDER_DRAW,
  ORDER_INTERLEAVED,
} from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'
import { expNegative } from '../model/exp.js'
import { ModelHistogram } from '../model/histogram.js'
import { hashCode, subset } from '../model/java.js'
import { interleavedAt, reduced } from '../model/weights.js'
import golden from '../vectors/golden.json' with { type: 'json' }
import { CORES } from './cores.js'

const typed = readFileSync(new URL('../../bindings/core/exports.ts', import.meta.url), 'utf8')

/** A service with one row per weight, and a list of all its rows. */
function listOf(core: Core, weights: readonly number[], order?: number): { members: Members; list: Pointer } {
  const members = new Members(core)
  members.adopt(weights.map((_, i) => toInstance({ host: 'h', port: i % 65536, instanceId: `i${i}` }, 'test', 'test')))
  for (const [row, weight] of weights.entries()) members.setWeight(row, weight)
  const list = core.exports.createList(weights.length)
  for (let i = 0; i < weights.length; i++) core.i32[((list + LIST_ROWS) >>> 2) + i] = i
  if (order !== undefined) core.exports.weighList(members.block, list, order)
  core.exports.seedBlock(members.block, 1, 7)
  return { members, list }
}

function rowsOf(core: Core, list: Pointer): number[] {
  const { i32 } = core
  const length = i32[(list + LIST_LENGTH) >>> 2] as number
  return [...i32.subarray((list + LIST_ROWS) >>> 2, ((list + LIST_ROWS) >>> 2) + length)]
}

function positionsOf(core: Core, list: Pointer): number[] {
  const { i32 } = core
  const positions = (i32[(list + LIST_POSITIONS) >>> 2] as number) >>> 2
  return [...i32.subarray(positions, positions + (i32[(list + LIST_LENGTH) >>> 2] as number))]
}

/** A request to row 0 that took `ms` and ended at `nowMs`. */
function see(core: Core, block: Pointer, ms: number, nowMs: number, peak: number): void {
  core.exports.acquireRow(block, 0)
  core.exports.completeAfter(block, 0, ENDED_SUCCESS, ms, ms, nowMs, 10_000, peak)
}

function textAt(core: Core, text: string): Pointer {
  const units = core.exports.allocate(text.length * 2)
  for (let i = 0; i < text.length; i++) core.u16[(units >>> 1) + i] = text.charCodeAt(i)
  return units
}

it('the release build imports nothing and exports what the bindings say', () => {
  const module = new WebAssembly.Module(readFileSync(new URL('../../build/core.wasm', import.meta.url)))
  expect(WebAssembly.Module.imports(module)).toEqual([])
  const exported = WebAssembly.Module.exports(module).map(({ name }) => name)
  const declared = [...typed.matchAll(/^ {2}(?:readonly )?(\w+)[(:]/gm)].map(([, name]) => name)
  expect(exported.sort()).toEqual(declared.sort())
})

describe.each(Object.entries(CORES))('%s core', (name, make) => {
  const core = make()
  const { exports } = core

  it('hashes text as String.hashCode', () => {
    for (const [text, hash] of Object.entries(golden.hashCode)) {
      const units = textAt(core, text)
      expect(exports.hashCode(units, text.length)).toBe(hash)
      exports.release(units)
    }
  })

  it('draws as java.util.Random', () => {
    for (const { seed, bound, values } of golden.nextInt) {
      exports.setRandomSeed(seed)
      expect(values.map(() => exports.nextInt(bound))).toEqual(values)
    }
    for (const { seed, n, values } of golden.nextIntDescending) {
      exports.setRandomSeed(seed)
      expect(values.map((_, i) => exports.nextInt(n - i))).toEqual(values)
    }
  })

  it('shuffles as Collections.shuffle', () => {
    for (const { seed, n, order } of golden.shuffle) {
      const items = exports.allocate(n * 4)
      for (let i = 0; i < n; i++) core.i32[(items >>> 2) + i] = i
      exports.shuffle(items, n, seed)
      expect([...core.i32.subarray(items >>> 2, (items >>> 2) + n)]).toEqual(order)
      exports.release(items)
    }
  })

  it('cuts the subsets of SCLB', () => {
    for (const { instanceId, n, size, picked } of golden.subset) {
      const { list } = listOf(core, new Array(n).fill(1))
      const cut = exports.cutSubset(list, hashCode(instanceId), size)
      expect(rowsOf(core, cut)).toEqual(picked)
      expect(positionsOf(core, cut)).toEqual(picked)
      exports.freeList(cut)
    }
  })

  it('rotates as RoundRobinLoadBalancer, the wrap of its counter included', () => {
    for (const { seed, n, indexes } of golden.roundRobin) {
      const { members, list } = listOf(core, new Array(n).fill(1))
      exports.startAt(members.block, seed)
      expect(indexes.map(() => exports.pickRoundRobin(members.block, list))).toEqual(indexes)
    }
  })

  it('goes through the interleaved cycles of SCLB', () => {
    for (const { weights, sequence } of golden.weighted) {
      const { members, list } = listOf(core, weights, ORDER_INTERLEAVED)
      exports.startAt(members.block, -1)
      const picks = Array.from({ length: sequence.length * 2 }, () => exports.pickRoundRobin(members.block, list))
      expect(picks).toEqual([...sequence, ...sequence])
    }
  })

  it('goes through blocks of equal candidates in block order', () => {
    const { members, list } = listOf(core, [3, 2, 1], ORDER_BLOCK)
    exports.startAt(members.block, -1)
    expect(Array.from({ length: 8 }, () => exports.pickRoundRobin(members.block, list))).toEqual([
      0, 0, 0, 1, 1, 2, 0, 0,
    ])
  })

  it('gives each candidate exactly its weight in a cycle, at a start beyond 2^32', () => {
    const weights = [2 ** 31 - 1, 2 ** 31 - 2, 1, 5]
    const { members, list } = listOf(core, weights, ORDER_INTERLEAVED)
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 20_000; i++) (counts[exports.pickRoundRobin(members.block, list)] as number)++
    // Any 20 000 places of this cycle, but for the first few, alternate between the two heavy ones.
    expect(Math.abs((counts[0] as number) - (counts[1] as number))).toBeLessThanOrEqual(1)
    expect((counts[2] as number) + (counts[3] as number)).toBeLessThanOrEqual(6)
  })

  it('keeps the place of each of several lists, however the others go on', () => {
    const weights = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 4 })
    const picks = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 20, maxLength: 200 })
    fc.assert(
      fc.property(fc.tuple(weights, weights, weights), picks, (cycles, order) => {
        const rows = cycles.flat()
        const { members, list: all } = listOf(core, rows)
        let from = 0
        const lists = cycles.map((own) => {
          const list = exports.createList(own.length)
          for (let i = 0; i < own.length; i++) core.i32[((list + LIST_ROWS) >>> 2) + i] = from++
          exports.weighList(members.block, list, ORDER_INTERLEAVED)
          return list
        })
        exports.startAt(members.block, -1)
        // Each begins after the last pick of a list of its kind.
        const last = { even: -1, uneven: -1 }
        const places: number[] = []
        for (const at of order) {
          const own = cycles[at] as number[]
          const kind = new Set(own).size > 1 ? 'uneven' : 'even'
          const place = (places[at] ?? last[kind]) + 1
          last[kind] = places[at] = place
          const expected = kind === 'uneven' ? interleavedAt(reduced(own), BigInt(place)) : place % own.length
          expect(exports.pickRoundRobin(members.block, lists[at] as Pointer)).toBe(expected)
        }
        for (const list of [all, ...lists]) exports.freeList(list)
        members.free()
      }),
      { seed: 20260106, numRuns: 400 },
    )
  })

  it('leaves the cursor alone for a single candidate', () => {
    const { members, list } = listOf(core, [1, 1])
    const single = listOf(core, [1]).list
    exports.startAt(members.block, -1)
    const picks = [list, single, single, list, single, list].map((each) => exports.pickRoundRobin(members.block, each))
    expect(picks).toEqual([0, 0, 0, 1, 0, 0])
  })

  it('filters as Array.filter does, on first lists and on cut ones, at any length', () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 60, max: 140 }))
    const columns = lengths.chain((n) =>
      fc.tuple(
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: n, maxLength: n }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: n, maxLength: n }),
      ),
    )
    fc.assert(
      fc.property(columns, fc.integer({ min: -1, max: 3 }), fc.integer({ min: 0, max: 2 }), ([first, second], a, b) => {
        const n = first.length
        const list = exports.createList(n)
        for (let i = 0; i < n; i++) core.i32[((list + LIST_ROWS) >>> 2) + i] = 1000 + i
        const column = (values: readonly number[]) => {
          const pointer = exports.createColumn(n)
          for (const [i, value] of values.entries()) core.i32[(pointer >>> 2) + i] = value
          return pointer
        }
        const [one, two] = [column(first), column(second)]
        const cut = exports.cutMatching(list, one, a)
        const again = exports.cutMatching(cut, two, b)
        const kept = first.flatMap((value, i) => (value === a ? [i] : []))
        expect(positionsOf(core, cut)).toEqual(kept)
        expect(rowsOf(core, cut)).toEqual(kept.map((i) => 1000 + i))
        expect(positionsOf(core, again)).toEqual(kept.filter((i) => second[i] === b))
        const bits = exports.allocate(Math.ceil(n / 32) * 4)
        expect(exports.matchBits(one, n, a, bits)).toBe(kept.length)
        for (const pointer of [list, cut, again]) exports.freeList(pointer)
        for (const pointer of [one, two, bits]) exports.release(pointer)
      }),
      { seed: 20260102, numRuns: 300 },
    )
  })

  it('cuts subsets as the model does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 60 }), fc.integer(), (n, size, hash) => {
        const list = exports.createList(n)
        for (let i = 0; i < n; i++) core.i32[((list + LIST_ROWS) >>> 2) + i] = i
        const cut = exports.cutSubset(list, hash, size)
        expect(rowsOf(core, cut)).toEqual(subset([...Array(n).keys()], hash, size))
        exports.freeList(list)
        exports.freeList(cut)
      }),
      { seed: 20260103, numRuns: 200 },
    )
  })

  it('computes e^x as its model does, within two units in the last place of the true value', () => {
    fc.assert(
      fc.property(fc.double({ min: -800, max: 0, noNaN: true }), (x) => {
        const value = exports.expNegative(x)
        expect(value).toBe(expNegative(x))
        expect(Math.abs(value - Math.exp(x))).toBeLessThanOrEqual(Math.exp(x) * 2 ** -51 + 1e-307)
      }),
      { seed: 20260104, numRuns: 2000 },
    )
    expect(exports.expNegative(0)).toBe(1)
  })

  it('averages latencies as Finagle and linkerd publish', () => {
    const { members } = listOf(core, [1])
    const observe = (ms: number, at: number) => see(core, members.block, ms, at, 1)
    observe(100, 0)
    observe(20, 5_000)
    expect(members.latencyAt(0)).toBeCloseTo(68.5225, 4)
    observe(250, 6_000)
    expect(members.latencyAt(0)).toBe(250)
  })

  it('reports percentiles within a sixteenth, at every bucket edge too', () => {
    const { members } = listOf(core, [1])
    const model = new ModelHistogram()
    for (let octave = -5; octave < 18; octave++) {
      for (let eighth = 0; eighth < 8; eighth++) {
        const ms = 2 ** octave * (1 + eighth / 8)
        for (const each of [ms, ms * (1 - 2 ** -52), ms * (1 + 2 ** -52)]) {
          see(core, members.block, each, 0, 0)
          model.record(each)
          for (const q of [0.01, 0.5, 1]) expect(members.quantileAt(0, q)).toBe(model.quantile(q))
        }
      }
    }
    const fresh = listOf(core, [1]).members
    see(core, fresh.block, 123.4, 0, 0)
    expect(Math.abs(fresh.quantileAt(0, 0.5) / 123.4 - 1)).toBeLessThan(1 / 16)
  })

  it('halves a full bucket instead of overflowing it', () => {
    const { members } = listOf(core, [1])
    for (let i = 0; i < 70_000; i++) see(core, members.block, 1, 0, 0)
    for (let i = 0; i < 40_000; i++) see(core, members.block, 100, 0, 0)
    expect(members.quantileAt(0, 0.5)).toBeGreaterThan(90)
  })

  it('draws distinct pairs: the busier of two gets nothing', () => {
    const { members, list } = listOf(core, [1, 1])
    exports.acquireRow(members.block, 0)
    for (let i = 0; i < 2_000; i++) expect(exports.pickLeastRequest(members.block, list, 2)).toBe(1)
  })

  it('draws uniformly where loads are equal, and by weight where weights are attached', () => {
    // Chi-square with 9 degrees of freedom: p = 0.001 at 27.9.
    const chi = (counts: readonly number[], weights: readonly number[]) => {
      const picks = counts.reduce((sum, count) => sum + count)
      const all = weights.reduce((sum, weight) => sum + weight)
      return counts.reduce(
        (sum, count, i) =>
          sum + (count - (picks * (weights[i] as number)) / all) ** 2 / ((picks * (weights[i] as number)) / all),
        0,
      )
    }
    const equal = new Array<number>(10).fill(1)
    const uneven = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    for (const weights of [equal, uneven]) {
      const { members, list } = listOf(core, weights, ORDER_DRAW)
      for (const pick of [
        () => exports.pickRandom(members.block, list),
        () => exports.pickLeastRequest(members.block, list, 2),
        () => exports.pickLeastRequest(members.block, list, 4),
        () => exports.pickPeakEwma(members.block, list, 0, 10_000, 30),
      ]) {
        const counts = new Array<number>(10).fill(0)
        for (let i = 0; i < 20_000; i++) (counts[pick()] as number)++
        expect(chi(counts, weights)).toBeLessThan(27.9)
      }
    }
  })

  it('tries an instance without history at once, but does not flood it', () => {
    const { members, list } = listOf(core, [1, 1])
    see(core, members.block, 20, 0, 1)
    expect(exports.pickPeakEwma(members.block, list, 0, 10_000, 30)).toBe(1)
    exports.acquireRow(members.block, 1)
    expect(exports.pickPeakEwma(members.block, list, 0, 10_000, 30)).toBe(0)
  })

  it('frees what it allocates: a million cycles leave the memory as it was', { timeout: 120_000 }, () => {
    const cycles = name === 'wasm2js' || name === 'debug' ? 100_000 : 1_000_000
    const cycle = (size: number) => {
      const block = exports.createBlock()
      exports.reserveRows(block, size)
      for (let row = 0; row < size; row++) exports.resetRow(block, row)
      see(core, block, 1, 0, 0)
      exports.reserveRows(block, size * 2)
      const list = exports.createList(3)
      for (let i = 0; i < 3; i++) core.i32[((list + LIST_ROWS) >>> 2) + i] = i
      exports.weighList(block, list, ORDER_DRAW)
      const cut = exports.cutSubset(list, size, 2)
      exports.freeList(cut)
      exports.freeList(list)
      exports.freeBlock(block)
    }
    for (let i = 0; i < 1_000; i++) cycle(3 + (i % 40))
    const before = exports.memory.buffer.byteLength
    for (let i = 0; i < cycles; i++) cycle(3 + (i % 40))
    expect(exports.memory.buffer.byteLength).toBe(before)
  })
})

it('a failed assertion in the debug build names its place in the source', () => {
  const core = (CORES.debug as () => Core)()
  const { members } = listOf(core, [1])
  expect(() => core.exports.complete(members.block, 0, 0)).toThrow(/assembly\/lease\.ts:\d+:\d+/)
})
