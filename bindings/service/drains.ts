/** @module Instances that get no new picks although they are listed: drained by id, so it survives refreshes. */

import { duration, object, text } from '../config/check.js'
import { msOf } from '../config/duration.js'
import type { Stage } from '../supplier/stage.js'
import type { Timeline } from './timeline.js'

const checkOptions = object({ forMs: duration(1) })

/** Ids of instances that never come back add up, one a deploy: the oldest drain ends then. */
const MOST_DRAINS = 10_000

interface DrainsHost {
  restored(instanceId: string): void
  /** Other instances may be candidates now. */
  changed(): void
}

export class Drains {
  readonly #clock: () => number
  readonly #timeline: Timeline
  readonly #host: DrainsHost
  readonly #until = new Map<string, number>()
  /** When the next drain ends by itself; infinite: none does. */
  nextEndMs = Number.POSITIVE_INFINITY

  constructor(clock: () => number, timeline: Timeline, host: DrainsHost) {
    this.#clock = clock
    this.#timeline = timeline
    this.#host = host
  }

  get size(): number {
    return this.#until.size
  }

  has(instanceId: string): boolean {
    return this.#until.has(instanceId)
  }

  ids(): Iterable<string> {
    return this.#until.keys()
  }

  /** @throws EVENKEEL_CONFIG for an id that is no text, or a time that is none */
  drain(instanceId: string, options: { forMs?: number }): void {
    text(instanceId, 'drain.instanceId')
    checkOptions(options, 'drain')
    const nowMs = this.#clock()
    const untilMs = nowMs + (msOf(options.forMs) ?? Number.POSITIVE_INFINITY)
    this.#until.delete(instanceId)
    this.#until.set(instanceId, untilMs)
    if (this.#until.size > MOST_DRAINS) this.#until.delete(this.#until.keys().next().value as string)
    this.#timeline.add(instanceId, nowMs, 'drained')
    this.nextEndMs = Math.min(this.nextEndMs, untilMs)
    this.#host.changed()
  }

  restore(instanceId: string): void {
    if (this.#until.has(instanceId)) this.#end([instanceId], this.#clock())
  }

  /** Ends the drains whose time is up. */
  expire(nowMs: number): void {
    const ended = [...this.#until].filter(([, untilMs]) => untilMs <= nowMs)
    this.#end(
      ended.map(([instanceId]) => instanceId),
      nowMs,
    )
  }

  #end(instanceIds: readonly string[], nowMs: number): void {
    for (const instanceId of instanceIds) {
      this.#until.delete(instanceId)
      this.#timeline.add(instanceId, nowMs, 'restored')
    }
    this.nextEndMs = Number.POSITIVE_INFINITY
    for (const untilMs of this.#until.values()) if (untilMs < this.nextEndMs) this.nextEndMs = untilMs
    this.#host.changed()
    for (const instanceId of instanceIds) this.#host.restored(instanceId)
  }
}

export const DRAINED = 'drained'

/** The chain's stage of who is drained. */
export function drainedStage(drains: Drains): Stage {
  return {
    name: DRAINED,
    memo: 'fixed',
    foreign: false,
    key: () => undefined,
    cut(list) {
      if (drains.size === 0) return { list, fellBack: false, reason: undefined }
      const kept = list.instances.flatMap(({ instanceId }, i) => (drains.has(instanceId) ? [] : [i]))
      const count = list.length - kept.length
      if (count === 0) return { list, fellBack: false, reason: undefined }
      return { list: list.tree.pickOut(list, kept), fellBack: false, reason: `${count} drained` }
    },
  }
}
