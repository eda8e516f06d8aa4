/** @module Where a service's list comes from: told once (static), asked and cached, or watched. */

import type { ServiceSettings } from '../config/settings.js'
import { ClosedError, ConfigError, DiscoveryError } from '../errors.js'
import { isWorkers, startTimer } from '../runtime/host.js'
import { type SingleFlight, singleFlight } from '../runtime/single-flight.js'
import { waitFor } from '../runtime/wait.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import type { WaitOptions } from '../types/request.js'

/** SCLB's `service-discovery.timeout`. */
const ASK_TIMEOUT_MS = 30_000
/** After a failed refresh the old list is served this long before the registry is asked again. */
const RETRY_MS = 1_000
const WATCH_RETRY_MOST_MS = 30_000

export interface SourceHost {
  readonly serviceId: string
  readonly clock: () => number
  /** Puts a list in force. Throws if it can't be read; the old one then stays. */
  publish(list: readonly InstanceInit[]): ListChange
  failed(error: unknown): void
}

const NO_CHANGE: ListChange = { added: [], removed: [], changed: [] }

export class ListSource {
  readonly client: DiscoveryClient | undefined
  /** A list has been in force, perhaps an empty one. */
  listed = false
  /** When the list was last confirmed, in the clock's ms. */
  listedAt = Number.NaN
  lastError: unknown
  failures = 0

  readonly #host: SourceHost
  readonly #cache: ServiceSettings['cache']
  readonly #flight: SingleFlight
  readonly #stop = new AbortController()
  readonly #pushes: boolean
  #watching = false
  #retryAt = Number.NEGATIVE_INFINITY
  #lastChange: ListChange = NO_CHANGE
  #wakeWaiters: (() => void)[] = []

  constructor(settings: ServiceSettings, host: SourceHost) {
    this.client = settings.discovery
    this.#host = host
    this.#cache = settings.cache
    this.#flight = singleFlight(host.clock)
    // A watch lives on after the request that began it, which nothing does on Workers: there it is asked.
    this.#pushes = this.client?.watch !== undefined && !isWorkers()
  }

  /** Its list can grow old: picks have to look at the clock. */
  get ages(): boolean {
    return this.client !== undefined && !this.#pushes
  }

  get ageMs(): number {
    return this.listed ? this.#host.clock() - this.listedAt : Number.NaN
  }

  isFresh(nowMs: number): boolean {
    return this.listed && (!this.ages || nowMs - this.listedAt < (this.#cache?.ttlMs ?? 0))
  }

  /** Too old to be served to a call that can wait. A failed registry makes any age good enough. */
  mustWait(nowMs: number): boolean {
    if (!this.listed) return true
    if (!this.ages || nowMs < this.#retryAt) return false
    return nowMs - this.listedAt >= (this.#cache === undefined ? 0 : this.#cache.ttlMs + this.#cache.staleMs)
  }

  /** Starts a refresh if one is due and none is under way. Never throws; its failure is recorded. */
  revive(waitUntil?: (promise: Promise<unknown>) => void): void {
    if (this.client === undefined || this.#stop.signal.aborted) return
    if (this.#pushes) return this.#startWatching()
    if (this.#flight.busy || this.#host.clock() < this.#retryAt) return
    const flight = this.#flight.run(() => this.#ask()).catch(() => {})
    waitUntil?.(flight)
  }

  /**
   * Resolves when there is a list that need not be waited for.
   * @throws EVENKEEL_DISCOVERY if there is none and the source failed; EVENKEEL_TIMEOUT; the signal's reason
   */
  async ready(options: WaitOptions = {}): Promise<void> {
    if (!this.mustWait(this.#host.clock())) return
    const what = `waiting for the instances of "${this.#host.serviceId}"`
    if (this.#pushes) {
      this.#startWatching()
      if (!this.listed && this.lastError === undefined) {
        await waitFor(new Promise<void>((resolve) => this.#wakeWaiters.push(resolve)), options, what)
      }
    } else {
      await waitFor(
        this.#flight.run(() => this.#ask()).catch(() => {}),
        options,
        what,
      )
    }
    if (this.#stop.signal.aborted)
      throw new ClosedError(`service "${this.#host.serviceId}" is closed`, { serviceId: this.#host.serviceId })
    if (!this.listed) throw this.#unavailable()
  }

  /** Asks now, whatever the age of the list. */
  async refresh(options: WaitOptions = {}): Promise<ListChange> {
    const { serviceId } = this.#host
    if (this.client === undefined)
      throw new ConfigError(`service "${serviceId}" has a static list: use update()`, { serviceId })
    if (this.#pushes) {
      await this.ready(options)
      return NO_CHANGE
    }
    const before = this.failures
    await waitFor(
      this.#flight.run(() => this.#ask()).catch(() => {}),
      options,
      `refreshing "${serviceId}"`,
    )
    if (this.failures > before) throw this.#unavailable()
    return this.#lastChange
  }

  /** A list from outside: the static one, or one pushed. */
  accept(list: readonly InstanceInit[]): ListChange {
    const change = this.#host.publish(list)
    this.listed = true
    this.listedAt = this.#host.clock()
    this.lastError = undefined
    this.#retryAt = Number.NEGATIVE_INFINITY
    this.#lastChange = change
    this.#wake()
    return change
  }

  close(): void {
    this.#stop.abort(
      new ClosedError(`service "${this.#host.serviceId}" is closed`, { serviceId: this.#host.serviceId }),
    )
    this.#wake()
  }

  /** Not async: a client that answers at once has its list in force when this returns. */
  #ask(): Promise<void> {
    const limit = new AbortController()
    const stop = () => limit.abort(this.#stop.signal.reason)
    this.#stop.signal.addEventListener('abort', stop, { once: true })
    const cancelTimer = startTimer(() => {
      limit.abort(
        new DiscoveryError(`discovery "${this.client?.name}" did not answer within ${ASK_TIMEOUT_MS} ms`, {
          serviceId: this.#host.serviceId,
        }),
      )
    }, ASK_TIMEOUT_MS)
    const end = () => {
      cancelTimer()
      this.#stop.signal.removeEventListener('abort', stop)
    }
    try {
      const answer = this.#askClient(limit.signal)
      if (!(answer instanceof Promise)) {
        end()
        this.accept(answer)
        return Promise.resolve()
      }
      return waitFor(answer, { signal: limit.signal }, 'discovery').then(
        (list) => {
          end()
          if (!this.#stop.signal.aborted) this.#acceptOrFail(list)
        },
        (error) => {
          end()
          this.#fail(error)
        },
      )
    } catch (error) {
      end()
      this.#fail(error)
      return Promise.resolve()
    }
  }

  #askClient(signal: AbortSignal): Promise<readonly InstanceInit[]> | readonly InstanceInit[] {
    const client = this.client as DiscoveryClient
    if (client.get !== undefined) {
      const answer = client.get(this.#host.serviceId, { signal })
      return Array.isArray(answer) ? answer : Promise.resolve(answer)
    }
    return firstOf(client, this.#host.serviceId, signal)
  }

  #acceptOrFail(list: readonly InstanceInit[]): void {
    try {
      this.accept(list)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return
    this.failures++
    this.lastError = error
    this.#retryAt = this.#host.clock() + RETRY_MS
    this.#wake()
    this.#host.failed(error)
  }

  #startWatching(): void {
    if (this.#watching) return
    this.#watching = true
    void this.#watch(RETRY_MS)
  }

  async #watch(retryMs: number): Promise<void> {
    const { signal } = this.#stop
    let delivered = false
    try {
      for await (const list of (this.client as Required<DiscoveryClient>).watch(this.#host.serviceId, { signal })) {
        if (signal.aborted) return
        delivered = true
        this.#acceptOrFail(list)
      }
      throw new DiscoveryError(`discovery "${this.client?.name}" ended its watch of "${this.#host.serviceId}"`, {
        serviceId: this.#host.serviceId,
      })
    } catch (error) {
      if (signal.aborted) return
      this.#fail(error)
    }
    const wait = delivered ? RETRY_MS : retryMs
    const cancel = startTimer(() => void this.#watch(Math.min(wait * 2, WATCH_RETRY_MOST_MS)), wait)
    signal.addEventListener('abort', cancel, { once: true })
  }

  #wake(): void {
    for (const wake of this.#wakeWaiters.splice(0)) wake()
  }

  #unavailable(): DiscoveryError {
    const { serviceId } = this.#host
    const reason = this.lastError instanceof Error ? this.lastError.message : String(this.lastError)
    return new DiscoveryError(`discovery "${this.client?.name}" could not list "${serviceId}": ${reason}`, {
      serviceId,
      cause: this.lastError,
    })
  }
}

async function firstOf(
  client: DiscoveryClient,
  serviceId: string,
  signal: AbortSignal,
): Promise<readonly InstanceInit[]> {
  for await (const list of (client as Required<DiscoveryClient>).watch(serviceId, { signal })) return list
  throw new DiscoveryError(`discovery "${client.name}" ended its watch of "${serviceId}" without a list`, { serviceId })
}
