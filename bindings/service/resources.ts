/** @module What a service holds in the core, and when it may be given back. */

import type { CandidateTree } from './candidates.js'
import type { Members } from './members.js'

/**
 * Must not refer to the service, or an unclosed one would never be collected. User code that runs within a pick may
 * update or close the service: what is to be freed meanwhile waits until that pick is over.
 */
export class Resources {
  readonly members: Members
  tree: CandidateTree | undefined
  #loans = 0
  #waiting: (() => void)[] = []
  #givenBack = false
  #freed = false

  constructor(members: Members) {
    this.members = members
  }

  get givenBack(): boolean {
    return this.#givenBack
  }

  /** Until `endLoan` nothing is freed. */
  lend(): void {
    this.#loans++
  }

  endLoan(): void {
    this.#loans--
    if (this.#loans > 0) return
    if (this.#waiting.length > 0) for (const free of this.#waiting.splice(0)) free()
    if (this.#givenBack) this.#freeMembers()
  }

  /** Frees something at once, or when the last loan has ended. */
  free(free: () => void): void {
    if (this.#loans === 0) free()
    else this.#waiting.push(free)
  }

  dropTree(): void {
    const { tree } = this
    this.tree = undefined
    if (tree !== undefined) this.free(() => tree.free())
  }

  giveBack(): void {
    if (this.#givenBack) return
    this.#givenBack = true
    this.dropTree()
    if (this.#loans === 0) this.#freeMembers()
  }

  /** After all lists, however late these were given up: what they know of their rows goes to the rows. */
  #freeMembers(): void {
    if (this.#freed) return
    this.#freed = true
    this.members.free()
  }
}

let registry: FinalizationRegistry<Resources> | undefined

/** Gives back what a service holds that nobody closes. */
export function freeWhenCollected(service: object, resources: Resources): void {
  // Workers before compatibility date 2025-05-05 have none: there the isolate's end is the only other moment.
  if (typeof FinalizationRegistry === 'undefined') return
  registry ??= new FinalizationRegistry((held) => held.giveBack())
  registry.register(service, resources)
}
