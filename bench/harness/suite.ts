/** @module What a suite is: cases that are measured, each in a fresh process, and what they say of the budgets. */

import type { Effort, Timings } from './rounds.js'

/** What one case found. `figures` are numbers that are no times of rounds: bytes, pages, counts. */
export interface Measured {
  readonly timings: Timings
  readonly figures?: Readonly<Record<string, number>>
}

export type Found = Readonly<Record<string, Measured>>

export interface Suite {
  /**
   * Each case is measured in a process of its own: what a call site has seen in one case (another policy, another shape
   * of list) would otherwise change how fast it is in the next. Runs on Node unless `on` says otherwise.
   */
  readonly cases: readonly { readonly name: string; readonly on?: 'bun' }[]
  /** Rounds, calls and warm-up differ by what one operation costs. */
  readonly effort: Effort
  /** Before the first case, in the runner's process. A suite that can't be prepared is left out, and says why. */
  prepare?(): void
  measure(caseName: string, effort: Effort): Promise<Measured>
  /** `found` has an entry for each case. */
  judge(found: Found): readonly Judgement[]
}

/** A line of the design's budget and what was found; without a budget something worth knowing beside it. */
export interface Judgement {
  readonly what: string
  readonly budget?: string
  readonly measured: string
  readonly met?: boolean
}

export function caseOf(found: Found, name: string): Measured {
  const measured = found[name]
  if (measured === undefined) throw new Error(`case "${name}" was not measured`)
  return measured
}
