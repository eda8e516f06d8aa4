/**
 * @module Ribbon's ZoneAvoidanceRule and ZoneAwareLoadBalancer, as far as no zone is drawn: the rule's own draws are
 * test/unit/ribbon-zone-avoidance.test.ts.
 */

import { availabilityFiltering, type Policy, roundRobin, zoneAvoidance, zoneAware } from 'evenkeel'
import file from '../../vectors/ribbon-zone-avoidance.json'
import { Ribbon, type RibbonVector, replayedRibbon, type Step } from './ribbon.js'
import { availabilityOf, isZoneAware, type Properties, zonesOf } from './ribbon-properties.js'

interface ZoneAvoidanceVector extends RibbonVector {
  readonly rule: string
  readonly zoneAware: boolean
  readonly zones: readonly (string | null)[]
  readonly properties: Properties
  readonly steps: readonly Step[]
}

function policyOf({ rule, zoneAware: isAware, properties }: ZoneAvoidanceVector): Policy {
  const zones = zonesOf(properties)
  const availability = availabilityOf(properties)
  const policy =
    rule === 'RoundRobinRule'
      ? roundRobin()
      : rule === 'AvailabilityFilteringRule'
        ? availabilityFiltering(availability)
        : zoneAvoidance({ ...zones, ...availability })
  return isAware && isZoneAware(properties) ? zoneAware({ policy, ...zones }) : policy
}

const withoutDraws = { vectors: file.vectors.filter((vector) => !('draws' in vector)) }

export const cases = replayedRibbon<ZoneAvoidanceVector>(withoutDraws, async (vector) => {
  const ribbon = new Ribbon(policyOf(vector), vector.zones)
  await ribbon.trace(vector.steps)
  await ribbon.close()
})
