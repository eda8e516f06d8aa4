/** @module One pick of a service, completed exactly once. */

import { reconstructUrl } from '../client/uri.js'
import type { Quirks } from '../compat/quirks.js'
import type { FetchLike, ServiceInstance } from '../types/instance.js'
import type { Lease, Outcome, PickRequest } from '../types/request.js'
import { DISPOSE } from './dispose.js'

/** What a lease needs of its service. */
export interface LeaseOwner {
  readonly settings: { readonly quirks: Quirks }
  /** @param row the lease's row in the core */
  settle(lease: ServiceLease, row: number, outcome: Outcome): void
  sendThrough(lease: ServiceLease, input: string | URL | Request, init?: RequestInit): Promise<Response>
}

export const SUCCESS: Outcome = Object.freeze({})
const CANCELLED: Outcome = Object.freeze({ cancelled: true })
const SETTLED = -1

export class ServiceLease implements Lease {
  readonly instance: ServiceInstance
  readonly attempt: number
  readonly request: PickRequest
  /** When it was picked or sent, in the clock's ms; undefined where nobody measures. */
  startedAt: number | undefined
  readonly #owner: LeaseOwner
  /** Its instance's row in the core, until it is done. */
  #row: number

  constructor(
    owner: LeaseOwner,
    instance: ServiceInstance,
    row: number,
    attempt: number,
    request: PickRequest,
    startedAt: number | undefined,
  ) {
    this.#owner = owner
    this.#row = row
    this.instance = instance
    this.attempt = attempt
    this.request = request
    this.startedAt = startedAt
  }

  url(original: string | URL): string {
    return reconstructUrl(this.instance, original, this.#owner.settings.quirks)
  }

  /** Bound, as a fetch has to be; made only for those who ask for it. */
  get fetch(): FetchLike {
    return (input, init) => this.#owner.sendThrough(this, input, init)
  }

  get settled(): boolean {
    return this.#row === SETTLED
  }

  done(outcome: Outcome = SUCCESS): void {
    const row = this.#row
    if (row === SETTLED) return
    this.#row = SETTLED
    this.#owner.settle(this, row, outcome ?? SUCCESS)
  }

  [DISPOSE](): void {
    this.done(CANCELLED)
  }
}
