/** @module The last walks through a whole chain: a request with the keys of one of them gets its candidates at once. */

import type { CandidateList } from './candidates.js'
import type { Step } from './memo.js'

const MOST_WALKS = 8

export interface Walk {
  readonly keys: readonly (string | undefined)[]
  readonly list: CandidateList
  /** The steps that fell back. */
  readonly fellBack: readonly Step[]
}

export class Walks {
  readonly #walks: Walk[] = []
  /** Where the next one is put. */
  #next = 0

  /** Most requests have the keys of the one before. */
  last: Walk | undefined

  /** The walk with these keys, which are compared one by one. */
  recall(keys: readonly (string | undefined)[]): Walk | undefined {
    const walks = this.#walks
    for (let i = 0; i < walks.length; i++) {
      const walk = walks[i] as Walk
      if (sameKeys(walk.keys, keys)) return (this.last = walk)
    }
    return undefined
  }

  remember(walk: Walk): void {
    this.#walks[this.#next] = walk
    this.#next = (this.#next + 1) % MOST_WALKS
    this.last = walk
  }

  clear(): void {
    this.#walks.length = 0
    this.#next = 0
    this.last = undefined
  }
}

function sameKeys(a: readonly (string | undefined)[], b: readonly (string | undefined)[]): boolean {
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return false
  return true
}
