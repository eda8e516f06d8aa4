/** @module One call through a service: pick, send, and once more elsewhere if the connection failed. */

import { overrideRetry, type RetrySettings } from '../config/settings.js'
import { ConfigError, DiscoveryError, NoInstanceError } from '../errors.js'
import type { AttemptWatch } from '../lifecycle/attempt-watch.js'
import type { Observers } from '../lifecycle/observers.js'
import { anySignal } from '../runtime/any-signal.js'
import { isBadArgument } from '../runtime/connection-errors.js'
import { sleep } from '../runtime/wait.js'
import type { ServiceLease } from '../service/lease.js'
import { lookAgain } from '../service/look-again.js'
import type { BalancedService } from '../service/service.js'
import { show } from '../show.js'
import type { ServiceInstance } from '../types/instance.js'
import type { CallOverrides } from '../types/options.js'
import type { Attempt, PickRequest } from '../types/request.js'
import { rememberAttempts } from './attempts.js'
import { type BodyEnd, whenRead } from './body.js'
import { afterFirst } from './first-tried.js'
import { giveUp, unlessAborted } from './interruption.js'
import { TimeLimit } from './limits.js'
import { Outgoing } from './outgoing.js'
import { type Ending, isRepeatable, Retries } from './retries.js'
import { withSetCookie } from './sticky-cookie.js'

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
    return new Call(service, new Outgoing(service, input, init, overrides), overrides, lease === undefined).run(lease)
  } catch (error) {
    lease?.done({ cancelled: true })
    return Promise.reject(error)
  }
}

class Call {
  readonly #service: BalancedService
  readonly #outgoing: Outgoing
  readonly #overrides: CallOverrides
  readonly #retry: RetrySettings
  readonly #mayRepeat: boolean
  readonly #attempts: Attempt[] = []
  /** Made when the first attempt has failed. */
  #retries: Retries | undefined
  #timeLimit: TimeLimit | undefined
  /** Undefined: nobody wants to hear of this call. */
  readonly #observers: Observers | undefined
  /** Of the attempt that is being selected or has just been. */
  #watch: AttemptWatch | undefined

  constructor(service: BalancedService, outgoing: Outgoing, overrides: CallOverrides, mayRepeat: boolean) {
    const { settings, observers } = service
    this.#service = service
    this.#outgoing = outgoing
    this.#overrides = overrides
    this.#retry =
      overrides.retry === undefined ? settings.retry : overrideRetry(settings.retry, overrides.retry, settings.quirks)
    this.#mayRepeat = mayRepeat
    const { sameInstance, nextInstance } = this.#retry
    if (mayRepeat && sameInstance + nextInstance > 0 && isRepeatable(outgoing.request, this.#retry)) outgoing.keepBody()
    this.#observers = observers?.listening ? observers : undefined
  }

  run(lease: ServiceLease | undefined): Promise<Response> {
    const { serviceId, settings } = this.#service
    const timeoutMs = this.#overrides.timeoutMs ?? settings.timeoutMs
    if (timeoutMs === undefined) return this.#begin(lease)
    const limit = new TimeLimit(timeoutMs, serviceId, `a call of "${serviceId}"`, 'timeoutMs')
    this.#timeLimit = limit
    try {
      return this.#begin(lease).finally(() => limit.stop())
    } catch (error) {
      limit.stop()
      throw error
    }
  }

  #begin(lease: ServiceLease | undefined): Promise<Response> {
    const { request } = this.#outgoing
    if (lease !== undefined) {
      if (this.#observers !== undefined) this.#watch = this.#observers.given(sentWith(lease, request), lease.attempt)
      return this.#send(lease)
    }
    const { source } = this.#service
    if ((source.ages || !source.listed) && source.mustWait(this.#service.clock())) return this.#afterList()
    const selected = this.#select(request, 1)
    return selected === undefined && this.#isPatient ? this.#sendLate() : this.#sendBy(selected)
  }

  async #afterList(): Promise<Response> {
    const { request, signal } = this.#outgoing
    const watch = (this.#watch = this.#observers?.selecting(request, 1))
    let lease: ServiceLease | undefined
    try {
      const limited = anySignal([signal, this.#timeLimit?.controller.signal])
      await this.#service.source.ready(limited === undefined ? {} : { signal: limited })
      lease = this.#service.takeNow(request, 1)
    } catch (error) {
      if (error instanceof DiscoveryError) {
        this.#service.counters.noInstance++
        return this.#noInstance(error)
      }
      watch?.unselected(error, signal?.aborted === true)
      throw error
    }
    if (lease === undefined && this.#isPatient) return this.#sendLate()
    if (lease !== undefined) watch?.selected(this.#service.picker.lastCandidates(request))
    return this.#sendBy(lease)
  }

  /** The policy waits for somebody to choose. */
  get #isPatient(): boolean {
    return this.#service.picker.engine?.patienceMs !== undefined
  }

  async #sendLate(): Promise<Response> {
    const { request, signal } = this.#outgoing
    const service = this.#service
    const watch = this.#watch
    const look = () => service.take(request, 1, this.#overrides.waitUntil)
    let lease: ServiceLease | undefined
    try {
      lease = await lookAgain(service, look, anySignal([signal, this.#timeLimit?.controller.signal]))
    } catch (error) {
      watch?.unselected(error, signal?.aborted === true)
      throw error
    }
    if (lease !== undefined) watch?.selected(service.picker.lastCandidates(request))
    return this.#sendBy(lease)
  }

  /** Asks the chain and the policy; `#watch` is the attempt's from here on. */
  #select(request: PickRequest, attempt: number, avoidPrevious?: boolean): ServiceLease | undefined {
    const { waitUntil } = this.#overrides
    if (this.#observers === undefined) return this.#service.take(request, attempt, waitUntil, avoidPrevious)
    const watch = this.#observers.selecting(request, attempt)
    this.#watch = watch
    try {
      const lease = this.#service.take(request, attempt, waitUntil, avoidPrevious)
      if (lease !== undefined) watch.selected(this.#service.picker.lastCandidates(request))
      return lease
    } catch (error) {
      watch.unselected(error, false)
      throw error
    }
  }

  #sendBy(lease: ServiceLease | undefined): Promise<Response> {
    return lease === undefined ? this.#noInstance(this.#noInstanceError()) : this.#send(lease)
  }

  #send(lease: ServiceLease): Promise<Response> {
    const { settings, clock, serviceId } = this.#service
    const watch = this.#watch
    watch?.sending(lease)
    const limit =
      settings.attemptTimeoutMs === undefined
        ? undefined
        : new TimeLimit(
            settings.attemptTimeoutMs,
            serviceId,
            `an attempt of "${serviceId}" at "${lease.instance.instanceId}"`,
            'attemptTimeoutMs',
          )
    const startedAt = clock()
    this.#service.sending(lease, startedAt)
    let sent: Promise<Response>
    try {
      // Some answer without a promise.
      sent = Promise.resolve(this.#outgoing.send(lease, this.#signalWith(limit)))
    } catch (error) {
      // Nothing has left: a bad argument, not the instance's fault.
      limit?.stop()
      lease.done({ cancelled: true })
      watch?.failed(error, false, clock() - startedAt)
      return Promise.reject(error)
    }
    return this.#unlessEnded(sent, lease, limit).then(
      (response) => {
        limit?.stop()
        return this.#answered(lease, watch, response, clock() - startedAt)
      },
      (error) => {
        limit?.stop()
        const reason = this.#timeLimit?.expired ?? limit?.expired ?? error
        return this.#failed(lease, watch, reason, clock() - startedAt)
      },
    )
  }

  /** Undefined: the caller's own is enough. */
  #signalWith(limit: TimeLimit | undefined): AbortSignal | undefined {
    if (limit === undefined && this.#timeLimit === undefined) return undefined
    return anySignal([this.#outgoing.signal, this.#timeLimit?.controller.signal, limit?.controller.signal])
  }

  /** As `sent`, until the call's time, the attempt's or the caller's patience is over. */
  #unlessEnded(sent: Promise<Response>, lease: ServiceLease, limit: TimeLimit | undefined): Promise<Response> {
    const { signal } = this.#outgoing
    if (this.#service.honoursSignals && lease.instance.fetcher === undefined) return sent
    if (signal === undefined && limit === undefined && this.#timeLimit === undefined) return sent
    return unlessAborted(sent, [signal, this.#timeLimit?.controller.signal, limit?.controller.signal])
  }

  #answered(
    lease: ServiceLease,
    watch: AttemptWatch | undefined,
    response: Response,
    durationMs: number,
  ): Response | Promise<Response> {
    if (typeof response !== 'object' || response === null) {
      return this.#failed(lease, watch, noResponse(lease.instance, response), durationMs)
    }
    try {
      return this.#received(lease, watch, response, durationMs)
    } catch (error) {
      // A response of the transport's own that can't be read or made again.
      lease.done({ error, latencyMs: durationMs })
      watch?.failed(error, false, durationMs)
      giveUp(response)
      return this.#giveUp(error)
    }
  }

  #received(
    lease: ServiceLease,
    watch: AttemptWatch | undefined,
    response: Response,
    durationMs: number,
  ): Response | Promise<Response> {
    const { status } = response
    const { instance } = lease
    this.#attempts.push({ instance, status, durationMs })
    const isRefused = this.#isRefusal(status) && this.#canRepeat({ response })
    if (isRefused || this.#service.settings.release === 'headers') {
      lease.done({ status, latencyMs: durationMs })
      watch?.answered(response, durationMs)
      return isRefused ? this.#again(instance, { response }) : this.#respond(instance, response)
    }
    const { signal } = this.#outgoing
    const ended = (end: BodyEnd) => {
      lease.done(signal?.aborted ? { cancelled: true } : { status, latencyMs: durationMs, ...end })
    }
    const read = whenRead(response, signal, ended)
    watch?.answered(response, durationMs)
    return this.#respond(instance, read)
  }

  #failed(lease: ServiceLease, watch: AttemptWatch | undefined, error: unknown, durationMs: number): Promise<Response> {
    const { signal, hasLeft } = this.#outgoing
    const cancelled = signal?.aborted === true
    this.#attempts.push({ instance: lease.instance, error, durationMs })
    const isOurs = cancelled || !hasLeft || isBadArgument(error)
    lease.done(isOurs ? { cancelled: true } : { error, latencyMs: durationMs })
    watch?.failed(error, cancelled, durationMs)
    if (!cancelled && hasLeft && this.#timeLimit?.expired === undefined && this.#canRepeat({ error })) {
      return this.#again(lease.instance, { error })
    }
    return this.#giveUp(error)
  }

  /** Whether the status may be none that the caller wants. */
  #isRefusal(status: number): boolean {
    return this.#retry.handler !== undefined ? status >= 400 : this.#retry.statusCodes.includes(status)
  }

  #canRepeat(ending: Ending): boolean {
    if (!this.#mayRepeat) return false
    this.#retries ??= new Retries(this.#retry, this.#service.settings.quirks)
    return this.#retries.allow(ending, this.#outgoing.request) && this.#outgoing.isReplayable
  }

  /** Another attempt, if there is an instance for it; else how the last one ended. */
  async #again(instance: ServiceInstance, last: Ending): Promise<Response> {
    const attempt = this.#attempts.length + 1
    let lease: ServiceLease | undefined
    try {
      await this.#pause(attempt - 2)
      lease = this.#nextLease(instance, attempt)
    } catch (error) {
      if ('response' in last) giveUp(last.response)
      return this.#giveUp(error)
    }
    if (lease === undefined)
      return 'response' in last ? this.#respond(instance, last.response) : this.#giveUp(last.error)
    if ('response' in last) giveUp(last.response)
    return this.#send(lease)
  }

  #nextLease(instance: ServiceInstance, attempt: number): ServiceLease | undefined {
    const service = this.#service
    const retries = this.#retries as Retries
    const { request } = this.#outgoing
    if (service.state === 'closed') return undefined
    if (retries.useSame()) {
      const again = this.#sameLease(instance, retries.repeated(request), attempt)
      if (again !== undefined) {
        service.counters.retriesSame++
        return again
      }
    }
    if (!retries.useNext(instance)) return undefined
    const next = this.#select(retries.repeated(request), attempt, this.#retry.avoidPrevious)
    if (next !== undefined) service.counters.retriesNext++
    else this.#watch?.discarded(undefined)
    return next
  }

  /** Without asking the policy; SCLB's reactive client asks it, and so moves on. */
  #sameLease(instance: ServiceInstance, request: PickRequest, attempt: number): ServiceLease | undefined {
    const service = this.#service
    if (service.settings.quirks.has('retry-same-moves-on')) {
      const first = this.#attempts[0]?.instance ?? instance
      const lease = this.#select(afterFirst(request, first), attempt, this.#retry.avoidPrevious)
      if (lease === undefined) this.#watch?.discarded(undefined)
      return lease
    }
    const lease = service.takeAgain(instance, request, attempt)
    this.#watch = lease && this.#observers?.given(request, attempt)
    return lease
  }

  async #pause(retry: number): Promise<void> {
    const ms = this.#retries?.pauseMs(retry, () => this.#service.picker.random())
    if (ms !== undefined) await sleep(ms, anySignal([this.#outgoing.signal, this.#timeLimit?.controller.signal]))
  }

  #noInstanceError(): NoInstanceError {
    const service = this.#service
    const { serviceId } = service
    const known = service.instances().length
    const why = known === 0 ? 'its list is empty' : `none of ${known} is left${this.#emptiedBy()}`
    return new NoInstanceError(`no instance of "${serviceId}" is available (${why})`, { serviceId })
  }

  /** Asks the suppliers once more. One that throws this time must not take the place of the answer. */
  #emptiedBy(): string {
    try {
      return ` by ${this.#service.emptiedBy(this.#outgoing.request)}`
    } catch {
      return ''
    }
  }

  #noInstance(error: NoInstanceError | DiscoveryError): Promise<Response> {
    const { noInstance, noInstanceStatus: status } = this.#service.settings
    if (noInstance === 'throw') {
      this.#watch?.discarded({ error })
      return Promise.reject(error)
    }
    const response = new Response(error.message, { status, headers: { 'content-type': 'text/plain' } })
    this.#watch?.discarded({ response })
    return Promise.resolve(response)
  }

  #respond(instance: ServiceInstance, response: Response): Response {
    const { sticky, quirks } = this.#service.settings
    const answer =
      sticky === undefined || sticky.setCookie === false
        ? response
        : withSetCookie(response, instance, this.#outgoing.request, sticky, quirks)
    rememberAttempts(answer, this.#attempts)
    return answer
  }

  #giveUp(error: unknown): Promise<Response> {
    rememberAttempts(error, this.#attempts)
    return Promise.reject(error)
  }
}

/** The request that a lease was picked with, as it is sent now. The hint is the one that chose the instance. */
function sentWith({ request: picked }: ServiceLease, sent: PickRequest): PickRequest {
  return { ...picked, ...sent, ...(picked.hint !== undefined && { hint: picked.hint }) }
}

function noResponse({ serviceId, instanceId, fetcher }: ServiceInstance, answer: unknown): ConfigError {
  const who = fetcher === undefined ? 'fetch' : `the fetcher of "${instanceId}"`
  const message = `${who} answered ${show(answer)} to a call of "${serviceId}": a Response is needed`
  return new ConfigError(message, { serviceId, option: fetcher === undefined ? 'fetch' : 'fetcher' })
}
