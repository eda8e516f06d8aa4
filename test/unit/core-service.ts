/** Rows and lists in one core, without a service around them. */

import { LIST_PLAN, LIST_ROWS, LIST_STRAIGHT, ORDER_WEIGHTED, WEIGHT_PLAN_SUMS } from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'

export class CoreService {
  readonly core: Core
  readonly members: Members
  readonly block: Pointer
  readonly #lists: Pointer[] = []

  /** @param weights of as many rows */
  constructor(core: Core, weights: readonly number[], seed = 1) {
    this.core = core
    this.members = new Members(core)
    this.block = this.members.block
    this.members.adopt(weights.map((_, i) => toInstance({ host: 'h', port: i }, 'core', 'core')))
    for (const [row, weight] of weights.entries()) this.members.setWeight(row, weight)
    core.exports.seedBlock(this.block, 7, seed)
  }

  /** @param weighted attaches the rows' weights for a policy that lays them out itself */
  list(rows: readonly number[], weighted = false): Pointer {
    const list = this.core.exports.createList(rows.length)
    rows.forEach((row, i) => {
      this.core.i32[((list + LIST_ROWS) >>> 2) + i] = row
    })
    if (rows.every((row, i) => row === i)) this.core.i32[(list + LIST_STRAIGHT) >>> 2] = 1
    if (weighted) this.core.exports.weighList(this.block, list, ORDER_WEIGHTED)
    this.#lists.push(list)
    return list
  }

  /** What a policy has worked out for the list's candidates at its last pick. */
  weights(list: Pointer, length: number): number[] {
    const { core } = this
    const sums = ((core.i32[(list + LIST_PLAN) >>> 2] as number) + WEIGHT_PLAN_SUMS) >>> 3
    return Array.from({ length }, (_, i) => (core.f64[sums + i + 1] as number) - (core.f64[sums + i] as number))
  }

  free(): void {
    for (const list of this.#lists) this.core.exports.freeList(list)
    this.members.free()
  }
}
