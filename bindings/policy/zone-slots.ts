/** @module Which zone has which rotation in the core. A zone keeps its own as long as lists name it. */

import type { CoreExports, Pointer } from '../core/exports.js'
import type { CandidateTree } from '../service/candidates.js'
import { allZonesColumnOf } from './zones.js'

/** Of one service: each has an engine of its own, and with it these. */
export class ZoneSlots {
  readonly #start: number
  #byName = new Map<string, number>()
  /** By interned id, in the tree at hand. */
  #byId: number[] = []
  #tree: CandidateTree | undefined

  /** @param start where rotations begin; −1: where the service's is */
  constructor(start: number) {
    this.#start = start
  }

  /** @param zone its interned id */
  of(core: CoreExports, block: Pointer, tree: CandidateTree, zone: number): number {
    if (this.#tree !== tree) this.#arrange(core, block, tree)
    return this.#byId[zone] as number
  }

  #arrange(core: CoreExports, block: Pointer, tree: CandidateTree): void {
    const { ids } = allZonesColumnOf(tree)
    const kept = new Map([...this.#byName].filter(([name]) => ids.has(name)))
    const taken = new Set(kept.values())
    core.reserveZoneTurns(block, ids.size)
    let slot = 0
    for (const [name, id] of ids) {
      let own = kept.get(name)
      if (own === undefined) {
        while (taken.has(slot)) slot++
        own = slot
        taken.add(own)
        kept.set(name, own)
        core.beginZoneTurns(block, own, this.#start)
      }
      this.#byId[id] = own
    }
    this.#byName = kept
    this.#tree = tree
  }
}
