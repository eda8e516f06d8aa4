/** @module Asking again and again, by a timer of its own: Ribbon's PollingServerListUpdater. */

import type { PollingSettings } from '../config/settings.js'
import { startTimer } from '../runtime/host.js'

export class Poller {
  readonly #settings: PollingSettings
  readonly #poll: () => Promise<void>
  #cancelTimer = () => {}
  #begun = false
  #closed = false

  /** @param poll asks once; never rejects */
  constructor(settings: PollingSettings, poll: () => Promise<void>) {
    this.#settings = settings
    this.#poll = poll
  }

  begin(): void {
    if (this.#begun) return
    this.#begun = true
    this.#arm(this.#settings.initialDelayMs)
  }

  close(): void {
    this.#closed = true
    this.#cancelTimer()
  }

  #arm(ms: number): void {
    if (this.#closed) return
    this.#cancelTimer = startTimer(() => void this.#run(), ms)
  }

  async #run(): Promise<void> {
    await this.#poll()
    this.#arm(this.#settings.intervalMs)
  }
}
