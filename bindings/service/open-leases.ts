/** @module Leases that may time out, oldest first: a linked list, so that completing one costs nothing more. */

import type { ServiceLease } from './lease.js'

export interface OpenLease {
  readonly lease: ServiceLease
  readonly since: number
  older: OpenLease | undefined
  newer: OpenLease | undefined
}

export class OpenLeases {
  readonly #timeoutMs: number
  #oldest: OpenLease | undefined
  #newest: OpenLease | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  add(lease: ServiceLease, nowMs: number): void {
    const open: OpenLease = { lease, since: nowMs, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = open
    else this.#newest.newer = open
    this.#newest = open
    lease.open = open
  }

  remove(lease: ServiceLease): void {
    const { open } = lease
    if (open === undefined) return
    if (open.older === undefined) this.#oldest = open.newer
    else open.older.newer = open.newer
    if (open.newer === undefined) this.#newest = open.older
    else open.newer.older = open.older
    lease.open = undefined
  }

  /** Cancels every lease that has been open for longer than the limit. */
  expire(nowMs: number): void {
    while (this.#oldest !== undefined && nowMs - this.#oldest.since >= this.#timeoutMs) {
      this.#oldest.lease.done({ cancelled: true })
    }
  }
}
