/** Weights by response time in a core, of rows that have answered in these times, ms. */

import { LIST_PLAN } from '../../assembly/layout.js'
import { VERDICT_HEALS } from '../../assembly/server-stats-layout.js'
import type { Core } from '../../bindings/core/core.js'
import { CoreService } from './core-service.js'

/** What stands in response-weights.ts before the sums. */
const SUMS = 24
const [NOW_MS, UPDATE_MS, HALF_MS] = [1, 30_000, 30_000] as const

/** The sums after an update, and whom a draw of [0, 1) falls to. */
export function weighed(core: Core, times: readonly (readonly number[])[], formula: number, flags: number) {
  const { exports } = core
  const service = new CoreService(
    core,
    times.map(() => 1),
  )
  const { block } = service
  exports.openServerStats(block, 3, 10_000, 30_000, 600_000, 1_000, 300_000)
  exports.openPublishedWeights(block)
  exports.openRecent(block)
  for (const [row, ofOne] of times.entries()) {
    for (const ms of ofOne) {
      exports.endRequest(block, row, NOW_MS, ms, VERDICT_HEALS)
      exports.noteRecent(block, row, NOW_MS, HALF_MS, ms)
    }
  }
  const list = service.list([...times.keys()])
  const pick = () => exports.pickByResponseTime(block, list, list, NOW_MS, UPDATE_MS, HALF_MS, formula, flags)
  pick()
  const at = ((core.i32[(list + LIST_PLAN) >>> 2] as number) + SUMS) >>> 3
  const sums = Array.from(times, (_, i) => core.f64[at + i] as number)
  const total = sums.at(-1) ?? 0
  return { sums, pick, owner: (draw: number) => exports.ownerByResponseTime(list, draw * total, flags), service }
}
