/** @module Ribbon's server list filters as suppliers. */

import type { TypedOptions } from '../types/options.js'
import type { Report } from './report.js'
import type { Settings } from './settings.js'

type Listed = string | TypedOptions

/**
 * Those of the filter that the file names; without one, Spring's own, which prefers the zone, if zone affinity is
 * switched on. Innermost first.
 */
export function ribbonSuppliers(settings: Settings, report: Report): readonly Listed[] {
  const filter = settings.get('filter')
  const byZone = zoneSupplier(filter?.name, settings, report)
  const subset = subsetSupplier(filter?.name, settings, report)
  return [byZone, subset].filter((supplier) => supplier !== undefined)
}

function zoneSupplier(filter: string | undefined, settings: Settings, report: Report): Listed | undefined {
  const { affinity, exclusive } = settings.group('zoneFilter').values
  const { values, from } = settings.group('affinity')
  if (!affinity && !exclusive) {
    report.idle(from, 'no effect: there is no zone affinity until EnableZoneAffinity is true')
    return filter === 'zone-preference' ? filter : undefined
  }
  report.use(from)
  if (exclusive) return { type: 'zone-affinity', exclusive: true }
  const prefers = filter === undefined || filter === 'zone-preference'
  const options = { ...(prefers && { prefer: true }), ...values }
  return Object.keys(options).length === 0 ? 'zone-affinity' : { type: 'zone-affinity', ...options }
}

function subsetSupplier(filter: string | undefined, settings: Settings, report: Report): Listed | undefined {
  const { values, from } = settings.group('serverListSubset')
  if (filter === 'server-list-subset') {
    report.use(from)
    return from.length === 0 ? filter : { type: filter, ...values }
  }
  report.idle(from, 'no effect: the file does not name ServerListSubsetFilter as NIWSServerListFilterClassName')
  return undefined
}
