/** @module How long to wait after a failure: longer each time, and never in step with others. */

export interface BackoffRange {
  /** After the first failure, on average. */
  readonly minMs: number
  /** The longest, on average. */
  readonly maxMs: number
  /** How many times as long as the one before each is. Default 2. */
  readonly growth?: number
}

/**
 * For clients that are all cut off at the same moment, and so fail in step: one quick attempt, then few (1 s, 5 s, 25 s,
 * 30 s). Doubled, their pauses would still be short when a registry is back after ten or twenty seconds, and a hundred
 * and more of a thousand clients would come in one second; with this, after outages of 10 s and more, it is about fifty
 * on average over 5 s.
 */
export const CUT_OFF_GROWTH = 5

/**
 * Grows from `minMs` to `maxMs`, each wait drawn uniformly from half of that to one and a half times it. The mean is
 * the wait itself, so that many clients of a registry that is back ask it no more often than they do by their interval
 * (full jitter, from 0, would do so twice as often).
 */
export class Backoff {
  readonly #range: BackoffRange
  readonly #random: () => number
  /** In a row. */
  #failures = 0

  constructor(range: BackoffRange, random: () => number = Math.random) {
    this.#range = range
    this.#random = random
  }

  /** The wait after one failure more, in ms. @param mostMs not longer than this on average */
  next(mostMs = Number.POSITIVE_INFINITY): number {
    const { minMs, maxMs, growth = 2 } = this.#range
    const meanMs = Math.min(minMs * growth ** this.#failures, maxMs, Math.max(minMs, mostMs))
    // What is beyond any range must not become infinite.
    if (this.#failures < 32) this.#failures++
    return meanMs * (0.5 + this.#random())
  }

  reset(): void {
    this.#failures = 0
  }
}
