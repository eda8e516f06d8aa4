/** @module What the stages of a chain made of which list, by request key; and how much of that is kept. */

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

interface Entry {
  readonly memo: StageMemo
  readonly key: string | undefined
  readonly step: Step
  /** Candidates of the list that was made for it. */
  readonly size: number
}

/** Answers a stage keeps, over all the lists that it is given. */
const MOST_ENTRIES = 1_024
/** Candidates in all their lists. */
const MOST_CANDIDATES = 1 << 20

/** What is kept for one stage of one tree: the oldest goes first. */
export class MemoBudget {
  readonly #entries = new Set<Entry>()
  readonly #tree: { evictions: number }
  #candidates = 0

  constructor(tree: { evictions: number }) {
    this.#tree = tree
  }

  /** Answers that are kept. */
  get size(): number {
    return this.#entries.size
  }

  add(entry: Entry): void {
    this.#entries.add(entry)
    this.#candidates += entry.size
    while (this.#entries.size > MOST_ENTRIES || (this.#candidates > MOST_CANDIDATES && this.#entries.size > 1)) {
      const [oldest] = this.#entries as Iterable<Entry> as [Entry]
      oldest.memo.forget(oldest.key)
    }
  }

  remove(entry: Entry): void {
    if (!this.#entries.delete(entry)) return
    this.#candidates -= entry.size
    this.#tree.evictions++
  }
}

/** What one stage made of one list. */
export class StageMemo {
  readonly #from: CandidateList
  readonly #budget: MemoBudget
  // The last key is compared first: most requests ask what the one before asked.
  #last: Entry | undefined
  readonly #byKey = new Map<string | undefined, Entry>()

  constructor(from: CandidateList, budget: MemoBudget) {
    this.#from = from
    this.#budget = budget
  }

  recall(key: string | undefined): Step | undefined {
    const last = this.#last
    if (last !== undefined && last.key === key) return last.step
    const entry = this.#byKey.get(key)
    if (entry === undefined) return undefined
    this.#last = entry
    return entry.step
  }

  remember(key: string | undefined, step: Step): void {
    this.forget(key)
    const entry = { memo: this, key, step, size: step.list === this.#from ? 0 : step.list.length }
    this.#byKey.set(key, entry)
    this.#last = entry
    this.#budget.add(entry)
  }

  forget(key: string | undefined): void {
    const entry = this.#byKey.get(key)
    if (entry === undefined) return
    this.#byKey.delete(key)
    this.#budget.remove(entry)
    if (this.#last === entry) this.#last = undefined
    const { list } = entry.step
    if (list !== this.#from) this.#from.tree.retire(list)
  }

  free(): void {
    for (const entry of this.#byKey.values()) {
      this.#budget.remove(entry)
      if (entry.step.list !== this.#from) entry.step.list.free()
    }
    this.#byKey.clear()
    this.#last = undefined
  }
}
