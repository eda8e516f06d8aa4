/** @module Ribbon's statistics of each server, which its rules and filters go by. */

import { BLOCK_SERVER_STATS, SERVER_STATS_BYTES } from '../../assembly/layout.js'
import {
  BREAKER_CLOSED,
  STATS_BEGUN,
  STATS_BLACKOUT_TOTAL,
  STATS_FAILED,
  STATS_FAILED_AT,
  STATS_FIRST_ACCESS,
  STATS_LAST_ACCESS,
  STATS_REQUESTS,
  STATS_SUCCESSIVE,
  STATS_TIME_MAX,
  STATS_TIME_MIN,
  STATS_TIME_SQUARES,
  STATS_TIME_SUM,
  STATS_TIMES,
  VERDICT_HEALS,
  VERDICT_NONE,
  VERDICT_TRIPS,
} from '../../assembly/server-stats-layout.js'
import { isCircuitTrippingBy } from '../client/retry-handlers.js'
import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import type { Core } from '../core/core.js'
import type { CoreExports, Pointer } from '../core/exports.js'
import { guardedVerdict } from '../report.js'
import type { ServerStats } from '../types/answers.js'
import type { RetryHandler } from '../types/extension.js'
import type { Outcome } from '../types/request.js'
import type { Ended, Recorder } from './recorder.js'
import { NO_PERCENTILES, PercentilesPublisher } from './response-percentiles.js'

/** Read from options, in ms. */
export interface ServerStatsSettings {
  /** Connection failures in a row that trip the breaker. */
  readonly connectionFailureThreshold: number
  readonly tripFactorMs: number
  readonly maxTripMs: number
  readonly activeExpiryMs: number
  readonly failureWindowMs: number
  readonly requestWindowMs: number
  /** Undefined: none are kept. */
  readonly percentiles: { readonly samples: number; readonly periodMs: number } | undefined
  /** Which outcomes count for the breaker; undefined: what the retry handler says, else `isCircuitTripping`. */
  readonly trips: ((outcome: Outcome) => boolean) | undefined
}

/** Ribbon's (ServerStats, LoadBalancerStats). */
export const RIBBON_STATS: ServerStatsSettings = {
  connectionFailureThreshold: 3,
  tripFactorMs: 10_000,
  maxTripMs: 30_000,
  activeExpiryMs: 600_000,
  failureWindowMs: 1_000,
  requestWindowMs: 300_000,
  percentiles: undefined,
  trips: undefined,
}

/** LoadBalancerStats.createServerStats. */
export const RIBBON_PERCENTILES = { samples: 1_000, periodMs: 1_000 }

const SERVER_STATS = 'server-stats'

/** A breaker keeps requests out from now on, or closed with an answer. */
export interface BreakerTurn {
  readonly row: number
  /** How long it does; 0: it has closed. */
  readonly forMs: number
}

/** What a policy lists among its recorders that goes by these statistics: the service's own take its place. */
export function serverStats(): Recorder {
  return new ServerStatsRecorder(RIBBON_STATS)
}

export class ServerStatsRecorder implements Recorder {
  readonly name = SERVER_STATS
  readonly settings: ServerStatsSettings
  /** Since the service last took them: it tells of them, and what the core holds must not refer to it. */
  readonly turned: BreakerTurn[] = []
  readonly #quirks: Quirks
  readonly #handler: RetryHandler | undefined
  /** By row; an instance's first request brings its own. */
  readonly #publishers: PercentilesPublisher[] = []

  /** @param handler says what trips a breaker where the settings don't */
  constructor(settings: ServerStatsSettings, quirks: Quirks = NO_QUIRKS, handler?: RetryHandler) {
    this.settings = settings
    this.#quirks = quirks
    this.#handler = handler
  }

  open(core: CoreExports, block: Pointer): void {
    const { connectionFailureThreshold, tripFactorMs, maxTripMs, activeExpiryMs } = this.settings
    const { failureWindowMs, requestWindowMs } = this.settings
    core.openServerStats(
      block,
      connectionFailureThreshold,
      tripFactorMs,
      maxTripMs,
      activeExpiryMs,
      failureWindowMs,
      requestWindowMs,
    )
  }

  started(core: CoreExports, block: Pointer, row: number, nowMs: number): void {
    const { percentiles } = this.settings
    const isFirst = core.startRequest(block, row, nowMs) !== 0
    if (percentiles === undefined || !isFirst) return
    const idle = this.#quirks.has('ribbon-percentiles-empty') ? 'zeros' : 'keeps'
    this.#publishers[row] = new PercentilesPublisher(percentiles.samples, percentiles.periodMs, idle, nowMs)
  }

  ended(core: CoreExports, block: Pointer, row: number, { outcome, latencyMs, nowMs }: Ended): void {
    if (latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY) this.#publishers[row]?.add(latencyMs, nowMs)
    const verdict = this.#verdictOf(outcome)
    const turn = core.endRequest(block, row, nowMs, latencyMs, verdict)
    if (turn === BREAKER_CLOSED) this.turned.push({ row, forMs: 0 })
    if (verdict !== VERDICT_TRIPS) return
    // To the microsecond: a moment on the clock and back is not exact.
    const forMs = turn || Math.round((core.trippedUntil(block, row) - nowMs) * 1000) / 1000
    if (forMs > 0) this.turned.push({ row, forMs })
  }

  /** Only while it is recorded. */
  statsAt(core: Core, block: Pointer, row: number, nowMs: number): ServerStats {
    const { exports, i32, f64 } = core
    const at = (i32[(block + BLOCK_SERVER_STATS) >>> 2] as number) + row * SERVER_STATS_BYTES
    const read = (offset: number) => f64[(at + offset) >>> 3] as number
    const readOnce = (known: boolean, offset: number) => (known ? read(offset) : Number.NaN)
    const times = read(STATS_TIMES)
    const meanMs = times > 0 ? read(STATS_TIME_SUM) / times : Number.NaN
    const begun = read(STATS_BEGUN) > 0
    const tripped = exports.isTripped(block, row, nowMs) !== 0
    return {
      requests: read(STATS_REQUESTS),
      active: exports.activeRequests(block, row, nowMs),
      requestsInWindow: exports.requestsInWindow(block, row, nowMs),
      connectionFailures: i32[(at + STATS_SUCCESSIVE) >>> 2] as number,
      failuresInWindow: exports.failuresInWindow(block, row, nowMs),
      tripped,
      trippedForMs: tripped ? exports.trippedUntil(block, row) - nowMs : 0,
      blackoutMs: read(STATS_BLACKOUT_TOTAL),
      responseTimes: {
        count: times,
        meanMs,
        // Rounding can take it below zero.
        variance: Math.max(readOnce(times > 0, STATS_TIME_SQUARES) / times - meanMs * meanMs, 0),
        minMs: readOnce(times > 0, STATS_TIME_MIN),
        maxMs: readOnce(times > 0, STATS_TIME_MAX),
      },
      ...(this.settings.percentiles !== undefined && {
        percentilesMs: begun ? (this.#publishers[row]?.at(nowMs) ?? NO_PERCENTILES) : NO_PERCENTILES,
      }),
      firstAccessedAt: readOnce(begun, STATS_FIRST_ACCESS),
      lastAccessedAt: readOnce(begun, STATS_LAST_ACCESS),
      lastFailureAt: readOnce(read(STATS_FAILED) > 0, STATS_FAILED_AT),
    }
  }

  #verdictOf(outcome: Outcome): number {
    if (outcome.cancelled) return VERDICT_NONE
    return this.#trips(outcome) ? VERDICT_TRIPS : VERDICT_HEALS
  }

  #trips(outcome: Outcome): boolean {
    return this.#said(outcome) ?? isCircuitTrippingBy(this.#quirks, outcome)
  }

  /** Undefined: nobody has an answer. */
  #said(outcome: Outcome): boolean | undefined {
    const { trips } = this.settings
    if (trips !== undefined) return guardedVerdict(trips, 'the function serverStats.trips', () => trips(outcome))
    const handler = this.#handler
    const { error, status } = outcome
    const quirks = this.#quirks
    if (handler === undefined) return undefined
    if (error === undefined && (status ?? 0) < 400) return false
    return guardedVerdict(handler, `retry handler "${handler.name}"`, () => handler.trips({ error, status, quirks }))
  }
}
