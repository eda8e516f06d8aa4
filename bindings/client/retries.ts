/** @module Whether a failed attempt may be followed by another one, and where that goes. */

import type { Quirks } from '../compat/quirks.js'
import type { RetrySettings } from '../config/settings.js'
import { ConfigError } from '../errors.js'
import { guardedVerdict } from '../report.js'
import { headerOf } from '../request.js'
import { isBadArgument } from '../runtime/connection-errors.js'
import { isWithoutAnswer } from '../runtime/no-answer.js'
import type { RetryFailure, RetryHandler } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'

import { mayRetry } from './retry-handlers.js'
/** How an attempt ended that is not what the caller wanted. */
export type Ending = { response: Response } | { error: unknown }

/** The retries of one call, in SCLB's order: the same instance as often as allowed, then the next, where that begins anew. */
export class Retries {
  readonly settings: RetrySettings
  readonly #quirks: Quirks
  #sameLeft: number
  #nextLeft: number
  #tried: readonly ServiceInstance[] = []
  /** Where the last ending that was allowed a retry may be tried again. */
  #isForSame = true
  #isForNext = true

  constructor(settings: RetrySettings, quirks: Quirks) {
    this.settings = settings
    this.#quirks = quirks
    this.#sameLeft = settings.sameInstance
    this.#nextLeft = settings.nextInstance
  }

  /** Whether there are any left, and both the ending and the request allow one. */
  allow(ending: Ending, request: PickRequest): boolean {
    if (this.#sameLeft + this.#nextLeft === 0) return false
    if ('error' in ending && ending.error instanceof ConfigError) return false
    if (this.settings.handler !== undefined) return this.#handled(this.settings.handler, ending, request)
    if ('response' in ending)
      return this.#isRetryableStatus(ending.response.status) && isRepeatable(request, this.settings)
    if (!this.#isRetryableError(ending.error)) return false
    return this.#quirks.has('retry-post-on-exception') || isRepeatable(request, this.settings)
  }

  /** Takes one of the retries on the same instance; false: none is left. */
  useSame(): boolean {
    if (this.#sameLeft === 0 || !this.#isForSame) return false
    this.#sameLeft--
    return true
  }

  /** Takes one of the retries on another instance than this one. */
  useNext(instance: ServiceInstance): boolean {
    if (this.#nextLeft === 0 || !this.#isForNext) return false
    this.#nextLeft--
    this.#sameLeft = this.settings.sameInstance
    this.#tried = [...this.#tried, instance]
    return true
  }

  /** The request with the instances that were left behind. */
  repeated(request: PickRequest): PickRequest {
    return this.#tried.length === 0 ? request : { ...request, previous: this.#tried }
  }

  /** The pause before the retry with this number, from 0: doubled each time, jitter included. */
  pauseMs(retry: number, random: () => number): number | undefined {
    const { backoff } = this.settings
    if (backoff === undefined) return undefined
    const delay = Math.min(backoff.minMs * 2 ** Math.min(retry, 31), backoff.maxMs)
    const spread = delay * backoff.jitter * (2 * random() - 1)
    return Math.min(Math.max(delay + spread, backoff.minMs), backoff.maxMs)
  }

  #handled(handler: RetryHandler, ending: Ending, { method }: PickRequest): boolean {
    if ('error' in ending && isBadArgument(ending.error)) return false
    const failure: RetryFailure =
      'response' in ending
        ? { status: ending.response.status, method, quirks: this.#quirks }
        : { error: ending.error, method, quirks: this.#quirks }
    const ask = (sameInstance: boolean) =>
      guardedVerdict(handler, `retry handler "${handler.name}"`, () => handler.retriable(failure, sameInstance)) ===
      true
    this.#isForSame = this.#sameLeft > 0 && ask(true)
    this.#isForNext = this.#nextLeft > 0 && ask(false)
    return this.#isForSame || this.#isForNext
  }

  #isRetryableStatus(status: number): boolean {
    const { statusCodes, exceptions } = this.settings
    if (!statusCodes.includes(status)) return false
    if (exceptions === undefined || !this.#quirks.has('retry-exceptions-drop-status')) return true
    const error = new Error(`status ${status}`)
    error.name = 'RetryableStatusCodeException'
    return this.#isRetryableError(error)
  }

  /** The user's own answer where there is one. If that throws the error is none to retry, and the caller gets it. */
  #isRetryableError(error: unknown): boolean {
    const { exceptions } = this.settings
    if (exceptions === undefined) return isWithoutAnswer(error)
    return guardedVerdict(exceptions, 'retry.exceptions', () => exceptions(error)) === true
  }
}

/** Whether a request may be sent again at all. */
export function isRepeatable(request: PickRequest, { handler, allOperations, methods }: RetrySettings): boolean {
  if (handler !== undefined) return mayRetry(handler)
  return (
    allOperations || methods.includes(request.method as string) || headerOf(request, 'idempotency-key') !== undefined
  )
}
