/** Smooth round robin, EDF and stride: published sequences, exact shares, and what a refresh must not change. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BLOCK_TURNS,
  ORDER_BLOCK,
  ORDER_DRAW,
  ORDER_INTERLEAVED,
  ORDER_WEIGHTED,
  TURN_BYTES,
} from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import type { Members } from '../../bindings/service/members.js'
import { listOf, membersOf } from './core-lists.js'
import { CORES } from './cores.js'

type Pick = (core: Core, block: Pointer, list: Pointer) => number

const smooth: Pick = ({ exports }, block, list) => exports.pickSmooth(block, list)
const edf: Pick = ({ exports }, block, list) => exports.pickEdf(block, list, 0)
const stride: Pick = ({ exports }, block, list) => exports.pickStride(block, list)
const roundRobin: Pick = ({ exports }, block, list) => exports.pickRoundRobin(block, list)
const random: Pick = ({ exports }, block, list) => exports.pickRandom(block, list)

const ROTATIONS: Record<string, Pick> = { smooth, edf, stride }

/** The policies, and how they have weights attached. */
const WEIGHTED: Record<string, [Pick, number]> = {
  smooth: [smooth, ORDER_WEIGHTED],
  edf: [edf, ORDER_WEIGHTED],
  stride: [stride, ORDER_WEIGHTED],
  interleaved: [roundRobin, ORDER_INTERLEAVED],
  block: [roundRobin, ORDER_BLOCK],
  random: [random, ORDER_DRAW],
}

const letters = (indexes: readonly number[]) => indexes.map((index) => 'ABCDEFGHIJ'[index]).join('')

function counted(indexes: readonly number[], length: number): number[] {
  const counts = new Array<number>(length).fill(0)
  for (const index of indexes) counts[index] = (counts[index] as number) + 1
  return counts
}

/** The gaps between one pick of the candidate and the next. */
function longestGap(indexes: readonly number[], candidate: number): number {
  const places = indexes.flatMap((index, i) => (index === candidate ? [i] : []))
  return Math.max(...places.slice(1).map((place, i) => place - (places[i] as number)))
}

/** A rotation over rows that may be refreshed at any time. */
class Rotation {
  readonly members: Members
  readonly #core: Core
  readonly #pick: Pick
  readonly #order: number
  #rows: readonly number[]
  #list: Pointer

  constructor(core: Core, pick: Pick, weights: readonly number[], start?: number, order = ORDER_WEIGHTED, seed = 7) {
    this.#core = core
    this.#pick = pick
    this.#order = order
    this.members = membersOf(core, weights, seed)
    if (start !== undefined) core.exports.startAt(this.members.block, start)
    this.#rows = [...weights.keys()]
    this.#list = listOf(core, this.members.block, this.#rows, order)
  }

  next(): number {
    return this.#pick(this.#core, this.members.block, this.#list)
  }

  take(count: number): number[] {
    return Array.from({ length: count }, () => this.next())
  }

  refresh(rows = this.#rows): void {
    this.#core.exports.freeList(this.#list)
    this.#rows = rows
    this.#list = listOf(this.#core, this.members.block, rows, this.#order)
  }

  weigh(weights: readonly number[]): void {
    for (const [row, own] of weights.entries()) this.members.setWeight(row, own)
    this.refresh()
  }

  free(): void {
    this.#core.exports.freeList(this.#list)
    this.members.free()
  }
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  // nginx, Envoy and grpc-go, each reproduced from its source; kitex for the interleaved one.
  it.each<[string, readonly number[], string]>([
    ['smooth', [5, 1, 1], 'AABACAA'],
    ['smooth', [3, 2, 1], 'ABACBA'],
    ['edf', [5, 1, 1], 'AAAABCA'],
    ['edf', [3, 2, 1], 'ABACBA'],
    ['stride', [5, 1, 1], 'ACAABAA'],
    ['interleaved', [5, 1, 1], 'ABCAAAA'],
    ['block', [5, 3, 2], 'AAAAABBBCC'],
  ])('%s: weights %j give %s', (name, weights, expected) => {
    const [pick, order] = WEIGHTED[name] as [Pick, number]
    expect(letters(new Rotation(core, pick, weights, -1, order).take(expected.length))).toBe(expected)
  })

  it('stride: an unknown weight counts as the mean of the others', () => {
    // grpc-go scheduler_test: 4, unset, 2.
    const picks = new Rotation(core, stride, [4, Number.NaN, 2], -1).take(9_000)
    expect(counted(picks, 3)).toEqual([4_000, 3_000, 2_000])
  })

  it('stride: drained ones are passed over, unless all are', () => {
    expect(new Set(new Rotation(core, stride, [0, 3, 0, 3, 1]).take(500))).toEqual(new Set([1, 3, 4]))
    expect(letters(new Rotation(core, stride, [0, 2, 2, 0], -1).take(6))).toBe('BCBCBC')
    expect(letters(new Rotation(core, stride, [0, 0, 0], -1).take(4))).toBe('ABCA')
  })

  it.each(['smooth', 'edf'])('%s: drained ones are passed over', (name) => {
    expect(new Set(new Rotation(core, ROTATIONS[name] as Pick, [0, 3, 0, 3, 1]).take(500))).toEqual(new Set([1, 3, 4]))
  })

  it.each<[string, readonly number[]]>([
    ['smooth', [100, 200, 300, 400, 1000]],
    ['edf', [100, 200, 300, 400, 1000]],
    ['stride', [100, 200, 301, 400, 999]],
  ])('%s: 2000 picks of 1, 2, 3, 4, 10 are %j', (name, expected) => {
    expect(counted(new Rotation(core, ROTATIONS[name] as Pick, [1, 2, 3, 4, 10], -1).take(2_000), 5)).toEqual(expected)
  })

  it('smooth: any T picks in a row give each exactly its weight, from any start', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(weights, fc.integer(), (given, seed) => {
        // Already in their smallest proportion.
        const own = [...given, 1]
        const total = own.reduce((a, b) => a + b)
        const rotation = new Rotation(core, smooth, own, undefined, ORDER_WEIGHTED, seed)
        const picks = rotation.take(2 * total)
        rotation.free()
        const equal = new Set(own).size === 1
        for (let from = 0; from <= total && !equal; from++) {
          expect(counted(picks.slice(from, from + total), own.length)).toEqual(own)
        }
      }),
      { seed: 20260203, numRuns: 100 },
    )
  })

  it.each(Object.entries(ROTATIONS))('%s: nobody waits for more than twice its period', (name, pick) => {
    const weights = [1, 2, 3, 10, 20, 1, 1, 50, 7, 5]
    const total = 100
    const picks = new Rotation(core, pick, weights).take(2_000)
    for (const [i, own] of weights.entries()) {
      // With EDF all others may be due at the same time, and go before it.
      const most = name === 'edf' ? Math.ceil(total / own) + weights.length - 1 : 2 * Math.ceil(total / own)
      expect(longestGap(picks, i), `weight ${own}`).toBeLessThanOrEqual(most)
    }
  })

  it.each(Object.entries(ROTATIONS))('%s: long cycles have their shares too', (_name, pick) => {
    // A cycle of some 10^9 picks, which nobody goes through to find a place in it.
    const weights = [123_456.789, 234_567.891, 345_678.912, 296_296.408]
    for (let seed = 0; seed < 50; seed++) {
      const rotation = new Rotation(core, pick, weights, undefined, ORDER_WEIGHTED, seed)
      const picks = counted(rotation.take(1_000), 4)
      for (const [i, own] of weights.entries()) expect(Math.abs((picks[i] as number) - own / 1_000)).toBeLessThan(2)
      rotation.free()
    }
  })

  it.each(Object.entries(WEIGHTED))(
    '%s: of 10 000 fresh clients with weights 99 and 1, the light one gets 0.7 to 1.3 %%',
    (_name, [pick, order]) => {
      // envoyproxy/envoy#31378: 200 clients gave it none.
      let light = 0
      for (let seed = 1; seed <= 10_000; seed++) {
        const client = new Rotation(core, pick, [99, 1], undefined, order, seed)
        light += client.next()
        client.free()
      }
      expect(light).toBeGreaterThanOrEqual(70)
      expect(light).toBeLessThanOrEqual(130)
    },
  )

  it.each(Object.entries(ROTATIONS))('%s: an update between any two picks changes no share', (_name, pick) => {
    for (const weights of [
      [3, 1],
      [5, 3, 2, 1],
      [17, 16, 16],
      [0.5, 0.25, 1],
    ]) {
      const rotation = new Rotation(core, pick, weights)
      const unit = Math.min(...weights)
      const cycle = weights.reduce((a, b) => a + b) / unit
      const picks = Array.from({ length: 100 * cycle }, () => {
        const index = rotation.next()
        rotation.refresh()
        return index
      })
      for (const [i, count] of counted(picks, weights.length).entries()) {
        expect(Math.abs(count - (100 * (weights[i] as number)) / unit)).toBeLessThanOrEqual(1)
      }
    }
  })

  it('smooth: a refresh leaves the sequence as it is', () => {
    for (const weights of [
      [5, 1, 1],
      // Where a credit divided by the total and multiplied again is not the same.
      [11, 11, 1],
      [12, 11, 2],
      [14, 14, 1],
      [17, 16, 16],
      [30, 14, 5],
      [43, 33, 20, 3],
    ]) {
      const total = weights.reduce((a, b) => a + b)
      const quiet = new Rotation(core, smooth, weights, 3)
      const busy = new Rotation(core, smooth, weights, 3)
      for (let i = 0; i < 3 * total; i++) {
        expect(busy.next()).toBe(quiet.next())
        busy.refresh()
      }
    }
  })

  it.each(Object.entries(ROTATIONS))('%s: an update between any two picks, two hosts: 50/50', (_name, pick) => {
    // envoyproxy/envoy#5147: 126 against 13.
    const rotation = new Rotation(core, pick, [1, 1])
    const picks = Array.from({ length: 200 }, () => {
      rotation.refresh()
      return rotation.next()
    })
    expect(counted(picks, 2)).toEqual([100, 100])
  })

  it.each(Object.entries(ROTATIONS))('%s: new weights hold from there on, without a new start', (_name, pick) => {
    for (let warm = 0; warm < 12; warm++) {
      const rotation = new Rotation(core, pick, [10, 1, 1])
      rotation.take(warm)
      rotation.weigh([1, 10, 1])
      const picks = rotation.take(24)
      const counts = counted(picks, 3)
      // Two cycles; what was under way may add a turn or take one.
      for (const [i, own] of [1, 10, 1].entries()) expect(Math.abs((counts[i] as number) - 2 * own)).toBeLessThan(2.5)
    }
  })

  it('smooth and edf in turns on one list: each candidate keeps its share', () => {
    const weights = [5, 3, 1, 1]
    const { block } = membersOf(core, weights)
    const list = listOf(core, block, [0, 1, 2, 3], ORDER_WEIGHTED)
    const picks = Array.from({ length: 4_000 }, (_, i) => (i % 2 === 0 ? smooth : edf)(core, block, list))
    const counts = counted(picks, 4)
    // Standard deviations of 4 000 draws are 32, 29, 19 and 19.
    for (const [i, share] of [2_000, 1_200, 400, 400].entries())
      expect(Math.abs((counts[i] as number) - share), String(counts)).toBeLessThan(100)
    core.exports.freeList(list)
  })

  it.each(['smooth', 'edf'])('%s: weights that change at every pick still give their mean shares', (name) => {
    const rotation = new Rotation(core, ROTATIONS[name] as Pick, [3, 1])
    const picks = Array.from({ length: 4_000 }, (_, i) => {
      const index = rotation.next()
      rotation.weigh(i % 2 === 0 ? [1, 3] : [3, 1])
      return index
    })
    expect(Math.abs((counted(picks, 2)[0] as number) - 2_000)).toBeLessThanOrEqual(20)
  })

  it.each(['smooth', 'edf'])('%s: who joins comes in by its share, and the others keep theirs', (name) => {
    let first = 0
    const counts = [0, 0, 0, 0]
    const rounds = 2_000
    const rotation = new Rotation(core, ROTATIONS[name] as Pick, [4, 3, 2, 1])
    for (let round = 0; round < rounds; round++) {
      rotation.refresh([0, 1, 2])
      rotation.take((round * 7919) % 53)
      core.exports.resetRow(rotation.members.block, 3)
      rotation.refresh([0, 1, 2, 3])
      const picks = rotation.take(10)
      if (picks[0] === 3) first++
      for (const index of picks) counts[index] = (counts[index] as number) + 1
    }
    // A tenth of the clients, five standard deviations to either side.
    expect(Math.abs(first / rounds - 0.1)).toBeLessThan(5 * Math.sqrt((0.1 * 0.9) / rounds))
    // In its first cycle, to a tenth of a turn.
    for (const [i, own] of [4, 3, 2, 1].entries()) {
      expect(Math.abs((counts[i] as number) / rounds - own)).toBeLessThan(0.1)
    }
  })

  it('frees what rotations allocate, and what turns they left', () => {
    const cycle = () => {
      for (const pick of Object.values(ROTATIONS)) {
        const rotation = new Rotation(core, pick, [7, 3, 5, 1, 1, 9])
        rotation.take(3)
        rotation.refresh()
        rotation.take(3)
        rotation.free()
      }
    }
    for (let i = 0; i < 100; i++) cycle()
    const before = core.exports.memory.buffer.byteLength
    for (let i = 0; i < 3_000; i++) cycle()
    expect(core.exports.memory.buffer.byteLength).toBe(before)
  })
})

it('smooth: fresh clients of a long cycle start all over the list', () => {
  const core = (CORES.release as () => Core)()
  const { exports } = core
  const weights = Array.from({ length: 1_000 }, (_, i) => 1_000 + (i % 2))
  const { block } = membersOf(core, weights)
  const rows = [...weights.keys()]
  const tenths = new Array<number>(10).fill(0)
  for (let seed = 0; seed < 1_000; seed++) {
    // A client of its own: none of the turns that the one before has left.
    const turns = (core.i32[(block + BLOCK_TURNS) >>> 2] as number) >>> 3
    if (turns > 0) core.f64.fill(0, turns, turns + (weights.length * TURN_BYTES) / 8)
    exports.seedBlock(block, 1, seed)
    const list = listOf(core, block, rows, ORDER_WEIGHTED)
    const tenth = Math.floor(smooth(core, block, list) / 100)
    tenths[tenth] = (tenths[tenth] as number) + 1
    exports.freeList(list)
  }
  // Chi-square with 9 degrees of freedom: p = 0.001 at 27.9.
  expect(tenths.reduce((sum, count) => sum + (count - 100) ** 2 / 100, 0)).toBeLessThan(27.9)
})
