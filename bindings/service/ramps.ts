/** @module Changed weights on their way from the old to the new one, in steps that picks make when they are due. */

import type { Members } from './members.js'

interface Ramp {
  readonly from: number
  readonly to: number
  readonly startMs: number
  /** The sums of all weights when it began: of those in force, and of those that are to be. */
  readonly fromSum: number
  readonly toSum: number
}

/** Steps of a ramp, at most. Each makes the service lay out its weights anew. */
const STEPS = 20

export class Ramps {
  readonly #members: Members
  readonly #rampMs: number
  /** Weights are whole numbers (SCLB's), also on the way. */
  readonly #whole: boolean
  readonly #ramps = new Map<number, Ramp>()
  /** When the next step is due; infinite: no weight is on its way. */
  nextStepMs = Number.POSITIVE_INFINITY
  /** When ramps were last looked at. */
  #atMs = Number.NEGATIVE_INFINITY

  constructor(members: Members, rampMs: number, whole: boolean) {
    this.#members = members
    this.#rampMs = rampMs
    this.#whole = whole
  }

  /** The weight that the row has, or is on its way to. */
  targetAt(row: number): number {
    return this.#ramps.get(row)?.to ?? this.#members.ownWeightAt(row)
  }

  /** Sets a weight at once. */
  set(row: number, weight: number): void {
    this.#ramps.delete(row)
    this.#members.setWeight(row, weight)
  }

  /** Takes these rows from the weights they have to new ones, each as a share of all rows that are listed. */
  begin(targets: ReadonlyMap<number, number>, rows: readonly number[], nowMs: number): void {
    this.#follow(nowMs)
    let fromSum = 0
    let toSum = 0
    for (const row of rows) {
      fromSum += this.#members.ownWeightAt(row)
      toSum += targets.get(row) ?? this.targetAt(row)
    }
    for (const [row, to] of targets) {
      this.#ramps.set(row, { from: this.#members.ownWeightAt(row), to, startMs: nowMs, fromSum, toSum })
    }
    this.#schedule(nowMs)
  }

  /** Whether weights are on their way and the next step is due, or the clock has gone back. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.nextStepMs || (nowMs < this.#atMs && this.#ramps.size > 0)
  }

  /** Ends the ramps of rows whose instance has left. */
  forgetDeparted(): void {
    const { byRow } = this.#members
    for (const row of this.#ramps.keys()) {
      const instance = byRow[row]
      if (instance === undefined || this.#members.rowOfListed(instance) !== row) this.#ramps.delete(row)
    }
    if (this.#ramps.size === 0) this.nextStepMs = Number.POSITIVE_INFINITY
  }

  /** Moves every weight to where it has to be by now. */
  advance(nowMs: number): void {
    this.#follow(nowMs)
    for (const [row, ramp] of this.#ramps) {
      const progress = (nowMs - ramp.startMs) / this.#rampMs
      if (progress >= 1) this.set(row, ramp.to)
      else this.#members.setWeight(row, this.#weightOn(ramp, progress))
    }
    this.#schedule(nowMs)
  }

  /** Where the clock has gone back, ramps go on from where they were. */
  #follow(nowMs: number): void {
    const backMs = this.#atMs - nowMs
    this.#atMs = nowMs
    if (!(backMs > 0)) return
    for (const [row, ramp] of this.#ramps) this.#ramps.set(row, { ...ramp, startMs: ramp.startMs - backMs })
  }

  #schedule(nowMs: number): void {
    this.nextStepMs = Number.POSITIVE_INFINITY
    for (const { startMs } of this.#ramps.values()) {
      this.nextStepMs = Math.min(this.nextStepMs, nowMs + this.#rampMs / STEPS, startMs + this.#rampMs)
    }
  }

  /**
   * Shares move evenly, so weights don't: on the way from 1 to 100 beside another 1, half way is 74 % of the traffic,
   * a weight of 2.9. With s = (1 − p)·from/fromSum + p·to/toSum for all instances, those that don't change keep their
   * weight if all are scaled by (1 − p)/fromSum + p/toSum. Two digits keep the cycles of rotations short.
   */
  #weightOn({ from, to, fromSum, toSum }: Ramp, progress: number): number {
    const old = (1 - progress) * toSum
    const moved = fromSum > 0 && toSum > 0 ? (progress * fromSum) / (old + progress * fromSum) : progress
    const weight = from + (to - from) * moved
    const rounded = this.#whole ? Math.round(weight) : Math.round(Number(weight.toPrecision(2)) * 1_000) / 1_000
    return Math.min(Math.max(rounded, Math.min(from, to)), Math.max(from, to))
  }
}
