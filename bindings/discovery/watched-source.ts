/** @module A list that the registry pushes. */

import type { ServiceSettings } from '../config/settings.js'
import { DiscoveryError } from '../errors.js'
import { startTimer } from '../runtime/host.js'
import { waitFor } from '../runtime/wait.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { WaitOptions } from '../types/request.js'
import { type List, listIn } from './ask.js'
import { askWithin } from './ask-within.js'
import { ListSource, NO_CHANGE, RETRY_MS, type SourceHost, type SourceSettings } from './list-source.js'
import { within } from './within.js'

const MOST_RETRY_MS = 30_000

type WatchedSettings = SourceSettings & Pick<ServiceSettings, 'discoveryTimeoutMs'>

export class WatchedSource extends ListSource {
  readonly ages = false
  readonly #stop = new AbortController()
  #watching = false
  readonly #waiting = new Set<() => void>()
  readonly #settings: WatchedSettings
  /** Counts the lists that the watch has brought. */
  #pushed = 0
  #cancelDoubt = () => {}

  constructor(client: DiscoveryClient, settings: WatchedSettings, host: SourceHost) {
    super(client, host, settings)
    this.#settings = settings
  }

  isCurrent(): boolean {
    return this.listed && this.doubt.since === undefined
  }

  isFresh(): boolean {
    return this.listed
  }

  protected isDue(): boolean {
    return !this.hasList
  }

  revive(): void {
    if (this.#watching || this.closed !== undefined) return
    this.#watching = true
    void this.#watch(RETRY_MS)
  }

  protected async arrival(options: WaitOptions): Promise<void> {
    this.revive()
    if (this.hasList || this.lastError !== undefined) return
    let wake = () => {}
    const arrived = new Promise<void>((resolve) => {
      wake = resolve
    })
    this.#waiting.add(wake)
    try {
      await waitFor(arrived, options, `waiting for the instances of "${this.host.serviceId}"`)
    } finally {
      this.#waiting.delete(wake)
    }
  }

  /** Asks beside the watch where the client can be asked. Else a watched list is as new as can be: waits for the first. */
  async refresh(options: WaitOptions = {}): Promise<ListChange> {
    if (this.client?.get === undefined) {
      await this.readyList(options)
      return NO_CHANGE
    }
    const { serviceId } = this.host
    let change = NO_CHANGE
    await within(options, `refreshing the instances of "${serviceId}"`, async (signal) => {
      const seen = this.#pushed
      const list = await askWithin(this.client as DiscoveryClient, serviceId, signal, this.#settings.discoveryTimeoutMs)
      // What was pushed meanwhile is newer than the answer, or the same.
      if (this.closed === undefined && seen === this.#pushed) change = this.#accept(list)
    })
    if (this.closed !== undefined) throw this.closed
    return change
  }

  override accept(list: List): ListChange {
    this.#cancelDoubt()
    const change = super.accept(list)
    // Nobody may ever push that list again: it comes into force by itself when there is no doubt left.
    const leftMs = this.doubt.leftMs(this.host.clock())
    if (leftMs > 0) this.#cancelDoubt = startTimer(() => this.#take([]), Math.ceil(leftMs))
    this.#wake()
    return change
  }

  override close(): void {
    super.close()
    this.#cancelDoubt()
    this.#stop.abort(this.closed)
    this.#wake()
  }

  protected override fail(error: unknown): void {
    super.fail(error)
    this.#wake()
  }

  async #watch(retryMs: number): Promise<void> {
    const { signal } = this.#stop
    const { serviceId } = this.host
    const client = this.client as Required<DiscoveryClient>
    const failed = (error: unknown) => {
      if (!signal.aborted) this.#failed(error)
    }
    const confirmed = () => {
      if (!signal.aborted) this.#confirm()
    }
    let waitMs = retryMs
    try {
      for await (const list of client.watch(serviceId, { signal, failed, confirmed })) {
        if (signal.aborted) return
        waitMs = RETRY_MS
        this.#take(list)
      }
      throw new DiscoveryError(`discovery "${client.name}" ended its watch of "${serviceId}"`, { serviceId })
    } catch (error) {
      if (signal.aborted) return
      this.#failed(error)
    }
    // Whoever was told of the failure may have closed the service.
    if (signal.aborted) return
    const cancel = startTimer(() => {
      signal.removeEventListener('abort', cancel)
      void this.#watch(Math.min(waitMs * 2, MOST_RETRY_MS))
    }, waitMs)
    signal.addEventListener('abort', cancel, { once: true })
  }

  #take(list: List): void {
    this.#pushed++
    try {
      this.#accept(list)
    } catch (error) {
      this.fail(error)
    }
  }

  #accept(list: List): ListChange {
    return this.accept(listIn(list, (this.client as DiscoveryClient).name, this.host.serviceId, this.#settings.quirks))
  }

  #confirm(): void {
    this.lastError = undefined
    if (this.hasList && this.doubt.since === undefined) this.listedAt = this.host.clock()
  }

  #failed(error: unknown): void {
    // Whether there is still nobody is not known any more: a later "none" begins the doubt anew.
    this.#cancelDoubt()
    this.doubt.end()
    this.fail(error)
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
