/** @module A list that the registry pushes. */

import type { ServiceSettings } from '../config/settings.js'
import { MOST_MS, startTimer } from '../runtime/host.js'
import { waitFor } from '../runtime/wait.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { WaitOptions } from '../types/request.js'
import { type List, listIn, tooLate } from './ask.js'
import { askWithin } from './ask-within.js'
import { ListSource, NO_CHANGE, type SourceHost, type SourceSettings } from './list-source.js'
import { watchOn } from './watch-on.js'
import { within } from './within.js'

type WatchedSettings = SourceSettings & Pick<ServiceSettings, 'discoveryTimeoutMs' | 'freshness'>

export class WatchedSource extends ListSource {
  readonly ages = false
  readonly #stop = new AbortController()
  #watching = false
  /** Of those who wait for a first list. */
  #arrived: Promise<void> | undefined
  #wake = () => {}
  readonly #settings: WatchedSettings
  /** Counts the lists that the watch has brought. */
  #pushed = 0
  /** The last of them, and whether another list is in force: what a refresh brought, or what was kept instead. */
  #last: List | undefined
  #isPassedOver = false
  /** Of the first list's time limit, then of a doubt. */
  #cancelTimer = () => {}

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
    const { host } = this
    const client = this.client as DiscoveryClient
    const { discoveryTimeoutMs, freshness } = this.#settings
    // Who waits for a first list is not to wait for ever, whatever the client does.
    const limitMs = Math.min(discoveryTimeoutMs, MOST_MS)
    this.#cancelTimer = startTimer(() => this.#failed(tooLate(client.name, host.serviceId, limitMs)), limitMs)
    void watchOn(client, host.serviceId, {
      signal: this.#stop.signal,
      timeoutMs: discoveryTimeoutMs,
      ttlMs: freshness.ttlMs,
      random: host.random,
      take: (list) => this.#take(list),
      failed: (error) => this.#failed(error),
      partlyFailed: (error) => this.partlyFailed(error),
      confirmed: () => this.#confirm(),
    })
  }

  protected async arrival(options: WaitOptions): Promise<void> {
    this.revive()
    if (this.hasList || this.lastError !== undefined) return
    this.#arrived ??= new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    await waitFor(this.#arrived, options, `waiting for the instances of "${this.host.serviceId}"`)
  }

  /** Asks beside the watch where the client can be asked. Else a watched list is as new as can be: waits for the first. */
  async refresh(options: WaitOptions = {}): Promise<ListChange> {
    const { serviceId } = this.host
    let change = NO_CHANGE
    if (this.client?.get === undefined) {
      await this.readyList(options)
      if (this.lastError !== undefined) throw this.unavailable()
      return change
    }
    await within(options, `refreshing the instances of "${serviceId}"`, async (signal) => {
      // Else nothing but another refresh would ever change the list that this one brings.
      this.revive()
      const seen = this.#pushed
      try {
        change = await this.#asked(signal, seen)
      } catch (error) {
        if (signal.aborted || this.closed !== undefined) return
        // Of the watch, which goes on, it says nothing.
        this.partlyFailed(error)
        throw this.unavailable(error)
      }
    })
    if (this.closed !== undefined) throw this.closed
    return change
  }

  async #asked(signal: AbortSignal, seen: number): Promise<ListChange> {
    const { discoveryTimeoutMs } = this.#settings
    const { serviceId } = this.host
    const tell = (error: unknown) => this.partlyFailed(error)
    const list = await askWithin(this.client as DiscoveryClient, serviceId, signal, discoveryTimeoutMs, tell)
    // What was pushed meanwhile is newer than the answer, or the same.
    if (this.closed !== undefined || seen !== this.#pushed) return NO_CHANGE
    const { lastError } = this
    try {
      const change = this.#accept(list)
      this.#isPassedOver = true
      return change
    } catch (error) {
      this.lastError = lastError
      throw error
    }
  }

  override accept(list: List): ListChange {
    this.#cancelTimer()
    const change = super.accept(list)
    // Nobody may ever say that again: it comes into force by itself when there is no doubt left.
    const leftMs = this.doubt.leftMs(this.host.clock())
    if (leftMs > 0) this.#cancelTimer = startTimer(() => this.#believe(), Math.ceil(leftMs))
    this.#wake()
    return change
  }

  override close(): void {
    super.close()
    this.#cancelTimer()
    this.#stop.abort(this.closed)
    this.#wake()
  }

  protected override fail(error: unknown): void {
    super.fail(error)
    this.#wake()
  }

  #take(list: List): void {
    this.#pushed++
    this.#last = list
    this.#isPassedOver = false
    try {
      this.#accept(list)
    } catch (error) {
      this.#isPassedOver = true
      this.fail(error)
    }
  }

  #accept(list: List): ListChange {
    return this.accept(listIn(list, (this.client as DiscoveryClient).name, this.host.serviceId, this.#settings.quirks))
  }

  #confirm(): void {
    if (!this.hasList) return
    if (this.#isPassedOver && this.#last !== undefined) return this.#take(this.#last)
    this.lastError = undefined
    if (this.doubt.since === undefined) this.listedAt = this.host.clock()
  }

  #believe(): void {
    try {
      this.accept([])
    } catch (error) {
      this.fail(error)
    }
  }

  #failed(error: unknown): void {
    // Whether there is still nobody is not known any more: a later "none" begins the doubt anew.
    this.#cancelTimer()
    if (this.doubt.since !== undefined) this.#isPassedOver = true
    this.doubt.end()
    this.fail(error)
  }
}
