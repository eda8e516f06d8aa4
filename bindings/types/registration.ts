/** @module What a service tells a registry of itself. */

import type { InstanceInit } from './instance.js'
import type { WaitOptions } from './request.js'

/** Who is registered: an instance with its service's name. */
export type RegistrationInit = Exclude<InstanceInit, string | URL> & { serviceId: string }

/** UP: the registry's clients may send requests; OUT_OF_SERVICE: they are not to, and the instance stays registered. */
export type RegistrationStatus = 'UP' | 'OUT_OF_SERVICE'

/** A discovery client whose registry takes registrations. */
export interface Registrar {
  /**
   * Registers at once and for as long as the process lives: tries on with a backoff while the registry can't be
   * reached, renews the registration, and makes it anew where the registry has forgotten it.
   * @throws EVENKEEL_CONFIG for an instance that can't be registered, and on Workers, where nothing lives on
   */
  register(instance: RegistrationInit, options?: RegistrationOptions): Registration
}

export interface RegistrationOptions {
  /** Default 'UP'. */
  status?: RegistrationStatus
  /** Told of each failed attempt; the next is under way. */
  failed?: (error: unknown) => void
}

export interface Registration {
  readonly serviceId: string
  readonly instanceId: string
  /** What the instance is to be; the registry has it when `setStatus` resolves. */
  readonly status: RegistrationStatus
  /** registering: not confirmed yet; registered; failing: the last renewal failed, the registration may still stand. */
  readonly state: 'registering' | 'registered' | 'failing' | 'closed'
  stats(): RegistrationStats
  /** Resolves when the registry has the registration. @throws EVENKEEL_TIMEOUT with what the last attempt failed with */
  ready(options?: WaitOptions): Promise<void>
  /** Resolves when the registry has the status; until then it is tried again and again. */
  setStatus(status: RegistrationStatus, options?: WaitOptions): Promise<void>
  /**
   * The graceful end: OUT_OF_SERVICE, then `propagationMs` for clients to hear of it while requests are still answered,
   * then until `inFlight` says 0, at most `drainMs`, then `close`. A registry that can't be told of the status gets
   * another `propagationMs` to be there; then it goes on all the same, and rejects at its end if `close` does.
   */
  shutdown(options: ShutdownOptions): Promise<void>
  /**
   * Ends renewal and deregisters, in one attempt for each server; one that failed may be called again.
   * @throws EVENKEEL_DISCOVERY if none took it
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface ShutdownOptions {
  /** How long the slowest client may go on with its old list: its cache and that of the registry. */
  propagationMs: number
  /** How long requests under way may take at most. Default 30 000. */
  drainMs?: number
  /** How many requests are under way. Left out: `drainMs` is not waited for. */
  inFlight?: () => number
}

export interface RegistrationStats {
  /** Attempts that the registry took: 1, and one more each time that it had forgotten the instance. */
  registrations: number
  renewals: number
  failures: number
  /** Of the last attempt; undefined after a good one. */
  lastError: unknown
}
