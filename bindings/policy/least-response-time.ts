/** @module The quickest of all candidates. */

import { duration, object } from '../config/check.js'
import { msOf } from '../config/duration.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'

export interface LeastResponseTimeOptions {
  /** After this long a latency counts 1/e, in the average and while there are no samples. Default 10 000. */
  decayMs?: number
  /** What an instance without history costs for each request in flight. Default 30. */
  defaultRttMs?: number
  /** A failed request counts as this latency at least; 0: as its own. Default 5 000. */
  failureRttMs?: number
}

const check = object({ decayMs: duration(1), defaultRttMs: duration(), failureRttMs: duration() })

/**
 * The one with the least average latency × (requests in flight + 1), of all candidates; over a weighted list, for its
 * weight. The average is one over time: a sample counts by how long there was none. An instance without history is
 * tried at once, but not flooded. Those that are level are drawn from. Each pick looks at all candidates.
 * Use it for few instances that differ in speed. Breaks with many clients, which all go to the instance that is quick
 * just now; `peakEwma` looks at two, and minds a slow answer at once.
 * @see nginx Plus least_time (latency and connections); F5 "fastest"
 * @example leastResponseTime({ decayMs: 5000 })
 */
export function leastResponseTime(options: LeastResponseTimeOptions = {}): Policy {
  check(options, 'leastResponseTime')
  const decayMs = msOf(options.decayMs) ?? DEFAULT_DECAY_MS
  const defaultRttMs = msOf(options.defaultRttMs) ?? 30
  const failureRttMs = msOf(options.failureRttMs) ?? 5_000
  return corePolicy('least-response-time', {
    timed: true,
    weights: 'plan',
    decayMs,
    failureRttMs,
    ...leased((core, block, list, nowMs) => core.pickLeastResponseTime(block, list, nowMs, decayMs, defaultRttMs)),
  })
}
