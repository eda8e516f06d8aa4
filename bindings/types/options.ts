/** @module The options of a balancer and of a service. Durations are milliseconds. */

import type { DiscoveryClient, Lifecycle, Policy, RequestTransformer, Supplier } from './extension.js'
import type { FetchLike, InstanceInit } from './instance.js'

export type ServiceMap = Record<string, ServiceOptions | readonly InstanceInit[]>

export interface LoadBalancerOptions<S extends ServiceMap = ServiceMap> {
  services?: S
  /** For every service: its own scalars replace these, maps are merged, lists replaced. */
  defaults?: ServiceOptions
  discovery?: DiscoveryClient | readonly DiscoveryClient[]
  discoveryMode?: 'first' | 'merge'
  /** The zone this client runs in. */
  zone?: string
  /** SCLB's or Ribbon's behaviour instead of the repaired one, whole or by quirk. */
  compat?: 'spring' | 'ribbon' | readonly string[]
  /** The transport. Default: the runtime's `fetch`, looked up at each call. */
  fetch?: FetchLike
  lifecycle?: readonly Lifecycle[]
  transformers?: readonly RequestTransformer[]
  /**
   * What `lb.fetch` does with a host that names no service. Default: 'error', or where the balancer has `discovery`,
   * to make it one for good. 'passthrough': hands the call to the transport as it is.
   */
  unknownService?: 'error' | 'passthrough'
  /** Milliseconds that never go back. Default: `performance.now`. */
  clock?: () => number
  /** Same seed, same trace, same picks. Default: the runtime's own entropy, taken on first use. */
  seed?: number
  /** A precompiled core (`evenkeel/core.wasm`). */
  module?: WebAssembly.Module
}

export interface ServiceOptions {
  instances?: readonly InstanceInit[]
  discovery?: DiscoveryClient | readonly DiscoveryClient[]
  /** A named set of cache, healthCheck and suppliers, as SCLB's `configurations`. */
  preset?: string
  /** ttlMs 35 000: fresh. Then staleMs (default: ttlMs): still served while one call refreshes it. */
  cache?: false | { ttlMs?: number; staleMs?: number }
  healthCheck?:
    | false
    | {
        path?: string
        port?: number
        intervalMs?: number
        timeoutMs?: number
        initialDelayMs?: number
        refetchMs?: number
        allUnhealthy?: 'none' | 'all'
        accept?: (response: Response) => boolean | Promise<boolean>
      }
  /** Innermost first; retry-aware is always the outermost. */
  suppliers?: readonly (Supplier | string | TypedOptions)[]
  policy?: Policy | string | TypedOptions
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
  xForwarded?: boolean
  /** The hint sent for a service id, or for `default`. */
  hints?: Record<string, string>
  trace?: { sample?: number; keep?: number }
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
