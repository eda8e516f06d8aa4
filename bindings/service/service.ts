/** @module One named client: its list, its chain, its policy, its state in the core. */

import { ENDED_CANCELLED, ENDED_FAILURE, ENDED_SUCCESS } from '../../assembly/layout.js'
import { send } from '../client/call.js'
import type { ServiceSettings } from '../config/settings.js'
import type { Core } from '../core/core.js'
import { ListSource } from '../discovery/source.js'
import { ClosedError, ConfigError, show } from '../errors.js'
import { isSameInstance } from '../instance.js'
import { DEFAULT_DECAY_MS, type Engine, engineOf, orderFor } from '../policy/engine.js'
import { NO_REQUEST } from '../request.js'
import { entropy } from '../runtime/host.js'
import { stageOf } from '../supplier/stage.js'
import { type Weighing, weighingOf } from '../supplier/weighted.js'
import type {
  Explanation,
  ListChange,
  PickRecord,
  ServiceEvents,
  ServiceStats,
  TimelineEntry,
} from '../types/answers.js'
import type { Service } from '../types/balancer.js'
import type { PickContext } from '../types/extension.js'
import type { FetchLike, InstanceInit, ServiceInstance } from '../types/instance.js'
import type { CallOverrides } from '../types/options.js'
import type { Lease, Outcome, PickRequest, WaitOptions } from '../types/request.js'
import { type CandidateList, CandidateTree } from './candidates.js'
import { Chain, type Step } from './chain.js'
import { Counters } from './counters.js'
import { Events } from './events.js'
import { explain } from './explain.js'
import { type LeaseOwner, ServiceLease } from './lease.js'
import { Members } from './members.js'
import { OpenLeases } from './open-leases.js'
import { freeWhenCollected, giveBack, type Resources } from './resources.js'
import { statsOf } from './stats.js'

/** What a service takes from its balancer. */
export interface ServiceHost {
  readonly core: Core
  readonly zone: string | undefined
  readonly clock: () => number
  /** Undefined: the runtime's own entropy, taken at the first pick. */
  readonly seed: number | undefined
  readonly transport: FetchLike
}

type WaitUntil = ((promise: Promise<unknown>) => void) | undefined

export class BalancedService implements Service, LeaseOwner {
  readonly serviceId: string
  readonly settings: ServiceSettings
  readonly counters = new Counters()
  readonly source: ListSource
  readonly members: Members
  readonly chain: Chain
  readonly fetch: FetchLike
  readonly transport: FetchLike
  readonly clock: () => number

  readonly #core: Core
  readonly #seed: number | undefined
  readonly #events = new Events()
  readonly #weighing: Weighing | undefined
  readonly #engine: Engine | undefined
  readonly #order: number
  /** User code runs within a pick: its lists must outlive whatever that code does. */
  readonly #foreign: boolean
  readonly #hears: boolean
  readonly #openLeases: OpenLeases | undefined
  readonly #resources: Resources
  readonly #unreadableWeights = new Set<string>()
  readonly #mergedDuplicates = new Set<string>()
  #fellBack: Step[] = []
  #seeded = false
  #closed = false
  #version = 0

  constructor(serviceId: string, settings: ServiceSettings, host: ServiceHost, where: string) {
    this.serviceId = serviceId
    this.settings = settings
    this.clock = host.clock
    this.transport = host.transport
    this.#core = host.core
    this.#seed = host.seed
    this.#weighing = settings.suppliers.map(weighingOf).find((weighing) => weighing !== undefined)
    this.#engine = engineOf(settings.policy)
    this.#order = orderFor(this.#engine, this.#weighing?.order ?? 'interleaved')
    const context = { serviceId, zone: host.zone, hint: settings.hint }
    this.chain = new Chain(
      settings.suppliers.map((supplier) => stageOf(supplier, context)),
      settings.retry.avoidPrevious,
    )
    this.#foreign = this.chain.foreign || this.#engine === undefined
    this.#hears = this.chain.hears
    if (settings.leaseTimeoutMs !== undefined) this.#openLeases = new OpenLeases(settings.leaseTimeoutMs)
    this.members = new Members(host.core, serviceId)
    this.#resources = { members: this.members, tree: undefined }
    freeWhenCollected(this, this.#resources)
    this.source = new ListSource(settings, {
      serviceId,
      clock: host.clock,
      publish: (list) => this.#publish(list, settings.instances === undefined ? 'list' : `${where}.instances`),
      failed: (error) => {
        this.#events.emit('discoveryError', { error, servedAgeMs: this.source.ageMs })
      },
    })
    this.fetch = (input, init) => send(this, input, init)
    if (settings.instances !== undefined) {
      try {
        this.source.accept(settings.instances)
      } catch (error) {
        this.#release()
        throw error
      }
    }
  }

  get state(): Service['state'] {
    if (this.#closed) return 'closed'
    if (!this.source.listed) return this.source.lastError === undefined ? 'cold' : 'failed'
    return this.source.lastError === undefined && this.source.isFresh(this.clock()) ? 'ready' : 'stale'
  }

  pick(request: PickRequest = NO_REQUEST): Lease | undefined {
    return this.take(request, 1, undefined)
  }

  /** As `pick`, for one attempt of a call. */
  take(request: PickRequest, attempt: number, waitUntil: WaitUntil): ServiceLease | undefined {
    const tree = this.#consult(waitUntil)
    if (tree === undefined) return undefined
    const lease = this.#foreign
      ? tree.lend(() => this.#takeFrom(tree, request, attempt))
      : this.#takeFrom(tree, request, attempt)
    if (this.#fellBack.length > 0) this.#tellFallbacks()
    return lease
  }

  /** Another attempt at the same instance; undefined if it has left the list meanwhile. */
  takeAgain(instance: ServiceInstance, request: PickRequest, attempt: number): ServiceLease | undefined {
    this.checkOpen()
    const current = this.members.get(instance.instanceId)
    if (current === undefined || !isSameInstance(current, instance)) return undefined
    const row = this.members.rowOf(current)
    this.#core.exports.acquireRow(this.members.block, row)
    return this.#opened(new ServiceLease(this, current, row, attempt, request, Number.NaN))
  }

  /** Uniform in [0, 1) from the service's own generator. */
  random(): number {
    return this.#core.exports.nextF64(this.members.block)
  }

  pickMany(out: Int32Array, request: PickRequest = NO_REQUEST): number {
    const tree = this.#consult(undefined)
    if (tree === undefined) return 0
    return tree.lend(() => {
      const list = this.chain.candidates(tree, request, this.#onFallback)
      this.#tellFallbacks()
      let count = 0
      for (; count < out.length; count++) {
        const index = this.#indexFrom(list, request)
        if (index < 0) break
        out[count] = list.positionAt(index)
      }
      return count
    })
  }

  async choose(
    request: PickRequest = NO_REQUEST,
    options: WaitOptions & { waitUntil?: WaitUntil } = {},
  ): Promise<Lease | undefined> {
    this.checkOpen()
    await this.source.ready(options)
    return this.take(request, 1, options.waitUntil)
  }

  *plan(request: PickRequest = NO_REQUEST, options: { attempts?: number } = {}): Iterable<Lease> {
    const { attempts = Number.POSITIVE_INFINITY } = options
    const previous = [...(request.previous ?? [])]
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const lease = this.take({ ...request, previous }, attempt, undefined)
      if (lease === undefined) return
      if (previous.some((tried) => tried.instanceId === lease.instance.instanceId)) {
        lease.done({ cancelled: true })
        return
      }
      previous.push(lease.instance)
      yield lease
    }
  }

  async explain(request: PickRequest = NO_REQUEST): Promise<Explanation> {
    this.checkOpen()
    await this.source.ready().catch(() => {})
    this.checkOpen()
    const tree = this.#grown()
    return tree.lend(() =>
      explain(this, tree, request, {
        unreadableWeights: [...this.#unreadableWeights],
        mergedDuplicates: [...this.#mergedDuplicates],
        version: this.#version,
        digest: (this.#core.hashText(this.members.instances.map((instance) => instance.instanceId).join('\n')) >>> 0)
          .toString(16)
          .padStart(8, '0'),
      }),
    )
  }

  instances(): readonly ServiceInstance[] {
    return this.members.instances
  }

  update(instances: readonly InstanceInit[]): ListChange {
    this.checkOpen()
    if (this.source.client !== undefined) {
      throw new ConfigError(
        `the list of "${this.serviceId}" comes from discovery "${this.source.client.name}": update() is for static lists`,
        { serviceId: this.serviceId },
      )
    }
    return this.source.accept(instances)
  }

  refresh(options?: WaitOptions): Promise<ListChange> {
    this.checkOpen()
    return this.source.refresh(options)
  }

  async check(): Promise<void> {
    throw this.#notYet('check()')
  }

  drain(): void {
    throw this.#notYet('drain()')
  }

  restore(): void {
    throw this.#notYet('restore()')
  }

  timeline(): readonly TimelineEntry[] {
    throw this.#notYet('timeline()')
  }

  recent(): readonly PickRecord[] {
    throw this.#notYet('recent()')
  }

  options(): Record<string, { value: unknown; from: 'default' | 'balancer' | 'service' }> {
    return Object.fromEntries(Object.entries(this.settings.provenance).map(([option, given]) => [option, { ...given }]))
  }

  stats(): ServiceStats {
    this.checkOpen()
    const tree = this.#grown()
    return tree.lend(() => statsOf(this, tree))
  }

  on<E extends keyof ServiceEvents>(event: E, listener: (value: ServiceEvents[E]) => void): Disposable {
    if (!Events.isEvent(event))
      throw new ConfigError(`there is no event ${show(event)}; known: ${Events.names}`, { serviceId: this.serviceId })
    if (typeof listener !== 'function')
      throw new ConfigError(`a listener must be a function, not ${show(listener)}`, { serviceId: this.serviceId })
    return this.#events.on(event, listener)
  }

  close(): void {
    if (this.#closed) return
    this.#release()
    this.source.close()
    this.#events.clear()
  }

  /** @throws EVENKEEL_CLOSED */
  checkOpen(): void {
    if (this.#closed) throw new ClosedError(`service "${this.serviceId}" is closed`, { serviceId: this.serviceId })
  }

  settle(lease: ServiceLease, outcome: Outcome): void {
    this.#openLeases?.remove(lease)
    if (this.#closed) return
    const { exports } = this.#core
    const { row } = lease
    const failed = outcome.error !== undefined || isFailureStatus(outcome.status)
    if (outcome.cancelled) return exports.complete(this.members.block, row, ENDED_CANCELLED)
    exports.complete(this.members.block, row, failed ? ENDED_FAILURE : ENDED_SUCCESS)
    const latencyMs = this.#observe(lease, outcome.latencyMs, failed)
    this.settings.policy.done?.(lease.instance, outcome, latencyMs)
  }

  sendThrough(lease: ServiceLease, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return send(this, input, init, {}, lease)
  }

  /** Sends one call. `overrides` come from `lb.with`. */
  call(
    input: string | URL | Request,
    init: RequestInit | undefined,
    overrides: CallOverrides | undefined,
  ): Promise<Response> {
    return send(this, input, init, overrides)
  }

  /** The tree to pick from, or undefined while there is no list. Starts a refresh if one is due. */
  #consult(waitUntil: WaitUntil): CandidateTree | undefined {
    this.checkOpen()
    const { source } = this
    if (this.#openLeases !== undefined) this.#openLeases.expire(this.clock())
    if (!source.listed) {
      source.revive(waitUntil)
      if (!source.listed) {
        this.counters.cacheMisses++
        this.counters.noInstance++
        return undefined
      }
    } else if (source.ages) {
      if (source.isFresh(this.clock())) {
        this.counters.cacheHits++
      } else {
        this.counters.cacheMisses++
        source.revive(waitUntil)
      }
    }
    return this.#resources.tree ?? this.#grown()
  }

  #takeFrom(tree: CandidateTree, request: PickRequest, attempt: number): ServiceLease | undefined {
    const all = this.chain.candidates(tree, request, this.#onFallback)
    const list =
      request.previous?.length && this.chain.avoidPrevious
        ? this.chain.withoutPrevious(all, request, this.#onFallback)
        : all
    const engine = this.#engine
    let nowMs = Number.NaN
    let row: number
    if (engine === undefined) {
      nowMs = this.clock()
      row = this.#core.exports.acquire(this.members.block, list.handle, this.#foreignIndex(list, request, nowMs))
    } else {
      if (engine.timed) nowMs = this.clock()
      row = engine.lease(this.#core.exports, this.members.block, list.handle, nowMs)
    }
    if (list !== all) tree.retire(list)
    if (row < 0) {
      this.counters.noInstance++
      return undefined
    }
    const lease = new ServiceLease(this, this.members.byRow[row] as ServiceInstance, row, attempt, request, nowMs)
    if (this.#hears) this.chain.selected(lease.instance, request)
    return this.#opened(lease)
  }

  #opened(lease: ServiceLease): ServiceLease {
    if (this.#openLeases !== undefined) {
      lease.openedAt = this.clock()
      this.#openLeases.add(lease)
    }
    return lease
  }

  #indexFrom(list: CandidateList, request: PickRequest): number {
    const engine = this.#engine
    if (engine === undefined) return this.#foreignIndex(list, request, this.clock())
    return engine.pick(this.#core.exports, this.members.block, list.handle, engine.timed ? this.clock() : 0)
  }

  /** What a policy of the user's own chooses. */
  #foreignIndex(list: CandidateList, request: PickRequest, nowMs: number): number {
    if (list.length === 0) return -1
    const { policy } = this.settings
    const context: PickContext = { request, nowMs, random: () => this.random() }
    const index = policy.pick(list, context)
    if (Number.isInteger(index) && index >= -1 && index < list.length) return index
    throw new ConfigError(
      `policy "${policy.name}" of service "${this.serviceId}" picked ${show(index)} of ${list.length} candidates`,
      { serviceId: this.serviceId, option: 'policy' },
    )
  }

  /** Takes the latency of a completed lease, if anybody measured it. Returns it, or NaN. */
  #observe(lease: ServiceLease, given: number | undefined, failed: boolean): number {
    if (given === undefined && Number.isNaN(lease.startedAt)) return Number.NaN
    const nowMs = this.clock()
    const latencyMs = given ?? nowMs - lease.startedAt
    if (!(latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY)) return Number.NaN
    const engine = this.#engine
    const peak = engine?.peak
    const averagedMs = failed && peak !== undefined ? Math.max(latencyMs, peak.failureRttMs) : latencyMs
    this.#core.exports.observe(
      this.members.block,
      lease.row,
      latencyMs,
      averagedMs,
      nowMs,
      engine?.decayMs ?? DEFAULT_DECAY_MS,
      peak === undefined ? 0 : 1,
    )
    return latencyMs
  }

  #publish(inits: readonly InstanceInit[], where: string): ListChange {
    const isStatic = this.source === undefined || this.source.client === undefined
    const { instances, duplicates } = this.members.read(inits, where, isStatic ? 'refuse' : 'merge')
    const before = this.members.instances
    const change = this.members.adopt(instances)
    this.#mergedDuplicates.clear()
    for (const id of duplicates) this.#mergedDuplicates.add(id)
    if (this.#weighing !== undefined) this.#weigh(this.#weighing, change)
    if (this.members.instances === before && change.changed.length === 0) return change
    this.#version++
    this.#resources.tree?.drop()
    this.#resources.tree = undefined
    this.#events.emit('change', change)
    return change
  }

  #weigh(weighing: Weighing, change: ListChange): void {
    for (const { instanceId } of change.removed) this.#unreadableWeights.delete(instanceId)
    for (const instances of [change.added, change.changed]) {
      for (const instance of instances) {
        const weight = weighing.weightOf(instance)
        if (weight === undefined) this.#unreadableWeights.add(instance.instanceId)
        else this.#unreadableWeights.delete(instance.instanceId)
        this.members.setWeight(this.members.rowOf(instance), weight ?? 1)
      }
    }
  }

  /** The tree over the list in force, made when first looked at. */
  #grown(): CandidateTree {
    if (!this.#seeded) this.#sow()
    return (this.#resources.tree ??= new CandidateTree(this.#core, this.members, this.#order))
  }

  #sow(): void {
    const { exports } = this.#core
    exports.seedBlock(this.members.block, this.#core.hashText(this.serviceId), this.#seed ?? entropy())
    if (this.#engine?.start !== undefined) exports.startAt(this.members.block, this.#engine.start)
    this.#seeded = true
  }

  readonly #onFallback = (step: Step): void => {
    this.counters.countFallback(step.stage)
    this.#fellBack.push(step)
  }

  #tellFallbacks(): void {
    for (const step of this.#fellBack.splice(0))
      this.#events.emit('fallback', { supplier: step.stage, reason: step.reason ?? '' })
  }

  #release(): void {
    this.#closed = true
    giveBack(this.#resources)
  }

  #notYet(what: string): ConfigError {
    return new ConfigError(`service.${what} is not supported yet`, { serviceId: this.serviceId })
  }
}

/** 5xx, and 429: a server that answers these quickly is not a quick server. */
export function isFailureStatus(status: number | undefined): boolean {
  return status !== undefined && (status >= 500 || status === 429)
}
