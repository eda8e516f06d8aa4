/** @module Instances that get no new picks although they are listed: drained by id, so it survives refreshes. */

import { duration, object, text } from '../config/check.js'
import type { Stage } from '../supplier/stage.js'

const checkOptions = object({ forMs: duration(1) })

/** @throws EVENKEEL_CONFIG for an id that is no text, or a time that is none */
export function checkDrain(instanceId: unknown, options: unknown): void {
  text(instanceId, 'drain.instanceId')
  checkOptions(options, 'drain')
}

export class Drains {
  readonly #until = new Map<string, number>()
  /** When the next drain ends by itself; infinite: none does. */
  nextEndMs = Number.POSITIVE_INFINITY

  get size(): number {
    return this.#until.size
  }

  has(instanceId: string): boolean {
    return this.#until.has(instanceId)
  }

  ids(): Iterable<string> {
    return this.#until.keys()
  }

  add(instanceId: string, untilMs: number): void {
    this.#until.set(instanceId, untilMs)
    this.#findNextEnd()
  }

  remove(instanceId: string): boolean {
    const removed = this.#until.delete(instanceId)
    this.#findNextEnd()
    return removed
  }

  /** Ends the drains whose time is up; their ids. */
  expire(nowMs: number): string[] {
    const ended = [...this.#until].filter(([, untilMs]) => untilMs <= nowMs).map(([instanceId]) => instanceId)
    for (const instanceId of ended) this.#until.delete(instanceId)
    this.#findNextEnd()
    return ended
  }

  #findNextEnd(): void {
    this.nextEndMs = Math.min(Number.POSITIVE_INFINITY, ...this.#until.values())
  }
}

export const DRAINED = 'drained'

/** The chain's first stage. */
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
