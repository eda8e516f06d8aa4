/** @module Leases that may time out, oldest first: a linked list, so that completing one costs nothing more. */

import type { ServiceLease } from './lease.js'

export class OpenLeases {
  readonly #timeoutMs: number
  #oldest: ServiceLease | undefined
  #newest: ServiceLease | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  add(lease: ServiceLease): void {
    lease.older = this.#newest
    if (this.#newest === undefined) this.#oldest = lease
    else this.#newest.newer = lease
    this.#newest = lease
  }

  remove(lease: ServiceLease): void {
    if (lease.older === undefined) this.#oldest = lease.newer
    else lease.older.newer = lease.newer
    if (lease.newer === undefined) this.#newest = lease.older
    else lease.newer.older = lease.older
    lease.older = lease.newer = undefined
  }

  /** Cancels every lease that has been open for longer than the limit. */
  expire(nowMs: number): void {
    while (this.#oldest !== undefined && nowMs - this.#oldest.openedAt >= this.#timeoutMs) {
      this.#oldest.done({ cancelled: true })
    }
  }
}
