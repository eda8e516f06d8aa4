/** @module One attempt of a call as observers and meters are told of it: started, sent, completed exactly once. */

import type { ServiceLease } from '../service/lease.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import type { CompleteEvent, Observers } from './observers.js'
import type { Series } from './series.js'

type Status = CompleteEvent['status']
type Result = { response: Response } | { error: unknown } | undefined

export class AttemptWatch {
  readonly #observers: Observers
  readonly #attempt: number
  readonly #startedAtMs: number
  /** As the LB saw it, with what was tried before. */
  readonly #request: PickRequest
  #instance: ServiceInstance | undefined
  /** The gauge that counts it while it is under way. */
  #active: Series | undefined
  #candidates = 1
  #selectionMs = 0
  #isCompleted = false

  constructor(observers: Observers, request: PickRequest, attempt: number) {
    this.#observers = observers
    this.#request = request
    this.#attempt = attempt
    this.#startedAtMs = observers.service.clock()
  }

  /** The selection gave an instance. Without this one there was none: 1 candidate, 0 ms. */
  selected(candidates: number): void {
    this.#candidates = candidates
    this.#selectionMs = this.#sinceStart()
    this.#observers.service.selections.add(this.#selectionMs)
  }

  /** It gave none: the call goes nowhere. */
  discarded(result: Result): void {
    const tookMs = this.#sinceStart()
    this.#observers.service.selections.add(tookMs)
    this.#complete('DISCARD', tookMs, result)
  }

  /** It threw, or was given up. */
  unselected(error: unknown, cancelled: boolean): void {
    const { quirks } = this.#observers.service.settings
    if (quirks.has(cancelled ? 'cancelled-not-completed' : 'choose-error-not-completed')) return
    this.#complete(cancelled ? 'CANCELLED' : 'FAILED', this.#sinceStart(), { error })
  }

  sending(lease: ServiceLease): void {
    const { service, meters } = this.#observers
    this.#instance = lease.instance
    this.#active = meters?.started(lease.instance)
    this.#observers.started({
      serviceId: service.serviceId,
      request: this.#told(),
      attempt: this.#attempt,
      lease,
      candidates: this.#candidates,
      selectionMs: this.#selectionMs,
    })
  }

  answered(response: Response, durationMs: number): void {
    this.#complete('SUCCESS', durationMs, { response })
  }

  failed(error: unknown, cancelled: boolean, durationMs: number): void {
    if (cancelled && this.#observers.service.settings.quirks.has('cancelled-not-completed')) return
    this.#complete(cancelled ? 'CANCELLED' : 'FAILED', durationMs, { error })
  }

  #complete(status: Status, durationMs: number, result: Result): void {
    if (this.#isCompleted) return
    this.#isCompleted = true
    const { service, meters } = this.#observers
    const request = this.#told()
    const event: CompleteEvent = {
      serviceId: service.serviceId,
      request,
      attempt: this.#attempt,
      ...(this.#instance !== undefined && { instance: this.#instance }),
      previous: request.previous ?? [],
      status,
      ...result,
      durationMs,
    }
    meters?.completed(event, this.#active)
    this.#observers.completed(event)
  }

  /** From its sending on, SCLB's retries tell of a request that knows nothing of earlier attempts. */
  #told(): PickRequest {
    if (this.#request.previous === undefined || !this.#observers.service.settings.quirks.has('retry-hides-previous')) {
      return this.#request
    }
    const { previous, ...rest } = this.#request
    return rest
  }

  #sinceStart(): number {
    return this.#observers.service.clock() - this.#startedAtMs
  }
}
