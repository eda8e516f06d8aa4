/** @module Leases that may time out. A Map keeps them in the order of their picks, which is that of their ends. */

import type { ServiceLease } from './lease.js'

export class OpenLeases {
  readonly #timeoutMs: number
  readonly #since = new Map<ServiceLease, number>()

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  add(lease: ServiceLease, nowMs: number): void {
    this.#since.set(lease, nowMs)
  }

  remove(lease: ServiceLease): void {
    this.#since.delete(lease)
  }

  /** Cancels every lease that has been open for longer than the limit. */
  expire(nowMs: number): void {
    for (const [lease, since] of this.#since) {
      if (nowMs - since < this.#timeoutMs) return
      lease.done({ cancelled: true })
    }
  }
}
