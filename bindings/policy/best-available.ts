/** @module Ribbon's best available: the least busy of all whose breaker is closed. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, leased } from './engine.js'
import { RULE, ribbonDown, ribbonFlags, ribbonStart } from './ribbon-rule.js'
import { serverStats } from './server-stats.js'

const check = object({})

/**
 * Of those whose breaker is closed the one with the fewest requests in flight, the first in list order of equals; in
 * turn when every breaker is open. Looks at every candidate. Knows no weights.
 * Use it where requests differ in cost and lists are short. Breaks with many clients: an idle service always sends them
 * all to the first of its list.
 * @see Ribbon 2.7 BestAvailableRule
 * @example bestAvailable()
 */
export function bestAvailable(options: Record<never, never> = {}): Policy {
  check(options, 'bestAvailable')
  return corePolicy('best-available', ({ quirks }) => {
    const flags = ribbonFlags(quirks)
    return {
      ...RULE,
      ...ribbonStart(quirks),
      ...ribbonDown(quirks),
      breakers: true,
      recorders: [serverStats()],
      ...leased((core, block, list, nowMs) => core.pickBestAvailable(block, list, nowMs, flags)),
    }
  })
}
