/** @module How a group of servers is doing, by Ribbon's statistics. */

import type { Core } from '../core/core.js'
import type { Pointer } from '../core/exports.js'
import type { ZoneStats } from '../types/answers.js'

/**
 * Of these rows; all at 0 if there are none.
 * @see Ribbon 2.7 LoadBalancerStats.getZoneSnapshot
 */
export function zoneSnapshot(core: Core, block: Pointer, rows: readonly number[], nowMs: number): ZoneStats {
  const { exports } = core
  let [tripped, active, open] = [0, 0, 0]
  for (const row of rows) {
    const requests = exports.activeRequests(block, row, nowMs)
    active += requests
    if (exports.isTripped(block, row, nowMs)) tripped++
    else open += requests
  }
  const instances = rows.length
  const load = instances === 0 ? 0 : tripped === instances ? -1 : open / (instances - tripped)
  return { instances, tripped, active, load }
}
