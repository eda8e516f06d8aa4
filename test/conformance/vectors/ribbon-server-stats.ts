/**
 * @module Ribbon's ServerStats: the breaker, what is counted in its windows, response times and their percentiles.
 * Traces in which requests end that never began, or have a response time without an outcome, which a lease can't, are
 * test/unit/ribbon-server-stats.test.ts, with all others.
 */

import { expect } from 'chai'
import { type ResponsePercentiles, roundRobin, type ServerStats, type ServerStatsOptions } from 'evenkeel'
import file from '../../vectors/ribbon-server-stats.json'
import { Ribbon, type RibbonVector, replayedRibbon, ribbonOptions, type Step } from './ribbon.js'
import type { Properties } from './ribbon-properties.js'

interface ServerStatsVector extends RibbonVector {
  readonly properties?: Properties
  readonly ms?: readonly number[]
  readonly steps?: readonly Step[]
  readonly buffer?: number
  readonly samples?: readonly number[]
  readonly percentiles?: readonly number[]
  readonly size?: number
  readonly moments?: readonly number[]
  readonly again?: readonly number[]
}

const PERIOD_MS = 1000
const PERCENTS = [10, 25, 50, 75, 90, 95, 98, 99, 99.5] as const

const statsOf = (ribbon: Ribbon) => ribbon.stats().instances[0]?.server as ServerStats

/** Ribbon has 0 for what nobody has measured. */
const orZero = (measured: number) => (Number.isNaN(measured) ? 0 : measured)

function blackouts(ribbon: Ribbon, { ms = [] }: ServerStatsVector): void {
  for (const [failures, blackout] of ms.entries()) {
    if (failures === 0) continue
    ribbon.begin(0)
    ribbon.end('trip', 0, 1)
    expect(statsOf(ribbon).trippedForMs, `${failures} failures`).to.equal(blackout)
  }
}

function seen(ribbon: Ribbon): (number | boolean)[] {
  const { requests, active, connectionFailures, tripped, failuresInWindow, requestsInWindow, responseTimes } =
    statsOf(ribbon)
  const { meanMs, variance, minMs, maxMs } = responseTimes
  const times = [meanMs, Math.sqrt(variance), minMs, maxMs].map(orZero)
  return [requests, active, connectionFailures, tripped, failuresInWindow, requestsInWindow, ...times]
}

function trace(ribbon: Ribbon, { steps = [] }: ServerStatsVector): void {
  // Ribbon's windows begin with the statistics, ours when somebody first looks.
  ribbon.stats()
  for (const [place, [kind, ...given]] of steps.entries()) {
    if (kind === 'start') ribbon.begin(0)
    else if (kind === 'wait') ribbon.wait(given[0] as number)
    else if (kind === 'see') expect(seen(ribbon), `step ${place}`).to.deep.equal(given)
    else ribbon.end(kind, 0, given[0] as number)
  }
}

function percentiles(ribbon: Ribbon, { samples = [], moments, ...vector }: ServerStatsVector): void {
  for (const ms of samples) {
    ribbon.begin(0)
    ribbon.end('ok', 0, ms)
  }
  const published = () => {
    ribbon.wait(PERIOD_MS)
    const found = statsOf(ribbon).percentilesMs as ResponsePercentiles
    return PERCENTS.map((percent) => orZero(found[percent]))
  }
  expect(published()).to.deep.equal(vector.percentiles)
  const { count, meanMs, variance, minMs, maxMs } = statsOf(ribbon).responseTimes
  expect([count, ...[meanMs, Math.sqrt(variance), minMs, maxMs].map(orZero)]).to.deep.equal(moments)
  expect(published()).to.deep.equal(vector.again)
}

function isOfLeases({ steps = [] }: ServerStatsVector): boolean {
  let open = 0
  return steps.every(([kind]) => {
    if (kind === 'start') open++
    else if (kind !== 'wait' && kind !== 'see') return kind !== 'none' && open-- > 0
    return true
  })
}

const ofLeases = { vectors: (file.vectors as unknown as readonly ServerStatsVector[]).filter(isOfLeases) }

export const cases = replayedRibbon<ServerStatsVector>(ofLeases, async (vector) => {
  const { properties = {}, buffer } = vector
  const serverStats: ServerStatsOptions = {
    ...(ribbonOptions(properties).serverStats as ServerStatsOptions | undefined),
    ...(buffer !== undefined && { percentiles: { samples: buffer, periodMs: PERIOD_MS } }),
  }
  const ribbon = new Ribbon(roundRobin(), 1, { serverStats })
  await ribbon.list([0])
  if (vector.ms !== undefined) blackouts(ribbon, vector)
  else if (vector.steps !== undefined) trace(ribbon, vector)
  else percentiles(ribbon, vector)
  await ribbon.close()
})
