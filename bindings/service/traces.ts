/** @module The picks that `recent()` tells of: every so many, the last of them. */

import type { PickRecord } from '../types/answers.js'
import { layersOf } from './explain.js'
import type { ServiceLease } from './lease.js'
import type { TracedPick } from './picker.js'
import type { BalancedService } from './service.js'

/** A record while its lease is open: the outcome is filled in. */
export type OpenRecord = { -readonly [K in keyof PickRecord]: PickRecord[K] }

/** By counting, not by chance: a trace must not move the generator that picks are drawn from. */
export class Traces {
  readonly #every: number
  readonly #keep: number
  readonly #records: OpenRecord[] = []
  readonly #open = new WeakMap<ServiceLease, OpenRecord>()
  #picks = 0

  constructor(every: number, keep: number) {
    this.#every = every
    this.#keep = keep
  }

  /** Counts a pick: whether it is one to remember. The first is. */
  isDue(): boolean {
    return this.#picks++ % this.#every === 0
  }

  /** Until its end the record waits for the outcome. */
  opened(lease: ServiceLease, record: OpenRecord): void {
    this.#open.set(lease, record)
  }

  ended(lease: ServiceLease, outcome: NonNullable<PickRecord['outcome']>): void {
    const record = this.#open.get(lease)
    if (record !== undefined) record.outcome = outcome
  }

  add(record: OpenRecord): void {
    this.#records.push(record)
    if (this.#records.length > this.#keep) this.#records.shift()
  }

  /** Oldest first. */
  recent(): PickRecord[] {
    return this.#records.map((record) => ({ ...record }))
  }
}

/** What is known when the pick has been made. A pick of nobody has ended with it. */
export function recordOf(service: BalancedService, pick: TracedPick, attempt: number, at: number): OpenRecord {
  const { settings, roster, clock } = service
  const record: OpenRecord = {
    at,
    attempt,
    policy: settings.policy.name,
    layers: layersOf(service, pick.found, pick.steps),
    candidates: pick.candidates,
    selectionMs: clock() - at,
  }
  const instance = roster.members.byRow[pick.row]
  if (instance === undefined) return { ...record, outcome: 'DISCARD' }
  const { instanceId, metadata } = instance
  return {
    ...record,
    instanceId,
    ...(metadata.zone !== undefined && { zone: metadata.zone }),
    ...(metadata.version !== undefined && { version: metadata.version }),
  }
}
