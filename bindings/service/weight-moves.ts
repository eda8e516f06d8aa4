/** @module Weights of rows on their way to others, in steps that picks make when they are due. */

import type { Members } from './members.js'

/** Steps on the way, at most. Each makes the service lay out its weights anew. */
const STEPS = 20

/** @typeParam M what is known of one row's way */
export abstract class WeightMoves<M extends { readonly startMs: number }> {
  /** When the next step is due; infinite: no weight is on its way. */
  nextStepMs = Number.POSITIVE_INFINITY
  protected readonly members: Members
  protected readonly moves = new Map<number, M>()
  readonly #durationMs: number
  /** Weights are whole numbers (SCLB's), also on the way. */
  readonly #whole: boolean
  /** When moves were last looked at. */
  #atMs = Number.NEGATIVE_INFINITY

  constructor(members: Members, durationMs: number, whole: boolean) {
    this.members = members
    this.#durationMs = durationMs
    this.#whole = whole
  }

  /** The row's weight after `ageMs` on its way. */
  protected abstract weightOn(move: M, ageMs: number): number
  /** The row's weight at the end of it. */
  protected abstract weightAfter(move: M): number

  /** Whether weights are on their way and the next step is due, or the clock has gone back. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.nextStepMs || (nowMs < this.#atMs && this.moves.size > 0)
  }

  /** Ends the moves of rows whose instance has left. */
  forgetDeparted(): void {
    const { byRow } = this.members
    for (const row of this.moves.keys()) {
      const instance = byRow[row]
      if (instance === undefined || this.members.rowOfListed(instance) !== row) this.moves.delete(row)
    }
    if (this.moves.size === 0) this.nextStepMs = Number.POSITIVE_INFINITY
  }

  /** Moves every weight to where it has to be by now. */
  advance(nowMs: number): void {
    this.follow(nowMs)
    for (const [row, move] of this.moves) {
      const ageMs = nowMs - move.startMs
      if (ageMs >= this.#durationMs) this.moves.delete(row)
      this.members.setWeight(row, ageMs >= this.#durationMs ? this.weightAfter(move) : this.weightOn(move, ageMs))
    }
    this.schedule(nowMs)
  }

  /** Where the clock has gone back, moves go on from where they were. */
  protected follow(nowMs: number): void {
    const backMs = this.#atMs - nowMs
    this.#atMs = nowMs
    if (!(backMs > 0)) return
    for (const [row, move] of this.moves) this.moves.set(row, { ...move, startMs: move.startMs - backMs })
  }

  protected schedule(nowMs: number): void {
    this.nextStepMs = Number.POSITIVE_INFINITY
    for (const { startMs } of this.moves.values()) {
      this.nextStepMs = Math.min(this.nextStepMs, nowMs + this.#durationMs / STEPS, startMs + this.#durationMs)
    }
  }

  /** Two digits keep the cycles of rotations short. */
  protected rounded(weight: number): number {
    return this.#whole ? Math.round(weight) : Math.round(Number(weight.toPrecision(2)) * 1_000) / 1_000
  }
}
