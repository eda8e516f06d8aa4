/** @module What rounds say: medians of values, and of ratios and differences taken within each round. */

import type { Timings } from './rounds.js'

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length === 0) return Number.NaN
  const upper = sorted[middle] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2
}

/** The median of a / b. */
export function ratio(timings: Timings, a: string, b: string): number {
  const others = valuesOf(timings, b)
  return median(valuesOf(timings, a).map((value, round) => value / (others[round] as number)))
}

/** The median of a − Σ others. */
export function excess(timings: Timings, a: string, ...others: readonly string[]): number {
  const taken = others.map((other) => valuesOf(timings, other))
  return median(
    valuesOf(timings, a).map((value, round) => taken.reduce((rest, values) => rest - (values[round] as number), value)),
  )
}

export function middle(timings: Timings, name: string): number {
  return median(valuesOf(timings, name))
}

function valuesOf(timings: Timings, name: string): readonly number[] {
  const values = timings[name]
  if (values === undefined) throw new Error(`nothing was measured under "${name}"`)
  return values
}
