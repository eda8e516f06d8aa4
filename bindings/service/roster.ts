/** @module The list in force: read whole or refused whole, with the weights of its instances. */

import type { Quirks } from '../compat/quirks.js'
import { cutAtColon } from '../compat/ribbon-address.js'
import type { Core } from '../core/core.js'
import type { ListOrigin } from '../instance.js'
import type { Weighing } from '../supplier/weighted.js'
import type { ListChange } from '../types/answers.js'
import type { InstanceInit, ServiceInstance } from '../types/instance.js'
import { ListReader } from './list-reader.js'
import { Members } from './members.js'
import { Ramps } from './ramps.js'
import { SlowStarts } from './slow-starts.js'

export class Roster {
  readonly members: Members
  /** Weights on their way. */
  readonly ramps: Ramps
  readonly #slowStarts: SlowStarts | undefined
  /** Counts the lists that have been in force. */
  version = 0
  /** Ids whose weight can't be read and counts as 1. */
  readonly unreadableWeights = new Set<string>()
  /** Ids that the last list had more than once. */
  mergedDuplicates: readonly string[] = []
  /** What was said of entries of the last list that could not be read. */
  unreadable: readonly string[] = []
  readonly #core: Core
  readonly #reader: ListReader
  readonly #weighing: Weighing | undefined
  readonly #quirks: Quirks
  readonly #clock: () => number

  constructor(core: Core, serviceId: string, weighing: Weighing | undefined, quirks: Quirks, clock: () => number) {
    this.#core = core
    this.#quirks = quirks
    this.#weighing = weighing
    this.#clock = clock
    this.members = new Members(core)
    const whole = quirks.has('weighted-java-int') || quirks.has('weighted-expanded')
    this.ramps = new Ramps(this.members, weighing?.rampMs ?? 0, whole)
    if (weighing?.slowStart !== undefined) this.#slowStarts = new SlowStarts(this.members, weighing.slowStart, whole)
    this.#reader = new ListReader(serviceId)
  }

  /**
   * Puts a list in force. `replaced` is called if anything but its time has changed.
   * @throws whatever refuses the list, before anything has changed
   */
  publish(inits: readonly InstanceInit[], where: string, origin: ListOrigin, replaced: () => void): ListChange {
    const { members } = this
    const written = this.#quirks.has('ribbon-split-at-colon') ? cutAtColon(inits, where) : inits
    const read = this.#reader.read(written, where, origin, (id) => members.get(id))
    const weights = this.#weigh(read.instances)
    const before = members.instances
    const change = members.adopt(read.instances)
    this.mergedDuplicates = read.duplicates
    this.unreadable = read.unreadable
    if (change.removed.length > 0) {
      this.ramps.forgetDeparted()
      this.#slowStarts?.forgetDeparted()
    }
    for (const [instance, weight] of weights) {
      if (weight === undefined) this.unreadableWeights.add(instance.instanceId)
      else this.unreadableWeights.delete(instance.instanceId)
    }
    this.#putInForce(weights, change, before.length === 0)
    for (const { instanceId } of change.removed) {
      if (members.get(instanceId) === undefined) this.unreadableWeights.delete(instanceId)
    }
    if (members.instances !== before || change.changed.length > 0) {
      this.version++
      replaced()
    }
    return change
  }

  /** When weights that are on their way move next; infinite: none is. */
  get nextStepMs(): number {
    return Math.min(this.ramps.nextStepMs, this.#slowStarts?.nextStepMs ?? Number.POSITIVE_INFINITY)
  }

  /** Moves the weights that are on their way. Whether any was due. */
  advance(nowMs: number): boolean {
    const ramping = this.ramps.isDue(nowMs)
    const starting = this.#slowStarts?.isDue(nowMs) ?? false
    if (ramping) this.ramps.advance(nowMs)
    if (starting) this.#slowStarts?.advance(nowMs)
    return ramping || starting
  }

  /**
   * New instances have their weight at once, or start slowly beside others; those that stay go there by a ramp, if there
   * is one, and by their slow start while it lasts.
   */
  #putInForce(weights: ReadonlyMap<ServiceInstance, number | undefined>, change: ListChange, allNew: boolean): void {
    const { members, ramps } = this
    const slowStarts = this.#slowStarts
    const ramped = this.#weighing?.rampMs ? new Set(change.changed) : undefined
    const added = slowStarts === undefined || allNew ? undefined : new Set(change.added)
    const targets = new Map<number, number>()
    for (const [instance, weight = 1] of weights) {
      const row = members.rowOf(instance)
      if (added?.has(instance)) slowStarts?.begin(row, weight, this.#clock())
      else if (slowStarts?.retarget(row, weight, this.#clock())) continue
      else if (!ramped?.has(instance)) ramps.set(row, weight)
      else if (weight !== ramps.targetAt(row)) targets.set(row, weight)
    }
    if (targets.size === 0) return
    const rows = members.instances.map((instance) => members.rowOf(instance))
    ramps.begin(targets, rows, this.#clock())
  }

  /** Of the order of instance ids: two clients with the same digest rotate over the same list. */
  orderDigest(): string {
    const ids = this.members.instances.map((instance) => instance.instanceId).join('\n')
    return (this.#core.hashText(ids) >>> 0).toString(16).padStart(8, '0')
  }

  /** The weights of what is new or changed. Runs the user's function, so it comes before anything is changed. */
  #weigh(instances: readonly ServiceInstance[]): Map<ServiceInstance, number | undefined> {
    const weights = new Map<ServiceInstance, number | undefined>()
    if (this.#weighing === undefined) return weights
    for (const instance of instances) {
      if (this.members.get(instance.instanceId) !== instance)
        weights.set(instance, this.#weighing.weightOf(instance, this.#quirks))
    }
    return weights
  }
}
