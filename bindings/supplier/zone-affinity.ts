/** @module Keeps to the client's own zone while that is well, by Ribbon's statistics. */

import { boolean, duration, number, object, text } from '../config/check.js'
import { msOf } from '../config/duration.js'
import { zoneSnapshot } from '../policy/zone-snapshot.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { ZoneStats } from '../types/answers.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { cutMatching } from './attribute.js'
import { type CoreSupplier, REFILTER_MS, STAGE, type StageContext } from './stage.js'
import { folded, ZONE_COLUMN, zoneOf } from './zone-preference.js'

export interface ZoneAffinityOptions {
  /** Default: the balancer's `zone`. */
  zone?: string
  /** The own zone whatever its state, nobody if it has nobody. Default false. */
  exclusive?: boolean
  /** From this many requests in flight for each server of the zone on, all zones. Default 0.6. */
  maxLoadPerServer?: number
  /** From this share of tripped breakers on, all zones. Default 0.8. */
  maxBlackOutShare?: number
  /** With fewer servers in the zone whose breaker is closed, all zones. Default 2. */
  minAvailable?: number
  /** The own zone also where it only is small: fewer than `minAvailable`, none of them tripped. Default false. */
  prefer?: boolean
  /** How often the zone is looked at, for lists that nobody asks for anew. Default 30 000. */
  periodMs?: number
}

const check = object({
  zone: text,
  exclusive: boolean,
  maxLoadPerServer: number({ least: 0 }),
  maxBlackOutShare: number({ least: 0, most: 1 }),
  minAvailable: number({ least: 0, most: 2 ** 31 - 1, whole: true }),
  prefer: boolean,
  periodMs: duration(1),
})

/**
 * Instances whose metadata `zone` is the own zone, ignoring case, while that zone is well: not too many requests in
 * flight, not too many breakers open, enough servers left. Else everybody, as a fallback. Looked at when a list comes,
 * and each `periodMs` with picks, not at each pick.
 *
 * `minAvailable` is Ribbon's 2: a zone with a single server is left at once. Give 1, or `prefer`.
 * Breaks where zones are of uneven size: a small one is left and taken again in turns, all its clients together.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see Ribbon 2.7 ZoneAffinityServerListFilter; with `prefer` Spring's ZonePreferenceServerListFilter
 * @example zoneAffinity({ zone: 'shanghai', minAvailable: 1 })
 */
export function zoneAffinity(options: ZoneAffinityOptions = {}): Supplier {
  check(options, 'zoneAffinity')
  const { exclusive = false } = options
  const own = folded(options.zone)
  const supplier: CoreSupplier = {
    name: 'zone-affinity',
    memoKey: () => undefined,
    filter(list) {
      if (own === undefined) return { list, reason: UNSET }
      const local = list.filter((instance: ServiceInstance) => zoneOf(instance) === own)
      if (local.length > 0 || exclusive) return { list: local, reason: keeps(own) }
      return { list, fellBack: true, reason: nobodyIn(own) }
    },
    [STAGE](context) {
      const zone = own ?? folded(context.zone)
      const looks = zone !== undefined && !exclusive
      if (looks) context.recordServerStats()
      return {
        name: 'zone-affinity',
        memo: 'fixed',
        foreign: false,
        leaning: exclusive ? 'strict' : 'preference',
        ...(looks && { breakers: true, periodMs: msOf(options.periodMs) ?? REFILTER_MS }),
        key: () => undefined,
        cut: (list) =>
          zone === undefined ? { list, fellBack: false, reason: UNSET } : cut(list, zone, context, options),
      }
    },
  }
  return supplier
}

const UNSET = 'own zone unset'
const keeps = (zone: string) => `keeps zone "${zone}"`
const nobodyIn = (zone: string) => `no instance has zone "${zone}"`

function cut(list: CandidateList, zone: string, context: StageContext, options: ZoneAffinityOptions): Cut {
  const local = cutMatching(list, ZONE_COLUMN, zoneOf, zone)
  if (local === undefined) {
    if (options.exclusive) return { list: list.tree.pickOut(list, []), fellBack: false, reason: nobodyIn(zone) }
    return { list, fellBack: true, reason: nobodyIn(zone) }
  }
  if (local === list || options.exclusive) return { list: local, fellBack: false, reason: keeps(zone) }
  const { core, members } = list.tree
  const rows = local.instances.map((_, i) => local.rowAt(i))
  const snapshot = zoneSnapshot(core, members.block, rows, context.clock())
  const trouble = troubleOf(snapshot, options)
  const isOnlySmall = snapshot.tripped === 0 && trouble === TOO_FEW
  if (
    trouble === undefined ||
    (options.prefer && (isOnlySmall || context.quirks.has('ribbon-zone-preference-again')))
  ) {
    return { list: local, fellBack: false, reason: keeps(zone) }
  }
  local.free()
  return { list, fellBack: true, reason: `zone "${zone}" ${trouble(snapshot)}` }
}

type Trouble = (snapshot: ZoneStats) => string

const TRIPPED: Trouble = ({ tripped, instances }) => `has ${tripped} of ${instances} breakers open`
const LOADED: Trouble = ({ load }) => `has ${load} requests in flight for each server`
const TOO_FEW: Trouble = ({ tripped, instances }) => `has ${instances - tripped} servers with a closed breaker`

function troubleOf(snapshot: ZoneStats, options: ZoneAffinityOptions): Trouble | undefined {
  const { maxLoadPerServer = 0.6, maxBlackOutShare = 0.8, minAvailable = 2 } = options
  const { instances, tripped, load } = snapshot
  if (tripped / instances >= maxBlackOutShare) return TRIPPED
  if (load >= maxLoadPerServer) return LOADED
  return instances - tripped < minAvailable ? TOO_FEW : undefined
}
