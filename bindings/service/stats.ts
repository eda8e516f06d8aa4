/** @module A service in numbers. */

import { zoneSnapshot } from '../policy/zone-snapshot.js'
import { zoneOrUnknown } from '../policy/zones.js'
import type { InstanceStats, ServiceStats, ZoneStats } from '../types/answers.js'
import type { CandidateTree } from './candidates.js'
import type { Picker } from './picker.js'
import type { BalancedService } from './service.js'

export function statsOf(service: BalancedService, tree: CandidateTree): ServiceStats {
  const { counters, source, health, picker } = service
  const { polling } = service.settings
  const { members } = service.roster
  const nowMs = service.clock()
  const { instances } = members
  return {
    serviceId: service.serviceId,
    instances: instances.map((instance): InstanceStats => {
      const row = members.rowOf(instance)
      const { inFlight, successes, failures, cancelled, latencyMs, weight } = members.metersAt(row)
      return {
        instanceId: instance.instanceId,
        picks: inFlight + successes + failures + cancelled,
        inFlight,
        successes,
        failures,
        cancelled,
        latencyMs,
        p50Ms: members.quantileAt(row, 0.5),
        p95Ms: members.quantileAt(row, 0.95),
        p99Ms: members.quantileAt(row, 0.99),
        ejectedForMs: service.ejections.forMs(instance.instanceId, nowMs),
        drained: service.drains.has(instance.instanceId),
        weight,
        ...(picker.recordsServerStats && {
          server: picker.serverStats.statsAt(picker.core, members.block, row, nowMs),
        }),
      }
    }),
    zones: picker.recordsServerStats ? zonesOf(service, nowMs) : {},
    discovered: instances.length,
    cached: source.ages && service.settings.cached ? instances.length : 0,
    candidates: candidatesOf(picker, tree),
    listAgeMs: source.ageMs,
    missedCycles: polling === undefined || !source.ages ? Number.NaN : Math.floor(source.ageMs / polling.intervalMs),
    noInstance: counters.noInstance,
    fallbacks: counters.fallbacks,
    retriesSame: counters.retriesSame,
    retriesNext: counters.retriesNext,
    cacheHits: counters.cacheHits,
    cacheMisses: counters.cacheMisses,
    discoveryErrors: source.failures,
    healthChecks: health?.meter.checks ?? 0,
    healthFailures: health?.meter.failures ?? 0,
    healthCheckMs: health?.meter.meanMs ?? Number.NaN,
    selectionMs: service.selections.value,
    meters: service.observers?.meters?.list() ?? [],
  }
}

function candidatesOf(picker: Picker, tree: CandidateTree): number {
  const list = picker.chain.fixedList(tree)
  return list.instances.filter((_, index) => !picker.passesOver(list, index)).length
}

function zonesOf({ roster: { members }, picker }: BalancedService, nowMs: number): Record<string, ZoneStats> {
  const rows = new Map<string, number[]>()
  for (const instance of members.instances) {
    const zone = zoneOrUnknown(instance)
    const known = rows.get(zone)
    if (known === undefined) rows.set(zone, [members.rowOf(instance)])
    else known.push(members.rowOf(instance))
  }
  const { core } = picker
  return Object.fromEntries([...rows].map(([zone, of]) => [zone, zoneSnapshot(core, members.block, of, nowMs)]))
}
