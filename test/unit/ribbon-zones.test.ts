/** Which zones the published Ribbon leaves by a snapshot, and which it draws, for every draw. */

import { describe, expect, it } from 'vitest'
import { RIBBON_DROPS_GOOD } from '../../assembly/ribbon-flags.js'
import file from '../vectors/ribbon-zones.json' with { type: 'json' }
import { CORES } from './cores.js'
import { GivenZones, type Snapshot } from './given-zones.js'

interface Vector {
  readonly id: string
  readonly zones: Readonly<Record<string, readonly [instances: number, tripped: number, active: number, load: number]>>
  readonly trigger?: number
  readonly blackout?: number
  /** Without zones: none is known. */
  readonly outcomes?: readonly { readonly draws: readonly number[]; readonly zones?: readonly string[] }[]
  readonly from?: readonly string[]
  readonly drawn?: readonly (string | null)[]
}

const vectors = file.vectors as unknown as readonly Vector[]
const available = vectors.filter(({ outcomes }) => outcomes !== undefined)
const drawing = vectors.filter(({ drawn }) => drawn !== undefined)

const snapshotsOf = ({ zones }: Vector) =>
  Object.values(zones).map(([instances, tripped, , load]): Snapshot => [instances, tripped, load])

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it(`${available.length} snapshots: the zones that can be used, by each draw`, () => {
    for (const vector of available) {
      const { id, trigger = Number.NaN, blackout = Number.NaN, outcomes = [] } = vector
      const names = Object.keys(vector.zones)
      for (const { draws, zones: expected = [] } of outcomes) {
        const zones = new GivenZones(core, snapshotsOf(vector))
        const place = 1 + (draws[0] ?? 0)
        const count = core.exports.availableZones(zones.pointer, trigger, blackout, RIBBON_DROPS_GOOD, place)
        const left = zones.open().map((zone) => names[zone])
        expect(left, `${id}, draw ${draws}`).toEqual(expected)
        expect(count).toBe(expected.length)
        zones.free()
      }
    }
  })

  it(`${drawing.length} draws of a zone, each by its instances`, () => {
    for (const vector of drawing) {
      const { id, from = [], drawn = [] } = vector
      const names = Object.keys(vector.zones)
      const zones = new GivenZones(core, snapshotsOf(vector))
      for (const name of from) zones.setOpen(names.indexOf(name))
      const found = drawn.map((_, draw) => names[core.exports.openZoneAtPlace(zones.pointer, 1 + draw) - 1] ?? null)
      expect(found, id).toEqual(drawn)
      zones.free()
    }
  })
})
