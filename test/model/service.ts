/** Model of a service's block: rows, rotation, draws and the four policies, over plain objects. */

import { expNegative } from './exp.js'
import { ModelHistogram } from './histogram.js'
import { ModelPrng } from './prng.js'
import { interleavedAt, ownerOf, reduced, total } from './weights.js'

interface ModelRow {
  inFlight: number
  ewma: number
  stamp: number
  weight: number
  ended: { success: number; failure: number; cancelled: number }
  histogram: ModelHistogram
}

export type Order = 'interleaved' | 'block' | 'draw'

/** Candidates as row numbers; weights attached or not. */
export interface ModelList {
  readonly rows: readonly number[]
  readonly weights: readonly bigint[] | undefined
  readonly order: Order
  /** Where its rotation stands, once it has been picked from. */
  cursor?: number
  position?: bigint
}

export class ModelService {
  readonly rows: ModelRow[] = []
  readonly prng: ModelPrng
  #cursor: number
  #position: bigint

  constructor(nameHash: number, seed: number) {
    this.prng = new ModelPrng(nameHash, seed)
    this.#cursor = this.prng.below(1000)
    const high = BigInt(this.prng.u32() >>> 2)
    this.#position = (high << 32n) | BigInt(this.prng.u32())
  }

  startAt(start: number): void {
    this.#cursor = start
    this.#position = BigInt((start + 1) & 0x7fffffff)
  }

  addRow(weight: number): void {
    this.rows.push({
      inFlight: 0,
      ewma: -1,
      stamp: 0,
      weight,
      ended: { success: 0, failure: 0, cancelled: 0 },
      histogram: new ModelHistogram(),
    })
  }

  list(rows: readonly number[], order: Order | undefined): ModelList {
    const weights = rows.map((row) => this.#row(row).weight)
    const uneven = order !== undefined && new Set(weights).size > 1
    return { rows, weights: uneven ? reduced(weights) : undefined, order: order ?? 'draw' }
  }

  roundRobin(list: ModelList): number {
    const { length } = list.rows
    if (list.weights === undefined) {
      if (length < 2) return length - 1
      this.#cursor = list.cursor = ((list.cursor ?? this.#cursor) + 1) & 0x7fffffff
      return this.#cursor % length
    }
    const position = list.position ?? this.#position
    this.#position = list.position = position + 1n
    if (list.order === 'interleaved') return interleavedAt(list.weights, position)
    return ownerOf(list.weights, position % total(list.weights))
  }

  random(list: ModelList): number {
    return list.rows.length < 2 ? list.rows.length - 1 : this.#draw(list, [])
  }

  leastRequest(list: ModelList, choices: number): number {
    if (list.rows.length < 2) return list.rows.length - 1
    return this.#bestOf(list, choices, (index) => {
      const { inFlight, weight } = this.#row(list.rows[index] as number)
      return { over: inFlight, under: list.weights === undefined ? 1 : weight }
    })
  }

  peakEwma(list: ModelList, nowMs: number, decayMs: number, defaultRttMs: number): number {
    if (list.rows.length < 2) return list.rows.length - 1
    const weights = list.rows.map((row) => this.#row(row).weight)
    const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length
    return this.#bestOf(list, 2, (index) => {
      const row = this.#row(list.rows[index] as number)
      const inFlight = list.weights === undefined ? row.inFlight : row.inFlight * (mean / row.weight)
      if (row.ewma < 0) return { over: defaultRttMs * inFlight, under: 1 }
      const elapsed = nowMs - row.stamp
      const ewma = elapsed > 0 ? row.ewma * expNegative(-elapsed / decayMs) : row.ewma
      return { over: ewma * (inFlight + 1), under: 1 }
    })
  }

  acquire(row: number): void {
    this.#row(row).inFlight++
  }

  complete(row: number, ended: keyof ModelRow['ended']): void {
    this.#row(row).inFlight--
    this.#row(row).ended[ended]++
  }

  observe(at: number, ms: number, averagedMs: number, nowMs: number, decayMs: number, peak: boolean): void {
    const row = this.#row(at)
    row.histogram.record(ms)
    const kept = expNegative(-Math.max(nowMs - row.stamp, 0) / decayMs)
    row.ewma = row.ewma < 0 || (peak && averagedMs > row.ewma) ? averagedMs : row.ewma * kept + averagedMs * (1 - kept)
    row.stamp = nowMs
  }

  #row(row: number): ModelRow {
    return this.rows[row] as ModelRow
  }

  /** The first of the least loaded among distinct draws. */
  #bestOf(list: ModelList, choices: number, loadOf: (index: number) => { over: number; under: number }): number {
    const drawn: number[] = []
    while (drawn.length < Math.min(choices, list.rows.length)) {
      if (list.weights !== undefined && drawn.every((index) => list.weights?.[index] !== undefined)) {
        const left = total(list.weights) - total(drawn.map((index) => list.weights?.[index] as bigint))
        if (left === 0n) break
      }
      drawn.push(this.#draw(list, drawn))
    }
    return drawn.reduce((best, index) => {
      const a = loadOf(index)
      const b = loadOf(best)
      return a.over * b.under < b.over * a.under ? index : best
    })
  }

  /** One draw by weight from those not drawn yet: over their shares, laid end to end in list order. */
  #draw(list: ModelList, drawn: readonly number[]): number {
    const weights = (list.weights ?? list.rows.map(() => 1n)).map((weight, i) => (drawn.includes(i) ? 0n : weight))
    return ownerOf(weights, this.prng.below64(total(weights)))
  }
}
