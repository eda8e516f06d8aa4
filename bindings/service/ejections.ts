/** @module Which instances are left out as ill, since when, and who is told of it. */

import type { ServiceInstance } from '../types/instance.js'
import type { Events } from './events.js'
import type { Timeline } from './timeline.js'

export class Ejections {
  readonly #clock: () => number
  readonly #timeline: Timeline
  readonly #events: Events
  readonly #since = new Map<string, number>()

  constructor(clock: () => number, timeline: Timeline, events: Events) {
    this.#clock = clock
    this.#timeline = timeline
    this.#events = events
  }

  /** @param forMs until it is looked at again */
  eject(instance: ServiceInstance, reason: string, forMs: number): void {
    const nowMs = this.#clock()
    this.#since.set(instance.instanceId, nowMs)
    this.#timeline.add(instance.instanceId, nowMs, 'ejected')
    this.#events.emit('eject', { instance, reason, forMs })
  }

  restore(instance: ServiceInstance): void {
    this.#since.delete(instance.instanceId)
    this.#timeline.add(instance.instanceId, this.#clock(), 'restored')
    this.#events.emit('restore', { instance })
  }

  /** Its breaker tripped: what goes by breakers leaves it out for this long, and then tries it again. */
  trip(instance: ServiceInstance, reason: string, forMs: number): void {
    this.#timeline.add(instance.instanceId, this.#clock(), 'ejected')
    this.#events.emit('eject', { instance, reason, forMs })
  }

  /** Its breaker closed with an answer. */
  close(instance: ServiceInstance): void {
    if (!this.#since.has(instance.instanceId)) this.restore(instance)
  }

  /** These have left the list. */
  forget(instances: readonly ServiceInstance[]): void {
    for (const { instanceId } of instances) this.#since.delete(instanceId)
  }

  /** How long it has been left out; 0: it is not. */
  forMs(instanceId: string, nowMs: number): number {
    const since = this.#since.get(instanceId)
    return since === undefined ? 0 : nowMs - since
  }
}
