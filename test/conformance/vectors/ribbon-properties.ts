/** @module Options of the rules, of the properties that Ribbon has for them. */

import type { AvailabilityFilteringOptions, ZoneAvoidanceOptions } from 'evenkeel'

export type Properties = Readonly<Record<string, number | boolean>>

const AVAILABILITY = 'niws.loadbalancer.availabilityFilteringRule'
const ZONES = 'ZoneAwareNIWSDiscoveryLoadBalancer.svc'

export function availabilityOf(properties: Properties): AvailabilityFilteringOptions {
  const limit = properties['svc.ribbon.ActiveConnectionsLimit'] ?? properties[`${AVAILABILITY}.activeConnectionsLimit`]
  const filter = properties[`${AVAILABILITY}.filterCircuitTripped`]
  return {
    ...(limit !== undefined && { activeLimit: limit as number }),
    ...(filter !== undefined && { filterTripped: filter as boolean }),
  }
}

export function zonesOf(properties: Properties): Pick<ZoneAvoidanceOptions, 'triggeringLoad' | 'avoidAboveTripped'> {
  const load = properties[`${ZONES}.triggeringLoadPerServerThreshold`]
  const share = properties[`${ZONES}.avoidZoneWithBlackoutPercetage`]
  return {
    ...(load !== undefined && { triggeringLoad: load as number }),
    ...(share !== undefined && { avoidAboveTripped: share as number }),
  }
}

/** ZoneAwareLoadBalancer is the default, and can be told to do nothing of its own. */
export const isZoneAware = (properties: Properties) =>
  properties['ZoneAwareNIWSDiscoveryLoadBalancer.enabled'] !== false
