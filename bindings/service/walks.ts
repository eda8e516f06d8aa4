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
  /** Where the last one was found, or the next is to be put. */
  #at = 0

  /** The walk with these keys, which are compared one by one. */
  recall(keys: readonly (string | undefined)[]): Walk | undefined {
    const walks = this.#walks
    const last = walks[this.#at]
    if (last === undefined || sameKeys(last.keys, keys)) return last
    for (let i = 0; i < walks.length; i++) {
      const walk = walks[i] as Walk
      if (sameKeys(walk.keys, keys)) {
        this.#at = i
        return walk
      }
    }
    return undefined
  }

  remember(walk: Walk): void {
    this.#at = (this.#at + 1) % MOST_WALKS
    if (this.#walks.length < MOST_WALKS) this.#at = this.#walks.length
    this.#walks[this.#at] = walk
  }

  clear(): void {
    this.#walks.length = 0
    this.#at = 0
  }
}

function sameKeys(a: readonly (string | undefined)[], b: readonly (string | undefined)[]): boolean {
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return false
  return true
}
