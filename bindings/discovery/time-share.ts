/** @module How long each of several clients may take, so that one that hangs leaves time for the others. */

import { defaultClock } from '../runtime/host.js'

/** What of the whole time is kept to put the answers together, at most. */
const MOST_MARGIN_MS = 1_000

export class TimeShare {
  readonly #clock = defaultClock()
  readonly #endMs: number

  /** @param totalMs after that nobody waits for the answer any more; undefined: there is no limit */
  constructor(totalMs: number | undefined) {
    this.#endMs =
      totalMs === undefined
        ? Number.POSITIVE_INFINITY
        : this.#clock() + totalMs - Math.min(totalMs / 10, MOST_MARGIN_MS)
  }

  /** The share of each of `count` clients that are asked one after the other from now on, in ms; undefined: no limit. */
  of(count: number): number | undefined {
    if (this.#endMs === Number.POSITIVE_INFINITY) return undefined
    return Math.max(1, Math.floor((this.#endMs - this.#clock()) / count))
  }
}
