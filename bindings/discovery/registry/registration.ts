/** @module One instance's registration: made, renewed, made anew where it was forgotten, and ended in good order. */

import { duration, func, number, object, oneOf } from '../../config/check.js'
import { ClosedError, ConfigError } from '../../errors.js'
import { type Place, toInstance } from '../../instance.js'
import { isWorkers } from '../../runtime/host.js'
import { sleep, waitFor } from '../../runtime/wait.js'
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
  number({ least: 1, most: 65_535, whole: true }, 'a port')(instance.port, `${where}: port`)
  return instance
}

export class ProtocolRegistration implements Registration {
  readonly serviceId: string
  readonly instanceId: string
  #status: RegistrationStatus
  #state: Registration['state'] = 'registering'
  /** What the registry was last told; undefined: it may not have the instance. */
  #told: RegistrationStatus | undefined
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
    if (this.#told !== status) this.#hurry.abort()
    await this.#untilTold(options, `setting the status of "${this.instanceId}"`)
  }

  async shutdown(options: ShutdownOptions): Promise<void> {
    checkShutdown(options, 'shutdown')
    const { propagationMs, drainMs = 30_000, inFlight } = options
    duration()(propagationMs, 'shutdown.propagationMs')
    // A registry that can't be told lets the registration expire instead: clients get as long to see the failures.
    await this.setStatus('OUT_OF_SERVICE', { timeoutMs: Math.max(1, propagationMs) }).catch(() => this.#checkOpen())
    await sleep(propagationMs)
    for (let leftMs = drainMs; inFlight !== undefined && inFlight() > 0 && leftMs > 0; leftMs -= LOOK_MS) {
      await sleep(Math.min(LOOK_MS, leftMs))
    }
    await this.close()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#state = 'closed'
    this.#stop.abort(this.#closedError())
    this.#hurry.abort()
    this.#wake()
    // What is under way could arrive after the deregistration, and undo it.
    await this.#loop
    await this.#protocol.deregister(new AbortController().signal)
  }

  /** Tells the registry what it has not been told, then renews, until the end. Never rejects. */
  async #live(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      this.#hurry = new AbortController()
      const waitMs = (await this.#tell(signal)) ? this.#protocol.renewalMs * (1 - SPREAD * this.#random()) : undefined
      if (signal.aborted) return
      // A status that was set meanwhile is told at once.
      if (waitMs !== undefined && this.#told !== this.#status) continue
      await pause(waitMs ?? this.#backoff.next(), this.#hurry.signal)
    }
  }

  /** One attempt, at whatever is due. Whether it was taken. */
  async #tell(signal: AbortSignal): Promise<boolean> {
    const status = this.#status
    try {
      await this.#bring(status, signal)
    } catch (error) {
      if (signal.aborted) return false
      this.#stats.failures++
      this.#stats.lastError = error
      if (this.#state === 'registered') this.#state = 'failing'
      this.#report(error)
      return false
    }
    if (signal.aborted) return false
    this.#told = status
    this.#stats.lastError = undefined
    this.#backoff.reset()
    this.#state = 'registered'
    this.#wake()
    return true
  }

  async #bring(status: RegistrationStatus, signal: AbortSignal): Promise<void> {
    const protocol = this.#protocol
    if (this.#told !== undefined) {
      const isRenewal = this.#told === status
      const known = isRenewal ? await protocol.renew(status, signal) : await protocol.setStatus(status, signal)
      if (known) {
        if (isRenewal) this.#stats.renewals++
        return
      }
      this.#told = undefined
    }
    await protocol.register(status, signal)
    this.#stats.registrations++
  }

  /** A status is told, or the end has come. */
  async #untilTold(options: WaitOptions, what: string): Promise<void> {
    this.#checkOpen()
    const told = async () => {
      while (this.#told !== this.#status && this.#state !== 'closed') {
        await new Promise<void>((resolve) => this.#waiting.add(resolve))
      }
    }
    await waitFor(told(), options, what)
    this.#checkOpen()
  }

  #report(error: unknown): void {
    try {
      this.#failed(error)
    } catch {
      // Who is told of a failure can't end the registration.
    }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #checkOpen(): void {
    if (this.#state === 'closed') throw this.#closedError()
  }

  #closedError(): ClosedError {
    return new ClosedError(`the registration of "${this.instanceId}" is closed`, { serviceId: this.serviceId })
  }
}
