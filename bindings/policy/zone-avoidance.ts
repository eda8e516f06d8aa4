/** @module Ribbon's zone avoidance: in turn, outside of zones that are broken or the most loaded. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { AVAILABILITY, type AvailabilityOptions, availabilityOf } from './availability.js'
import { corePolicy, leased } from './engine.js'
import { RULE, ribbonDown, ribbonFlags, ribbonStart } from './ribbon-rule.js'
import { serverStats } from './server-stats.js'
import { ZONES, type ZoneOptions, zoneLimitsOf, zonesOf } from './zones.js'

export interface ZoneAvoidanceOptions extends ZoneOptions, AvailabilityOptions {}

const check = object({ ...ZONES, ...AVAILABILITY })

/**
 * In turn among the instances that are available (as `availabilityFiltering` has it) outside of zones whose every
 * breaker is open, and of the most loaded zone, if one is broken or its load is `triggeringLoad` or more; of equally
 * loaded zones one is drawn by its number of instances. If that leaves nobody, among those available; then among all.
 * Zones are those of metadata `zone` in the whole list, in any case; an instance without one is never left out for it.
 * Never gives up a zone that is idle, nor the last one. Looks at every instance of the list. Knows no weights.
 * Use it for lists over several zones that can each bear the load. Breaks with zones of unlike size: a small one that
 * bears its share looks like the most loaded.
 * @see Ribbon 2.7 ZoneAvoidanceRule, ZoneAvoidancePredicate
 * @example zoneAvoidance({ triggeringLoad: 5 })
 */
export function zoneAvoidance(options: ZoneAvoidanceOptions = {}): Policy {
  check(options, 'zoneAvoidance')
  const { limit, tripped } = availabilityOf(options)
  const { load, share } = zoneLimitsOf(options)
  return corePolicy('zone-avoidance', ({ quirks }) => {
    const flags = ribbonFlags(quirks)
    return {
      ...RULE,
      ...ribbonStart(quirks),
      ...ribbonDown(quirks),
      breakers: true,
      zones: true,
      recorders: [serverStats()],
      ...leased((core, block, handle, nowMs, _request, { tree }) =>
        core.pickZoneAvoiding(block, handle, zonesOf(tree), nowMs, load, share, limit, tripped, flags),
      ),
    }
  })
}
