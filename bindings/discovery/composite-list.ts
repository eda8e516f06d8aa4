/** @module The list in force of several clients that are followed, and whose it is. */

import type { List } from './ask.js'
import type { Panel } from './composite-ask.js'
import { isSame, type Member, NOBODY, unionOf } from './composite-member.js'

export type CompositeMode = 'first' | 'merge'

export class CompositeList implements Panel {
  readonly members: readonly Member[]
  readonly mode: CompositeMode
  supplier: number | undefined
  /** What stands for the list that was handed on last. */
  #handed: readonly unknown[] | undefined
  #union = NOBODY
  /** Nobody is listed by those who have a list, and another has never said: the list before stays in force. */
  isLacking = false

  constructor(members: readonly Member[], mode: CompositeMode) {
    this.members = members
    this.mode = mode
  }

  get isHanded(): boolean {
    return this.#handed !== undefined
  }

  /** Nobody has to be waited for: those in front of the first who lists somebody, to merge all. */
  get isDecided(): boolean {
    for (const { heard, instances } of this.members) {
      if (!heard) return false
      if (this.mode === 'first' && instances.length > 0) return true
    }
    return true
  }

  /** Those of whose lists the one in force is. */
  get contributors(): readonly Member[] {
    const one = this.members[this.supplier ?? -1]
    return one === undefined ? this.members : [one]
  }

  /** The list to hand on; undefined: it is the one before, or there is none yet. Of those that have been decided. */
  next(): List | undefined {
    const place = this.members.findIndex(({ instances }) => instances.length > 0)
    const first = this.mode === 'first' ? this.members[place] : undefined
    this.supplier = first && place
    this.isLacking = place < 0 && this.members.some(({ list }) => list === undefined)
    if (this.isLacking) return undefined
    const next = first?.instances ?? this.#merged()
    if (next === this.#handed) return undefined
    this.#handed = next
    // As it was said: what it is read as may depend on the service.
    return first?.list ?? this.#union
  }

  #merged(): readonly unknown[] {
    const union = unionOf(this.members)
    if (!isSame(union, this.#union)) this.#union = union
    return this.#union
  }
}
