/** @module From a request to a row: the chain's candidates, and the policy's choice among them. */

import { ENDED_CANCELLED } from '../../assembly/layout.js'
import type { Quirks } from '../compat/quirks.js'
import type { ServiceSettings } from '../config/settings.js'
import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import { ClosedError } from '../errors.js'
import { DEFAULT_DECAY_MS, type Engine, orderFor } from '../policy/engine.js'
import { pickWith } from '../policy/foreign.js'
import { RIBBON_STATS, ServerStatsRecorder } from '../policy/server-stats.js'
import { entropy } from '../runtime/host.js'
import { amongTried, triedRows } from '../supplier/retry-aware.js'
import { type Stage, type StageContext, stageOf, withHiddenRequest } from '../supplier/stage.js'
import type { PickContext, Policy } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { type CandidateList, CandidateTree } from './candidates.js'
import { Chain, type RetryAwareness } from './chain.js'
import type { Counters } from './counters.js'
import { Engines, prepareFor } from './engines.js'
import type { Members } from './members.js'
import type { Step } from './memo.js'
import type { Resources } from './resources.js'

/** What a picker takes from its balancer. */
export interface PickerHost {
  readonly core: Core
  readonly zone: string | undefined
  readonly instanceId: string | undefined
  readonly quirks: Quirks
  readonly clock: () => number
  /** Undefined: the runtime's own entropy, taken at the first pick. */
  readonly seed: number | undefined
}

/** What a picker takes from its service. */
export interface PickerOwner {
  readonly counters: Counters
  /** Stages before the suppliers': which instances may be candidates at all. */
  readonly lead: readonly Stage[]
  tellsFallbacks(): boolean
}

export interface TracedPick {
  /** −1: none. */
  readonly row: number
  readonly steps: readonly Step[]
  /** Instances of the list in force. */
  readonly found: number
  readonly candidates: number
}

/** What another try of a call is picked from. */
interface Offer {
  readonly list: CandidateList
  /** Rows of the list that the engine passes over; undefined: none, the list is without them. */
  readonly tried?: readonly number[]
  readonly candidates: number
}

export class Picker {
  readonly chain: Chain
  /** How the built-in policy works in the core; undefined: a policy of the user's own. */
  readonly engine: Engine | undefined
  /** How latencies are averaged. */
  readonly averaging: Pick<Engine, 'peak' | 'failureRttMs' | 'decayMs'>
  /** Whether picks need to know the time. */
  readonly timed: boolean
  readonly engines: Engines
  /** Recorded or not. */
  readonly serverStats: ServerStatsRecorder
  /** When stages are due that go by what the instances did. */
  nextRefreshMs = Number.POSITIVE_INFINITY
  /** What fell back since this was last emptied, while somebody listens. */
  readonly fellBack: Step[] = []

  readonly core: Core
  readonly #members: Members
  readonly #block: Pointer
  readonly #resources: Resources
  readonly #policy: Policy
  readonly #serviceId: string
  readonly #owner: PickerOwner
  #seed: number | undefined
  readonly #order: number
  /** User code chooses, or narrows the list. */
  readonly #foreign: boolean
  /** The engine passes over what was tried: a retry needs no list of its own. */
  readonly #walksOn: boolean
  /** What every request picks from, where that depends on none: straight to the core. */
  #settled: CandidateList | undefined
  #seeded = false
  /** What is recorded of leases was settled when the service was made, but for what user's policies turn to. */
  readonly #recording: boolean
  #refreshes = 0
  #refreshedMs = Number.NEGATIVE_INFINITY
  #drawsNothing = false
  /** How many candidates the last pick had that went by the chain. */
  #chained = 0

  constructor(
    serviceId: string,
    resources: Resources,
    settings: ServiceSettings,
    host: PickerHost,
    owner: PickerOwner,
  ) {
    const { core, zone, instanceId, quirks } = host
    this.core = core
    this.#members = resources.members
    this.#block = resources.members.block
    this.#resources = resources
    this.#policy = settings.policy
    this.#serviceId = serviceId
    this.#seed = host.seed
    this.#owner = owner
    this.serverStats = new ServerStatsRecorder(settings.serverStats ?? RIBBON_STATS, quirks, settings.retry.handler)
    const random = randomOf(core, resources)
    const known = { serviceId, quirks, zone, instanceId, random, clock: host.clock }
    this.engines = new Engines(core, this.#block, known, [this.serverStats])
    if (settings.serverStats !== undefined) this.engines.record(this.serverStats)
    this.engine = this.engines.of(settings.policy)
    this.averaging = this.engine ?? { decayMs: DEFAULT_DECAY_MS }
    this.#order = orderFor(this.engine, settings.weighing?.order ?? 'interleaved')
    const context: StageContext = {
      serviceId,
      zone,
      hint: settings.hint,
      instanceId,
      quirks,
      seed: () => this.#takeSeed(),
      draw: () => (this.#drawsNothing ? 1 : this.random()),
      clock: host.clock,
      refreshes: () => this.#refreshes,
      recordServerStats: () => this.engines.record(this.serverStats),
    }
    const suppliers = settings.suppliers.map((supplier) => stageOf(supplier, context))
    this.#recording = this.engines.recorders.length > 0
    this.timed = (this.engine?.timed ?? true) || this.#recording
    const stages = [...owner.lead, ...(settings.passesRequest ? suppliers : withHiddenRequest(suppliers))]
    const retries: RetryAwareness = {
      avoidPrevious: settings.retry.avoidPrevious,
      oneRow: quirks.has('retry-aware-one-row'),
      noSecondList: quirks.has('retry-aware-no-second-list'),
    }
    this.chain = new Chain(stages, retries, serviceId)
    this.#walksOn = this.engine?.walksOn === true && !retries.oneRow
    this.#foreign = this.chain.foreign || (this.engine?.foreign ?? this.engine === undefined)
  }

  /** The tree over the list in force, made when first looked at. */
  get tree(): CandidateTree {
    return this.#resources.tree ?? this.#grow()
  }

  /** The policy passes over who is marked as down, or so it is not a candidate. */
  passesOver(list: CandidateList, index: number): boolean {
    return this.engine?.picksDown !== true && list.isDown(index)
  }

  /** The policy, one that a policy of the user's own has asked, or a supplier keeps requests out by open breakers. */
  get goesByBreakers(): boolean {
    return this.chain.breakers || this.engines.breakers
  }

  get recordsServerStats(): boolean {
    return this.engines.recorders.includes(this.serverStats)
  }

  /** Asks the stages anew that go by what the instances did, if there are any. @param ages the list is asked for anew */
  refresh(nowMs: number, ages: boolean): void {
    const { periodMs } = this.chain
    if (periodMs === Number.POSITIVE_INFINITY) return
    this.#refreshes++
    this.#refreshedMs = ages ? Number.NEGATIVE_INFINITY : nowMs
    this.nextRefreshMs = ages ? Number.POSITIVE_INFINITY : nowMs + periodMs
    this.dropTree()
  }

  /** Also where the clock has gone back. */
  isRefreshDue(nowMs: number): boolean {
    return nowMs >= this.nextRefreshMs || nowMs < this.#refreshedMs
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
      const { exports } = this.core
      const row = (this.engine as Engine).lease(exports, this.#block, settled.handle, nowMs, request, settled)
      if (this.#recording && row >= 0) this.engines.started(row, nowMs)
      return row
    }
    return this.#pickRowByChain(request, nowMs, avoid)
  }

  /** How many candidates the pick had that was made for this request just now. */
  lastCandidates(request: PickRequest): number {
    const settled = this.#settled
    return settled !== undefined && request.previous === undefined ? settled.length : this.#chained
  }

  /** Apart, so that compilers inline the usual pick. */
  #pickRowByChain(request: PickRequest, nowMs: number, avoid: boolean | undefined): number {
    if (!this.#foreign && request.previous === undefined) return this.#pickRow(request, nowMs, avoid)
    const told = this.fellBack.length
    this.#resources.lend()
    try {
      return this.#pickRow(request, nowMs, avoid)
    } catch (error) {
      // What fell back in a pick that failed is not told with the next one.
      this.fellBack.length = told
      throw error
    } finally {
      this.#resources.endLoan()
    }
  }

  /** As `pickRow`, step by step. */
  pickRowTraced(request: PickRequest, nowMs: number, avoid = this.chain.retries.avoidPrevious): TracedPick {
    return this.lent(() => {
      const { tree } = this
      const steps = [...this.chain.steps(tree, request, true)]
      const all = steps.at(-1)?.list ?? tree.root
      let offer: Offer = { list: all, candidates: all.length }
      if (avoid && request.previous?.length) {
        const step = this.chain.withoutPrevious(tree, all, request)
        steps.push(step)
        if (step.list !== all) tree.retire(step.list)
        const candidates = step.list.length
        const walksOn = this.#walksOn && !step.fellBack
        offer = walksOn
          ? { list: all, tried: triedRows(all, request.previous), candidates }
          : { list: step.list, candidates }
      }
      for (const step of steps) if (step.fellBack) this.#onFallback(step)
      const row = this.#take(offer, request, nowMs)
      return { row, steps, found: tree.root.length, candidates: offer.candidates }
    })
  }

  /** Fills `out` with positions in the list in force, as many picks as there is room; how many. */
  pickPositions(out: Int32Array, request: PickRequest, nowMs: number): number {
    return this.lent(() => {
      const { list, tried } = this.#offer(request, undefined)
      for (let count = 0; count < out.length; count++) {
        const index = this.#pickIndex(list, request, nowMs, tried)
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
      return !instances.every(amongTried(previous))
    })
  }

  /** Uniform in [0, 1) from the service's own generator; 0 when the service is closed. */
  random(): number {
    return this.engines.context.random()
  }

  /** As `lent`, for a look that must leave the generator where it is. */
  withoutDraws<T>(look: () => T): T {
    // What is due is no part of the look: the next pick would find it done the same way.
    if (this.chain.periodMs < Number.POSITIVE_INFINITY) this.lent(() => this.chain.fixedList(this.tree))
    this.#drawsNothing = true
    try {
      return this.lent(look)
    } finally {
      this.#drawsNothing = false
    }
  }

  /** Runs what may run user code, which may do anything to the service. */
  lent<T>(use: () => T): T {
    const told = this.fellBack.length
    this.#resources.lend()
    try {
      return use()
    } catch (error) {
      this.fellBack.length = told
      throw error
    } finally {
      this.#resources.endLoan()
    }
  }

  #pickRow(request: PickRequest, nowMs: number, avoid: boolean | undefined): number {
    return this.#take(this.#offer(request, avoid), request, nowMs)
  }

  /** A list that is made for this request alone is retired at once: the loan keeps it until the pick is over. */
  #offer(request: PickRequest, avoid: boolean | undefined): Offer {
    const { tree } = this
    const all = this.chain.candidates(tree, request, this.#onFallback)
    const { length } = all
    if (!request.previous?.length || !(avoid ?? this.chain.retries.avoidPrevious)) {
      return { list: all, candidates: length }
    }
    if (this.#walksOn) {
      const tried = triedRows(all, request.previous)
      if (tried.length < length) return { list: all, tried, candidates: length - tried.length }
    }
    const step = this.chain.withoutPrevious(tree, all, request)
    if (step.list !== all) tree.retire(step.list)
    if (step.fellBack) this.#onFallback(step)
    return { list: step.list, candidates: step.list.length }
  }

  #take({ list, tried, candidates }: Offer, request: PickRequest, nowMs: number): number {
    const row = this.#rowFrom(list, request, nowMs, tried)
    if (row >= 0) this.engines.started(row, nowMs)
    this.#chained = candidates
    if (row >= 0 && this.chain.hears) this.#tellSelected(row, request, nowMs)
    return row
  }

  #rowFrom(list: CandidateList, request: PickRequest, nowMs: number, tried: Offer['tried']): number {
    const { engine } = this
    const { exports } = this.core
    if (engine === undefined) return exports.acquire(this.#block, list.handle, this.#pickIndex(list, request, nowMs))
    prepareFor(engine, list)
    return engine.lease(exports, this.#block, list.handle, nowMs, request, list, tried)
  }

  #tellSelected(row: number, request: PickRequest, nowMs: number): void {
    try {
      this.chain.selected(this.#members.byRow[row] as ServiceInstance, request)
    } catch (error) {
      this.core.exports.complete(this.#block, row, ENDED_CANCELLED)
      this.engines.ended(row, { outcome: { cancelled: true }, failed: false, latencyMs: Number.NaN, nowMs })
      throw error
    }
  }

  #pickIndex(list: CandidateList, request: PickRequest, nowMs: number, tried?: readonly number[]): number {
    const { engine } = this
    if (engine !== undefined) {
      return this.engines.pick(engine, this.core.exports, this.#block, list, nowMs, request, tried)
    }
    if (list.length === 0) return -1
    const context: PickContext = { request, nowMs, random: () => this.random() }
    return pickWith(this.#policy, list, context, this.#serviceId)
  }

  /** @throws EVENKEEL_CLOSED */
  #grow(): CandidateTree {
    const serviceId = this.#serviceId
    if (this.#resources.givenBack) throw new ClosedError(`service "${serviceId}" is closed`, { serviceId })
    if (!this.#seeded) this.#sow()
    const tree = new CandidateTree(this.core, this.#resources, this.engines, this.#order)
    this.#resources.tree = tree
    if (!this.#foreign) this.#settle(tree)
    return tree
  }

  #settle(tree: CandidateTree): void {
    const settled = this.chain.settled(tree)
    if (settled !== undefined) prepareFor(this.engine as Engine, settled)
    this.#settled = settled
  }

  #sow(): void {
    const { exports } = this.core
    const block = this.#block
    exports.seedBlock(block, this.core.hashText(this.#serviceId), this.#takeSeed())
    if (this.engine?.start !== undefined) exports.startAt(block, this.engine.start)
    this.#seeded = true
  }

  #takeSeed(): number {
    return (this.#seed ??= entropy())
  }

  readonly #onFallback = (step: Step): void => {
    this.#owner.counters.countFallback(step.stage)
    if (this.#owner.tellsFallbacks()) this.fellBack.push(step)
  }
}

/** Apart, so that what the resources lead to does not lead to the picker, and with it to the service. */
function randomOf({ exports }: Core, resources: Resources): () => number {
  return () => (resources.givenBack ? 0 : exports.nextF64(resources.members.block))
}
