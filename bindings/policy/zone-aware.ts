/** @module Ribbon's zone aware balancer: while a zone is degraded, a policy within another one. */

import { anything, object } from '../config/check.js'
import { policyOf } from '../config/names.js'
import type { CandidateList } from '../service/candidates.js'
import { prepareFor } from '../service/engines.js'
import type { Policy } from '../types/extension.js'
import type { PolicyName, TypedOptions } from '../types/options.js'
import { corePolicy, type Engine, leased } from './engine.js'
import { hearingFor, subEngineOf } from './foreign.js'
import { ribbonFlags, ribbonStart } from './ribbon-rule.js'
import { serverStats } from './server-stats.js'
import { ZoneSlots } from './zone-slots.js'
import { allZonesColumnOf, allZonesOf, ZONES, type ZoneOptions, zoneLimitsOf } from './zones.js'

export interface ZoneAwareOptions extends ZoneOptions {
  /** The policy that picks, in any of its forms. Default zone avoidance, as in Spring. */
  policy?: Policy | PolicyName | (string & {}) | TypedOptions
}

const check = object({ policy: anything, ...ZONES })

/**
 * Another policy over everything, as long as all zones can be used. When one is left out (as `zoneAvoidance` has it),
 * one of the others is drawn by its number of instances, and the policy picks within it, with a rotation of its own for
 * each zone, which refreshes don't set back. If that gives nobody, the policy picks from everything. Instances without
 * a zone are one together, `unknown`.
 * Use it for lists over several zones that can each bear the load. Breaks where one zone can't bear that of another.
 * @see Ribbon 2.7 ZoneAwareLoadBalancer
 * @example zoneAware({ policy: 'round-robin' })
 */
export function zoneAware(options: ZoneAwareOptions = {}): Policy {
  check(options, 'zoneAware')
  const policy = policyOf(options.policy ?? 'zone-avoidance', 'zoneAware.policy')
  const { load, share } = zoneLimitsOf(options)
  const rule = corePolicy('zone-aware', (context) => {
    const sub = subEngineOf(policy, context)
    const flags = ribbonFlags(context.quirks)
    const slots = new ZoneSlots(ribbonStart(context.quirks).start ?? -1)
    const pick: Engine['pick'] = (core, block, handle, nowMs, request, list, tried) => {
      const zone = core.drawZone(block, allZonesOf(list.tree), nowMs, load, share, flags)
      if (zone > 0) {
        const { indexes, part } = list.part(zone, () => indexesOf(list, zone))
        prepareFor(sub, part)
        const slot = slots.of(core, block, list.tree, zone)
        core.exchangeTurns(block, slot)
        try {
          const chosen = sub.pick(core, block, part.handle, nowMs, request, part, tried)
          if (chosen >= 0) return indexes[chosen] as number
        } finally {
          core.exchangeTurns(block, slot)
        }
      }
      return sub.pick(core, block, handle, nowMs, request, list, tried)
    }
    return {
      ...sub,
      timed: true,
      breakers: true,
      zones: true,
      recorders: [...(sub.recorders ?? []), serverStats()],
      ...leased(pick),
    }
  })
  return hearingFor(rule, policy)
}

function indexesOf(list: CandidateList, zone: number): number[] {
  const { tree } = list
  const column = allZonesColumnOf(tree).pointer >>> 2
  const { i32 } = tree.core
  return list.instances.flatMap((_, index) => (i32[column + list.positionAt(index)] === zone ? [index] : []))
}
