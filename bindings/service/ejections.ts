/** @module Which instances are left out as ill, for what reasons and since when, and who is told of it. */

import type { ServiceInstance } from '../types/instance.js'
import type { Events } from './events.js'
import type { Timeline } from './timeline.js'

/** What keeps an instance out: its checks, or its breaker. */
type Cause = 'health' | 'breaker'

interface Ejection {
  /** When the first of the causes that hold began. */
  sinceMs: number
  readonly causes: Map<Cause, { readonly forMs: number; readonly untilMs: number }>
}

/**
 * An instance is out while any cause holds. `eject` is told when the first begins, and again when a breaker that is the
 * only one stays open for another time than was told; `restore` when the last has ended. A breaker whose time is over
 * keeps nobody out, but ends with an answer only.
 */
export class Ejections {
  readonly #clock: () => number
  readonly #timeline: Timeline
  readonly #events: Events
  /** By instance id. */
  readonly #ejections = new Map<string, Ejection>()

  constructor(clock: () => number, timeline: Timeline, events: Events) {
    this.#clock = clock
    this.#timeline = timeline
    this.#events = events
  }

  /** @param forMs of a check until it is made again, of a breaker until it lets requests through */
  eject(instance: ServiceInstance, cause: Cause, reason: string, forMs: number): void {
    const { instanceId } = instance
    const nowMs = this.#clock()
    const ejection = this.#ejections.get(instanceId) ?? { sinceMs: nowMs, causes: new Map() }
    this.#ejections.set(instanceId, ejection)
    const { causes } = ejection
    const wasOut = isOut(ejection, nowMs)
    const before = causes.get(cause)
    causes.set(cause, { forMs, untilMs: cause === 'health' ? Number.POSITIVE_INFINITY : nowMs + forMs })
    if (!wasOut) ejection.sinceMs = nowMs
    else if (before?.forMs === forMs || causes.size > (before === undefined ? 0 : 1)) return
    this.#timeline.add(instanceId, nowMs, 'ejected')
    this.#events.emit('eject', { instance, reason, forMs })
  }

  /** The cause is no more. */
  restore(instance: ServiceInstance, cause: Cause): void {
    const { instanceId } = instance
    const nowMs = this.#clock()
    const ejection = this.#ejections.get(instanceId)
    if (ejection === undefined || !ejection.causes.delete(cause) || isOut(ejection, nowMs)) return
    this.#ejections.delete(instanceId)
    this.#timeline.add(instanceId, nowMs, 'restored')
    this.#events.emit('restore', { instance })
  }

  /** These have left the list. */
  forget(instances: readonly ServiceInstance[]): void {
    for (const { instanceId } of instances) this.#ejections.delete(instanceId)
  }

  /** How long it has been left out; 0: it is not. */
  forMs(instanceId: string, nowMs: number): number {
    const ejection = this.#ejections.get(instanceId)
    return ejection !== undefined && isOut(ejection, nowMs) ? nowMs - ejection.sinceMs : 0
  }
}

function isOut({ causes }: Ejection, nowMs: number): boolean {
  for (const { untilMs } of causes.values()) if (untilMs > nowMs) return true
  return false
}
