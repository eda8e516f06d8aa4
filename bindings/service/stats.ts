/** @module A service in numbers. */

import type { InstanceStats, ServiceStats } from '../types/answers.js'
import type { CandidateTree } from './candidates.js'
import type { BalancedService } from './service.js'

export function statsOf(service: BalancedService, tree: CandidateTree): ServiceStats {
  const { counters, source, health } = service
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
      }
    }),
    discovered: instances.length,
    cached: source.ages && service.settings.cached ? instances.length : 0,
    candidates: service.picker.chain.fixedList(tree).length,
    listAgeMs: source.ageMs,
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
