import { describe, expect, it } from 'vitest'
import { VERDICT_HEALS, VERDICT_NONE, VERDICT_TRIPS } from '../../assembly/server-stats-layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { RIBBON_STATS, ServerStatsRecorder, type ServerStatsSettings } from '../../bindings/policy/server-stats.js'
import file from '../vectors/ribbon-server-stats.json' with { type: 'json' }
import { CORES } from './cores.js'

const START_MS = 1_000_000
const VERDICTS = { ok: VERDICT_HEALS, trip: VERDICT_TRIPS, fail: VERDICT_HEALS, none: VERDICT_NONE } as const

interface Vector {
  readonly id: string
  readonly properties?: Readonly<Record<string, number>>
  readonly ms?: readonly number[]
  readonly steps?: readonly (readonly unknown[])[]
}

/** A factor with which Ribbon's 32 bits overflow and its breaker never trips again; here it stays tripped. */
const OVERFLOWING = 'server-stats/blackout-011'

const vectors = (file.vectors as readonly Vector[]).filter(({ id }) => id !== OVERFLOWING)
const blackouts = vectors.filter(({ ms }) => ms !== undefined)
const traces = vectors.filter(({ steps }) => steps !== undefined)

function settingsOf(properties: Readonly<Record<string, number>> = {}): ServerStatsSettings {
  const read = (key: string) =>
    properties[`niws.loadbalancer.svc.${key}`] ?? properties[`niws.loadbalancer.default.${key}`]
  return {
    ...RIBBON_STATS,
    connectionFailureThreshold: read('connectionFailureCountThreshold') ?? RIBBON_STATS.connectionFailureThreshold,
    tripFactorMs: (read('circuitTripTimeoutFactorSeconds') ?? 10) * 1000,
    maxTripMs: (read('circuitTripMaxTimeoutSeconds') ?? 30) * 1000,
  }
}

function opened(core: Core, settings: ServerStatsSettings): Pointer {
  const block = core.exports.createBlock()
  core.exports.reserveRows(block, 1)
  core.exports.resetRow(block, 0)
  new ServerStatsRecorder(settings, new Set(['ribbon-percentiles-empty'])).open(core.exports, block)
  return block
}

describe.each(Object.entries(CORES))('statistics of a server, as the published Ribbon keeps them: %s', (_, make) => {
  const core = make()
  const { exports } = core

  it.each(blackouts)('$id: how long each failure in a row keeps it out', ({ properties, ms = [] }) => {
    const block = opened(core, settingsOf(properties))
    let failedAt = 0
    const blackout = ms.map((_, failures) => {
      if (failures > 0) exports.endRequest(block, 0, (failedAt = START_MS + failures), 1, VERDICTS.trip)
      const until = exports.trippedUntil(block, 0)
      return until === 0 ? 0 : until - failedAt
    })
    expect(blackout).toEqual(ms)
    exports.freeBlock(block)
  })

  it(`${traces.length} traces: in flight, tripped and the mean response time`, () => {
    for (const { id, steps = [] } of traces) {
      const block = opened(core, RIBBON_STATS)
      let nowMs = START_MS
      for (const [place, [kind, ...given]] of steps.entries()) {
        const ms = given[0] as number
        if (kind === 'start') exports.startRequest(block, 0, nowMs)
        else if (kind === 'wait') nowMs += ms
        else if (kind !== 'see') exports.endRequest(block, 0, nowMs, ms, VERDICTS[kind as keyof typeof VERDICTS])
        else {
          const [, active, , isTripped, , , mean] = given
          const seen = [
            exports.activeRequests(block, 0, nowMs),
            exports.isTripped(block, 0, nowMs) !== 0,
            exports.meanResponseMs(block, 0),
          ]
          expect(seen, `${id}, step ${place}`).toEqual([active, isTripped, mean])
        }
      }
      exports.freeBlock(block)
    }
  })
})
