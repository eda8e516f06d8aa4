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
  /** What the list that was made for it takes. */
  bytes: number
}

/** Answers a stage keeps, over all the lists that it is given. */
const MOST_ENTRIES = 1_024
/** What all lists of a tree take that are kept so, with the tables that policies have laid out for them. */
const MOST_BYTES = 32 << 20

/** What all budgets of a tree share. */
interface Kept {
  evictions: number
  keptBytes: number
}

/** What is kept for one stage of one tree: the oldest goes first. */
export class MemoBudget {
  readonly #entries = new Set<Entry>()
  readonly #tree: Kept

  constructor(tree: Kept) {
    this.#tree = tree
  }

  /** Answers that are kept. */
  get size(): number {
    return this.#entries.size
  }

  add(entry: Entry): void {
    this.#entries.add(entry)
    this.#tree.keptBytes += entry.bytes
    this.#evict(entry)
  }

  /** The entry's list takes more now, or less. */
  weigh(entry: Entry): void {
    if (!this.#entries.has(entry)) return
    const { bytes } = entry.step.list
    this.#tree.keptBytes += bytes - entry.bytes
    entry.bytes = bytes
    this.#evict(entry)
  }

  /** @param inUse stays, however much it takes */
  #evict(inUse: Entry): void {
    for (const oldest of this.#entries) {
      if (this.#entries.size <= MOST_ENTRIES && this.#tree.keptBytes <= MOST_BYTES) return
      if (oldest !== inUse) oldest.memo.forget(oldest.key)
    }
  }

  remove(entry: Entry): void {
    if (!this.#entries.delete(entry)) return
    this.#tree.keptBytes -= entry.bytes
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
    const { list } = step
    const isOwn = list !== this.#from
    const entry: Entry = { memo: this, key, step, bytes: isOwn ? list.bytes : 0 }
    if (isOwn) list.resized = () => this.#budget.weigh(entry)
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
