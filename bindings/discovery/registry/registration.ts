/** @module One instance's registration: made, renewed, made anew where it was forgotten, and ended in good order. */

import { duration, func, object, oneOf } from '../../config/check.js'
import { msOf } from '../../config/duration.js'
import { ClosedError, ConfigError, TimeoutError } from '../../errors.js'
import { type Place, toInstance } from '../../instance.js'
import { isWorkers } from '../../runtime/host.js'
import { holding, sleep, waitFor } from '../../runtime/wait.js'
import type { ServiceInstance } from '../../types/instance.js'
import type {
  Registration,
  RegistrationInit,
  RegistrationOptions,
  RegistrationStats,
  RegistrationStatus,
  ShutdownOptions,
} from '../../types/registration.js'
import type { WaitOptions } from '../../types/request.js'
import { messageOf } from '../message-of.js'
import { Backoff } from './backoff.js'
import { pause } from './pause.js'

/** What a registry is told of one instance. Each rejects if it could not be told. */
export interface RegistrationProtocol {
  /** From one renewal to the next. */
  readonly renewalMs: number
  /** Makes the registration, or makes it anew, with this status. */
  register(status: RegistrationStatus, signal: AbortSignal): Promise<void>
  /** false: the registry has forgotten the instance. */
  renew(status: RegistrationStatus, signal: AbortSignal): Promise<boolean>
  /** Of an instance that is registered; false: the registry has forgotten it. */
  setStatus(status: RegistrationStatus, signal: AbortSignal): Promise<boolean>
  /** Of an instance that the registry has forgotten too. */
  deregister(signal: AbortSignal): Promise<void>
}

export interface RegistrationHost {
  /** Uniform in [0, 1). */
  readonly random: () => number
}

/** Renewals come up to this share earlier, so that instances that began together don't stay in step. */
const SPREAD = 0.1
const LEAST_RETRY_MS = 1_000
const LOOK_MS = 50
/** How long the end waits for what is under way. */
const GRACE_MS = 2_000

const checkShutdown = object({
  propagationMs: duration(),
  drainMs: duration(),
  inFlight: func('a function that returns how many requests are under way'),
})
const checkOptions = object({ status: oneOf('UP', 'OUT_OF_SERVICE'), failed: func('a function') })

/**
 * The instance that is to be registered.
 * @throws EVENKEEL_CONFIG naming the field; also on Workers, where nothing can renew a registration
 */
export function registrantOf(init: RegistrationInit, options: RegistrationOptions = {}): ServiceInstance {
  if (isWorkers()) {
    throw new ConfigError('nothing lives on between requests on Workers to renew a registration: register elsewhere')
  }
  checkOptions(options, 'register')
  const where: Place = 'the instance to register'
  const { serviceId } = init
  if (typeof serviceId !== 'string' || serviceId === '') {
    throw new ConfigError(`${where} needs a serviceId`, { option: 'serviceId' })
  }
  const instance = toInstance(init, serviceId, where)
  if (instance.port < 1) {
    const told = instance.port < 0 ? 'has none' : 'has port 0'
    throw new ConfigError(`${where} needs the port that it listens on: "${instance.instanceId}" ${told}`, {
      option: 'port',
    })
  }
  for (const id of [serviceId, instance.instanceId]) {
    if (/^\.\.?$/.test(id)) throw new ConfigError(`${where} can't be named "${id}": no URL's path can have that`)
  }
  return instance
}

export class ProtocolRegistration implements Registration {
  readonly serviceId: string
  readonly instanceId: string
  #status: RegistrationStatus
  #state: Registration['state'] = 'registering'
  /** What the registry was last told; undefined: it may not have the instance. */
  #told: RegistrationStatus | undefined
  /** A status was sent whose answer did not come: the registry has that one, or `#told`. */
  #isDoubtful = false
  readonly #stats: RegistrationStats = { registrations: 0, renewals: 0, failures: 0, lastError: undefined }
  readonly #protocol: RegistrationProtocol
  readonly #random: () => number
  readonly #backoff: Backoff
  readonly #failed: (error: unknown) => void
  readonly #stop = new AbortController()
  readonly #loop: Promise<void>
  #closing: Promise<void> | undefined
  /** Ends the pause before the next renewal. */
  #hurry = new AbortController()
  /** Those who wait until the registry has been told. */
  readonly #waiting = new Set<() => void>()

  constructor(
    instance: ServiceInstance,
    protocol: RegistrationProtocol,
    host: RegistrationHost,
    options: RegistrationOptions = {},
  ) {
    this.serviceId = instance.serviceId
    this.instanceId = instance.instanceId
    this.#status = options.status ?? 'UP'
    this.#failed = options.failed ?? (() => {})
    this.#protocol = protocol
    this.#random = host.random
    const { renewalMs } = protocol
    this.#backoff = new Backoff({ minMs: Math.min(LEAST_RETRY_MS, renewalMs), maxMs: renewalMs }, host.random)
    this.#loop = this.#live()
  }

  get status(): RegistrationStatus {
    return this.#status
  }

  get state(): Registration['state'] {
    return this.#state
  }

  stats(): RegistrationStats {
    return { ...this.#stats }
  }

  async ready(options: WaitOptions = {}): Promise<void> {
    await this.#untilTold(options, `registering "${this.instanceId}"`)
  }

  async setStatus(status: RegistrationStatus, options: WaitOptions = {}): Promise<void> {
    oneOf('UP', 'OUT_OF_SERVICE')(status, 'status')
    this.#checkOpen()
    this.#status = status
    if (!this.#isTold) this.#hurry.abort()
    await this.#untilTold(options, `setting the status of "${this.instanceId}"`)
  }

  async shutdown(options: ShutdownOptions): Promise<void> {
    checkShutdown(options, 'shutdown')
    duration()(options.propagationMs, 'shutdown.propagationMs')
    const { inFlight } = options
    const propagationMs = msOf(options.propagationMs) as number
    const drainMs = msOf(options.drainMs) ?? 30_000
    // A registry that can't be told lets the registration expire instead: clients get as long to see the failures.
    await this.setStatus('OUT_OF_SERVICE', { timeoutMs: Math.max(1, propagationMs) }).catch(() => this.#checkOpen())
    await sleep(propagationMs)
    for (let leftMs = drainMs; inFlight !== undefined && inFlight() > 0 && leftMs > 0; leftMs -= LOOK_MS) {
      await sleep(Math.min(LOOK_MS, leftMs))
    }
    await this.close()
  }

  close(): Promise<void> {
    // One that failed may be tried again.
    this.#closing ??= this.#close().catch((error) => {
      this.#closing = undefined
      throw error
    })
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#state = 'closed'
    this.#hurry.abort()
    this.#wake()
    // The registry may take what is under way after the deregistration, and so undo it; broken off it may do so too.
    await waitFor(this.#loop, { timeoutMs: GRACE_MS }, 'the last attempt').catch(() => {})
    this.#stop.abort(this.#closedError())
    await this.#loop
    await this.#protocol.deregister(new AbortController().signal)
  }

  /** Tells the registry what it has not been told, then renews, until the end. Never rejects. */
  async #live(): Promise<void> {
    while (!this.#isClosed) {
      this.#hurry = new AbortController()
      const waitMs = (await this.#tell()) ? this.#protocol.renewalMs * (1 - SPREAD * this.#random()) : undefined
      if (this.#isClosed) return
      // A status that was set meanwhile is told at once.
      if (waitMs !== undefined && !this.#isTold) continue
      await pause(waitMs ?? this.#backoff.next(), this.#hurry.signal)
    }
  }

  /** One attempt, at whatever is due. Whether it was taken. */
  async #tell(): Promise<boolean> {
    const status = this.#status
    try {
      await this.#bring(status, this.#stop.signal)
    } catch (error) {
      if (this.#isClosed) return false
      this.#stats.failures++
      this.#stats.lastError = error
      if (this.#state === 'registered') this.#state = 'failing'
      this.#report(error)
      return false
    }
    if (this.#isClosed) return false
    this.#told = status
    this.#isDoubtful = false
    this.#stats.lastError = undefined
    this.#backoff.reset()
    this.#state = 'registered'
    this.#wake()
    return true
  }

  async #bring(status: RegistrationStatus, signal: AbortSignal): Promise<void> {
    const protocol = this.#protocol
    if (this.#told !== undefined) {
      const isRenewal = this.#told === status && !this.#isDoubtful
      if (!isRenewal) this.#isDoubtful = true
      const known = isRenewal ? await protocol.renew(status, signal) : await protocol.setStatus(status, signal)
      if (known) {
        if (isRenewal) this.#stats.renewals++
        return
      }
      this.#told = undefined
      if (this.#isClosed) return
    }
    await protocol.register(status, signal)
    this.#stats.registrations++
  }

  /** The registry has the status that the instance is to have, as far as is known. */
  get #isTold(): boolean {
    return this.#told === this.#status && !this.#isDoubtful
  }

  /** A status is told, or the end has come. */
  async #untilTold(options: WaitOptions, what: string): Promise<void> {
    this.#checkOpen()
    const told = async () => {
      while (!this.#isTold && !this.#isClosed) {
        await new Promise<void>((resolve) => this.#waiting.add(resolve))
      }
    }
    try {
      // The timers of the attempts keep no process alive; whoever waits for them does.
      await holding(waitFor(told(), options, what))
    } catch (error) {
      const { lastError } = this.#stats
      if (!(error instanceof TimeoutError) || lastError === undefined) throw error
      const message = `${error.message}: ${messageOf(lastError)}`
      throw new TimeoutError(message, { serviceId: this.serviceId, cause: lastError })
    }
    this.#checkOpen()
  }

  #report(error: unknown): void {
    try {
      // Who is told of a failure can't end the registration, nor can an async function that is.
      void Promise.resolve(this.#failed(error)).catch(() => {})
    } catch {}
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  get #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #checkOpen(): void {
    if (this.#isClosed) throw this.#closedError()
  }

  #closedError(): ClosedError {
    return new ClosedError(`the registration of "${this.instanceId}" is closed`, { serviceId: this.serviceId })
  }
}
