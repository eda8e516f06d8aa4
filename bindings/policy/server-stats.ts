/** @module Ribbon's statistics of each server, which its rules and filters go by. */

import { TimeoutError } from '../errors.js'
import { isConnectionError } from '../runtime/connection-errors.js'
import type { Outcome } from '../types/request.js'
import type { Recorder } from './recorder.js'

/** Read from options, in ms. */
export interface ServerStatsSettings {
  /** Connection failures in a row that trip the breaker. */
  readonly failureThreshold: number
  readonly tripFactorMs: number
  readonly maxTripMs: number
  readonly activeExpiryMs: number
  readonly failureWindowMs: number
  readonly requestWindowMs: number
}

/** Ribbon's (ServerStats, LoadBalancerStats). */
export const RIBBON_STATS: ServerStatsSettings = {
  failureThreshold: 3,
  tripFactorMs: 10_000,
  maxTripMs: 30_000,
  activeExpiryMs: 600_000,
  failureWindowMs: 1_000,
  requestWindowMs: 300_000,
}

/** As assembly/server-stats.ts has them. */
const ANSWERED = 0
const TRIPPING = 1
const OTHER_ERROR = 2
const NOTHING = 3

export function serverStats(settings: ServerStatsSettings = RIBBON_STATS): Recorder {
  return {
    name: 'server-stats',
    open(core, block) {
      const { failureThreshold, tripFactorMs, maxTripMs, activeExpiryMs, failureWindowMs, requestWindowMs } = settings
      core.openServerStats(
        block,
        failureThreshold,
        tripFactorMs,
        maxTripMs,
        activeExpiryMs,
        failureWindowMs,
        requestWindowMs,
      )
    },
    started: (core, block, row, nowMs) => core.startRequest(block, row, nowMs),
    ended: (core, block, row, { outcome, latencyMs, nowMs }) =>
      core.endRequest(block, row, nowMs, latencyMs, verdictOf(outcome)),
  }
}

function verdictOf(outcome: Outcome): number {
  const { cancelled, error, status } = outcome
  if (cancelled) return NOTHING
  if (status === 503) return TRIPPING
  if (error === undefined) return ANSWERED
  return isConnectionError(error) || error instanceof TimeoutError ? TRIPPING : OTHER_ERROR
}
