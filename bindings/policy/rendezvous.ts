/** @module The instance whose hash with the key is the highest. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { byText } from './identities.js'
import { checkLoadFactor, keyedPolicy, thousandths } from './keyed-engine.js'
import { checkKeySource, type KeySource } from './request-key.js'

export interface RendezvousOptions {
  /** Default: the request's `key`. */
  key?: KeySource
  /** No instance has more than this times its share of the requests in flight: 1.25 is usual. Default: no bound. */
  loadFactor?: number
}

const check = object({ key: checkKeySource, loadFactor: checkLoadFactor })

/**
 * Requests with the same key go to the same instance: the one whose XXH64 with the key is the highest, or by weight the
 * one with the least −ln u / w. When an instance goes only its keys move, evenly to all others; a weight that changes
 * moves no key between two others. The order of the list does not matter. A request without a key goes to a random
 * instance. With `loadFactor` a key whose instance has its fill goes to the next best, as a retry does.
 * Use it up to some hundred instances. Breaks with thousands: a pick looks at each of them.
 * @see Thaler, Ravishankar 1998; Schindelhauer, Schomaker, SPAA 2005 for weights
 * @throws EVENKEEL_CONFIG for a bad option
 * @example rendezvous({ key: { attribute: 'tenant' } })
 */
export function rendezvous(options: RendezvousOptions = {}): Policy {
  check(options, 'rendezvous')
  const { key, loadFactor } = options
  const bound = thousandths(loadFactor)
  return keyedPolicy('rendezvous', key, byText, {
    build: (core, block, list, identities) => core.buildRendezvous(block, list, identities),
    pick: (core, block, list, keyLength) => core.pickRendezvous(block, list, keyLength, bound),
    lease: (core, block, list, keyLength) => core.leaseRendezvous(block, list, keyLength, bound),
  })
}
