/** @module A list that is asked for, and cached: fresh, then served stale while one call refreshes it, then waited for. */

import type { ServiceSettings } from '../config/settings.js'
import { DiscoveryError } from '../errors.js'
import { isWorkers, startTimer } from '../runtime/host.js'
import { type SingleFlight, singleFlight } from '../runtime/single-flight.js'
import { waitFor } from '../runtime/wait.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import type { WaitOptions } from '../types/request.js'
import { ListSource, RETRY_MS, type SourceHost, type WaitUntil } from './list-source.js'

/** SCLB's `service-discovery.timeout`. */
const ASK_TIMEOUT_MS = 30_000

const NO_CHANGE: ListChange = { added: [], removed: [], changed: [] }

export class AskedSource extends ListSource {
  readonly ages = true
  readonly #ttlMs: number
  readonly #staleMs: number
  readonly #flight: SingleFlight
  /** Ends the asking that is under way. */
  #cancel: (() => void) | undefined
  /** How often it was asked, and the number of the question whose answer is in force. */
  #asked = 0
  #answered = 0
  #retryAt = Number.NEGATIVE_INFINITY
  #lastChange: ListChange = NO_CHANGE

  constructor(client: DiscoveryClient, cache: ServiceSettings['cache'], host: SourceHost) {
    super(client, host)
    this.#ttlMs = cache?.ttlMs ?? 0
    this.#staleMs = cache?.staleMs ?? 0
    this.#flight = singleFlight(host.clock)
  }

  isFresh(nowMs: number): boolean {
    return this.listed && nowMs - this.listedAt < this.#ttlMs
  }

  /** A failed registry makes any age good enough, until it is asked again. */
  mustWait(nowMs: number): boolean {
    if (!this.listed) return true
    return nowMs >= this.#retryAt && nowMs - this.listedAt >= this.#ttlMs + this.#staleMs
  }

  revive(waitUntil?: WaitUntil): void {
    if (this.closed !== undefined || this.#flight.busy || this.host.clock() < this.#retryAt) return
    const flight = this.#flight.run(() => this.#ask())
    waitUntil?.(flight)
  }

  protected arrival(options: WaitOptions): Promise<void> {
    const what = `waiting for the instances of "${this.host.serviceId}"`
    return waitFor(
      this.#flight.run(() => this.#ask()),
      options,
      what,
    )
  }

  async refresh(options: WaitOptions = {}): Promise<ListChange> {
    const before = this.failures
    await this.arrival(options)
    if (this.closed !== undefined) throw this.closed
    if (this.failures > before) throw this.unavailable()
    return this.#lastChange
  }

  override accept(list: readonly InstanceInit[]): ListChange {
    this.#lastChange = super.accept(list)
    this.#retryAt = Number.NEGATIVE_INFINITY
    return this.#lastChange
  }

  protected override fail(error: unknown): void {
    this.#retryAt = this.host.clock() + RETRY_MS
    super.fail(error)
  }

  override close(): void {
    super.close()
    this.#cancel?.()
    this.#flight.release()
  }

  /** Never rejects. Of a client that answers at once, the list is in force when this returns. */
  #ask(): Promise<void> | undefined {
    if (this.closed !== undefined) return undefined
    const { serviceId } = this.host
    const number = ++this.#asked
    const limit = new AbortController()
    // On Workers another request may close the service, and must not touch the I/O of this one.
    if (!isWorkers()) this.#cancel = () => limit.abort(this.closed)
    const cancelTimer = startTimer(() => {
      const message = `discovery "${this.client?.name}" did not answer within ${ASK_TIMEOUT_MS} ms`
      limit.abort(new DiscoveryError(message, { serviceId }))
    }, ASK_TIMEOUT_MS)
    const end = () => {
      cancelTimer()
      this.#cancel = undefined
    }
    try {
      const answer = this.#answer(limit.signal)
      if (!('then' in answer)) {
        end()
        this.#take(answer, number)
        return undefined
      }
      return waitFor(answer, { signal: limit.signal }, 'discovery')
        .then(
          (list) => this.#take(list, number),
          (error) => this.fail(error),
        )
        .finally(end)
    } catch (error) {
      end()
      this.fail(error)
      return undefined
    }
  }

  #answer(signal: AbortSignal): Promise<readonly InstanceInit[]> | readonly InstanceInit[] {
    const client = this.client as DiscoveryClient
    if (client.get !== undefined) return client.get(this.host.serviceId, { signal })
    return firstOf(client, this.host.serviceId, signal)
  }

  /** The answer to an earlier question than the one whose answer is in force comes too late. */
  #take(list: readonly InstanceInit[], number: number): void {
    if (this.closed !== undefined || number < this.#answered) return
    this.#answered = number
    try {
      this.accept(list)
    } catch (error) {
      this.fail(error)
    }
  }
}

/** What a client that only pushes says first. */
async function firstOf(
  client: DiscoveryClient,
  serviceId: string,
  signal: AbortSignal,
): Promise<readonly InstanceInit[]> {
  for await (const list of (client as Required<DiscoveryClient>).watch(serviceId, { signal })) return list
  throw new DiscoveryError(`discovery "${client.name}" ended its watch of "${serviceId}" without a list`, { serviceId })
}
