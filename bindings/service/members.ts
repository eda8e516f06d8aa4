/** @module Which instance has which row of the core. State belongs to a row and survives refreshes. */

import {
  BLOCK_METERS,
  BLOCK_ROWS,
  METER_BYTES,
  METER_CANCELLED,
  METER_FAILURES,
  METER_SUCCESSES,
  ROW_DOWN,
  ROW_EWMA,
  ROW_IN_FLIGHT,
  ROW_SHIFT,
  ROW_WEIGHT,
} from '../../assembly/layout.js'
import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import { isSameInstance } from '../instance.js'
import type { ListChange } from '../types/answers.js'
import type { ServiceInstance } from '../types/instance.js'

interface Member {
  instance: ServiceInstance
  readonly row: number
}

export interface Meters {
  inFlight: number
  successes: number
  failures: number
  cancelled: number
  latencyMs: number
  weight: number
}

export class Members {
  readonly block: Pointer
  /** The instance at each row; where a pick finds its answer. */
  readonly byRow: ServiceInstance[] = []
  /** The list in force. Its identity changes only when its contents do. */
  instances: readonly ServiceInstance[] = Object.freeze([])

  readonly #core: Core
  readonly #members = new Map<string, Member>()
  /** Gone from the list with requests still in flight: their rows wait for these to end. */
  #departed: Member[] = []
  readonly #freeRows: number[] = []
  /** Only what `scaleWeight` starts from: the core has the weights that count. */
  readonly #ownWeights: number[] = []
  #capacity = 0

  constructor(core: Core) {
    this.#core = core
    this.block = core.exports.createBlock()
  }

  /**
   * Puts a list without duplicates in force. Instances that stay keep their row, and with it all that is known of
   * them. Costs as much as has changed its place or its contents.
   */
  adopt(instances: readonly ServiceInstance[]): ListChange {
    const before = this.instances
    const change = {
      added: [] as ServiceInstance[],
      removed: [] as ServiceInstance[],
      changed: [] as ServiceInstance[],
    }
    const arriving: number[] = []
    const leaving = new Map<string, Member>()
    let same = instances.length === before.length
    for (let i = 0; i < instances.length; i++) {
      const instance = instances[i] as ServiceInstance
      const old = before[i]
      if (old === instance) continue
      same = false
      if (old !== undefined && isSameInstance(old, instance)) {
        this.#restate(this.#members.get(instance.instanceId) as Member, instance, change)
      } else {
        arriving.push(i)
        if (old !== undefined) leaving.set(old.instanceId, this.#members.get(old.instanceId) as Member)
      }
    }
    for (let i = instances.length; i < before.length; i++) {
      const { instanceId } = before[i] as ServiceInstance
      leaving.set(instanceId, this.#members.get(instanceId) as Member)
    }
    if (same) return change
    const arrived: Member[] = []
    for (const i of arriving) {
      const instance = instances[i] as ServiceInstance
      const member = leaving.get(instance.instanceId)
      if (member !== undefined && isSameInstance(member.instance, instance)) {
        leaving.delete(instance.instanceId)
        if (member.instance !== instance) this.#restate(member, instance, change)
      } else {
        arrived.push(this.#revive(instance) ?? this.#admit(instance))
        change.added.push(instance)
      }
    }
    for (const [id, member] of leaving) {
      this.#members.delete(id)
      this.#departed.push(member)
      change.removed.push(member.instance)
    }
    for (const member of arrived) this.#members.set(member.instance.instanceId, member)
    this.instances = Object.freeze(instances.slice())
    return change
  }

  rowOf(instance: ServiceInstance): number {
    return (this.#members.get(instance.instanceId) as Member).row
  }

  /** −1: it is not of the list in force. */
  rowOfListed(instance: ServiceInstance): number {
    const member = this.#members.get(instance.instanceId)
    return member !== undefined && isSameInstance(member.instance, instance) ? member.row : -1
  }

  /** The instance in force under this id. */
  get(instanceId: string): ServiceInstance | undefined {
    return this.#members.get(instanceId)?.instance
  }

  setWeight(row: number, weight: number): void {
    this.#ownWeights[row] = weight
    this.#putWeight(row, weight)
  }

  /** What the instance's own weight counts for in this client, until its own weight or this is set again. */
  scaleWeight(row: number, factor: number): void {
    this.#putWeight(row, this.ownWeightAt(row) * factor)
  }

  /** As its source has it. */
  ownWeightAt(row: number): number {
    return this.#ownWeights[row] ?? 1
  }

  weightAt(row: number): number {
    return this.#core.f64[(this.#hot(row) + ROW_WEIGHT) >>> 3] as number
  }

  /** Marks a row for the policies whose lists keep those that are down. */
  setDown(row: number, down: boolean): void {
    this.#core.i32[(this.#hot(row) + ROW_DOWN) >>> 2] = down ? 1 : 0
  }

  isDownAt(row: number): boolean {
    return this.#core.i32[(this.#hot(row) + ROW_DOWN) >>> 2] !== 0
  }

  inFlightAt(row: number): number {
    return this.#core.i32[(this.#hot(row) + ROW_IN_FLIGHT) >>> 2] as number
  }

  latencyAt(row: number): number {
    const ewma = this.#core.f64[(this.#hot(row) + ROW_EWMA) >>> 3] as number
    return ewma < 0 ? Number.NaN : ewma
  }

  metersAt(row: number): Meters {
    const { i32, f64 } = this.#core
    const meters = (i32[(this.block + BLOCK_METERS) >>> 2] as number) + row * METER_BYTES
    return {
      inFlight: this.inFlightAt(row),
      successes: f64[(meters + METER_SUCCESSES) >>> 3] as number,
      failures: f64[(meters + METER_FAILURES) >>> 3] as number,
      cancelled: f64[(meters + METER_CANCELLED) >>> 3] as number,
      latencyMs: this.latencyAt(row),
      weight: this.weightAt(row),
    }
  }

  quantileAt(row: number, q: number): number {
    return this.#core.exports.quantile(this.block, row, q)
  }

  free(): void {
    this.#core.exports.freeBlock(this.block)
  }

  #putWeight(row: number, weight: number): void {
    this.#core.f64[(this.#hot(row) + ROW_WEIGHT) >>> 3] = weight
  }

  #hot(row: number): Pointer {
    return (this.#core.i32[(this.block + BLOCK_ROWS) >>> 2] as number) + (row << ROW_SHIFT)
  }

  /** The same instance with other metadata. */
  #restate(member: Member, instance: ServiceInstance, change: { changed: ServiceInstance[] }): void {
    member.instance = instance
    this.byRow[member.row] = instance
    change.changed.push(instance)
  }

  #revive(instance: ServiceInstance): Member | undefined {
    const at = this.#departed.findIndex((member) => isSameInstance(member.instance, instance))
    if (at < 0) return undefined
    const [member] = this.#departed.splice(at, 1) as [Member]
    member.instance = instance
    this.byRow[member.row] = instance
    return member
  }

  #admit(instance: ServiceInstance): Member {
    let row = this.#freeRows.pop()
    if (row === undefined) {
      row = this.byRow.length
      if (row >= this.#capacity) {
        this.#capacity = Math.max(8, this.#capacity * 2)
        this.#core.exports.reserveRows(this.block, this.#capacity)
      }
    }
    this.#core.exports.resetRow(this.block, row)
    this.#ownWeights[row] = 1
    this.byRow[row] = instance
    return { instance, row }
  }

  /** Lets the rows be used again whose instance has left and whose requests have ended. */
  releaseDeparted(): void {
    if (this.#departed.length === 0) return
    this.#departed = this.#departed.filter((member) => {
      if (this.inFlightAt(member.row) > 0) return true
      this.#freeRows.push(member.row)
      return false
    })
  }
}
