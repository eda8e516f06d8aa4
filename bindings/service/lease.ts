/** @module One pick of a service, completed exactly once. */

import { reconstructUrl } from '../client/uri.js'
import type { ServiceInstance } from '../types/instance.js'
import type { Lease, Outcome, PickRequest } from '../types/request.js'
import { DISPOSE } from './dispose.js'
import type { OpenLease } from './open-leases.js'

/** What a lease needs of its service. */
export interface LeaseOwner {
  settle(lease: ServiceLease, outcome: Outcome): void
  sendThrough(lease: ServiceLease, input: string | URL | Request, init?: RequestInit): Promise<Response>
}

const SUCCESS: Outcome = Object.freeze({})
const CANCELLED: Outcome = Object.freeze({ cancelled: true })

export class ServiceLease implements Lease {
  readonly instance: ServiceInstance
  readonly attempt: number
  /** Its instance's row in the core. */
  readonly row: number
  readonly request: PickRequest
  /** When it was picked or sent, in the clock's ms; undefined where nobody measures. */
  startedAt: number | undefined
  /** Its place among the service's open leases, where they can time out. */
  open: OpenLease | undefined
  readonly #owner: LeaseOwner
  #settled = false

  constructor(
    owner: LeaseOwner,
    instance: ServiceInstance,
    row: number,
    attempt: number,
    request: PickRequest,
    startedAt: number | undefined,
  ) {
    this.#owner = owner
    this.instance = instance
    this.row = row
    this.attempt = attempt
    this.request = request
    this.startedAt = startedAt
    this.open = undefined
  }

  get settled(): boolean {
    return this.#settled
  }

  url(original: string | URL): string {
    return reconstructUrl(this.instance, original)
  }

  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return this.#owner.sendThrough(this, input, init)
  }

  done(outcome: Outcome = SUCCESS): void {
    if (this.#settled) return
    this.#settled = true
    this.#owner.settle(this, outcome)
  }

  [DISPOSE](): void {
    this.done(CANCELLED)
  }
}
