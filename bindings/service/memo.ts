/** @module What one stage made of one list, by request key. */

import type { CandidateList } from './candidates.js'

/** What a stage made of a list. `list` may be the very list it was given. */
export interface Cut {
  readonly list: CandidateList
  readonly fellBack: boolean
  readonly reason: string | undefined
}

/** What one stage did for one request. */
export interface Step extends Cut {
  readonly stage: string
  readonly from: CandidateList
}

/** How many answers are kept; the oldest goes first. */
const MOST_MEMOISED = 64

export class StageMemo {
  readonly #from: CandidateList
  // The last key is compared first: most requests ask what the one before asked.
  #lastKey: string | undefined
  #last: Step | undefined
  readonly #byKey = new Map<string | undefined, Step>()

  constructor(from: CandidateList) {
    this.#from = from
  }

  recall(key: string | undefined): Step | undefined {
    if (this.#last !== undefined && this.#lastKey === key) return this.#last
    const step = this.#byKey.get(key)
    if (step !== undefined) {
      this.#last = step
      this.#lastKey = key
    }
    return step
  }

  remember(key: string | undefined, step: Step): void {
    const same = this.#byKey.get(key)
    if (same !== undefined) this.#forget(key, same)
    if (this.#byKey.size >= MOST_MEMOISED) {
      const [oldest, old] = this.#byKey.entries().next().value as [string | undefined, Step]
      this.#forget(oldest, old)
    }
    this.#byKey.set(key, step)
    this.#last = step
    this.#lastKey = key
  }

  free(): void {
    for (const { list } of this.#byKey.values()) if (list !== this.#from) list.free()
    this.#byKey.clear()
    this.#last = undefined
  }

  #forget(key: string | undefined, { list }: Step): void {
    this.#byKey.delete(key)
    if (list !== this.#from) this.#from.tree.retire(list)
  }
}
