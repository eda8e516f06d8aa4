/** @module How long to wait from one question to the next. */

import { Backoff } from '../registry/backoff.js'
import { isTimeout } from './servers.js'

/** Questions come up to this share earlier, so that clients that began together don't stay in step. */
const SPREAD = 0.1

/** Intervals: a server that fails is asked a little less often, one that is too slow to answer much less. */
const MOST_AFTER_FAILURE = 3
const MOST_AFTER_TIMEOUT = 10

/** As long as there is no list at all, calls fail: the first attempts follow one another sooner. */
const COLD_LEAST_MS = 1_000

export class Pace {
  readonly #intervalMs: number
  readonly #random: () => number
  readonly #backoff: Backoff
  readonly #cold: Backoff
  #isWarm = false

  constructor(intervalMs: number, random: () => number) {
    this.#intervalMs = intervalMs
    this.#random = random
    this.#backoff = new Backoff({ minMs: intervalMs, maxMs: intervalMs * MOST_AFTER_TIMEOUT }, random)
    this.#cold = new Backoff({ minMs: Math.min(COLD_LEAST_MS, intervalMs), maxMs: intervalMs }, random)
  }

  afterAnswer(): number {
    this.#isWarm = true
    this.#backoff.reset()
    return this.#intervalMs * (1 - SPREAD * this.#random())
  }

  afterFailure(error: unknown): number {
    if (!this.#isWarm) return this.#cold.next()
    return this.#backoff.next(isTimeout(error) ? undefined : this.#intervalMs * MOST_AFTER_FAILURE)
  }
}
