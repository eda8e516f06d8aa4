/** @module Weights by how instances compare with their peers: dynamic weight, repaired. */

import { duration, number, object } from '../config/check.js'
import { msOf } from '../config/duration.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, leased } from './engine.js'
import type { Recorder } from './recorder.js'

export interface RelativeWeightOptions {
  /** What is known of an instance counts half after this long. Default 5 000. */
  halfLifeMs?: number
  /** Outcomes before an instance is judged; until then it counts as the median. Default 5. */
  minVolume?: number
}

const check = object({ halfLifeMs: duration(1), minVolume: number({ least: 1, most: 1_000, whole: true }) })

/**
 * Two draws by weight = attached weight × (median latency of the peers / latency) × (1 − error share)³, between 0.02
 * and 10 times the attached one. The first takes the request unless the other has fewer in flight for its weight,
 * without this one and with it.
 *
 * What `dynamicWeight` gets wrong, and what this does instead:
 *
 * 1. Its scale is absolute: 10 ms against 50 ms is 4 % of traffic. Here it is the median of the peers: 5 : 1.
 * 2. It does not see requests in flight. Here they decide between two draws.
 * 3. Its window is 60 s, all alike: who fails altogether needs 30 s to fall below 10 %. Here what is known fades by a
 *    half-life: one and a bit of it does.
 * 4. Its mean hides the tail. Here a slower answer moves the estimate by latency, a faster one by speed: the tail is
 *    felt at once, and the way back is no longer from far than from near.
 * 5. It smooths by update. Here by time: an outcome counts one part in the volume of its half-life, at any rate.
 * 6. Its floor never ends, twice the error rate makes 49 % and 50 % worlds apart, and one failure in one request is
 *    100 %. Here the share of errors is cubed, the floor is there to be probed by, and below `minVolume` bad news
 *    counts one part in `minVolume`. To take an instance out altogether is the task of health checks.
 * 7. An unknown instance has the best weight. Here the median's.
 * 8. Unfinished requests are in none of its buckets. Here an instance is at least as slow as it has been silent with
 *    something in flight, and what is in flight keeps it from being drawn.
 *
 * An instance below half of its fair weight that had no request for a quarter of the half-life is tried, with one
 * pick of 20 at most; its first good answers count half of what is held against it. So a recovered one is half way
 * back within a half-life, if calls come often enough to try it.
 *
 * Use it among instances of unequal speed. Breaks with long polling, where latency says nothing of load, when each of
 * many clients sees less than a request an instance in a half-life, and when callers cancel what takes too long: that
 * counts as nothing, a timeout (`attemptTimeoutMs`) as a failure.
 * @example relativeWeight({ halfLifeMs: 3000 })
 */
export function relativeWeight(options: RelativeWeightOptions = {}): Policy {
  check(options, 'relativeWeight')
  const halfLifeMs = msOf(options.halfLifeMs) ?? 5_000
  const { minVolume = 5 } = options
  return corePolicy('relative-weight', {
    timed: true,
    weights: 'plan',
    decayMs: halfLifeMs * Math.LOG2E,
    recorders: [paces(halfLifeMs, minVolume)],
    ...leased((core, block, list, nowMs) => core.pickRelativeWeight(block, list, nowMs, halfLifeMs, minVolume)),
  })
}

function paces(halfLifeMs: number, minVolume: number): Recorder {
  return {
    name: 'paces',
    open: (core, block) => core.openPaces(block),
    started: (core, block, row, nowMs) => core.startPaced(block, row, nowMs),
    ended(core, block, row, { outcome, failed, latencyMs, nowMs }) {
      if (outcome.cancelled) return
      core.endPaced(block, row, nowMs, latencyMs, failed ? 1 : 0, halfLifeMs, minVolume)
    },
  }
}
