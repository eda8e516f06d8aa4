/** @module Changed weights on their way from the old to the new one. */

import { WeightMoves } from './weight-moves.js'

interface Ramp {
  readonly from: number
  readonly to: number
  readonly startMs: number
  /** The sums of all weights when it began: of those in force, and of those that are to be. */
  readonly fromSum: number
  readonly toSum: number
}

export class Ramps extends WeightMoves<Ramp> {
  readonly #rampMs: number

  constructor(...[members, rampMs, whole]: ConstructorParameters<typeof WeightMoves>) {
    super(members, rampMs, whole)
    this.#rampMs = rampMs
  }

  /** The weight that the row has, or is on its way to. */
  targetAt(row: number): number {
    return this.moves.get(row)?.to ?? this.members.ownWeightAt(row)
  }

  /** Sets a weight at once. */
  set(row: number, weight: number): void {
    this.moves.delete(row)
    this.members.setWeight(row, weight)
  }

  /** Takes these rows from the weights they have to new ones, each as a share of all rows that are listed. */
  begin(targets: ReadonlyMap<number, number>, rows: readonly number[], nowMs: number): void {
    this.follow(nowMs)
    let fromSum = 0
    let toSum = 0
    for (const row of rows) {
      fromSum += this.members.ownWeightAt(row)
      toSum += targets.get(row) ?? this.targetAt(row)
    }
    for (const [row, to] of targets) {
      this.moves.set(row, { from: this.members.ownWeightAt(row), to, startMs: nowMs, fromSum, toSum })
    }
    this.schedule(nowMs)
  }

  protected weightAfter({ to }: Ramp): number {
    return to
  }

  /**
   * Shares move evenly, so weights don't: on the way from 1 to 100 beside another 1, half way is 74 % of the traffic,
   * a weight of 2.9. With s = (1 − p)·from/fromSum + p·to/toSum for all instances, those that don't change keep their
   * weight if all are scaled by (1 − p)/fromSum + p/toSum.
   */
  protected weightOn({ from, to, fromSum, toSum }: Ramp, ageMs: number): number {
    const progress = ageMs / this.#rampMs
    const old = (1 - progress) * toSum
    const moved = fromSum > 0 && toSum > 0 ? (progress * fromSum) / (old + progress * fromSum) : progress
    const weight = this.rounded(from + (to - from) * moved)
    return Math.min(Math.max(weight, Math.min(from, to)), Math.max(from, to))
  }
}
