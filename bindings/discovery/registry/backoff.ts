/** @module How long to wait after a failure: longer each time, and never in step with others. */

export interface BackoffRange {
  /** After the first failure, on average. */
  readonly minMs: number
  /** The longest, on average. */
  readonly maxMs: number
}

/**
 * Doubles from `minMs` to `maxMs`, each wait drawn uniformly from half of that to one and a half times it. The mean is
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
    const { minMs, maxMs } = this.#range
    const meanMs = Math.min(minMs * 2 ** this.#failures, maxMs, Math.max(minMs, mostMs))
    // What is beyond any range must not become infinite.
    if (this.#failures < 32) this.#failures++
    return meanMs * (0.5 + this.#random())
  }

  reset(): void {
    this.#failures = 0
  }
}
