/** A snapshot of zones written into a core: what `takeSnapshot` would find. assembly/zones.ts draws its layout. */

import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'

export type Snapshot = readonly [instances: number, tripped: number, load: number]

const [INSTANCES, TRIPPED, LOAD, OPEN] = [0, 4, 16, 24] as const

export class GivenZones {
  readonly pointer: Pointer
  readonly #core: Core
  readonly #count: number
  readonly #owned: readonly [list: Pointer, column: Pointer]

  constructor(core: Core, zones: readonly Snapshot[]) {
    const { exports } = core
    this.#core = core
    this.#count = zones.length
    this.#owned = [exports.createList(0), exports.createColumn(0)]
    this.pointer = exports.createZones(...this.#owned, zones.length)
    zones.forEach(([instances, tripped, load], zone) => {
      core.i32[this.#at(zone, INSTANCES) >>> 2] = instances
      core.i32[this.#at(zone, TRIPPED) >>> 2] = tripped
      core.f64[this.#at(zone, LOAD) >>> 3] = load
    })
  }

  /** The indexes of the zones that can be used. */
  open(): number[] {
    return Array.from({ length: this.#count }, (_, zone) => zone).filter(
      (zone) => this.#core.i32[this.#at(zone, OPEN) >>> 2],
    )
  }

  setOpen(zone: number): void {
    this.#core.i32[this.#at(zone, OPEN) >>> 2] = 1
  }

  free(): void {
    const { exports } = this.#core
    const [list, column] = this.#owned
    exports.release(this.pointer)
    exports.release(column)
    exports.freeList(list)
  }

  #at(zone: number, offset: number): number {
    return this.pointer + 16 + zone * 32 + offset
  }
}
