/** Models of assembly/smooth.ts, edf.ts and stride.ts: candidates as plain objects, looked through one by one. */

import { ModelPrng } from './prng.js'
import { ownerOf, reduced, total } from './weights.js'

/** Where the rotation over one list stands, once it has been picked from. */
export interface ModelPlace {
  cursor?: number
  position?: bigint
}

type Turning = 'smooth' | 'edf'

/** What the rotations of one service share. */
export class ModelTurns {
  readonly prng: ModelPrng
  /** By row: what its last rotation kept, which means nothing to another kind. */
  readonly turns = new Map<number, { readonly whose: Turning; readonly turn: number }>()
  cursor: number
  position: bigint
  placed = false

  constructor(nameHash: number, seed: number) {
    this.prng = new ModelPrng(nameHash, seed)
    this.cursor = this.prng.below(1000)
    this.position = this.#anywhere()
  }

  has(whose: Turning, row: number): boolean {
    return this.turnOf(whose, row) !== undefined
  }

  turnOf(whose: Turning, row: number): number | undefined {
    const kept = this.turns.get(row)
    return kept?.whose === whose ? kept.turn : undefined
  }

  keep(whose: Turning, row: number, turn: number): void {
    this.turns.set(row, { whose, turn })
  }

  startAt(start: number): void {
    this.cursor = start
    this.position = BigInt((start + 1) & 0x7fffffff)
    this.placed = true
  }

  /** The place in a cycle where a rotation begins that knows nothing of its rows. */
  enter(cycle: bigint): bigint {
    const place = this.position % cycle
    this.position += BigInt(this.prng.u32())
    return place
  }

  replace(): void {
    this.position = this.#anywhere()
  }

  inTurn(length: number, place: ModelPlace): number {
    if (length < 2) return length - 1
    this.cursor = place.cursor = ((place.cursor ?? this.cursor) + 1) & 0x7fffffff
    return this.cursor % length
  }

  #anywhere(): bigint {
    const high = BigInt(this.prng.u32() >>> 2)
    return (high << 32n) | BigInt(this.prng.u32())
  }
}

/** A list being rotated over; `end` is when it is freed. */
export interface ModelRotation {
  pick(): number
  end(): void
}

/** Rows with their weights, which are not all equal. */
export type Weighted = readonly { readonly row: number; readonly weight: number }[]

export function smooth(state: ModelTurns, list: Weighted): ModelRotation {
  const weights = reduced(list.map(({ weight }) => weight)).map(Number)
  const sum = weights.reduce((a, b) => a + b, 0)
  const active = list.flatMap(({ row }, i) => (weights[i] === 0 ? [] : [{ row, i, weight: weights[i] as number }]))
  const credits = new Map<number, number>(active.map(({ i }) => [i, 0]))
  const credit = (i: number) => credits.get(i) as number
  const pick = () => {
    for (const { i, weight } of active) credits.set(i, credit(i) + weight)
    const best = active.reduce((most, each) => (credit(each.i) > credit(most.i) ? each : most)).i
    credits.set(best, credit(best) - sum)
    return best
  }
  const known = active.filter(({ row }) => state.has('smooth', row))
  if (known.reduce((all, { weight }) => all + weight, 0) * 2 < sum) {
    // The whole cycle up to there, pick by pick.
    for (let left = state.enter(BigInt(sum)); left > 0n; left--) pick()
  } else {
    for (const { row, i } of known) {
      const owed = Math.min(Math.max(state.turnOf('smooth', row) as number, -1), 1) * sum
      const whole = Math.round(owed)
      credits.set(i, Math.abs(owed - whole) <= sum * 2 ** -51 ? whole : owed)
    }
    const lead = Math.max(...known.map(({ i, weight }) => credit(i) + weight))
    for (const [i, { row }] of list.entries()) {
      if (state.has('smooth', row)) continue
      const drawn = lead - state.prng.f64() * sum
      if (weights[i] !== 0) credits.set(i, drawn)
    }
  }
  return {
    pick,
    end() {
      const mean = active.reduce((all, { i }) => all + credit(i), 0) / active.length
      for (const { row, i } of active) state.keep('smooth', row, (credit(i) - mean) / sum)
    },
  }
}

export function edf(state: ModelTurns, list: Weighted, bias: number, inFlight: (row: number) => number): ModelRotation {
  const cycle = reduced(list.map(({ weight }) => weight))
  const queue = list
    .map(({ row, weight }, index) => ({ row, weight, index, own: cycle[index] as bigint, due: 0, added: 0 }))
    .filter(({ own }) => own > 0n)
  for (const [i, each] of queue.entries()) each.added = i
  let added = queue.length
  let time = 0
  const periods = (row: number) => (bias === 0 ? 1 : inFlight(row) + 1)
  if (queue.some(({ row }) => state.has('edf', row))) {
    for (const each of queue) {
      const turn = state.turnOf('edf', each.row)
      const left = turn === undefined ? state.prng.f64() : Math.min(Math.max(1 - turn, 0), periods(each.row))
      each.due = left / each.weight
    }
  } else {
    const owns = queue.map(({ own }) => own)
    const place = state.enter(total(cycle))
    const first = ownerOf(owns, place)
    const turn = place - total(owns.slice(0, first)) + 1n
    const chosen = owns[first] as bigint
    for (const [i, each] of queue.entries()) {
      // ⌈turn · own / chosen⌉, which for the chosen one is its turn.
      each.due = Number((turn * each.own + chosen - 1n) / chosen) / each.weight
      if (i === first) {
        each.added = -1
        time = each.due
      }
    }
  }
  return {
    pick() {
      queue.sort((a, b) => a.due - b.due || a.added - b.added)
      const next = queue[0] as (typeof queue)[number]
      time = next.due
      next.due = time + periods(next.row) / next.weight
      next.added = added++
      return next.index
    },
    end() {
      for (const { row, due, weight } of queue) state.keep('edf', row, 1 - (due - time) * weight)
    },
  }
}

/** @param weights NaN: unknown */
export function stride(state: ModelTurns, list: Weighted, place: ModelPlace = {}): ModelRotation {
  const known = list.map(({ weight }) => weight).filter((weight) => weight > 0)
  const most = Math.max(...known)
  const mean = known.reduce((a, b) => a + b, 0) / known.length
  const scaled = list.map(({ weight }) => {
    const own = Number.isNaN(weight) ? mean : weight
    return own > 0 ? BigInt(Math.max(Math.round((65535 * own) / most), 1)) : 0n
  })
  const n = BigInt(list.length)
  const skips = (count: bigint) => {
    const own = scaled[Number(count % n)] as bigint
    return (own * (count / n) + 32767n * (count % n)) % 65535n < 65535n - own
  }
  if (!state.placed) for (let draws = 0; draws < 4 * list.length && skips(state.position); draws++) state.replace()
  state.placed = true
  return {
    pick() {
      let position = place.position ?? state.position
      while (skips(position)) position++
      state.position = place.position = position + 1n
      return Number(position % n)
    },
    end() {},
  }
}
