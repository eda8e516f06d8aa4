/** @module Ribbon's availability filtering: in turn, past open breakers and busy instances. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { AVAILABILITY, type AvailabilityOptions, availabilityOf } from './availability.js'
import { corePolicy, leased } from './engine.js'
import { RULE, ribbonDown, ribbonFlags, ribbonStart } from './ribbon-rule.js'
import { serverStats } from './server-stats.js'

export type AvailabilityFilteringOptions = AvailabilityOptions

const check = object(AVAILABILITY)

/**
 * Round robin that passes over instances whose breaker is open or that have `activeLimit` requests in flight. After
 * eleven in a row that won't do, in turn among all that will; if none will, among all. Knows no weights.
 * Use it to keep a plain rotation away from what is broken. Breaks when failures are not of the connection: a breaker
 * hears nothing of an instance that answers 500.
 * @see Ribbon 2.7 AvailabilityFilteringRule, AvailabilityPredicate
 * @example availabilityFiltering({ activeLimit: 100 })
 */
export function availabilityFiltering(options: AvailabilityFilteringOptions = {}): Policy {
  check(options, 'availabilityFiltering')
  const { limit, tripped } = availabilityOf(options)
  return corePolicy('availability-filtering', ({ quirks }) => {
    const flags = ribbonFlags(quirks)
    return {
      ...RULE,
      ...ribbonStart(quirks),
      ...(quirks.has('ribbon-ten-probes') && { seesDown: true }),
      ...ribbonDown(quirks),
      breakers: tripped === 1,
      recorders: [serverStats()],
      ...leased((core, block, list, nowMs) => core.pickAvailable(block, list, nowMs, limit, tripped, flags)),
    }
  })
}
