/** @module The options of a balancer and of a service. Durations are milliseconds. */

import type { QuirkId } from '../compat/quirks.js'
import type {
  DiscoveryClient,
  DiscoveryFunction,
  Lifecycle,
  Ping,
  Policy,
  RequestTransformer,
  RetryHandler,
  Supplier,
} from './extension.js'
import type { FetchLike, InstanceInit, ServiceInstance } from './instance.js'
import type { Outcome } from './request.js'

export type ServiceMap = Record<string, ServiceOptions | readonly InstanceInit[]>

export interface LoadBalancerOptions<S extends ServiceMap = ServiceMap> {
  services?: S
  /** For every service: its own scalars replace these, maps are merged, lists replaced. */
  defaults?: Omit<ServiceOptions, 'instances'>
  discovery?: Discovery
  /** Several clients: the first that lists anything, in their order (default), or all of them together. */
  discoveryMode?: 'first' | 'merge'
  /** The zone this client runs in. */
  zone?: string
  /** Names this client among its fellows, for `subset`, `rendezvousSubset` and `aperture`: its host name, pod name or ordinal. */
  instanceId?: string
  /** SCLB's or Ribbon's behaviour instead of the repaired one, whole, by quirk, or both in an array: see docs/quirks.md. */
  compat?: Compat
  /** The transport. Default: the runtime's `fetch`, looked up at each call. */
  fetch?: FetchLike
  lifecycle?: readonly Lifecycle[]
  transformers?: readonly RequestTransformer[]
  /**
   * What `lb.fetch` does with a host that names no service. Default: 'error', or where the balancer has `discovery`,
   * to make it one for good; written out, 'error' refuses there too, and `pick` and the others with it. 'passthrough':
   * hands the call to the transport as it is.
   */
  unknownService?: 'error' | 'passthrough'
  /** Milliseconds that never go back. Default: `performance.now`. */
  clock?: () => number
  /** Same seed, same trace, same picks. Default: the runtime's own entropy, taken on first use. */
  seed?: number
  /** A precompiled core (`evenkeel/core.wasm`). */
  module?: WebAssembly.Module
}

/** Whole, or ids of docs/quirks.md. */
export type Compat = 'spring' | 'ribbon' | readonly (QuirkId | (string & {}))[]

export interface ServiceOptions {
  instances?: readonly InstanceInit[]
  discovery?: Discovery
  /** How long discovery may take. Default 30 000. */
  discoveryTimeoutMs?: number
  /** A named set of cache, healthCheck and suppliers, as SCLB's `configurations`. */
  preset?: PresetName | (string & {})
  /** ttlMs 35 000: fresh. Then staleMs (default: ttlMs): still served while one call refreshes it. */
  cache?: false | { ttlMs?: number; staleMs?: number }
  /** The list is asked for by a timer, not by the calls that find it old. */
  polling?: false | PollingOptions
  /** Candidates are the instances whose last check was good. */
  healthCheck?: false | HealthCheckOptions
  /** Instances that are new to the list are candidates when they have answered once. */
  prime?: false | PrimeOptions
  /** Innermost first; retry-aware is always the outermost. */
  suppliers?: readonly (Supplier | SupplierName | (string & {}) | TypedOptions)[]
  /** false: what is inside of a zone, same-instance, weighted or API version supplier does not see the request. */
  callGetWithRequestOnDelegates?: boolean
  policy?: Policy | PolicyName | (string & {}) | TypedOptions
  eager?: boolean
  /** What a registry's sudden "none" means. */
  emptyList?: 'trust' | { protectMs: number }
  /** 'response': a 503 (see noInstanceStatus) instead of an error. */
  noInstance?: 'throw' | 'response'
  noInstanceStatus?: number
  retry?: RetryOptions | false
  /** From sending to response headers, each attempt. */
  attemptTimeoutMs?: number
  /** From the call to response headers, all attempts and waits together. */
  timeoutMs?: number
  /** When a request stops counting as in flight. Default: 'headers'. */
  release?: 'headers' | 'body'
  /** A lease never completed counts as cancelled after this. */
  leaseTimeoutMs?: number
  /** Sends X-Forwarded-Host and X-Forwarded-Proto of the URL that was asked for. */
  xForwarded?: boolean
  /** The hint sent for a service id, or for `default`. */
  hints?: Record<string, string>
  /** What `recent()` remembers: the share of picks (default 0: none), and how many of the last (default 100). */
  trace?: { sample?: number; keep?: number }
  /** SCLB's request meters in `stats().meters`. Default: false. */
  metrics?: false | MetricsOptions
  /**
   * Ribbon's statistics of each instance, with its breaker, in `stats()`. Default: false, unless the policy or a
   * supplier goes by them, with these settings then.
   */
  serverStats?: boolean | ServerStatsOptions
}

export interface ServerStatsOptions {
  /** Connection failures in a row that trip the breaker; with 0 the first does, for twice the factor. Default 3. */
  connectionFailureThreshold?: number
  /** How long the breaker is open the first time; doubled with each failure more. Default 10 000. */
  tripFactorMs?: number
  /** The longest. Default 30 000. */
  maxTripMs?: number
  /** Requests in flight are forgotten when none began or ended for this long. Default 600 000. */
  activeExpiryMs?: number
  /** Default 1000. */
  failureWindowMs?: number
  /** Default 300 000. */
  requestWindowMs?: number
  /** Of response times, published each `periodMs` (default 1000) from the last `samples` (default 1000) of it. */
  percentiles?: boolean | { samples?: number; periodMs?: number }
  /**
   * Which outcomes count for the breaker. Default: what the service's `retry.handler` says; without one, the connection
   * failed, the time was over, status 503.
   */
  trips?: (outcome: Outcome) => boolean
}

export type PresetName =
  | 'default'
  | 'zone-preference'
  | 'health-check'
  | 'request-based-sticky-session'
  | 'same-instance-preference'
  | 'weighted'
  | 'subset'
  | 'api-version'

export type SupplierName =
  | 'zone-preference'
  | 'zone-affinity'
  | 'hint'
  | 'version'
  | 'api-version'
  | 'canary'
  | 'sticky-session'
  | 'same-instance-preference'
  | 'subset'
  | 'rendezvous-subset'
  | 'aperture'
  | 'server-list-subset'
  | 'weighted'

export type PolicyName =
  | 'round-robin'
  | 'smooth-round-robin'
  | 'edf'
  | 'stride'
  | 'random'
  | 'least-request'
  | 'least-connections'
  | 'least-response-time'
  | 'peak-ewma'
  | 'dynamic-weight'
  | 'relative-weight'
  | 'source-hash'
  | 'ring-hash'
  | 'maglev'
  | 'rendezvous'
  | 'jump'
  | 'weighted-response-time'
  | 'best-available'
  | 'availability-filtering'
  | 'zone-avoidance'
  | 'zone-aware'
  | 'retry-rule'
  | 'filtering'

export type PingName = 'dummy' | 'constant' | 'url' | 'registry'

export type RetryHandlerName = 'default' | 'http-client' | 'netty' | 'rest-client'

export type Discovery = DiscoveryClient | DiscoveryFunction | readonly (DiscoveryClient | DiscoveryFunction)[]

export interface HealthCheckOptions {
  /** Default `/actuator/health`; '': every instance counts as alive without being asked. */
  path?: string
  /** Default: the instance's own. */
  port?: number
  /** From the end of one round to the start of the next. Default 25 000. */
  intervalMs?: number
  /** How long an answer may take. Default: `intervalMs`. */
  timeoutMs?: number
  /** Before the first round. Default 0. */
  initialDelayMs?: number
  /** How often discovery is asked for the list. Default 25 000. */
  refetchMs?: number
  /** false: one round for each list. Default true. */
  repeat?: boolean
  /** Candidates change once a round (default), or with each answer. */
  publish?: 'round' | 'each'
  /** Checks under way at the same time. Default 64. */
  maxConcurrent?: number
  /** No instance is alive: none (default) or all are candidates, counted as a fallback. */
  allUnhealthy?: 'none' | 'all'
  /** Which answer is a good one. Default: status 200. */
  accept?: (response: Response) => boolean | Promise<boolean>
  /** What says who is alive, instead of `path`, `port` and `accept`. */
  ping?: Ping | PingName | (string & {}) | TypedOptions
}

export interface PollingOptions {
  /** From the first use to the first poll. Default 1 000. */
  initialDelayMs?: number
  /** From the end of one poll to the start of the next. Default 30 000. */
  intervalMs?: number
}

export interface PrimeOptions {
  /** Default `/`; any HTTP answer will do. */
  path?: string
  /** How often an instance is tried in one go. Default 10. */
  attempts?: number
  /** After the first attempt; twice this after the second, and so on. Default 100. */
  pauseMs?: number
  /** How long an answer may take. Default 2 000. */
  timeoutMs?: number
  /** How long the first list is waited for, and after how long one that never answered is tried anew. Default 30 000. */
  totalMs?: number
  /** The share of the first list that is waited for. Default 1. */
  minShare?: number
}

export interface MetricsOptions {
  /** false: the meters say UNKNOWN instead of the URL's path. Default true. */
  includePath?: boolean
  /** Tags of your own for every meter. */
  tags?: (event: { serviceId: string; instance?: ServiceInstance; response?: Response }) => Record<string, string>
  /** Series a meter keeps; what goes beyond is counted under the path OTHER. Default 200. */
  maxSeries?: number
}

/** The JSON form of a factory call: `{ "type": "peak-ewma", "decayMs": 10000 }`. */
export interface TypedOptions {
  type: string
  [option: string]: unknown
}

export interface RetryOptions {
  /** Default 0. */
  maxRetriesOnSameServiceInstance?: number
  /** Default 1. */
  maxRetriesOnNextServiceInstance?: number
  retryOnAllOperations?: boolean
  /** Default GET, HEAD, OPTIONS; others only with an Idempotency-Key header or `retryOnAllOperations`. */
  methods?: readonly string[]
  /** Statuses that count as failed attempts; the last response is returned whatever its status. Default: none. */
  statusCodes?: readonly number[]
  /** Default: connection failures and timeouts, by the runtime's table. */
  exceptions?: (error: unknown) => boolean
  backoff?: { minMs?: number; maxMs?: number; jitter?: number } | false
  /** Decides in place of `retryOnAllOperations`, `methods`, `statusCodes` and `exceptions`. */
  handler?: RetryHandler | RetryHandlerName | (string & {}) | TypedOptions
  /** Default true. */
  avoidPreviousInstance?: boolean
}

export interface CallOverrides {
  key?: string | number | bigint
  hint?: string
  attributes?: Record<string, unknown>
  retry?: RetryOptions | false
  timeoutMs?: number
  /** On Workers: where a background refresh may live on. */
  waitUntil?: (promise: Promise<unknown>) => void
}
