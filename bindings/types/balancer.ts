/** @module The balancer and its services. */

import type { Explanation, ListChange, PickRecord, ServiceEvents, ServiceStats, TimelineEntry } from './answers.js'
import type { FetchLike, InstanceInit, ServiceInstance } from './instance.js'
import type { CallOverrides, ServiceOptions } from './options.js'
import type { Lease, PickRequest, WaitOptions } from './request.js'

export interface LoadBalancer<Id extends string = string> {
  /** Fetch-compatible and bound: `const { fetch } = lb` works. The URL's host is the service id. */
  readonly fetch: FetchLike
  /** Never waits, never throws for load; undefined: no instance, or no list yet. */
  pick(serviceId: Id, request?: PickRequest): Lease | undefined
  /** As `pick`, but waits for the first list. */
  choose(serviceId: Id, request?: PickRequest, options?: WaitOptions): Promise<Lease | undefined>
  /** What each layer does to the list for this request. Picks nothing, moves no cursor, draws nothing. */
  explain(serviceId: Id, request?: PickRequest): Promise<Explanation>
  /** The same balancer with per-call overrides; cheap enough to make per request. */
  with(overrides: CallOverrides): Pick<LoadBalancer<Id>, 'fetch' | 'pick' | 'choose'>
  service(serviceId: Id): Service
  define(serviceId: string, options: ServiceOptions): Service
  remove(serviceId: string): Promise<void>
  /** Resolves when every eager service has its first list. */
  ready(options?: WaitOptions): Promise<void>
  stats(): Record<string, ServiceStats>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** One named client: its own suppliers, policy, state and options. */
export interface Service {
  readonly serviceId: string
  readonly state: 'cold' | 'ready' | 'stale' | 'failed' | 'closed'
  /** Any host in the URL is replaced; a path alone will do. */
  readonly fetch: FetchLike
  pick(request?: PickRequest): Lease | undefined
  /** Fills `out` with indexes into `instances()`; no leases. Returns how many. */
  pickMany(out: Int32Array, request?: PickRequest): number
  choose(request?: PickRequest, options?: WaitOptions): Promise<Lease | undefined>
  /** Leases for a retry loop of your own: each excludes the ones before. */
  plan(request?: PickRequest, options?: { attempts?: number }): Iterable<Lease>
  explain(request?: PickRequest): Promise<Explanation>
  instances(): readonly ServiceInstance[]
  /** For static services; all or nothing. */
  update(instances: readonly InstanceInit[]): ListChange
  /** Asks discovery now. */
  refresh(options?: WaitOptions): Promise<ListChange>
  /** One round of health checks now. */
  check(options?: WaitOptions): Promise<void>
  /** No new picks; survives refreshes. */
  drain(instanceId: string, options?: { forMs?: number }): void
  restore(instanceId: string): void
  /** Its owner has stopped it (a deploy hook says so): drained, and noted in the timeline. `at`: when, by the clock. */
  stopped(instanceId: string, options?: { at?: number }): void
  /** Each effective option and where it came from. */
  options(): Record<string, { value: unknown; from: 'default' | 'balancer' | 'service' }>
  stats(): ServiceStats
  timeline(instanceId?: string): readonly TimelineEntry[]
  /** Sampled picks, see ServiceOptions.trace. */
  recent(): readonly PickRecord[]
  on<E extends keyof ServiceEvents>(event: E, listener: (value: ServiceEvents[E]) => void): Disposable
}
