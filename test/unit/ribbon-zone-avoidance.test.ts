/** The published Ribbon's ZoneAvoidanceRule where it draws zones, with its own draws. */

import { describe, expect, it } from 'vitest'
import {
  RIBBON_COUNTER,
  RIBBON_DRAW_PER_SERVER,
  RIBBON_DROPS_GOOD,
  RIBBON_IGNORES_DOWN,
} from '../../assembly/ribbon-flags.js'
import { VERDICT_HEALS, VERDICT_NONE, VERDICT_TRIPS } from '../../assembly/server-stats-layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { availabilityOf, type Properties, zonesOf } from '../conformance/vectors/ribbon-properties.js'
import { exceptionOf } from '../conformance/vectors/ribbon-without-counterpart.js'
import file from '../vectors/ribbon-zone-avoidance.json' with { type: 'json' }
import { CoreService } from './core-service.js'
import { CORES } from './cores.js'

type Draw = readonly [below: number, drawn: number]

interface Vector {
  readonly id: string
  readonly zoneAware: boolean
  readonly zones: readonly (string | null)[]
  readonly properties: Properties
  readonly steps: readonly (readonly [kind: string, ...given: unknown[]])[]
  readonly draws?: readonly Draw[]
}

const vectors = (file.vectors as unknown as readonly Vector[]).filter(
  (vector) => vector.draws !== undefined && !vector.zoneAware && exceptionOf(vector) === undefined,
)

const FLAGS = RIBBON_COUNTER | RIBBON_IGNORES_DOWN | RIBBON_DRAW_PER_SERVER | RIBBON_DROPS_GOOD
const VERDICTS = { ok: VERDICT_HEALS, trip: VERDICT_TRIPS, fail: VERDICT_HEALS, none: VERDICT_NONE } as const
const START_MS = 1_000_000

const rotl = (x: number, k: number) => (x << k) | (x >>> (32 - k))

/** Whether xoshiro128** draws these from its state, after one draw of any outcome. */
function drawsSo(state: Int32Array, draws: readonly Draw[]): boolean {
  let [s0, s1, s2, s3] = state as unknown as [number, number, number, number]
  for (let i = -1; i < draws.length; i++) {
    const output = Math.imul(rotl(Math.imul(s1, 5), 7), 9) >>> 0
    const [below, drawn] = draws[i] ?? [1, 0]
    if (Math.floor((output * below) / 2 ** 32) !== drawn) return false
    const shifted = s1 << 9
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= shifted
    s3 = rotl(s3, 11)
  }
  return true
}

const stateOf = (core: Core, block: Pointer) => core.i32.subarray(block >>> 2, (block >>> 2) + 4)

/** How many zones are the most loaded, of a snapshot that is judged; assembly/zones.ts draws its layout. */
function worstOf({ i32 }: Core, snapshot: Pointer): number {
  const marks = Array.from(
    { length: i32[snapshot >>> 2] as number },
    (_, zone) => i32[(snapshot + 44 + 32 * zone) >>> 2],
  )
  return marks.filter((mark) => mark === 1).length
}

let seed = 1

/** Sets the service's generator so that it draws these next, after one draw of any outcome. */
function rig(core: Core, block: Pointer, draws: readonly Draw[]): void {
  const state = stateOf(core, block)
  do {
    for (let i = 0; i < 4; i++) state[i] = seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0
  } while (!drawsSo(state, draws))
}

/** The places of a list and the snapshot of its zones. */
function listed(service: CoreService, places: readonly number[], zones: Vector['zones']) {
  const { core } = service
  const list = service.list(places)
  const column = core.exports.createColumn(places.length)
  const names = [
    ...new Set(places.map((place) => zones[place]?.toLowerCase()).filter((name) => name !== undefined)),
  ].sort()
  places.forEach((place, i) => {
    core.i32[(column >>> 2) + i] = names.indexOf(zones[place]?.toLowerCase() ?? '') + 1
  })
  return { places, list, snapshot: core.exports.createZones(list, column, names.length) }
}

function replay(core: Core, { id, zones, properties, steps, draws = [] }: Vector): void {
  const { exports } = core
  const service = new CoreService(
    core,
    zones.map(() => 1),
  )
  const { block } = service
  exports.openServerStats(block, 3, 10_000, 30_000, 600_000, 1_000, 300_000)
  exports.startAt(block, 0)
  const { triggeringLoad = 0.2, avoidAboveTripped = 0.99999 } = zonesOf(properties)
  const { activeLimit = 2 ** 31 - 1, filterTripped = true } = availabilityOf(properties)
  const left = [...draws]
  let nowMs = START_MS
  let at = listed(service, [...zones.keys()], zones)
  for (const [index, [kind, given, ms]] of steps.entries()) {
    if (kind === 'wait') nowMs += given as number
    else if (kind === 'list') at = listed(service, given as number[], zones)
    else if (kind in VERDICTS) exports.endRequest(block, given as number, nowMs, ms as number, VERDICTS[kind as 'ok'])
    else if (kind === 'pick') {
      const limits = [nowMs, triggeringLoad, avoidAboveTripped] as const
      const before = stateOf(core, block).join()
      exports.judgeZones(block, at.snapshot, ...limits, FLAGS)
      // For every server or none; Ribbon draws nothing of a single zone.
      const isDrawn = stateOf(core, block).join() !== before && worstOf(core, at.snapshot) > 1
      rig(core, block, isDrawn ? left.splice(0, at.places.length) : [])
      const chosen = exports.pickZoneAvoiding(
        block,
        at.list,
        at.snapshot,
        ...limits,
        activeLimit,
        filterTripped ? 1 : 0,
        FLAGS,
      )
      const place = at.places[chosen] ?? null
      expect(place, `${id}, step ${index}`).toBe(given)
      if (place !== null) exports.startRequest(block, place, nowMs)
    }
  }
  expect(left, id).toEqual([])
  service.free()
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it(`${vectors.length} traces`, () => {
    for (const vector of vectors) replay(core, vector)
  })
})
