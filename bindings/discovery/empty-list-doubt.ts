/** @module A registry's sudden "none", which is not believed for a while: more often it is the registry that broke. */

import type { List } from './ask.js'

export class EmptyListDoubt {
  readonly #protectMs: number
  /** Since when the registry lists nobody while an earlier list is kept; undefined: there is no doubt. */
  since: number | undefined

  /** @param protectMs how long the registry has to say so; 0: it is believed at once */
  constructor(protectMs: number) {
    this.#protectMs = protectMs
  }

  /** Whether what the registry says now is to be believed. `hasSomebody`: the list in force does. */
  believes(list: List, hasSomebody: boolean, nowMs: number): boolean {
    const isSudden = hasSomebody && list.length === 0 && this.#protectMs > 0
    if (!isSudden) return true
    this.since ??= nowMs
    return this.leftMs(nowMs) === 0
  }

  /** What was believed is in force, or what was not counts no more. */
  end(): void {
    this.since = undefined
  }

  /** How much longer an earlier list is kept; 0: there is no doubt, or it is over. */
  leftMs(nowMs: number): number {
    if (this.since === undefined) return 0
    // Where the clock has gone back, it counts from now on.
    this.since = Math.min(this.since, nowMs)
    return Math.max(0, this.since + this.#protectMs - nowMs)
  }
}
