/** @module The next point on a ring of hashes, clockwise. */

import { type Check, number, object } from '../config/check.js'
import { ConfigError } from '../errors.js'
import type { Policy } from '../types/extension.js'
import { byText } from './identities.js'
import { checkLoadFactor, type KeyedCalls, keyedPolicy, thousandths } from './keyed-engine.js'
import { checkKeySource, type KeySource } from './request-key.js'

/** What the ring is like. */
export interface RingOptions {
  /** Points of an instance of weight 1, however many others there are. Default 160, ketama's. */
  pointsPerInstance?: number
  /** Instead of `pointsPerInstance`, Envoy's form: as many points as this in all, shared by weight; Envoy's own is 1024. */
  minRingSize?: number
  /** The most points in all; each has one at least. Default 262 144; with `minRingSize` 8 388 608, Envoy's. */
  maxRingSize?: number
  /** No instance has more than this times its share of the requests in flight: 1.25 is usual. Default: no bound. */
  loadFactor?: number
}

export interface RingHashOptions extends RingOptions {
  /** Default: the request's `key`. */
  key?: KeySource
}

const MOST_POINTS = 8_388_608
/** Some 25 ms to lay out, and 5 MB. */
const DEFAULT_MOST_POINTS = 262_144

export const RING: Record<keyof RingOptions, Check> = {
  pointsPerInstance: number({ least: 1, most: 65_536, whole: true }),
  minRingSize: number({ least: 1, most: MOST_POINTS, whole: true }),
  maxRingSize: number({ least: 1, most: MOST_POINTS, whole: true }),
  loadFactor: checkLoadFactor,
}

const check = object({ ...RING, key: checkKeySource })

/**
 * Requests with the same key go to the same instance. Each instance has points "<instanceId>_<j>" on the circle of
 * XXH64 hashes, `pointsPerInstance` for a weight of 1; a key belongs to the first point at or after its own hash. When an
 * instance goes, or its weight changes, only keys from it or to it move, and come back with it. That holds below
 * `maxRingSize`: where the points would be more in all, everybody has half of them, or a quarter, and so on, and when
 * the list comes to such a limit about half of the keys move once. So give weights near 1, or a smaller
 * `pointsPerInstance`: a weight of 1 000 is 160 000 points. The order of the list does not matter. A request without a key goes to a random instance.
 * With `loadFactor` a key whose instance has its fill walks on to the next one clockwise, as a retry does.
 * Use it for caches and sessions. Breaks when few keys make most of the traffic, unless loads are bounded; shares
 * differ by about 8 % at 160 points an instance: Maglev is more even.
 * @see Karger et al., STOC '97; ketama; Envoy ring_hash; Mirrokni et al., arXiv 1608.01350 for bounded loads
 * @throws EVENKEEL_CONFIG for a bad option
 * @example ringHash({ key: { header: 'x-user-id' }, loadFactor: 1.25 })
 */
export function ringHash(options: RingHashOptions = {}): Policy {
  check(options, 'ringHash')
  return keyedPolicy('ring-hash', options.key, byText, ringCalls(options, 'ringHash'))
}

/** @param where the factory, for messages */
export function ringCalls(options: RingOptions, where: string): KeyedCalls {
  const { pointsPerInstance, minRingSize, maxRingSize, loadFactor } = options
  if (minRingSize !== undefined && pointsPerInstance !== undefined) {
    throw new ConfigError(`${where} takes pointsPerInstance or minRingSize, not both`, {
      option: `${where}.minRingSize`,
    })
  }
  const most = maxRingSize ?? (minRingSize === undefined ? DEFAULT_MOST_POINTS : MOST_POINTS)
  if (minRingSize !== undefined && minRingSize > most) {
    throw new ConfigError(`${where}.minRingSize must be at most maxRingSize, which is ${most}, not ${minRingSize}`, {
      option: `${where}.minRingSize`,
    })
  }
  const points = pointsPerInstance ?? 160
  const bound = thousandths(loadFactor)
  return {
    build(core, block, list, identities) {
      if (minRingSize === undefined) core.buildRing(block, list, identities, points, most)
      else core.buildSizedRing(block, list, identities, minRingSize, most)
    },
    pick: (core, block, list, keyLength) => core.pickRing(block, list, keyLength, bound),
    lease: (core, block, list, keyLength) => core.leaseRing(block, list, keyLength, bound),
  }
}
