/** @module A table of slots shared out evenly. */

import { type Check, number, object, refuse } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { byText } from './identities.js'
import { checkLoadFactor, keyedPolicy, thousandths } from './keyed-engine.js'
import { checkKeySource, type KeySource } from './request-key.js'

export interface MaglevOptions {
  /** Default: the request's `key`. */
  key?: KeySource
  /** Slots: a prime, up to 5 000 011. Default 65 537; above 100 × the instances shares differ by less than 1 %. Below their number some have no keys. */
  tableSize?: number
  /** No instance has more than this times its share of the requests in flight: 1.25 is usual. Default: no bound. */
  loadFactor?: number
}

/** Envoy's limit. */
const MOST_SLOTS = 5_000_011

const whole = number({ least: 2, most: MOST_SLOTS, whole: true })

const prime: Check = (value, where) => {
  whole(value, where)
  const size = value as number
  if (isPrime(size)) return
  let [below, above] = [size, size]
  while (!isPrime(below)) below--
  while (!isPrime(above)) above++
  refuse(where, value, `a prime: the nearest are ${below} and ${above}`)
}

const check = object({ key: checkKeySource, tableSize: prime, loadFactor: checkLoadFactor })

/**
 * Requests with the same key go to the same instance, by a table in which every instance has as many slots as its
 * weight says, to about one: the most even of the hashing policies, at one look-up a pick. When an instance goes its
 * keys move and few others do (of 1 000 instances at the default size: 0.1 % must, 0.65 % do); when it is back, the
 * table is the old one. The order of the list does not matter. A request without a key goes to a random instance.
 * With `loadFactor` a key whose instance has its fill walks on over the table, as a retry does.
 * Use it for many instances that should be loaded alike. Breaks when no key but the lost instance's may move (ring and
 * rendezvous keep to that), and when the list changes all the time: each change lays out the whole table.
 * @see Eisenbud et al., NSDI '16, §3.4; Envoy maglev for hashes and weights
 * @throws EVENKEEL_CONFIG for a bad option
 * @example maglev({ key: { cookie: 'session' }, tableSize: 655_373 })
 */
export function maglev(options: MaglevOptions = {}): Policy {
  check(options, 'maglev')
  const { key, tableSize = 65_537, loadFactor } = options
  const bound = thousandths(loadFactor)
  return keyedPolicy('maglev', key, byText, {
    build: (core, block, list, identities) => core.buildMaglev(block, list, identities, tableSize),
    pick: (core, block, list, keyLength) => core.pickMaglev(block, list, keyLength, bound),
    lease: (core, block, list, keyLength) => core.leaseMaglev(block, list, keyLength, bound),
    note(instances) {
      if (instances <= tableSize) return undefined
      return `${instances} instances share ${tableSize} slots: ${instances - tableSize} or more have none (tableSize)`
    },
  })
}

function isPrime(n: number): boolean {
  for (let divisor = 2; divisor * divisor <= n; divisor++) if (n % divisor === 0) return false
  return true
}
