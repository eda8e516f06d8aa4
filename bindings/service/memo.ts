/** @module What one stage made of one list, by request key. */

import type { CandidateList } from './candidates.js'

/** What a stage made of a list. `list` may be the very list it was given. */
export interface Cut {
  readonly list: CandidateList
  readonly fellBack: boolean
  readonly reason: string | undefined
}

/** How many answers are kept; the oldest goes first. */
const MOST_MEMOISED = 64

export class StageMemo {
  readonly #from: CandidateList
  // The last key is compared first: most requests ask what the one before asked.
  #lastKey: string | undefined
  #last: Cut | undefined
  readonly #byKey = new Map<string | undefined, Cut>()

  constructor(from: CandidateList) {
    this.#from = from
  }

  recall(key: string | undefined): Cut | undefined {
    if (this.#last !== undefined && this.#lastKey === key) return this.#last
    const cut = this.#byKey.get(key)
    if (cut !== undefined) {
      this.#last = cut
      this.#lastKey = key
    }
    return cut
  }

  remember(key: string | undefined, cut: Cut): void {
    const same = this.#byKey.get(key)
    if (same !== undefined) this.#forget(key, same)
    if (this.#byKey.size >= MOST_MEMOISED) {
      const [oldest, old] = this.#byKey.entries().next().value as [string | undefined, Cut]
      this.#forget(oldest, old)
    }
    this.#byKey.set(key, cut)
    this.#last = cut
    this.#lastKey = key
  }

  free(): void {
    for (const { list } of this.#byKey.values()) if (list !== this.#from) list.free()
    this.#byKey.clear()
    this.#last = undefined
  }

  #forget(key: string | undefined, cut: Cut): void {
    this.#byKey.delete(key)
    if (cut.list !== this.#from) this.#from.tree.retire(cut.list)
  }
}
