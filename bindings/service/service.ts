/** @module One named client: its list, its chain, its policy, its state in the core. */

import { ENDED_SUCCESS } from '../../assembly/layout.js'
import { send } from '../client/call.js'
import type { HealthSettings, ServiceSettings } from '../config/settings.js'
import type { Core } from '../core/core.js'
import { gateOf } from '../discovery/gates.js'
import type { ListSource, WaitUntil } from '../discovery/list-source.js'
import { sourceOf } from '../discovery/source-of.js'
import { within } from '../discovery/within.js'
import { ClosedError, ConfigError } from '../errors.js'
import { HealthChecks } from '../health/health-checks.js'
import { healthStage } from '../health/health-stage.js'
import { primedStage } from '../health/primed-stage.js'
import { Priming } from '../health/priming.js'
import { isSameInstance, type ListOrigin } from '../instance.js'
import { Mean } from '../lifecycle/mean.js'
import { type Observers, observersOf } from '../lifecycle/observers.js'
import { NO_REQUEST } from '../request.js'
import { show } from '../show.js'
import type { Stage } from '../supplier/stage.js'
import type {
  Explanation,
  ListChange,
  PickRecord,
  ServiceEvents,
  ServiceStats,
  TimelineEntry,
} from '../types/answers.js'
import type { Service } from '../types/balancer.js'
import type { RequestTransformer } from '../types/extension.js'
import type { FetchLike, InstanceInit, ServiceInstance } from '../types/instance.js'
import type { CallOverrides } from '../types/options.js'
import type { Lease, Outcome, PickRequest, WaitOptions } from '../types/request.js'
import { Counters } from './counters.js'
import { Drains, drainedStage } from './drains.js'
import { Ejections } from './ejections.js'
import { Events } from './events.js'
import { explain } from './explain.js'
import type { ServiceHost } from './host.js'
import { type LeaseOwner, ServiceLease, SUCCESS } from './lease.js'
import { lookAgain } from './look-again.js'
import { OpenLeases } from './open-leases.js'
import { Picker } from './picker.js'
import { freeWhenCollected, Resources } from './resources.js'
import { Roster } from './roster.js'
import { settleFully, statusOf } from './settlement.js'
import { statsOf } from './stats.js'
import { Timeline } from './timeline.js'
import { recordOf, Traces } from './traces.js'

const BREAKER = 'circuit breaker: connection failures in a row'

export class BalancedService implements Service, LeaseOwner {
  readonly serviceId: string
  readonly settings: ServiceSettings
  readonly counters = new Counters()
  readonly source: ListSource
  readonly health: HealthChecks | undefined
  readonly priming: Priming | undefined
  readonly drains: Drains
  readonly ejections: Ejections
  readonly roster: Roster
  readonly picker: Picker
  readonly fetch: FetchLike
  readonly transport: FetchLike
  readonly honoursSignals: boolean
  readonly transformers: readonly RequestTransformer[]
  readonly clock: () => number
  /** How long those selections took that were timed. */
  readonly selections = new Mean()
  /** Undefined: nobody wants to hear of calls. */
  readonly observers: Observers | undefined

  readonly #core: Core
  readonly #events = new Events()
  readonly #timeline = new Timeline()
  readonly #traces: Traces | undefined
  readonly #openLeases: OpenLeases | undefined
  readonly #resources: Resources
  #closed = false
  /** Neither the list nor the leases grow old, and no pick is remembered: one looks at nothing but its candidates. */
  readonly #isTimeless: boolean
  /** And no drain is about to end, no weight on its way. */
  #timeless: boolean

  /** @param where the path of the service's options, for error messages */
  constructor(serviceId: string, settings: ServiceSettings, host: ServiceHost, where: string) {
    const { core, clock, transport } = host
    this.serviceId = serviceId
    this.settings = settings
    this.clock = clock
    this.transport = transport
    this.honoursSignals = host.honoursSignals
    this.transformers = host.transformers
    this.observers = observersOf(this, host)
    this.ejections = new Ejections(clock, this.#timeline, this.#events)
    this.drains = new Drains(clock, this.#timeline, {
      restored: (instanceId) => this.#tellRestored(instanceId),
      changed: () => this.#candidatesChanged(),
    })
    this.#core = core
    this.fetch = (input, init) => send(this, input, init)
    const { every, keep } = settings.trace
    if (every > 0) this.#traces = new Traces(every, keep)
    if (settings.leaseTimeoutMs !== undefined) this.#openLeases = new OpenLeases(settings.leaseTimeoutMs)
    this.roster = new Roster(core, serviceId, settings.weighing, settings.quirks, clock)
    this.#resources = new Resources(this.roster.members)
    freeWhenCollected(this, this.#resources)
    if (settings.health !== undefined) this.health = this.#healthChecks(settings, settings.health, host)
    if (settings.prime !== undefined) {
      this.priming = new Priming(settings.prime, {
        serviceId,
        transport,
        quirks: settings.quirks,
        instances: () => this.instances(),
        changed: () => this.picker.dropTree(),
      })
    }
    this.picker = new Picker(serviceId, this.#resources, settings, host, {
      counters: this.counters,
      lead: this.#leadStages(),
      tellsFallbacks: () => this.#events.hasListeners('fallback'),
    })
    const isStatic = settings.instances !== undefined
    this.source = sourceOf(settings, {
      serviceId,
      clock,
      publish: (list) =>
        this.#publish(list, isStatic ? `${where}.instances` : 'list', isStatic ? 'written' : 'discovered'),
      unreadable: () => this.roster.unreadable,
      doubted: () => this.#timeline.missing(this.instances(), clock()),
      failed: (error) => {
        this.health?.listFailed()
        this.#events.emit('discoveryError', { error, servedAgeMs: this.source.ageMs })
      },
    })
    this.source.gate = gateOf([this.health, this.priming].filter((gate) => gate !== undefined))
    const { periodMs } = this.picker.chain
    this.#isTimeless =
      isStatic &&
      periodMs === Number.POSITIVE_INFINITY &&
      [this.#openLeases, this.health, this.priming, this.#traces].every((part) => part === undefined)
    this.#timeless = this.#isTimeless
    if (settings.instances === undefined) return
    try {
      this.source.accept(settings.instances)
    } catch (error) {
      this.close()
      throw error
    }
  }

  get state(): Service['state'] {
    if (this.#closed) return 'closed'
    const { source } = this
    if (!source.listed) return source.lastError === undefined ? 'cold' : 'failed'
    return source.lastError === undefined && source.isCurrent(this.clock()) ? 'ready' : 'stale'
  }

  pick(request: PickRequest = NO_REQUEST): Lease | undefined {
    return this.take(request, 1, undefined)
  }

  /** As `pick`, for one attempt of a call. */
  take(request: PickRequest, attempt: number, waitUntil: WaitUntil, avoidPrevious?: boolean): ServiceLease | undefined {
    if (this.#timeless) return this.#takeTimeless(request, attempt, avoidPrevious)
    const nowMs = this.clock()
    if (!this.#hasList(nowMs, waitUntil)) return undefined
    return this.#takeFromList(request, attempt, nowMs, avoidPrevious)
  }

  /** From the list at hand, whatever its age: it has just been waited for. */
  takeNow(request: PickRequest, attempt: number): ServiceLease | undefined {
    const nowMs = this.clock()
    this.#expire(nowMs)
    this.#refreshChain(nowMs)
    this.counters.cacheMisses++
    return this.#takeFromList(request, attempt, nowMs)
  }

  /** Where nothing grows old and nobody listens: no clock, no more than the lease. */
  #takeTimeless(request: PickRequest, attempt: number, avoidPrevious?: boolean): ServiceLease | undefined {
    const { picker } = this
    const nowMs = picker.timed ? this.clock() : undefined
    const row = picker.pickRow(request, nowMs ?? 0, avoidPrevious)
    if (picker.fellBack.length > 0) this.#tellFallbacks()
    if (row >= 0)
      return new ServiceLease(this, this.roster.members.byRow[row] as ServiceInstance, row, attempt, request, nowMs)
    this.counters.noInstance++
    return undefined
  }

  /** @param knownMs the time, which had to be looked at anyway */
  #takeFromList(
    request: PickRequest,
    attempt: number,
    knownMs: number,
    avoidPrevious?: boolean,
  ): ServiceLease | undefined {
    if (this.#traces?.isDue()) return this.#takeTraced(this.#traces, request, attempt, avoidPrevious)
    const { picker } = this
    const nowMs = picker.timed ? knownMs : undefined
    const row = picker.pickRow(request, nowMs ?? 0, avoidPrevious)
    if (picker.fellBack.length > 0) this.#tellFallbacks()
    if (row < 0) {
      this.counters.noInstance++
      return undefined
    }
    const lease = this.#opened(row, attempt, request, nowMs)
    this.#timeline.picked(lease.instance, knownMs)
    return lease
  }

  /** As any pick, and remembers each layer's part in it. */
  #takeTraced(
    traces: Traces,
    request: PickRequest,
    attempt: number,
    avoidPrevious: boolean | undefined,
  ): ServiceLease | undefined {
    const { picker } = this
    const at = this.clock()
    const traced = picker.pickRowTraced(request, at, avoidPrevious)
    const record = recordOf(this, traced, attempt, at)
    traces.add(record)
    // Calls that observers hear of are timed with them.
    if (this.observers === undefined) this.selections.add(record.selectionMs)
    if (picker.fellBack.length > 0) this.#tellFallbacks()
    if (traced.row < 0) {
      this.counters.noInstance++
      return undefined
    }
    const lease = this.#opened(traced.row, attempt, request, at)
    traces.opened(lease, record)
    this.#timeline.picked(lease.instance, at)
    return lease
  }

  /** Another attempt at the same instance; undefined if it has left the list meanwhile. */
  takeAgain(instance: ServiceInstance, request: PickRequest, attempt: number): ServiceLease | undefined {
    this.#expire(this.clock())
    const { members } = this.roster
    const current = members.get(instance.instanceId)
    if (current === undefined || !isSameInstance(current, instance) || this.drains.has(instance.instanceId))
      return undefined
    const row = members.rowOf(current)
    this.#core.exports.acquireRow(members.block, row)
    if (this.picker.engines.recorders.length > 0) this.picker.engines.started(row, this.clock())
    return this.#opened(row, attempt, request, undefined)
  }

  pickMany(out: Int32Array, request: PickRequest = NO_REQUEST): number {
    if (!this.#hasList(this.clock(), undefined)) return 0
    const count = this.picker.pickPositions(out, request, this.picker.timed ? this.clock() : 0)
    this.#tellFallbacks()
    if (count === 0 && out.length > 0) this.counters.noInstance++
    return count
  }

  async choose(
    request: PickRequest = NO_REQUEST,
    options: WaitOptions & { waitUntil?: WaitUntil } = {},
  ): Promise<Lease | undefined> {
    this.checkOpen()
    const startedAt = this.clock()
    const waited = await this.source.ready(options)
    const look = () => this.take(request, 1, options.waitUntil)
    const lease = waited ? this.takeNow(request, 1) : look()
    if (lease !== undefined || this.picker.engine?.patienceMs === undefined) return lease
    const { signal, timeoutMs } = options
    let late: Lease | undefined
    const rest = timeoutMs === undefined ? {} : { timeoutMs: Math.max(timeoutMs - (this.clock() - startedAt), 0) }
    const limits = { ...(signal !== undefined && { signal }), ...rest }
    await within(limits, `choosing an instance of "${this.serviceId}"`, async (left) => {
      late = await lookAgain(this, look, left)
    })
    return late
  }

  *plan(request: PickRequest = NO_REQUEST, options: { attempts?: number } = {}): Iterable<Lease> {
    const { attempts = Number.POSITIVE_INFINITY } = options
    const previous = [...(request.previous ?? [])]
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const next = { ...request, previous: [...previous] }
      if (previous.length > 0 && !this.#hasUntried(next, previous)) return
      const lease = this.take(next, attempt, undefined, true)
      if (lease === undefined) return
      previous.push(lease.instance)
      yield lease
    }
  }

  async explain(request: PickRequest = NO_REQUEST): Promise<Explanation> {
    this.checkOpen()
    await this.source.ready().catch(() => {})
    this.#expire(this.clock())
    return this.picker.withoutDraws(() => explain(this, this.picker.tree, request))
  }

  /** The layer that leaves nobody for this request, and its reason. */
  emptiedBy(request: PickRequest): string {
    const { picker } = this
    if (this.#closed) return 'its end: it was closed meanwhile'
    const steps = picker.withoutDraws(() => picker.chain.steps(picker.tree, request))
    const last = steps.find(({ list }) => list.length === 0)
    if (last === undefined) return `policy "${this.settings.policy.name}"`
    return last.reason === undefined ? last.stage : `${last.stage} (${last.reason})`
  }

  instances(): readonly ServiceInstance[] {
    return this.roster.members.instances
  }

  update(instances: readonly InstanceInit[]): ListChange {
    this.checkOpen()
    const { serviceId, source } = this
    if (!Array.isArray(instances)) {
      throw new ConfigError(`update takes an array of instances, not ${show(instances)}`, { serviceId })
    }
    if (source.client === undefined) return source.accept(instances)
    throw new ConfigError(
      `the list of "${serviceId}" comes from discovery "${source.client.name}": update() is for static lists`,
      { serviceId },
    )
  }

  async refresh(options?: WaitOptions): Promise<ListChange> {
    this.checkOpen()
    return this.source.refresh(options)
  }

  async check(options: WaitOptions = {}): Promise<void> {
    this.checkOpen()
    const { health, serviceId } = this
    if (health === undefined) {
      throw new ConfigError(`service "${serviceId}" has no healthCheck: there is nothing to check`, {
        serviceId,
        option: 'healthCheck',
      })
    }
    await within(options, `checking the instances of "${serviceId}"`, async (signal) => {
      await this.source.readyList({ signal })
      await health.check({ signal })
    })
    this.checkOpen()
  }

  drain(instanceId: string, options: { forMs?: number } = {}): void {
    this.checkOpen()
    this.drains.drain(instanceId, options)
  }

  restore(instanceId: string): void {
    this.checkOpen()
    this.drains.restore(instanceId)
  }

  stopped(instanceId: string, options: { at?: number } = {}): void {
    this.drain(instanceId)
    this.#timeline.add(instanceId, options.at ?? this.clock(), 'stopped-by-owner')
  }

  /** Whether it is of the list in force. */
  isListed(instance: ServiceInstance): boolean {
    const current = this.roster.members.get(instance.instanceId)
    return current !== undefined && isSameInstance(current, instance)
  }

  timeline(instanceId?: string): readonly TimelineEntry[] {
    return this.#timeline.entries(instanceId)
  }

  recent(): readonly PickRecord[] {
    return this.#traces?.recent() ?? []
  }

  options(): Record<string, { value: unknown; from: 'default' | 'balancer' | 'service' }> {
    return Object.fromEntries(Object.entries(this.settings.provenance).map(([option, given]) => [option, { ...given }]))
  }

  stats(): ServiceStats {
    this.#expire(this.clock())
    return statsOf(this, this.picker.tree)
  }

  on<E extends keyof ServiceEvents>(event: E, listener: (value: ServiceEvents[E]) => void): Disposable {
    const { serviceId } = this
    if (!Events.isEvent(event)) {
      throw new ConfigError(`there is no event ${show(event)}; known: ${Events.names}`, { serviceId })
    }
    if (typeof listener !== 'function') {
      throw new ConfigError(`a listener must be a function, not ${show(listener)}`, { serviceId })
    }
    return this.#events.on(event, listener)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#timeless = false
    this.#resources.giveBack()
    this.health?.close()
    this.priming?.close()
    this.source.close()
    this.#events.clear()
  }

  /** @throws EVENKEEL_CLOSED */
  checkOpen(): void {
    if (!this.#closed) return
    throw new ClosedError(`service "${this.serviceId}" is closed`, { serviceId: this.serviceId })
  }

  settle(lease: ServiceLease, row: number, outcome: Outcome): void {
    const { exports } = this.#core
    const { block } = this.roster.members
    if (outcome === SUCCESS && this.#timeless && lease.startedAt === undefined && !this.picker.timed) {
      return exports.complete(block, row, ENDED_SUCCESS)
    }
    this.#openLeases?.remove(lease)
    this.#traces?.ended(lease, statusOf(outcome))
    if (this.#closed) return
    // Who is asked what trips a breaker may close the service.
    this.#resources.lend()
    try {
      settleFully(this, lease, row, outcome)
    } finally {
      this.#resources.endLoan()
    }
    if (this.picker.serverStats.turned.length > 0) this.#tellBreakers()
  }

  /** A lease's request is about to leave. */
  sending(lease: ServiceLease, nowMs: number): void {
    lease.startedAt = nowMs
    this.#timeline.picked(lease.instance, nowMs)
  }

  sendThrough(lease: ServiceLease, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    if (lease.settled) {
      const message = `this lease of "${this.serviceId}" is done: pick again to send again`
      return Promise.reject(new ConfigError(message, { serviceId: this.serviceId }))
    }
    return send(this, input, init, undefined, lease)
  }

  /** Sends one call. `overrides` come from `lb.with`. */
  call(
    input: string | URL | Request,
    init: RequestInit | undefined,
    overrides: CallOverrides | undefined,
  ): Promise<Response> {
    return send(this, input, init, overrides)
  }

  #hasUntried(request: PickRequest, previous: readonly ServiceInstance[]): boolean {
    this.checkOpen()
    return !this.source.listed || this.picker.hasUntried(request, previous)
  }

  /**
   * Ends what has grown too old: leases, drains. Moves the weights that are on their way.
   * @throws EVENKEEL_CLOSED, also if somebody who is told of it closes the service
   */
  #expire(nowMs: number): void {
    this.checkOpen()
    this.#openLeases?.expire(nowMs)
    if (nowMs >= this.drains.nextEndMs) this.drains.expire(nowMs)
    if (this.roster.advance(nowMs)) this.#candidatesChanged()
    this.checkOpen()
  }

  /** Filters that go by what the instances did, of a list that nobody asks for anew. */
  #refreshChain(nowMs: number): void {
    if (this.picker.isRefreshDue(nowMs)) this.picker.refresh(nowMs, this.source.ages)
  }

  /** Whether there is a list to pick from. Starts a refresh if one is due. */
  #hasList(nowMs: number, waitUntil: WaitUntil): boolean {
    this.#expire(nowMs)
    this.#refreshChain(nowMs)
    const { source, counters } = this
    if (source.listed && !source.ages) {
      if (source.gate === undefined) return true
    } else if (source.isFresh(nowMs)) {
      counters.cacheHits++
    } else {
      counters.cacheMisses++
      source.revive(waitUntil)
    }
    // Also one that is open already: Ribbon's lists are trusted before their first checks.
    source.gate?.begin()
    // Whoever was told of the list may have closed the service.
    this.checkOpen()
    if (source.listed) return true
    counters.noInstance++
    return false
  }

  #tellBreakers(): void {
    const turns = this.picker.serverStats.turned.splice(0)
    // Nobody is kept out by breakers that nothing goes by; who has asked for them wants to know.
    if (this.settings.serverStats === undefined && !this.picker.goesByBreakers) return
    for (const { row, forMs } of turns) {
      const instance = this.roster.members.byRow[row] as ServiceInstance
      if (!this.isListed(instance)) continue
      if (forMs > 0) this.ejections.eject(instance, 'breaker', BREAKER, forMs)
      else this.ejections.restore(instance, 'breaker')
    }
  }

  #tellRestored(instanceId: string): void {
    const instance = this.roster.members.get(instanceId)
    if (instance !== undefined) this.#events.emit('restore', { instance })
  }

  /** Other instances may be candidates now, or with other weights. */
  #candidatesChanged(): void {
    const nextMs = Math.min(this.drains.nextEndMs, this.roster.nextStepMs)
    this.#timeless = this.#isTimeless && !this.#closed && nextMs === Number.POSITIVE_INFINITY
    this.picker.dropTree()
  }

  #opened(row: number, attempt: number, request: PickRequest, pickedAtMs: number | undefined): ServiceLease {
    const instance = this.roster.members.byRow[row] as ServiceInstance
    const lease = new ServiceLease(this, instance, row, attempt, request, pickedAtMs)
    this.#openLeases?.add(lease, this.clock())
    return lease
  }

  #publish(inits: readonly InstanceInit[], where: string, origin: ListOrigin): ListChange {
    let replaced = false
    const resources = this.#resources
    resources.lend()
    let change: ListChange
    try {
      change = this.roster.publish(inits, where, origin, () => {
        replaced = true
        this.#candidatesChanged()
      })
    } finally {
      resources.free(() => this.roster.members.releaseDeparted())
      resources.endLoan()
    }
    this.checkOpen()
    this.picker.refresh(this.clock(), this.source.ages)
    this.#timeline.listed(change, origin, this.clock())
    this.ejections.forget(change.removed)
    if (replaced) {
      this.observers?.meters?.listChanged()
      this.#events.emit('change', change)
    }
    if (this.#closed) return change
    this.health?.listed(replaced)
    this.priming?.listed()
    // A list that was asked for is about to be used; a written one may never be.
    if (origin === 'discovered') this.source.gate?.begin()
    return change
  }

  #healthChecks(settings: ServiceSettings, health: HealthSettings, host: ServiceHost): HealthChecks {
    const { clock, transport, quirks } = host
    return new HealthChecks(health, {
      serviceId: this.serviceId,
      clock,
      transport,
      quirks,
      refetchMs:
        settings.discovery === undefined || settings.polling !== undefined
          ? Number.POSITIVE_INFINITY
          : settings.freshness.ttlMs,
      instances: () => this.instances(),
      refetch: () => this.source.revive(),
      changed: () => this.picker.dropTree(),
      turned: (instance, reason) => {
        if (reason === undefined) this.ejections.restore(instance, 'health')
        else this.ejections.eject(instance, 'health', reason, health.intervalMs)
      },
    })
  }

  #leadStages(): Stage[] {
    const { health, priming, settings } = this
    const keepsDown = () => this.picker.engine?.seesDown === true
    return [
      ...(health === undefined ? [] : [healthStage(health, settings.health?.allUnhealthy ?? 'none', keepsDown)]),
      drainedStage(this.drains),
      // Behind all others: who is left out by one of them is no primed instance to fall back on.
      ...(priming === undefined ? [] : [primedStage(priming)]),
    ]
  }

  #tellFallbacks(): void {
    for (const { stage, reason = '' } of this.picker.fellBack.splice(0)) {
      this.#events.emit('fallback', { supplier: stage, reason })
    }
  }
}
