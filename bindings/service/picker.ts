/** @module From a request to a row: the chain's candidates, and the policy's choice among them. */

import { ENDED_CANCELLED } from '../../assembly/layout.js'
import type { ServiceSettings } from '../config/settings.js'
import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import { ConfigError, show } from '../errors.js'
import { isSameInstance } from '../instance.js'
import { DEFAULT_DECAY_MS, type Engine, engineOf, orderFor } from '../policy/engine.js'
import { entropy } from '../runtime/host.js'
import { type StageContext, stageOf } from '../supplier/stage.js'
import type { PickContext, Policy } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { type CandidateList, CandidateTree } from './candidates.js'
import { Chain } from './chain.js'
import type { Counters } from './counters.js'
import type { Members } from './members.js'
import type { Step } from './memo.js'
import type { Resources } from './resources.js'

export class Picker {
  readonly chain: Chain
  /** How the built-in policy works in the core; undefined: a policy of the user's own. */
  readonly engine: Engine | undefined
  /** How latencies are averaged. */
  readonly averaging: Pick<Engine, 'peak' | 'decayMs'>
  /** Whether picks need to know the time. */
  readonly timed: boolean
  /** What fell back since this was last emptied, while somebody listens. */
  readonly fellBack: Step[] = []

  readonly #core: Core
  readonly #members: Members
  readonly #block: Pointer
  readonly #resources: Resources
  readonly #policy: Policy
  readonly #context: StageContext
  readonly #counters: Counters
  readonly #tellsFallbacks: () => boolean
  readonly #seed: number | undefined
  readonly #order: number
  /** User code chooses, or narrows the list. */
  readonly #foreign: boolean
  /** What every request picks from, where that depends on none: straight to the core. */
  #settled: CandidateList | undefined
  #seeded = false

  constructor(
    core: Core,
    resources: Resources,
    settings: ServiceSettings,
    context: StageContext,
    seed: number | undefined,
    counters: Counters,
    tellsFallbacks: () => boolean,
  ) {
    this.#core = core
    this.#members = resources.members
    this.#block = resources.members.block
    this.#resources = resources
    this.#policy = settings.policy
    this.#context = context
    this.#seed = seed
    this.#counters = counters
    this.#tellsFallbacks = tellsFallbacks
    this.engine = engineOf(settings.policy)
    this.timed = this.engine?.timed ?? true
    this.averaging = this.engine ?? { decayMs: DEFAULT_DECAY_MS }
    this.#order = orderFor(this.engine, settings.weighing?.order ?? 'interleaved')
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
    this.#resources.dropTree()
    this.#settled = undefined
  }

  /**
   * Picks a candidate and counts it in flight. Its row; −1: none.
   * @param nowMs looked at only if `timed`
   * @param avoid keep what was tried already out, if anything else is left; by default as the service does
   */
  pickRow(request: PickRequest, nowMs: number, avoid: boolean | undefined): number {
    const settled = this.#settled
    if (settled !== undefined && request.previous === undefined) {
      return (this.engine as Engine).lease(this.#core.exports, this.#block, settled.handle, nowMs)
    }
    return this.#pickRowByChain(request, nowMs, avoid ?? this.chain.avoidPrevious)
  }

  /** Apart, so that compilers inline the usual pick. */
  #pickRowByChain(request: PickRequest, nowMs: number, avoid: boolean): number {
    if (this.#foreign || request.previous !== undefined) return this.lent(() => this.#pickRow(request, nowMs, avoid))
    return this.#pickRow(request, nowMs, avoid)
  }

  /** Fills `out` with positions in the list in force, as many picks as there is room; how many. */
  pickPositions(out: Int32Array, request: PickRequest, nowMs: number): number {
    return this.lent(() => {
      const list = this.#candidates(request, this.chain.avoidPrevious)
      for (let count = 0; count < out.length; count++) {
        const index = this.#pickIndex(list, request, nowMs)
        if (index < 0) return count
        out[count] = list.positionAt(index)
      }
      return out.length
    })
  }

  /** Whether the request has a candidate that it has not tried. Tells nobody of fallbacks. */
  hasUntried(request: PickRequest, previous: readonly ServiceInstance[]): boolean {
    return this.lent(() => {
      const { instances } = this.chain.candidates(this.tree, request, () => {})
      return instances.some((instance) => !previous.some((tried) => isSameInstance(tried, instance)))
    })
  }

  /** Uniform in [0, 1) from the service's own generator; 0 when the service is closed. */
  random(): number {
    return this.#resources.givenBack ? 0 : this.#core.exports.nextF64(this.#block)
  }

  /** Runs what may run user code, which may do anything to the service. */
  lent<T>(use: () => T): T {
    this.#resources.lend()
    try {
      return use()
    } catch (error) {
      this.fellBack.length = 0
      throw error
    } finally {
      this.#resources.endLoan()
    }
  }

  #pickRow(request: PickRequest, nowMs: number, avoid: boolean): number {
    const list = this.#candidates(request, avoid)
    const row = this.#leaseFrom(list, request, nowMs)
    if (row >= 0 && this.chain.hears) this.#tellSelected(row, request)
    return row
  }

  /** A list that is made for this request alone is retired at once: the loan keeps it until the pick is over. */
  #candidates(request: PickRequest, avoid: boolean): CandidateList {
    const { tree } = this
    const all = this.chain.candidates(tree, request, this.#onFallback)
    if (!avoid || !request.previous?.length) return all
    const list = this.chain.withoutPrevious(all, request, this.#onFallback)
    if (list !== all) tree.retire(list)
    return list
  }

  #leaseFrom(list: CandidateList, request: PickRequest, nowMs: number): number {
    const { engine } = this
    const { exports } = this.#core
    if (engine !== undefined) return engine.lease(exports, this.#block, list.handle, nowMs)
    return exports.acquire(this.#block, list.handle, this.#pickIndex(list, request, nowMs))
  }

  #tellSelected(row: number, request: PickRequest): void {
    try {
      this.chain.selected(this.#members.byRow[row] as ServiceInstance, request)
    } catch (error) {
      this.#core.exports.complete(this.#block, row, ENDED_CANCELLED)
      throw error
    }
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
    const tree = new CandidateTree(this.#core, this.#resources, this.#order)
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
    if (this.#tellsFallbacks()) this.fellBack.push(step)
  }
}
