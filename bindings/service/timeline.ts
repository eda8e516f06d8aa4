/** @module When an instance was discovered, picked, drained, and when it was gone: what tells old lists from old calls. */

import type { ListOrigin } from '../instance.js'
import type { ListChange, TimelineEntry } from '../types/answers.js'
import type { ServiceInstance } from '../types/instance.js'

type Event = TimelineEntry['event']

/** Entries that are kept; the oldest go first. */
const MOST_ENTRIES = 1_000

interface Picked {
  first: number
  last: number
}

/**
 * Times are the service's clock, in ms. Picks are stamped where the time is known anyway (calls that are sent, lists
 * that grow old, policies that measure): no pick reads a clock for it.
 */
export class Timeline {
  readonly #entries: TimelineEntry[] = []
  readonly #picked = new Map<string, Picked>()
  readonly #missing = new Set<string>()
  readonly #listed = new Set<string>()

  add(instanceId: string, at: number, event: Event): void {
    this.#entries.push({ instanceId, at, event })
    if (this.#entries.length > MOST_ENTRIES) this.#entries.splice(0, this.#entries.length - MOST_ENTRIES)
  }

  /** A list has been put in force. */
  listed({ added, removed }: ListChange, origin: ListOrigin, at: number): void {
    for (const { instanceId } of removed) {
      const picked = this.#picked.get(instanceId)
      this.#picked.delete(instanceId)
      this.#listed.delete(instanceId)
      if (picked !== undefined) this.#addPicks(instanceId, picked)
      if (origin === 'discovered' && !this.#missing.has(instanceId)) this.add(instanceId, at, 'removed-by-registry')
      this.add(instanceId, at, 'dropped-from-cache')
    }
    for (const { instanceId } of added) {
      this.#listed.add(instanceId)
      this.add(instanceId, at, 'discovered')
    }
    this.#missing.clear()
  }

  /** The registry does not list these any more, yet they stay in force for now. */
  missing(instances: readonly ServiceInstance[], at: number): void {
    for (const { instanceId } of instances) {
      if (this.#missing.has(instanceId)) continue
      this.#missing.add(instanceId)
      this.add(instanceId, at, 'removed-by-registry')
    }
  }

  picked({ instanceId }: ServiceInstance, at: number): void {
    // Of one that has left, only a lease that was picked before can still be sent.
    if (!this.#listed.has(instanceId)) return this.add(instanceId, at, 'last-picked')
    const picked = this.#picked.get(instanceId)
    if (picked === undefined) this.#picked.set(instanceId, { first: at, last: at })
    else picked.last = at
  }

  /** In order of time; of one instance, or of all. */
  entries(instanceId?: string): TimelineEntry[] {
    const present = [...this.#picked].flatMap(([id, { first, last }]): TimelineEntry[] => [
      { instanceId: id, at: first, event: 'first-picked' },
      { instanceId: id, at: last, event: 'last-picked' },
    ])
    return [...this.#entries, ...present]
      .filter((entry) => instanceId === undefined || entry.instanceId === instanceId)
      .sort((a, b) => a.at - b.at)
  }

  #addPicks(instanceId: string, { first, last }: Picked): void {
    this.add(instanceId, first, 'first-picked')
    this.add(instanceId, last, 'last-picked')
  }
}
