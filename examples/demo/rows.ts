/** @module What a run did to each instance, from the balancer's own statistics. */

import type { LoadBalancer, ServiceStats } from 'evenkeel'
import { Problem } from './problem.js'

export interface Row {
  readonly instanceId: string
  readonly zone: string | null
  readonly weight: number
  readonly picks: number
  /** Of all picks, from 0 to 1; NaN if there were none. */
  readonly share: number
  readonly errors: number
  /** NaN if nothing was measured, as `p99Ms`. */
  readonly p50Ms: number
  readonly p99Ms: number
}

export function rowsOf(lb: LoadBalancer, serviceId: string): Row[] {
  const stats = statsOf(lb, serviceId)
  const zones = new Map(
    lb
      .service(serviceId)
      .instances()
      .map(({ instanceId, metadata }) => [instanceId, metadata.zone]),
  )
  const total = totalPicks(stats)
  return stats.instances.map(({ instanceId, weight, picks, failures, p50Ms, p99Ms }) => ({
    instanceId,
    zone: zones.get(instanceId) ?? null,
    weight,
    picks,
    share: picks / total,
    errors: failures,
    p50Ms,
    p99Ms,
  }))
}

/**
 * Each request is one pick, each retry one more, and nothing is in flight when all have ended.
 * @throws Problem if the statistics say otherwise
 */
export function checkSums(lb: LoadBalancer, serviceId: string, requests: number): void {
  const stats = statsOf(lb, serviceId)
  const { retriesSame, retriesNext, noInstance } = stats
  const expected = requests + retriesSame + retriesNext - noInstance
  const picks = totalPicks(stats)
  const inFlight = stats.instances.reduce((sum, instance) => sum + instance.inFlight, 0)
  if (picks !== expected || inFlight !== 0) {
    throw new Problem(
      `picks of "${serviceId}" don't add up: ${expected} expected, ${picks} counted, ${inFlight} still in flight`,
      1,
    )
  }
}

export function statsOf(lb: LoadBalancer, serviceId: string): ServiceStats {
  const stats = lb.stats()[serviceId]
  if (stats === undefined) throw new Problem(`there are no statistics of "${serviceId}"`, 1)
  return stats
}

function totalPicks(stats: ServiceStats): number {
  return stats.instances.reduce((sum, { picks }) => sum + picks, 0)
}
