/** @module New instances on their way to their full weight. */

import type { Members } from './members.js'
import { WeightMoves } from './weight-moves.js'

/** Read from options. */
export interface SlowStart {
  readonly windowMs: number
  /** 1: evenly; more: quicker at first. */
  readonly aggression: number
  /** Of the full weight: not less than this. */
  readonly minShare: number
}

/** Envoy's: so that an instance of this moment has a weight. */
const LEAST_AGE_MS = 1

/**
 * The share of its weight that an instance of this age has.
 * @see Envoy's slow start mode: max(minimum, (max(age, 1 ms) / window)^(1 / aggression))
 */
export function slowStartShare(ageMs: number, { windowMs, aggression, minShare }: SlowStart): number {
  if (ageMs >= windowMs) return 1
  return Math.max(minShare, (Math.max(ageMs, LEAST_AGE_MS) / windowMs) ** (1 / aggression))
}

interface Start {
  readonly weight: number
  readonly startMs: number
}

export class SlowStarts extends WeightMoves<Start> {
  readonly #settings: SlowStart
  /** The least weight that is none of 0. */
  readonly #least: number

  constructor(members: Members, settings: SlowStart, whole: boolean) {
    super(members, settings.windowMs, whole)
    this.#settings = settings
    this.#least = whole ? 1 : 0.001
  }

  /** The row's instance is new. */
  begin(row: number, weight: number, nowMs: number): void {
    this.moves.set(row, { weight, startMs: nowMs })
    this.advance(nowMs)
  }

  /** Another weight for a row that is on its way; false: it is not. */
  retarget(row: number, weight: number, nowMs: number): boolean {
    const start = this.moves.get(row)
    if (start === undefined) return false
    this.moves.set(row, { ...start, weight })
    this.advance(nowMs)
    return true
  }

  protected weightAfter({ weight }: Start): number {
    return weight
  }

  protected weightOn({ weight }: Start, ageMs: number): number {
    if (weight === 0) return 0
    return Math.max(this.rounded(weight * slowStartShare(ageMs, this.#settings)), this.#least)
  }
}
