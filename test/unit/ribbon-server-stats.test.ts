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

function opened(core: Core, settings: ServerStatsSettings): { block: Pointer; recorder: ServerStatsRecorder } {
  const block = core.exports.createBlock()
  core.exports.reserveRows(block, 1)
  core.exports.resetRow(block, 0)
  const recorder = new ServerStatsRecorder(settings, new Set(['ribbon-percentiles-empty']))
  recorder.open(core.exports, block)
  return { block, recorder }
}

describe.each(Object.entries(CORES))('statistics of a server, as the published Ribbon keeps them: %s', (_, make) => {
  const core = make()
  const { exports } = core

  it.each(blackouts)('$id: how long each failure in a row keeps it out', ({ properties, ms = [] }) => {
    const { block } = opened(core, settingsOf(properties))
    let failedAt = 0
    const blackout = ms.map((ms, failures) => {
      // Before there was a failure a threshold of 0 keeps nobody out, by any clock.
      if (failures === 0) return exports.trippedUntil(block, 0) === 0 ? ms : Number.NaN
      exports.endRequest(block, 0, (failedAt = START_MS + failures), 1, VERDICTS.trip)
      const until = exports.trippedUntil(block, 0)
      return until === 0 ? 0 : until - failedAt
    })
    expect(blackout).toEqual(ms)
    exports.freeBlock(block)
  })

  it(`${traces.length} traces: every number`, () => {
    for (const { id, properties, steps = [] } of traces) {
      const { block, recorder } = opened(core, settingsOf(properties))
      let nowMs = START_MS
      const see = () => {
        const stats = recorder.statsAt(core, block, 0, nowMs)
        const { meanMs, variance, minMs, maxMs } = stats.responseTimes
        const { requests, active, connectionFailures, tripped, failuresInWindow, requestsInWindow } = stats
        const counts = [requests, active, connectionFailures, tripped, failuresInWindow, requestsInWindow]
        return [...counts, ...[meanMs, Math.sqrt(variance), minMs, maxMs].map(orZero)]
      }
      // Ribbon's windows begin with the statistics, ours when somebody first looks.
      see()
      for (const [place, [kind, ...given]] of steps.entries()) {
        const ms = given[0] as number
        if (kind === 'start') exports.startRequest(block, 0, nowMs)
        else if (kind === 'wait') nowMs += ms
        else if (kind === 'see') expect(see(), `${id}, step ${place}`).toEqual(given)
        else exports.endRequest(block, 0, nowMs, ms, VERDICTS[kind as keyof typeof VERDICTS])
      }
      exports.freeBlock(block)
    }
  })
})

/** What Ribbon has for what nobody has measured. */
const orZero = (measured: number) => (Number.isNaN(measured) ? 0 : measured)
