/** @module A balancer over objects with leases, as one writes it by hand: the least that `pick()` and `done()` must do. */

import { type Backend, type Choose, observe } from './object-policies.js'

interface Outcome {
  readonly error?: unknown
  readonly latencyMs?: number
}

export class ObjectLease {
  // Declared only: a field that is defined and then assigned is written twice.
  declare readonly balancer: ObjectBalancer
  declare readonly instance: Backend
  declare readonly startedAt: number
  declare isDone: boolean

  constructor(balancer: ObjectBalancer, instance: Backend, startedAt: number) {
    this.balancer = balancer
    this.instance = instance
    this.startedAt = startedAt
    this.isDone = false
  }

  done(outcome?: Outcome): void {
    if (this.isDone) return
    this.isDone = true
    this.balancer.complete(this, outcome)
  }
}

export class ObjectBalancer {
  /** `timed`: reads the clock at pick and at done. */
  constructor(
    readonly choose: Choose,
    readonly timed: boolean,
  ) {}

  pick(): ObjectLease {
    const nowMs = this.timed ? performance.now() : 0
    const instance = this.choose(nowMs)
    instance.inFlight++
    return new ObjectLease(this, instance, nowMs)
  }

  complete(lease: ObjectLease, outcome: Outcome | undefined): void {
    const { instance } = lease
    instance.inFlight--
    if (outcome?.error === undefined) instance.successes++
    else instance.failures++
    if (!this.timed) return
    const nowMs = performance.now()
    observe(instance, outcome?.latencyMs ?? nowMs - lease.startedAt, nowMs)
  }
}
