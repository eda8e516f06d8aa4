/** @module One selection: what it may look at, the lease it gives, how the leased call ended. */

import type { FetchLike, ServiceInstance } from './instance.js'

/** What suppliers and policies may look at. */
export interface PickRequest {
  method?: string
  url?: string | URL
  headers?: HeadersInit
  cookies?: Record<string, string>
  attributes?: Record<string, unknown>
  /** Wins over the configured hint, not over the hint header. */
  hint?: string
  /** For hashing policies. */
  key?: string | number | bigint
  /** Tried already by this call: retry-aware keeps them out while others are left. */
  previous?: readonly ServiceInstance[]
}

/** One pick. Completed exactly once: later calls of `done` do nothing. */
export interface Lease {
  readonly instance: ServiceInstance
  /** 1, 2, … */
  readonly attempt: number
  /**
   * The same URL towards the instance: only scheme, host and port change, every other byte stays.
   * @throws EVENKEEL_NO_ADDRESS for an instance that is only a binding
   */
  url(original: string | URL): string
  /** Sends through the instance (or its binding) and completes the lease by the result. Takes paths too. */
  fetch: FetchLike
  /** Without an outcome: success. */
  done(outcome?: Outcome): void
  /** `done({ cancelled: true })` if not done. */
  [Symbol.dispose](): void
}

/** How a leased call ended. A failure is an `error`, a status of 500 or above, or 429. */
export interface Outcome {
  status?: number
  error?: unknown
  /** Neither success nor failure: only the requests in flight change. */
  cancelled?: boolean
  /** Default: from pick to done, where the policy measures time. */
  latencyMs?: number
  /** What the server said of itself. */
  load?: LoadReport
}

export interface LoadReport {
  inFlight?: number
  latencyMs?: number
  utilization?: number
  qps?: number
  errorsPerSecond?: number
  named?: Record<string, number>
}

/** One try of a call, as `attemptsOf` tells it. */
export interface Attempt {
  instance: ServiceInstance
  status?: number
  error?: unknown
  durationMs: number
}

export interface WaitOptions {
  signal?: AbortSignal
  /** Infinity: no limit. */
  timeoutMs?: number
}
