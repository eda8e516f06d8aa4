/** @module From a request to a row: the chain's candidates, and the policy's choice among them. */

import type { ServiceSettings } from '../config/settings.js'
import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import { ConfigError, show } from '../errors.js'
import { DEFAULT_DECAY_MS, type Engine, engineOf, orderFor } from '../policy/engine.js'
import { entropy } from '../runtime/host.js'
import { type StageContext, stageOf } from '../supplier/stage.js'
import { weighingOf } from '../supplier/weighted.js'
import type { PickContext, Policy } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { type CandidateList, CandidateTree } from './candidates.js'
import { Chain, type Step } from './chain.js'
import type { Counters } from './counters.js'
import type { Members } from './members.js'
import type { Resources } from './resources.js'

export class Picker {
  readonly chain: Chain
  /** How the built-in policy works in the core; undefined: a policy of the user's own. */
  readonly engine: Engine | undefined
  /** How latencies are averaged. */
  readonly averaging: Pick<Engine, 'peak' | 'decayMs'>
  /** Whether picks need to know the time. */
  readonly timed: boolean
  /** What fell back since this was last emptied. */
  readonly fellBack: Step[] = []

  readonly #core: Core
  readonly #members: Members
  readonly #block: Pointer
  readonly #resources: Resources
  readonly #policy: Policy
  readonly #context: StageContext
  readonly #counters: Counters
  readonly #seed: number | undefined
  readonly #order: number
  /** User code runs within a pick: its lists must outlive whatever that code does. */
  readonly #foreign: boolean
  /** What every request picks from, where that depends on none: straight to the core. */
  #settled: CandidateList | undefined
  #seeded = false

  constructor(
    core: Core,
    resources: Resources & { members: Members },
    settings: ServiceSettings,
    context: StageContext,
    seed: number | undefined,
    counters: Counters,
  ) {
    this.#core = core
    this.#members = resources.members
    this.#block = resources.members.block
    this.#resources = resources
    this.#policy = settings.policy
    this.#context = context
    this.#seed = seed
    this.#counters = counters
    this.engine = engineOf(settings.policy)
    this.timed = this.engine?.timed ?? true
    this.averaging = this.engine ?? { decayMs: DEFAULT_DECAY_MS }
    const weighing = settings.suppliers.map(weighingOf).find((each) => each !== undefined)
    this.#order = orderFor(this.engine, weighing?.order ?? 'interleaved')
    const stages = settings.suppliers.map((supplier) => stageOf(supplier, context))
    this.chain = new Chain(stages, settings.retry.avoidPrevious)
    this.#foreign = this.chain.foreign || this.engine === undefined
  }

  /** The tree over the list in force, made when first looked at. */
  get tree(): CandidateTree {
    return this.#resources.tree ?? this.#grow()
  }

  /** The list in force has changed. */
  dropTree(): void {
    this.#resources.tree?.drop()
    this.#resources.tree = undefined
    this.#settled = undefined
  }

  /** Picks a candidate and counts it in flight. Its row; −1: none. `nowMs` is looked at only if `timed`. */
  pickRow(request: PickRequest, nowMs: number): number {
    const settled = this.#settled
    if (settled !== undefined && request.previous === undefined) {
      return (this.engine as Engine).lease(this.#core.exports, this.#block, settled.handle, nowMs)
    }
    const { tree } = this
    if (!this.#foreign) return this.#pickRow(tree, request, nowMs)
    tree.lend()
    try {
      return this.#pickRow(tree, request, nowMs)
    } finally {
      tree.giveBack()
    }
  }

  /** Fills `out` with positions in the list in force, as many picks as there is room; how many. */
  pickPositions(out: Int32Array, request: PickRequest, nowMs: number): number {
    const { tree } = this
    tree.lend()
    try {
      const list = this.chain.candidates(tree, request, this.#onFallback)
      for (let count = 0; count < out.length; count++) {
        const index = this.#pickIndex(list, request, nowMs)
        if (index < 0) return count
        out[count] = list.positionAt(index)
      }
      return out.length
    } finally {
      tree.giveBack()
    }
  }

  /** Uniform in [0, 1) from the service's own generator. */
  random(): number {
    return this.#core.exports.nextF64(this.#block)
  }

  #pickRow(tree: CandidateTree, request: PickRequest, nowMs: number): number {
    const all = this.chain.candidates(tree, request, this.#onFallback)
    const list =
      request.previous?.length && this.chain.avoidPrevious
        ? this.chain.withoutPrevious(all, request, this.#onFallback)
        : all
    const { engine } = this
    const { exports } = this.#core
    const block = this.#block
    const row =
      engine === undefined
        ? exports.acquire(block, list.handle, this.#pickIndex(list, request, nowMs))
        : engine.lease(exports, block, list.handle, nowMs)
    if (list !== all) tree.retire(list)
    if (row >= 0) this.chain.selected(this.#members.byRow[row] as ServiceInstance, request)
    return row
  }

  #pickIndex(list: CandidateList, request: PickRequest, nowMs: number): number {
    const { engine } = this
    if (engine !== undefined) return engine.pick(this.#core.exports, this.#block, list.handle, nowMs)
    if (list.length === 0) return -1
    const context: PickContext = { request, nowMs, random: () => this.random() }
    const index = this.#policy.pick(list, context)
    if (Number.isInteger(index) && index >= -1 && index < list.length) return index
    const { serviceId } = this.#context
    throw new ConfigError(
      `policy "${this.#policy.name}" of service "${serviceId}" picked ${show(index)} of ${list.length} candidates`,
      { serviceId, option: 'policy' },
    )
  }

  #grow(): CandidateTree {
    if (!this.#seeded) this.#sow()
    const tree = new CandidateTree(this.#core, this.#members, this.#order)
    this.#resources.tree = tree
    if (!this.#foreign) this.#settled = this.chain.settled(tree)
    return tree
  }

  #sow(): void {
    const { exports } = this.#core
    const block = this.#block
    exports.seedBlock(block, this.#core.hashText(this.#context.serviceId), this.#seed ?? entropy())
    if (this.engine?.start !== undefined) exports.startAt(block, this.engine.start)
    this.#seeded = true
  }

  readonly #onFallback = (step: Step): void => {
    this.#counters.countFallback(step.stage)
    this.fellBack.push(step)
  }
}
