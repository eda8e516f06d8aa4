/** @module How a lease ended: what it counts as in the core, and what a policy of the user's own is told. */

import { ENDED_CANCELLED, ENDED_FAILURE, ENDED_SUCCESS } from '../../assembly/layout.js'
import { guarded } from '../report.js'
import type { PickRecord } from '../types/answers.js'
import type { Outcome } from '../types/request.js'
import type { ServiceLease } from './lease.js'
import type { BalancedService } from './service.js'

/** Completes the row, with the latency where one is given or was measured, and tells the policy. */
export function settleFully(service: BalancedService, lease: ServiceLease, row: number, outcome: Outcome): void {
  const { picker, clock, roster } = service
  const { exports } = picker.core
  const { block } = roster.members
  const { engines } = picker
  if (outcome.cancelled) {
    exports.complete(block, row, ENDED_CANCELLED)
    if (engines.recorders.length > 0)
      engines.ended(row, { outcome, failed: false, latencyMs: Number.NaN, nowMs: clock() })
    return tellPolicy(service, lease, outcome, Number.NaN)
  }
  const failed = outcome.error !== undefined || isFailureStatus(outcome.status)
  const ended = failed ? ENDED_FAILURE : ENDED_SUCCESS
  const nowMs = outcome.latencyMs === undefined && lease.startedAt === undefined ? undefined : clock()
  const latencyMs = credible(outcome.latencyMs ?? latencyOf(lease, nowMs))
  if (nowMs !== undefined && latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY) {
    const { peak = false, failureRttMs = 0, decayMs } = picker.averaging
    const averagedMs = failed ? Math.max(latencyMs, failureRttMs) : latencyMs
    exports.completeAfter(block, row, ended, latencyMs, averagedMs, nowMs, decayMs, peak ? 1 : 0)
  } else {
    exports.complete(block, row, ended)
  }
  if (engines.recorders.length > 0) engines.ended(row, { outcome, failed, latencyMs, nowMs: nowMs ?? clock() })
  tellPolicy(service, lease, outcome, latencyMs)
}

function tellPolicy({ settings }: BalancedService, lease: ServiceLease, outcome: Outcome, latencyMs: number): void {
  const { policy } = settings
  if (policy.done === undefined) return
  guarded(policy, `policy "${policy.name}"`, () => policy.done?.(lease.instance, outcome, latencyMs))
}

/** As observers are told of it: a response is a success, whatever its status. */
export function statusOf(outcome: Outcome): NonNullable<PickRecord['outcome']> {
  if (outcome.cancelled) return 'CANCELLED'
  return outcome.error === undefined ? 'SUCCESS' : 'FAILED'
}

/** From pick or sending to now; NaN where nobody measured. */
function latencyOf(lease: ServiceLease, nowMs: number | undefined): number {
  return lease.startedAt === undefined || nowMs === undefined ? Number.NaN : nowMs - lease.startedAt
}

/** No request takes longer: sums and squares of latencies stay exact enough. Infinity stays, for it is not recorded. */
const MOST_LATENCY_MS = 2 ** 31

function credible(latencyMs: number): number {
  return latencyMs === Number.POSITIVE_INFINITY ? latencyMs : Math.min(latencyMs, MOST_LATENCY_MS)
}

/** 5xx, and 429: a server that answers these quickly is not a quick server. */
function isFailureStatus(status: number | undefined): boolean {
  return status !== undefined && (status >= 500 || status === 429)
}
