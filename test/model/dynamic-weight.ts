/** Model of dynamic weight: every outcome is kept, and looked through at each update. */

import { expNegative } from './exp.js'
import type { ModelPrng } from './prng.js'

interface Outcome {
  readonly second: number
  readonly ms: number
  readonly failed: boolean
}

export interface DynamicRow {
  readonly outcomes: Outcome[]
  seen: number
  factor: number | undefined
  factorAtMs: number
}

export const dynamicRow = (): DynamicRow => ({
  outcomes: [],
  seen: 0,
  factor: undefined,
  factorAtMs: Number.NEGATIVE_INFINITY,
})

export function recordDynamic(row: DynamicRow, nowMs: number, ms: number, failed: boolean, every: number): void {
  row.seen++
  if (row.seen % every === 0) row.outcomes.push({ second: Math.floor(nowMs / 1000), ms, failed })
}

function computed({ outcomes }: DynamicRow, nowMs: number): number {
  const now = Math.floor(nowMs / 1000)
  const seconds = Array.from({ length: 60 }, (_, age) => outcomes.filter(({ second }) => second === now - age))
  const count = seconds.flat().length
  const failures = seconds.flat().filter(({ failed }) => failed).length
  // In the order in which the core adds: within a second as they came, then from the last second back.
  const ms = seconds.map((each) => each.reduce((sum, one) => sum + one.ms, 0)).reduce((sum, one) => sum + one, 0)
  const factor = expNegative(-(count === 0 ? 100 : ms / count) / 1000)
  return factor * Math.max(0.01, 1 - 2 * (count === 0 ? 0 : failures / count))
}

/** The weights of one list, worked out now. */
export function dynamicWeights(
  rows: readonly DynamicRow[],
  bases: readonly number[],
  nowMs: number,
  updateMs: number,
): number[] {
  for (const row of rows) {
    if (row.outcomes.length < 100 || nowMs - row.factorAtMs < updateMs) continue
    row.factor = row.factor === undefined ? computed(row, nowMs) : 0.7 * row.factor + 0.3 * computed(row, nowMs)
    row.factorAtMs = nowMs
  }
  const isWarm = (row: DynamicRow) => row.outcomes.length >= 100
  const warm = rows.map((row, i) => ({ row, base: bases[i] as number })).filter(({ row }) => isWarm(row))
  const mean = warm.reduce((sum, { row, base }) => sum + base * (row.factor as number), 0) / warm.length
  for (const [i, row] of rows.entries()) {
    if (!isWarm(row)) row.factor = warm.length > 0 ? mean / (bases[i] as number) : expNegative(-0.1)
  }
  return rows.map((row, i) => (bases[i] as number) * (row.factor as number))
}

/** Sums of the weights before each. */
export function sumsOf(weights: readonly number[]): number[] {
  const sums = [0]
  for (const weight of weights) sums.push((sums.at(-1) as number) + weight)
  return sums
}

export function drawBySums(prng: ModelPrng, sums: readonly number[]): number {
  const point = prng.f64() * (sums.at(-1) as number)
  return sums.slice(0, -1).findLastIndex((sum) => sum <= point)
}
