/** @module One named client: its list, its chain, its policy, its state in the core. */

import { ENDED_CANCELLED, ENDED_FAILURE, ENDED_SUCCESS } from '../../assembly/layout.js'
import { send } from '../client/call.js'
import type { ServiceSettings } from '../config/settings.js'
import type { Core } from '../core/core.js'
import type { ListSource, WaitUntil } from '../discovery/list-source.js'
import { sourceOf } from '../discovery/source-of.js'
import { ClosedError, ConfigError, show } from '../errors.js'
import { isSameInstance, type ListOrigin } from '../instance.js'
import { reportOnce } from '../report.js'
import { NO_REQUEST } from '../request.js'
import type {
  Explanation,
  ListChange,
  PickRecord,
  ServiceEvents,
  ServiceStats,
  TimelineEntry,
} from '../types/answers.js'
import type { Service } from '../types/balancer.js'
import type { FetchLike, InstanceInit, ServiceInstance } from '../types/instance.js'
import type { CallOverrides } from '../types/options.js'
import type { Lease, Outcome, PickRequest, WaitOptions } from '../types/request.js'
import { Counters } from './counters.js'
import { Events } from './events.js'
import { explain } from './explain.js'
import { type LeaseOwner, ServiceLease, SUCCESS } from './lease.js'
import { OpenLeases } from './open-leases.js'
import { Picker } from './picker.js'
import { freeWhenCollected, Resources } from './resources.js'
import { Roster } from './roster.js'
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

export class BalancedService implements Service, LeaseOwner {
  readonly serviceId: string
  readonly settings: ServiceSettings
  readonly counters = new Counters()
  readonly source: ListSource
  readonly roster: Roster
  readonly picker: Picker
  readonly fetch: FetchLike
  readonly transport: FetchLike
  readonly clock: () => number

  readonly #core: Core
  readonly #events = new Events()
  readonly #openLeases: OpenLeases | undefined
  readonly #resources: Resources
  #closed = false
  /** Neither the list nor the leases grow old: a pick looks at nothing but its candidates. */
  #timeless: boolean

  /** @param where the path of the service's options, for error messages */
  constructor(serviceId: string, settings: ServiceSettings, host: ServiceHost, where: string) {
    const { core, clock, zone, seed, transport } = host
    this.serviceId = serviceId
    this.settings = settings
    this.clock = clock
    this.transport = transport
    this.#core = core
    this.fetch = (input, init) => send(this, input, init)
    if (settings.leaseTimeoutMs !== undefined) this.#openLeases = new OpenLeases(settings.leaseTimeoutMs)
    this.roster = new Roster(core, serviceId, settings.weighing)
    this.#resources = new Resources(this.roster.members)
    freeWhenCollected(this, this.#resources)
    const context = { serviceId, zone, hint: settings.hint }
    this.picker = new Picker(core, this.#resources, settings, context, seed, this.counters, () =>
      this.#events.hasListeners('fallback'),
    )
    const isStatic = settings.instances !== undefined
    this.source = sourceOf(settings, {
      serviceId,
      clock,
      publish: (list) =>
        this.#publish(list, isStatic ? `${where}.instances` : 'list', isStatic ? 'written' : 'discovered'),
      failed: (error) => this.#events.emit('discoveryError', { error, servedAgeMs: this.source.ageMs }),
    })
    this.#timeless = isStatic && this.#openLeases === undefined
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
    return source.lastError === undefined && source.isFresh(this.clock()) ? 'ready' : 'stale'
  }

  pick(request: PickRequest = NO_REQUEST): Lease | undefined {
    return this.take(request, 1, undefined)
  }

  /** As `pick`, for one attempt of a call. */
  take(request: PickRequest, attempt: number, waitUntil: WaitUntil, avoidPrevious?: boolean): ServiceLease | undefined {
    if (!this.#timeless && !this.#hasList(waitUntil)) return undefined
    return this.#takeFromList(request, attempt, avoidPrevious)
  }

  /** From the list at hand, whatever its age: it has just been waited for. */
  takeNow(request: PickRequest, attempt: number): ServiceLease | undefined {
    this.checkOpen()
    this.counters.cacheMisses++
    return this.#takeFromList(request, attempt)
  }

  #takeFromList(request: PickRequest, attempt: number, avoidPrevious?: boolean): ServiceLease | undefined {
    const { picker } = this
    const nowMs = picker.timed ? this.clock() : undefined
    const row = picker.pickRow(request, nowMs ?? 0, avoidPrevious)
    if (picker.fellBack.length > 0) this.#tellFallbacks()
    if (row < 0) {
      this.counters.noInstance++
      return undefined
    }
    return this.#opened(row, attempt, request, nowMs)
  }

  /** Another attempt at the same instance; undefined if it has left the list meanwhile. */
  takeAgain(instance: ServiceInstance, request: PickRequest, attempt: number): ServiceLease | undefined {
    this.checkOpen()
    const { members } = this.roster
    const current = members.get(instance.instanceId)
    if (current === undefined || !isSameInstance(current, instance)) return undefined
    const row = members.rowOf(current)
    this.#core.exports.acquireRow(members.block, row)
    return this.#opened(row, attempt, request, undefined)
  }

  pickMany(out: Int32Array, request: PickRequest = NO_REQUEST): number {
    if (!this.#hasList(undefined)) return 0
    const count = this.picker.pickPositions(out, request, this.picker.timed ? this.clock() : 0)
    this.#tellFallbacks()
    return count
  }

  async choose(
    request: PickRequest = NO_REQUEST,
    options: WaitOptions & { waitUntil?: WaitUntil } = {},
  ): Promise<Lease | undefined> {
    this.checkOpen()
    const waited = await this.source.ready(options)
    return waited ? this.takeNow(request, 1) : this.take(request, 1, options.waitUntil)
  }

  *plan(request: PickRequest = NO_REQUEST, options: { attempts?: number } = {}): Iterable<Lease> {
    const { attempts = Number.POSITIVE_INFINITY } = options
    const previous = [...(request.previous ?? [])]
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (previous.length > 0 && !this.#hasUntried(request, previous)) return
      const lease = this.take({ ...request, previous }, attempt, undefined, true)
      if (lease === undefined) return
      previous.push(lease.instance)
      yield lease
    }
  }

  async explain(request: PickRequest = NO_REQUEST): Promise<Explanation> {
    this.checkOpen()
    await this.source.ready().catch(() => {})
    this.checkOpen()
    return this.picker.lent(() => explain(this, this.picker.tree, request))
  }

  instances(): readonly ServiceInstance[] {
    return this.roster.members.instances
  }

  update(instances: readonly InstanceInit[]): ListChange {
    this.checkOpen()
    const { serviceId, source } = this
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
    this.#openLeases?.expire(this.clock())
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
    if (outcome === SUCCESS && this.#timeless && lease.startedAt === undefined) {
      return exports.complete(block, row, ENDED_SUCCESS)
    }
    this.#settleFully(lease, row, outcome)
  }

  /** Apart, so that compilers inline the usual end. */
  #settleFully(lease: ServiceLease, row: number, outcome: Outcome): void {
    const { exports } = this.#core
    const { block } = this.roster.members
    this.#openLeases?.remove(lease)
    if (this.#closed) return
    if (outcome.cancelled) {
      exports.complete(block, row, ENDED_CANCELLED)
      return this.#tellPolicy(lease, outcome, Number.NaN)
    }
    const failed = outcome.error !== undefined || isFailureStatus(outcome.status)
    const ended = failed ? ENDED_FAILURE : ENDED_SUCCESS
    const nowMs = outcome.latencyMs === undefined && lease.startedAt === undefined ? undefined : this.clock()
    const latencyMs = outcome.latencyMs ?? latencyOf(lease, nowMs)
    if (nowMs !== undefined && latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY) {
      const { peak, decayMs } = this.picker.averaging
      const averagedMs = failed && peak !== undefined ? Math.max(latencyMs, peak.failureRttMs) : latencyMs
      exports.completeAfter(block, row, ended, latencyMs, averagedMs, nowMs, decayMs, peak === undefined ? 0 : 1)
    } else {
      exports.complete(block, row, ended)
    }
    this.#tellPolicy(lease, outcome, latencyMs)
  }

  #tellPolicy(lease: ServiceLease, outcome: Outcome, latencyMs: number): void {
    const { policy } = this.settings
    if (policy.done === undefined) return
    try {
      policy.done(lease.instance, outcome, latencyMs)
    } catch (error) {
      reportOnce(policy, `policy "${policy.name}"`, error)
    }
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

  /** Whether there is a list to pick from. Starts a refresh if one is due. */
  #hasList(waitUntil: WaitUntil): boolean {
    this.checkOpen()
    const { source, counters } = this
    if (this.#openLeases !== undefined) this.#openLeases.expire(this.clock())
    if (source.listed && !source.ages) return true
    if (source.isFresh(this.clock())) {
      counters.cacheHits++
      return true
    }
    counters.cacheMisses++
    source.revive(waitUntil)
    if (source.listed) return true
    counters.noInstance++
    return false
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
        this.picker.dropTree()
      })
    } finally {
      resources.free(() => this.roster.members.releaseDeparted())
      resources.endLoan()
    }
    this.checkOpen()
    if (replaced) this.#events.emit('change', change)
    return change
  }

  #tellFallbacks(): void {
    for (const { stage, reason = '' } of this.picker.fellBack.splice(0)) {
      this.#events.emit('fallback', { supplier: stage, reason })
    }
  }

  #notYet(what: string): ConfigError {
    return new ConfigError(`service.${what} is not supported yet`, { serviceId: this.serviceId })
  }
}

/** From pick or sending to now; NaN where nobody measured. */
function latencyOf(lease: ServiceLease, nowMs: number | undefined): number {
  return lease.startedAt === undefined || nowMs === undefined ? Number.NaN : nowMs - lease.startedAt
}

/** 5xx, and 429: a server that answers these quickly is not a quick server. */
export function isFailureStatus(status: number | undefined): boolean {
  return status !== undefined && (status >= 500 || status === 429)
}
