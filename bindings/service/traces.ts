/** @module The picks that `recent()` tells of: every so many, the last of them. */

import type { PickRecord } from '../types/answers.js'

/** A record while its lease is open: the outcome is filled in. */
export type OpenRecord = { -readonly [K in keyof PickRecord]: PickRecord[K] }

/** By counting, not by chance: a trace must not move the generator that picks are drawn from. */
export class Traces {
  readonly #every: number
  readonly #keep: number
  readonly #records: OpenRecord[] = []
  #picks = 0

  constructor(every: number, keep: number) {
    this.#every = every
    this.#keep = keep
  }

  /** Counts a pick: whether it is one to remember. The first is. */
  isDue(): boolean {
    return this.#picks++ % this.#every === 0
  }

  add(record: OpenRecord): void {
    this.#records.push(record)
    if (this.#records.length > this.#keep) this.#records.shift()
  }

  /** Oldest first. */
  recent(): PickRecord[] {
    return this.#records.map((record) => ({ ...record }))
  }
}
