/** @module Ribbon's weighted response time: drawn by weights that fall with the mean response time. */

import { FORMULA_MAX, FORMULA_SUM } from '../../assembly/ribbon-flags.js'
import { duration, object, oneOf } from '../config/check.js'
import { msOf } from '../config/duration.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, leased } from './engine.js'
import type { Recorder } from './recorder.js'
import { RULE, ribbonFlags, ribbonStart } from './ribbon-rule.js'
import { serverStats } from './server-stats.js'

export interface WeightedResponseTimeOptions {
  /**
   * What an instance's mean is taken from: the sum of all means (default, Ribbon's: 100, 200 and 300 ms share
   * 41.7 : 33.3 : 25), or the greatest of them (66.7 : 33.3 : 0, the slowest gets nothing).
   */
  formula?: 'sum' | 'max'
  /** How often weights are worked out. Default 30 000. */
  updateMs?: number
  /** Response times count for this long, for half of it at least. Default 60 000. */
  windowMs?: number
}

const check = object({ formula: oneOf('sum', 'max'), updateMs: duration(1), windowMs: duration(2) })

/**
 * Drawn by weights: what `formula` says minus the mean response time of the last `windowMs`, failures included. What
 * has not been called in that time has the mean weight of the others; in turn while nobody has been called. Knows no
 * weights but its own.
 * Use it where instances differ in speed and answers vary little. Breaks with many instances: by `sum` their weights
 * are nearly equal, however slow one is; and when one fails fast, which looks quick.
 * @see Ribbon 2.7 WeightedResponseTimeRule, whose mean never forgets: servicecomb-java-chassis 2176
 * @example weightedResponseTime({ formula: 'max', updateMs: 5000 })
 */
export function weightedResponseTime(options: WeightedResponseTimeOptions = {}): Policy {
  check(options, 'weightedResponseTime')
  const formula = options.formula === 'max' ? FORMULA_MAX : FORMULA_SUM
  const updateMs = msOf(options.updateMs) ?? 30_000
  const halfMs = (msOf(options.windowMs) ?? 60_000) / 2
  return corePolicy('weighted-response-time', ({ quirks }) => {
    const flags = ribbonFlags(quirks)
    return {
      ...RULE,
      ...ribbonStart(quirks),
      seesDown: quirks.has('ribbon-ten-probes'),
      recorders: quirks.has('ribbon-weights-lifetime') ? [serverStats(), publishedWeights] : [recentTimes(halfMs)],
      ...leased((core, block, handle, nowMs, _request, { tree }) =>
        core.pickByResponseTime(block, handle, tree.root.handle, nowMs, updateMs, halfMs, formula, flags),
      ),
    }
  })
}

/** Response times in two halves of a window. */
function recentTimes(halfMs: number): Recorder {
  return {
    name: 'recent-times',
    open: (core, block) => core.openRecent(block),
    ended: (core, block, row, { latencyMs, nowMs }) => {
      if (latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY) core.noteRecent(block, row, nowMs, halfMs, latencyMs)
    },
  }
}

/** Nothing to record: room for the weights that hold until the next update. */
const publishedWeights: Recorder = {
  name: 'published-weights',
  open: (core, block) => core.openPublishedWeights(block),
}
