/** @module Candidate lists: the same instances as JavaScript objects and as row numbers in the core. */

import {
  LIST_LENGTH,
  LIST_PLAN_BYTES,
  LIST_POSITIONS,
  LIST_ROWS,
  LIST_STRAIGHT,
  ORDER_EQUAL,
} from '../../assembly/layout.js'
import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import type { Engine } from '../policy/engine.js'
import type { Candidates } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { Engines } from './engines.js'
import type { Members } from './members.js'
import { MemoBudget, StageMemo } from './memo.js'
import type { Resources } from './resources.js'

/** Row, position, object, and what weights are laid out in. */
const BYTES_A_CANDIDATE = 32

/**
 * One list of candidates, and the memo of what the next stages made of it: lists form a tree whose root is the list
 * in force. A refresh drops the root, and with it everything derived.
 */
export class CandidateList implements Candidates {
  readonly instances: readonly ServiceInstance[]
  readonly handle: Pointer
  /** Weights are attached: policies go by them. */
  readonly weighted: boolean
  readonly tree: CandidateTree
  /** The policy whose preparation the list holds in the core. */
  preparedFor: Engine | undefined
  /** Given back to the core: whoever has kept it must not pick from it. */
  freed = false
  /** Tells whoever keeps the list that its policy has laid out a table for it. */
  resized: (() => void) | undefined
  readonly #memos: StageMemo[] = []
  readonly #parts = new Map<number, Part>()

  constructor(tree: CandidateTree, instances: readonly ServiceInstance[], handle: Pointer, weighted: boolean) {
    this.tree = tree
    this.instances = instances
    this.handle = handle
    this.weighted = weighted
    if (weighted && tree.order !== ORDER_EQUAL) tree.core.exports.weighList(tree.members.block, handle, tree.order)
  }

  get length(): number {
    return this.instances.length
  }

  instance(index: number): ServiceInstance {
    return this.instances[index] as ServiceInstance
  }

  weight(index: number): number {
    return this.weighted ? this.tree.members.weightAt(this.rowAt(index)) : 1
  }

  inFlight(index: number): number {
    return this.tree.members.inFlightAt(this.rowAt(index))
  }

  latencyMs(index: number): number {
    return this.tree.members.latencyAt(this.rowAt(index))
  }

  /** In the list although its check failed: only for policies that see those. */
  isDown(index: number): boolean {
    return this.tree.members.isDownAt(this.rowAt(index))
  }

  rowAt(index: number): number {
    return this.tree.core.i32[((this.handle + LIST_ROWS) >>> 2) + index] as number
  }

  /** Where the candidate stands in the tree's first list. */
  positionAt(index: number): number {
    const { i32 } = this.tree.core
    const positions = i32[(this.handle + LIST_POSITIONS) >>> 2] as number
    return positions === 0 ? index : (i32[(positions >>> 2) + index] as number)
  }

  /** What the chain's stage with this index made of this list so far. */
  memoOf(stage: number): StageMemo {
    return (this.#memos[stage] ??= new StageMemo(this, this.tree.budgetOf(stage)))
  }

  /** About how much memory it takes, with what its policy has laid out. */
  get bytes(): number {
    return this.length * BYTES_A_CANDIDATE + (this.tree.core.i32[(this.handle + LIST_PLAN_BYTES) >>> 2] as number)
  }

  /** The same candidates as a list of its own, which outlives this one. */
  copy(): CandidateList {
    return this.tree.pickOut(
      this,
      this.instances.map((_, i) => i),
    )
  }

  /** Some of the candidates as a list of their own, which is kept as long as this one. */
  part(key: number, indexes: () => readonly number[]): Part {
    let part = this.#parts.get(key)
    if (part === undefined) {
      const chosen = indexes()
      this.#parts.set(key, (part = { indexes: chosen, part: this.tree.pickOut(this, chosen) }))
    }
    return part
  }

  /** Frees this list in the core and all that was derived from it. */
  free(): void {
    this.freed = true
    for (const memo of this.#memos) memo?.free()
    for (const { part } of this.#parts.values()) part.free()
    this.tree.core.exports.freeList(this.handle)
  }
}

/** A list's candidates at these indexes. */
interface Part {
  readonly indexes: readonly number[]
  readonly part: CandidateList
}

/** Attribute values of the first list as interned numbers, by position. 0 is never a value. */
interface Column {
  readonly pointer: Pointer
  readonly ids: ReadonlyMap<string, number>
}

export class CandidateTree {
  readonly core: Core
  readonly members: Members
  readonly engines: Engines
  /** The order that the policy picks a weighted list by. */
  readonly order: number
  readonly root: CandidateList
  /** Answers of stages that were given up so far: who remembers a whole walk must look. */
  evictions = 0
  /** What the lists take that stages keep. */
  keptBytes = 0
  readonly #columns = new Map<string, Column>()
  readonly #kept = new Map<string, Pointer>()
  readonly #resources: Resources
  readonly #budgets: MemoBudget[] = []

  constructor(core: Core, resources: Resources, engines: Engines, order: number) {
    const { members } = resources
    this.core = core
    this.engines = engines
    this.members = members
    this.#resources = resources
    this.order = order
    const { instances } = members
    const handle = core.exports.createList(instances.length)
    const { i32 } = core
    const rows = (handle + LIST_ROWS) >>> 2
    let straight = 1
    for (let i = 0; i < instances.length; i++) {
      const row = members.rowOf(instances[i] as ServiceInstance)
      if (row !== i) straight = 0
      i32[rows + i] = row
    }
    i32[(handle + LIST_STRAIGHT) >>> 2] = straight
    this.root = new CandidateList(this, instances, handle, false)
  }

  /** Takes over a list that the core cut from `from`. */
  adopt(from: CandidateList, handle: Pointer, weighted = from.weighted): CandidateList {
    const { i32 } = this.core
    const length = i32[(handle + LIST_LENGTH) >>> 2] as number
    const positions = (i32[(handle + LIST_POSITIONS) >>> 2] as number) >>> 2
    const first = this.root.instances
    const instances = new Array<ServiceInstance>(length)
    for (let i = 0; i < length; i++) instances[i] = first[i32[positions + i] as number] as ServiceInstance
    return new CandidateList(this, Object.freeze(instances), handle, weighted)
  }

  /** The candidates of `from` at these indexes, in this order, as a list of its own. */
  pickOut(from: CandidateList, indexes: readonly number[], weighted = from.weighted): CandidateList {
    const handle = this.core.exports.createCut(indexes.length)
    const { i32 } = this.core
    const rows = (handle + LIST_ROWS) >>> 2
    const positions = (i32[(handle + LIST_POSITIONS) >>> 2] as number) >>> 2
    for (let i = 0; i < indexes.length; i++) {
      i32[rows + i] = from.rowAt(indexes[i] as number)
      i32[positions + i] = from.positionAt(indexes[i] as number)
    }
    return this.adopt(from, handle, weighted)
  }

  /** The column of one attribute, read from every instance once per tree. */
  column(name: string, read: (instance: ServiceInstance) => string | undefined): Column {
    let column = this.#columns.get(name)
    if (column !== undefined) return column
    const { instances } = this.root
    const pointer = this.core.exports.createColumn(instances.length)
    const { i32 } = this.core
    const ids = new Map<string, number>()
    for (let i = 0; i < instances.length; i++) {
      const value = read(instances[i] as ServiceInstance)
      let id = 0
      if (value !== undefined) {
        id = ids.get(value) ?? ids.size + 1
        ids.set(value, id)
      }
      i32[(pointer >>> 2) + i] = id
    }
    column = { pointer, ids }
    this.#columns.set(name, column)
    return column
  }

  /** Memory in the core that is made once and released with the tree. */
  keep(name: string, make: () => Pointer): Pointer {
    const known = this.#kept.get(name)
    if (known !== undefined) return known
    const made = make()
    this.#kept.set(name, made)
    return made
  }

  /** What the chain's stage with this index may keep of its answers. */
  budgetOf(stage: number): MemoBudget {
    return (this.#budgets[stage] ??= new MemoBudget(this))
  }

  /** Gives a list back to the core, and all that was derived from it, when no pick looks at it any more. */
  retire(list: CandidateList): void {
    this.#resources.free(() => list.free())
  }

  /** Gives everything back to the core. */
  free(): void {
    this.root.free()
    for (const { pointer } of this.#columns.values()) this.core.exports.release(pointer)
    this.#columns.clear()
    for (const pointer of this.#kept.values()) this.core.exports.release(pointer)
    this.#kept.clear()
  }
}
