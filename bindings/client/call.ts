/** @module One call through a service: pick, send, and once more elsewhere if the connection failed. */

import { overrideRetry, type RetrySettings } from '../config/settings.js'
import { DiscoveryError, NoInstanceError, TimeoutError } from '../errors.js'
import { headerOf } from '../request.js'
import { isBadArgument, isConnectionError } from '../runtime/connection-errors.js'
import { sleep } from '../runtime/wait.js'
import type { ServiceLease } from '../service/lease.js'
import type { BalancedService } from '../service/service.js'
import type { ServiceInstance } from '../types/instance.js'
import type { CallOverrides } from '../types/options.js'
import type { Attempt, PickRequest } from '../types/request.js'
import { rememberAttempts } from './attempts.js'
import { type BodyEnd, isReplayable, whenRead } from './body.js'
import { fieldsOf, isRequest, overlaid, readdressed, urlOf } from './input.js'
import { anySignal, TimeLimit } from './limits.js'

const NO_OVERRIDES: CallOverrides = Object.freeze({})

/**
 * Sends `input` to an instance of the service: not async, so that a warm call waits for nothing but the transport.
 * A lease of the caller's own is used for the only attempt.
 */
export function send(
  service: BalancedService,
  input: string | URL | Request,
  init?: RequestInit,
  overrides: CallOverrides = NO_OVERRIDES,
  lease?: ServiceLease,
): Promise<Response> {
  try {
    return new Call(service, input, init, overrides, lease === undefined).run(lease)
  } catch (error) {
    lease?.done({ cancelled: true })
    return Promise.reject(error)
  }
}

class Call {
  readonly #service: BalancedService
  readonly #input: string | URL | Request
  readonly #init: RequestInit | undefined
  readonly #overrides: CallOverrides
  readonly #url: string
  readonly #request: PickRequest
  readonly #signal: AbortSignal | undefined
  readonly #retry: RetrySettings
  readonly #mayRepeat: boolean
  #timeLimit: TimeLimit | undefined
  readonly #attempts: Attempt[] = []
  readonly #tried: ServiceInstance[] = []
  #sameLeft: number
  #nextLeft: number

  constructor(
    service: BalancedService,
    input: string | URL | Request,
    init: RequestInit | undefined,
    overrides: CallOverrides,
    mayRepeat: boolean,
  ) {
    const { settings } = service
    const request = isRequest(input) ? input : undefined
    this.#service = service
    this.#input = input
    this.#init = init
    this.#overrides = overrides
    this.#url = urlOf(input)
    const headers = init?.headers ?? request?.headers
    this.#request = {
      method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
      url: this.#url,
      ...(headers !== undefined && { headers }),
      ...(overrides.key !== undefined && { key: overrides.key }),
      ...(overrides.hint !== undefined && { hint: overrides.hint }),
      ...(overrides.attributes !== undefined && { attributes: overrides.attributes }),
    }
    // An explicit null detaches the call from its request's signal.
    this.#signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined
    this.#retry = overrides.retry === undefined ? settings.retry : overrideRetry(settings.retry, overrides.retry)
    this.#sameLeft = this.#retry.sameInstance
    this.#nextLeft = this.#retry.nextInstance
    this.#mayRepeat = mayRepeat
  }

  run(lease: ServiceLease | undefined): Promise<Response> {
    const timeoutMs = this.#overrides.timeoutMs ?? this.#service.settings.timeoutMs
    if (timeoutMs === undefined) return this.#begin(lease)
    const limit = new TimeLimit(timeoutMs, this.#service.serviceId, 'a call')
    this.#timeLimit = limit
    try {
      return this.#begin(lease).finally(() => limit.stop())
    } catch (error) {
      limit.stop()
      throw error
    }
  }

  #begin(lease: ServiceLease | undefined): Promise<Response> {
    if (lease !== undefined) return this.#send(lease)
    const { source } = this.#service
    if ((source.ages || !source.listed) && source.mustWait(this.#service.clock())) return this.#afterList()
    return this.#sendBy(this.#service.take(this.#request, 1, this.#overrides.waitUntil))
  }

  async #afterList(): Promise<Response> {
    try {
      const signal = anySignal([this.#signal, this.#timeLimit?.controller.signal])
      await this.#service.source.ready(signal === undefined ? {} : { signal })
    } catch (error) {
      if (error instanceof DiscoveryError) {
        this.#service.counters.noInstance++
        if (this.#service.settings.noInstance === 'response') return this.#noInstanceResponse(error.message)
      }
      throw error
    }
    return this.#sendBy(this.#service.takeNow(this.#request, 1))
  }

  #sendBy(lease: ServiceLease | undefined): Promise<Response> {
    return lease === undefined ? this.#noInstance() : this.#send(lease)
  }

  #send(lease: ServiceLease): Promise<Response> {
    const { settings, clock, serviceId } = this.#service
    const limit =
      settings.attemptTimeoutMs === undefined
        ? undefined
        : new TimeLimit(settings.attemptTimeoutMs, serviceId, 'an attempt')
    const startedAt = clock()
    lease.startedAt = startedAt
    let sent: Promise<Response>
    try {
      // Some answer without a promise.
      sent = Promise.resolve(this.#transmit(lease, limit))
    } catch (error) {
      // Nothing has left: a bad argument, not the instance's fault.
      limit?.stop()
      lease.done({ cancelled: true })
      return Promise.reject(error)
    }
    return sent.then(
      (response) => {
        limit?.stop()
        return this.#answered(lease, response, clock() - startedAt)
      },
      (error) => {
        limit?.stop()
        return this.#failed(lease, this.#timeLimit?.expired ?? limit?.expired ?? error, clock() - startedAt)
      },
    )
  }

  #transmit(lease: ServiceLease, limit: TimeLimit | undefined): Response | Promise<Response> {
    const { fetcher, host } = lease.instance
    const url = host === '' ? this.#bindingUrl() : lease.url(this.#url)
    let init = this.#init
    if (limit !== undefined || this.#timeLimit !== undefined) {
      const signal = anySignal([this.#signal, this.#timeLimit?.controller.signal, limit?.controller.signal])
      init = { ...init, ...(signal !== undefined && { signal }) }
    }
    const { transport } = this.#service
    // An application (Hono's, say) takes a Request alone; a binding takes one too.
    const pass = (to: string | Request) =>
      fetcher === undefined ? transport(to, init) : fetcher.fetch(new Request(to, init))
    if (!isRequest(this.#input)) return pass(url)
    const fields = fetcher === undefined ? fieldsOf(this.#input) : undefined
    if (fields !== undefined) return transport(url, overlaid(fields, init))
    const request = readdressed(this.#input, url)
    return request instanceof Promise ? request.then(pass) : pass(request)
  }

  /** A binding takes any host: the service's own name will do for a path. */
  #bindingUrl(): string {
    return this.#url.startsWith('/') && !this.#url.startsWith('//')
      ? `http://${this.#service.serviceId}${this.#url}`
      : this.#url
  }

  #answered(lease: ServiceLease, response: Response, durationMs: number): Response | Promise<Response> {
    const { status } = response
    this.#attempts.push({ instance: lease.instance, status, durationMs })
    if (this.#retry.statusCodes.includes(status) && this.#canRepeat()) {
      lease.done({ status, latencyMs: durationMs })
      return this.#again(lease.instance, { response })
    }
    if (this.#service.settings.release === 'headers') {
      lease.done({ status, latencyMs: durationMs })
      return this.#respond(response)
    }
    const ended = (end: BodyEnd) => {
      lease.done(this.#signal?.aborted ? { cancelled: true } : { status, latencyMs: durationMs, ...end })
    }
    return this.#respond(whenRead(response, this.#signal, ended))
  }

  #failed(lease: ServiceLease, error: unknown, durationMs: number): Promise<Response> {
    const cancelled = this.#signal?.aborted === true
    this.#attempts.push({ instance: lease.instance, error, durationMs })
    lease.done(cancelled || isBadArgument(error) ? { cancelled: true } : { error, latencyMs: durationMs })
    const { exceptions = isRetryable } = this.#retry
    if (!cancelled && this.#timeLimit?.expired === undefined && exceptions(error) && this.#canRepeat()) {
      return this.#again(lease.instance, { error })
    }
    return this.#giveUp(error)
  }

  #canRepeat(): boolean {
    if (!this.#mayRepeat || this.#sameLeft + this.#nextLeft === 0) return false
    const { allOperations, methods } = this.#retry
    if (
      !allOperations &&
      !methods.includes(this.#request.method as string) &&
      headerOf(this.#request, 'idempotency-key') === undefined
    )
      return false
    return isReplayable(this.#input, this.#init)
  }

  /** Another attempt, if there is an instance for it; else how the last one ended. */
  async #again(instance: ServiceInstance, last: { response: Response } | { error: unknown }): Promise<Response> {
    const attempt = this.#attempts.length + 1
    let lease: ServiceLease | undefined
    try {
      await this.#backOff(attempt - 2)
      lease = this.#nextLease(instance, attempt)
    } catch (error) {
      if ('response' in last) last.response.body?.cancel().catch(() => {})
      return this.#giveUp(error)
    }
    if (lease === undefined) return 'response' in last ? this.#respond(last.response) : this.#giveUp(last.error)
    if ('response' in last) last.response.body?.cancel().catch(() => {})
    return this.#send(lease)
  }

  /** SCLB's order: the same instance as often as allowed, then the next one, where the count for the same begins anew. */
  #nextLease(instance: ServiceInstance, attempt: number): ServiceLease | undefined {
    const service = this.#service
    if (service.state === 'closed') return undefined
    if (this.#sameLeft > 0) {
      this.#sameLeft--
      const again = service.takeAgain(instance, this.#request, attempt)
      if (again !== undefined) {
        service.counters.retriesSame++
        return again
      }
    }
    if (this.#nextLeft === 0) return undefined
    this.#nextLeft--
    this.#sameLeft = this.#retry.sameInstance
    this.#tried.push(instance)
    const request = { ...this.#request, previous: this.#tried }
    const next = service.take(request, attempt, this.#overrides.waitUntil, this.#retry.avoidPrevious)
    if (next !== undefined) service.counters.retriesNext++
    return next
  }

  async #backOff(retry: number): Promise<void> {
    const { backoff } = this.#retry
    if (backoff === undefined) return
    const delay = Math.min(backoff.minMs * 2 ** Math.min(retry, 31), backoff.maxMs)
    const spread = delay * backoff.jitter * (2 * this.#service.picker.random() - 1)
    const wait = Math.min(Math.max(delay + spread, backoff.minMs), backoff.maxMs)
    await sleep(wait, anySignal([this.#signal, this.#timeLimit?.controller.signal]))
  }

  #noInstance(): Promise<Response> {
    const { serviceId, settings } = this.#service
    const known = this.#service.instances().length
    const message = `no instance of "${serviceId}" is available (${known === 0 ? 'its list is empty' : `none of ${known} is left by the suppliers`})`
    if (settings.noInstance === 'response') return Promise.resolve(this.#noInstanceResponse(message))
    return Promise.reject(new NoInstanceError(message, { serviceId }))
  }

  #noInstanceResponse(message: string): Response {
    return new Response(message, {
      status: this.#service.settings.noInstanceStatus,
      headers: { 'content-type': 'text/plain' },
    })
  }

  #respond(response: Response): Response {
    rememberAttempts(response, this.#attempts)
    return response
  }

  #giveUp(error: unknown): Promise<Response> {
    rememberAttempts(error, this.#attempts)
    return Promise.reject(error)
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof TimeoutError || isConnectionError(error)
}
