/** @module Which instance has which row of the core. State belongs to a row and survives refreshes. */

import {
  BLOCK_METERS,
  BLOCK_ROWS,
  METER_BYTES,
  METER_CANCELLED,
  METER_FAILURES,
  METER_SUCCESSES,
  ROW_EWMA,
  ROW_IN_FLIGHT,
  ROW_SHIFT,
  ROW_WEIGHT,
} from '../../assembly/layout.js'
import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import { ConfigError } from '../errors.js'
import { isSameInstance, type ListOrigin, toInstance } from '../instance.js'
import type { ListChange } from '../types/answers.js'
import type { InstanceInit, ServiceInstance } from '../types/instance.js'

interface Member {
  instance: ServiceInstance
  readonly row: number
}

/** A list that was read and checked, not yet in force. */
export interface ReadList {
  readonly instances: readonly ServiceInstance[]
  readonly duplicates: readonly string[]
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
  readonly #serviceId: string
  #members = new Map<string, Member>()
  /** Gone from the list with requests still in flight: their rows wait for these to end. */
  #departed: Member[] = []
  readonly #freeRows: number[] = []
  #capacity = 0
  /** The plain strings of the last list: most lists are refreshed with the same ones. */
  #byText = new Map<string, ServiceInstance>()

  constructor(core: Core, serviceId: string) {
    this.#core = core
    this.#serviceId = serviceId
    this.block = core.exports.createBlock()
  }

  /**
   * Reads a whole list and changes nothing.
   * @throws EVENKEEL_CONFIG for an unreadable entry; in a written list also for a repeated id or an unknown field
   */
  read(inits: readonly InstanceInit[], where: string, origin: ListOrigin): ReadList {
    if (!Array.isArray(inits))
      throw new ConfigError(`${where} must be an array of instances`, { option: where, serviceId: this.#serviceId })
    const known = (instanceId: string) => this.#members.get(instanceId)?.instance
    const byText = new Map<string, ServiceInstance>()
    const seen = new Set<string>()
    const repeated: string[] = []
    const instances: ServiceInstance[] = []
    for (let i = 0; i < inits.length; i++) {
      const init = inits[i] as InstanceInit
      const instance =
        (typeof init === 'string' ? this.#byText.get(init) : undefined) ??
        toInstance(init, this.#serviceId, `${where}[${i}]`, origin, known)
      if (typeof init === 'string') byText.set(init, instance)
      if (seen.has(instance.instanceId)) {
        if (origin === 'written') {
          throw new ConfigError(`${where}[${i}] repeats the instance id "${instance.instanceId}"`, {
            option: `${where}[${i}].instanceId`,
            serviceId: this.#serviceId,
          })
        }
        repeated.push(instance.instanceId)
        continue
      }
      seen.add(instance.instanceId)
      instances.push(instance)
    }
    this.#byText = byText
    return { instances, duplicates: repeated }
  }

  /** Puts a read list in force. Instances that stay keep their row, and with it all that is known of them. */
  adopt(instances: readonly ServiceInstance[]): ListChange {
    const change = {
      added: [] as ServiceInstance[],
      removed: [] as ServiceInstance[],
      changed: [] as ServiceInstance[],
    }
    const members = new Map<string, Member>()
    let moved = instances.length !== this.instances.length
    let kept = 0
    for (let i = 0; i < instances.length; i++) {
      const instance = instances[i] as ServiceInstance
      if (!moved && this.instances[i] !== instance) moved = true
      let member = this.#members.get(instance.instanceId)
      if (member !== undefined && isSameInstance(member.instance, instance)) {
        kept++
        if (member.instance !== instance) {
          member.instance = instance
          this.byRow[member.row] = instance
          change.changed.push(instance)
        }
      } else {
        member = this.#revive(instance) ?? this.#admit(instance)
        change.added.push(instance)
      }
      members.set(instance.instanceId, member)
    }
    if (kept < this.#members.size) {
      for (const [id, member] of this.#members) {
        if (members.get(id) === member) continue
        change.removed.push(member.instance)
        this.#departed.push(member)
      }
    }
    this.#members = members
    this.#releaseDeparted()
    if (moved) this.instances = Object.freeze(instances.slice())
    return change
  }

  rowOf(instance: ServiceInstance): number {
    return (this.#members.get(instance.instanceId) as Member).row
  }

  /** The instance in force under this id. */
  get(instanceId: string): ServiceInstance | undefined {
    return this.#members.get(instanceId)?.instance
  }

  setWeight(row: number, weight: number): void {
    this.#core.f64[(this.#hot(row) + ROW_WEIGHT) >>> 3] = weight
  }

  weightAt(row: number): number {
    return this.#core.f64[(this.#hot(row) + ROW_WEIGHT) >>> 3] as number
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

  #hot(row: number): Pointer {
    return (this.#core.i32[(this.block + BLOCK_ROWS) >>> 2] as number) + (row << ROW_SHIFT)
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
    this.byRow[row] = instance
    return { instance, row }
  }

  #releaseDeparted(): void {
    if (this.#departed.length === 0) return
    this.#departed = this.#departed.filter((member) => {
      if (this.inFlightAt(member.row) > 0) return true
      this.#freeRows.push(member.row)
      return false
    })
  }
}
