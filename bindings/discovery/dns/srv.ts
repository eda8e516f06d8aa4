/** @module SRV records as tiers of weighted targets. RFC 2782. */

import type { DnsAnswer } from './records.js'

export interface Target {
  readonly host: string
  readonly port: number
  readonly priority: number
  readonly weight: number
}

/** Those of one priority. */
export type Tier = readonly Target[]

/**
 * By priority, the one to be tried first at the front. A target of `.` is nobody: alone it says that the service is
 * not offered.
 *
 * Weights are shares within a tier. All 0: alike, 1 each. A 0 among others becomes 1 and leaves the others as they are:
 * RFC 2782's draw, from 0 to their sum, gives it the same chance, 1 in sum + 1.
 */
export function tiersOf(services: DnsAnswer['services']): readonly Tier[] {
  const tiers = new Map<number, Target[]>()
  for (const { target: host, port, priority, weight } of services) {
    if (host === '') continue
    const target = { host, port, priority, weight: Math.max(1, weight) }
    const tier = tiers.get(priority)
    if (tier === undefined) tiers.set(priority, [target])
    else tier.push(target)
  }
  return [...tiers].toSorted(([a], [b]) => a - b).map(([, tier]) => tier)
}
