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

/** Interned ids of the zones that the list names, from 1 in the order in which it first names them. */
export function zoneColumnOf(tree: CandidateTree): ReturnType<CandidateTree['column']> {
  return tree.column('zone', zoneOf)
}

/** Their snapshot in the core, one for all lists of the tree. */
export function zonesOf(tree: CandidateTree): Pointer {
  return tree.keep('zones', () => {
    const { pointer, ids } = zoneColumnOf(tree)
    return tree.core.exports.createZones(tree.root.handle, pointer, ids.size)
  })
}

/** Ribbon's keys are in lower case. */
function zoneOf({ metadata }: ServiceInstance): string | undefined {
  return metadata.zone?.toLowerCase() || undefined
}
