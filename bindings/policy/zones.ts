/** @module The zones of a service's whole list, as Ribbon's rules look at them. */

import { number } from '../config/check.js'
import type { Pointer } from '../core/exports.js'
import type { CandidateTree } from '../service/candidates.js'
import type { ServiceInstance } from '../types/instance.js'

export interface ZoneOptions {
  /** Mean requests in flight per instance from which the most loaded zone is left out. Default 0.2. */
  triggeringLoad?: number
  /** A zone of which this share of instances is tripped is left out. Default 0.99999. */
  avoidAboveTripped?: number
}

export const ZONES = {
  triggeringLoad: number({ least: 0 }),
  avoidAboveTripped: number({ least: 0, most: 1 }),
}

export function zoneLimitsOf({ triggeringLoad = 0.2, avoidAboveTripped = 0.99999 }: ZoneOptions): {
  load: number
  share: number
} {
  return { load: triggeringLoad, share: avoidAboveTripped }
}

/** The snapshot in the core of the zones that the list names, one for all lists of the tree: who has none is in none. */
export function zonesOf(tree: CandidateTree): Pointer {
  return snapshotOf(tree, 'zones', zoneOf)
}

/** As `zonesOf`, with one zone more of those that have none: so everybody is in one. */
export function allZonesOf(tree: CandidateTree): Pointer {
  return snapshotOf(tree, ALL_ZONES, zoneOrUnknown)
}

/** Interned ids of `allZonesOf`, from 1 in the order in which the list first names them. */
export function allZonesColumnOf(tree: CandidateTree): ReturnType<CandidateTree['column']> {
  return tree.column(ALL_ZONES, zoneOrUnknown)
}

const ALL_ZONES = 'all zones'

function snapshotOf(
  tree: CandidateTree,
  name: string,
  read: (instance: ServiceInstance) => string | undefined,
): Pointer {
  return tree.keep(name, () => {
    const { pointer, ids } = tree.column(name, read)
    return tree.core.exports.createZones(tree.root.handle, pointer, ids.size)
  })
}

/** Ribbon's Server.UNKNOWN_ZONE, in its keys' lower case. */
const UNKNOWN_ZONE = 'unknown'

export function zoneOrUnknown(instance: ServiceInstance): string {
  return zoneOf(instance) ?? UNKNOWN_ZONE
}

/** Ribbon's keys are in lower case. */
function zoneOf({ metadata }: ServiceInstance): string | undefined {
  return metadata.zone?.toLowerCase() || undefined
}
