/** Ribbon's rules in each form of the core against the model, over random histories. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LIST_ROWS } from '../../assembly/layout.js'
import {
  FORMULA_MAX,
  FORMULA_SUM,
  RIBBON_COUNTER,
  RIBBON_DRAW_PER_SERVER,
  RIBBON_DROPS_GOOD,
  RIBBON_IGNORES_DOWN,
  RIBBON_LIFETIME,
  RIBBON_TEN_PROBES,
  RIBBON_ZERO_FIRST,
} from '../../assembly/ribbon-flags.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { toInstance } from '../../bindings/instance.js'
import { Members } from '../../bindings/service/members.js'
import { type Flags, ModelRules, type RuleList, SETTINGS } from '../model/ribbon.js'
import { CORES } from './cores.js'

const flagsOf = fc.record({
  counter: fc.boolean(),
  tenProbes: fc.boolean(),
  ignoresDown: fc.boolean(),
  lifetime: fc.boolean(),
  zeroFirst: fc.boolean(),
  drawPerServer: fc.boolean(),
  dropsGood: fc.boolean(),
})

const event = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('start' as const), row: fc.nat() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      row: fc.nat(),
      ms: fc.integer({ min: 0, max: 5000 }),
      tripping: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('down' as const), row: fc.nat(), down: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 2_000, 6_000, 11_000, 21_000, 700_000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pick' as const),
      rule: fc.constantFrom('turn', 'up', 'best', 'available', 'zone', 'draw', 'time'),
      list: fc.nat(),
      whole: fc.nat(),
      limit: fc.constantFrom(1, 2, 2 ** 31 - 1),
      filterTripped: fc.boolean(),
      load: fc.constantFrom(0, 0.2, 1.5),
      share: fc.constantFrom(0.5, 0.99999),
      formula: fc.constantFrom('sum' as const, 'max' as const),
    }),
  },
)

const history = fc.record({
  seed: fc.integer(),
  zones: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 14 }),
  lists: fc.array(fc.array(fc.nat(), { maxLength: 20 }), { minLength: 2, maxLength: 3 }),
  flags: flagsOf,
  events: fc.array(event, { minLength: 40, maxLength: 150 }),
})
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

const UPDATE_MS = 5_000
const HALF_MS = 10_000

function bits(flags: Flags): number {
  return (
    (flags.counter ? RIBBON_COUNTER : 0) |
    (flags.tenProbes ? RIBBON_TEN_PROBES : 0) |
    (flags.ignoresDown ? RIBBON_IGNORES_DOWN : 0) |
    (flags.lifetime ? RIBBON_LIFETIME : 0) |
    (flags.zeroFirst ? RIBBON_ZERO_FIRST : 0) |
    (flags.drawPerServer ? RIBBON_DRAW_PER_SERVER : 0) |
    (flags.dropsGood ? RIBBON_DROPS_GOOD : 0)
  )
}

function listOf(core: Core, rows: readonly number[]): Pointer {
  const cut = core.exports.createCut(rows.length)
  const positions = core.i32[(cut + 8) >>> 2] as number
  rows.forEach((row, i) => {
    core.i32[((cut + LIST_ROWS) >>> 2) + i] = row
    core.i32[(positions >>> 2) + i] = row
  })
  return cut
}

function play(core: Core, { seed, zones, lists, flags, events }: History): void {
  const { exports } = core
  const members = new Members(core)
  members.adopt(zones.map((_, i) => toInstance({ host: 'h', port: i }, 'fuzz', 'fuzz')))
  const { block } = members
  exports.openServerStats(block, SETTINGS.threshold, SETTINGS.factorMs, SETTINGS.mostMs, SETTINGS.expiryMs, 1e3, 3e5)
  exports.openRecent(block)
  exports.openPublishedWeights(block)
  exports.seedBlock(block, 7, seed)
  const model = new ModelRules(7, seed)
  const named = [...new Set(zones.filter((zone) => zone > 0))]
  const idOf = (zone: number) => named.indexOf(zone) + 1
  const everybody = listOf(core, [...zones.keys()])
  const column = exports.createColumn(zones.length)
  zones.forEach((zone, i) => {
    model.addRow(idOf(zone))
    core.i32[(column >>> 2) + i] = idOf(zone)
  })
  const snapshot = exports.createZones(everybody, column, named.length)
  const subjects = lists.map((picked) => {
    const rows = [...new Set(picked.map((n) => n % zones.length))]
    return { model: { rows } as RuleList, handle: listOf(core, rows) }
  })
  const f = bits(flags)
  for (const each of events) {
    if (each.kind === 'wait') {
      model.nowMs += each.ms
    } else if (each.kind === 'start') {
      const row = each.row % zones.length
      model.start(row)
      exports.startRequest(block, row, model.nowMs)
    } else if (each.kind === 'end') {
      const row = each.row % zones.length
      model.end(row, each.ms, each.tripping)
      exports.endRequest(block, row, model.nowMs, each.ms, each.tripping ? 1 : 0)
      exports.noteRecent(block, row, model.nowMs, HALF_MS, each.ms)
    } else if (each.kind === 'down') {
      const row = each.row % zones.length
      ;(model.rows[row] as { down: boolean }).down = each.down
      members.setDown(row, each.down)
    } else {
      const { rule, limit, filterTripped, load, share, formula } = each
      const { model: list, handle } = subjects[each.list % subjects.length] as (typeof subjects)[number]
      const whole = subjects[each.whole % subjects.length] as (typeof subjects)[number]
      const { nowMs } = model
      const tripped = filterTripped ? 1 : 0
      const [actual, expected] = {
        turn: () => [exports.pickInTurn(block, handle, f), model.inTurn(list, flags)],
        up: () => [exports.pickRandomUp(block, handle), model.randomUp(list)],
        best: () => [exports.pickBestAvailable(block, handle, nowMs, f), model.bestAvailable(list, flags)],
        available: () => [
          exports.pickAvailable(block, handle, nowMs, limit, tripped, f),
          model.available(list, limit, filterTripped, flags),
        ],
        zone: () => [
          exports.pickZoneAvoiding(block, handle, snapshot, nowMs, load, share, limit, tripped, f),
          model.zoneAvoiding(list, load, share, limit, filterTripped, flags),
        ],
        draw: () => [exports.drawZone(block, snapshot, nowMs, load, share, f), model.drawZone(load, share, flags)],
        time: () => [
          exports.pickByResponseTime(
            block,
            handle,
            whole.handle,
            nowMs,
            UPDATE_MS,
            HALF_MS,
            formula === 'max' ? FORMULA_MAX : FORMULA_SUM,
            f,
          ),
          model.byResponseTime(list, whole.model.rows, UPDATE_MS, HALF_MS, formula, flags),
        ],
      }[rule as 'turn']() as [number, number]
      expect(actual, rule).toBe(expected)
    }
  }
  expect(exports.nextF64(block)).toBe(model.prng.f64())
  for (const { handle } of subjects) exports.freeList(handle)
  exports.release(snapshot)
  exports.release(column)
  exports.freeList(everybody)
  members.free()
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it('picks as the model of the rules does', () => {
    fc.assert(
      fc.property(history, (given) => play(core, given)),
      { seed: 20260104, numRuns: 800 },
    )
  })
})
