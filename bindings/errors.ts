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

/** Discovery failed and there is no earlier list to serve. `cause` is what it threw. */
export class DiscoveryError extends EvenkeelError {
  override readonly name = 'DiscoveryError'

  constructor(message: string, details?: ErrorDetails) {
    super('EVENKEEL_DISCOVERY', message, details)
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

/** A value in an error message: short, and never a wall of text. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return `an array of ${value.length}`
  if (typeof value === 'object' && value !== null) return 'an object'
  return String(value)
}
