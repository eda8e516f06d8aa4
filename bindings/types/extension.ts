/** @module The extension points: suppliers, policies, discovery clients, observers, transformers. */

import type { InstanceInit, ServiceInstance } from './instance.js'
import type { Lease, Outcome, PickRequest } from './request.js'

/** What a supplier's filter may answer beside a plain list. */
export interface Supplied {
  list: readonly ServiceInstance[]
  /** Nothing matched and something else is offered instead; counted, and told by `explain`. */
  fellBack?: boolean
  reason?: string
}

/** Narrows the candidate list. Pure: same list and same memoKey, same answer (it is memoised by both). */
export interface Supplier {
  readonly name: string
  /** What of the request the answer depends on; undefined: nothing. Left out: the answer is never memoised. */
  memoKey?(request: PickRequest): string | undefined
  /** Returns a sub-list of the same objects, or one with the reason. Never a new instance object. */
  filter(list: readonly ServiceInstance[], request: PickRequest): readonly ServiceInstance[] | Supplied
  /** Told of each instance picked from this chain. */
  selected?(instance: ServiceInstance, request: PickRequest): void
}

/** What a policy chooses from, by index. Valid only during the pick. */
export interface Candidates {
  readonly length: number
  instance(index: number): ServiceInstance
  /** 1 where no weights are attached. */
  weight(index: number): number
  inFlight(index: number): number
  /** Moving average; NaN when nothing is known. */
  latencyMs(index: number): number
}

export interface PickContext {
  readonly request: PickRequest
  readonly nowMs: number
  /** Uniform in [0, 1), from the service's own seeded generator. */
  random(): number
}

/** A policy of the user's own. The built-in ones run in the core and implement the same. */
export interface Policy {
  readonly name: string
  /** The index of the chosen candidate, or −1 for none. */
  pick(candidates: Candidates, context: PickContext): number
  done?(instance: ServiceInstance, outcome: Outcome, latencyMs: number): void
}

/** How an attempt of a call failed: with an error, or with a status of 400 or above. */
export interface RetryFailure {
  readonly error?: unknown
  readonly status?: number | undefined
  /** In upper case. */
  readonly method?: string | undefined
  /** What `compat` switches on. */
  readonly quirks?: ReadonlySet<string>
}

/** What is tried again, and where. */
export interface RetryHandler {
  readonly name: string
  /** Whether to try again: at the same instance, or at another. Throwing, or a promise, is a no, and is reported once. */
  retriable(failure: RetryFailure, sameInstance: boolean): boolean
  /** Whether it counts towards the circuit breaker of the instance. `serverStats.trips` goes before it. */
  trips(failure: RetryFailure): boolean
}

/** What a ping is asked with. */
export interface PingContext {
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Sends to that instance, through its `fetcher` if it has one. Redirects are not followed, but by `compat`. */
  fetch(url: string): Promise<Response>
  /** What `compat` switches on. */
  readonly quirks: ReadonlySet<string>
}

/** Says which instances are alive, in place of the GET that health checks send. */
export interface Ping {
  readonly name: string
  /** false: nobody is asked, everybody is alive. */
  readonly asks?: false
  /** Throwing, and taking longer than `timeoutMs`, is "no". */
  isAlive(
    instance: ServiceInstance,
    context: PingContext,
  ): boolean | { alive: boolean; reason?: string } | Promise<boolean | { alive: boolean; reason?: string }>
}

/** Where lists come from. Throwing means "failed", [] means "empty". */
export interface DiscoveryClient {
  readonly name: string
  readonly order?: number
  /**
   * Asked once a refresh. `timeoutMs`: after this `signal` will abort. `partlyFailed`: a part of the answer could not be
   * had; told and counted like a failure, but what is answered is taken.
   */
  get?(
    serviceId: string,
    options: { signal: AbortSignal; timeoutMs?: number; partlyFailed?: (error: unknown) => void },
  ): Promise<readonly InstanceInit[]> | readonly InstanceInit[]
  /**
   * Instead of `get`, where the source pushes: each value is the whole list. Beside `get`, which is asked then where
   * nothing outlives a request (Workers), and by `refresh()`. A watch that throws or ends is begun again after a while.
   */
  watch?(serviceId: string, options: WatchOptions): AsyncIterable<readonly InstanceInit[]>
  services?(options: { signal: AbortSignal }): Promise<readonly string[]>
  /** Address, namespace, group … for `explain`; no secrets. */
  describe?(serviceId: string): Record<string, string>
  close?(): Promise<void>
}

/** What a watch is begun with. */
export interface WatchOptions {
  /** Aborts when nobody wants the list any more. */
  readonly signal: AbortSignal
  /** The service's `discoveryTimeoutMs`: how long one answer may take where it has to be asked for. */
  readonly timeoutMs?: number
  /** The service's `cache.ttlMs`: how old a list may grow that has to be asked for. */
  readonly ttlMs?: number
  /** The source could not be asked, and the watch tries on by itself: told and counted, the last list is served. */
  failed?(error: unknown): void
  /** A part of the source could not be asked; told and counted, but what is known of the rest is current. */
  partlyFailed?(error: unknown): void
  /** The last list is still what the source says: it is as new as if it had come again. */
  confirmed?(): void
}

/** A discovery client that is only its `get` or its `watch`. */
export type DiscoveryFunction = (
  serviceId: string,
  options: { signal: AbortSignal },
) => Promise<readonly InstanceInit[]> | readonly InstanceInit[] | AsyncIterable<readonly InstanceInit[]>

/**
 * Observers of the calls that are sent: `lb.fetch`, `service.fetch`, `lease.fetch`. One that throws, or whose promise
 * rejects, is reported once and never breaks a call; what it sends itself is not observed, so nothing recurses (in
 * browsers and on Workers without `nodejs_compat` that holds until its first await). A body is the caller's: don't
 * read it.
 */
export interface Lifecycle {
  /** Before an instance is selected: for each attempt that selects one, not for another at the same instance. */
  onStart?(event: { serviceId: string; request: PickRequest; attempt: number }): void
  /** An instance was selected, nothing has been sent. `selectionMs` has the wait for a first list in it. */
  onStartRequest?(event: {
    serviceId: string
    request: PickRequest
    attempt: number
    lease: Lease
    candidates: number
    selectionMs: number
  }): void
  /**
   * Once for each attempt, at the response's headers. SUCCESS: a response, whatever its status; FAILED: an error, a
   * time limit too; DISCARD: no instance, nothing was sent; CANCELLED: the caller aborted.
   */
  onComplete?(event: {
    serviceId: string
    request: PickRequest
    attempt: number
    instance?: ServiceInstance
    /** What earlier attempts of the call have tried. */
    previous: readonly ServiceInstance[]
    status: 'SUCCESS' | 'FAILED' | 'DISCARD' | 'CANCELLED'
    response?: Response
    error?: unknown
    durationMs: number
  }): void
}

/**
 * Changes a request just before it is sent to an instance; each gets what the one before it returned. `request` goes
 * to the instance and has the body; `original` is what the caller asked for. One that throws ends the call before
 * anything is sent.
 */
export type RequestTransformer = (request: Request, instance: ServiceInstance, original: Request) => Request
