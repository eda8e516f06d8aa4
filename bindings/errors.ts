/** @module One class an error, each with its code. A transport's own errors are none of these: they pass unchanged. */

export type ErrorCode =
  | 'EVENKEEL_CONFIG'
  | 'EVENKEEL_UNKNOWN_SERVICE'
  | 'EVENKEEL_NO_INSTANCE'
  | 'EVENKEEL_NO_ADDRESS'
  | 'EVENKEEL_DISCOVERY'
  | 'EVENKEEL_TIMEOUT'
  | 'EVENKEEL_OVERLOADED'
  | 'EVENKEEL_CLOSED'
  | 'EVENKEEL_WASM'

export interface ErrorDetails {
  serviceId?: string
  /** The option at fault, as a path: `services.orders.cache.ttlMs`. */
  option?: string
  cause?: unknown
}

/** What all of evenkeel's errors share. */
export class EvenkeelError extends Error {
  readonly code: ErrorCode
  readonly serviceId?: string
  readonly option?: string

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.code = code
    if (details.serviceId !== undefined) this.serviceId = details.serviceId
    if (details.option !== undefined) this.option = details.option
  }
}

/** An option or argument that can't be used: says which, what it was, and what is accepted. */
export class ConfigError extends EvenkeelError {
  override readonly name = 'ConfigError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_CONFIG', message, details)
  }
}

export class UnknownServiceError extends EvenkeelError {
  override readonly name = 'UnknownServiceError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_UNKNOWN_SERVICE', message, details)
  }
}

export class NoInstanceError extends EvenkeelError {
  override readonly name = 'NoInstanceError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_NO_INSTANCE', message, details)
  }
}

/** An instance that is only a binding has no URL. */
export class NoAddressError extends EvenkeelError {
  override readonly name = 'NoAddressError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_NO_ADDRESS', message, details)
  }
}

/**
 * How a registry failed. unreachable: no answer came over the connection; timeout: none in time; denied: 401 or 403;
 * limited: 429; status: another status that is no answer; redirect: it sends elsewhere, which is not followed;
 * too-large: more than is read of an answer; malformed: an answer that is none, or of another shape.
 */
export type DiscoveryFailure =
  | 'unreachable'
  | 'timeout'
  | 'denied'
  | 'limited'
  | 'status'
  | 'redirect'
  | 'too-large'
  | 'malformed'

export interface DiscoveryErrorDetails extends ErrorDetails {
  failure?: DiscoveryFailure
  /** Of the registry's answer. */
  status?: number
  /** Not to be asked again before, as the registry said with it. */
  retryAfterMs?: number
}

/** Discovery failed: on its own in events and `explain`; thrown where there is no earlier list to serve. */
export class DiscoveryError extends EvenkeelError {
  override readonly name = 'DiscoveryError'
  readonly failure?: DiscoveryFailure
  readonly status?: number
  readonly retryAfterMs?: number

  constructor(message: string, details: DiscoveryErrorDetails = {}) {
    super('EVENKEEL_DISCOVERY', message, details)
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
    if (details.failure !== undefined) this.failure = details.failure
    if (details.status !== undefined) this.status = details.status
  }
}

export class TimeoutError extends EvenkeelError {
  override readonly name = 'TimeoutError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_TIMEOUT', message, details)
  }
}

export class ClosedError extends EvenkeelError {
  override readonly name = 'ClosedError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_CLOSED', message, details)
  }
}

/** The core could not be compiled or instantiated: a CSP without 'wasm-unsafe-eval', or no memory. */
export class WasmError extends EvenkeelError {
  override readonly name = 'WasmError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_WASM', message, details)
  }
}
