/** @module Keeps the instances of the client's own zone. */

import { boolean, object, text } from '../config/check.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier } from './attribute.js'
import { type Fallback, fallback, fallbackOf } from './fallback.js'

export interface ZonePreferenceOptions {
  /** Default: the balancer's `zone`. */
  zone?: string
  /** No instance in the zone: none at all. */
  strict?: boolean
  /** No instance in the zone: 'all' by default; 'none' is `strict`. */
  fallback?: Fallback
}

const check = object({ zone: text, strict: boolean, fallback })

/**
 * Instances whose metadata `zone` is the own zone, ignoring case; if none is, the fallback. All of them if no own
 * zone is set.
 * Breaks when the own zone has few instances and many clients: they get all its load, whatever the other zones have
 * to spare.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see SCLB 4.1 ZonePreferenceServiceInstanceListSupplier
 * @example zonePreference({ zone: 'shanghai' })
 */
export function zonePreference(options: ZonePreferenceOptions = {}): Supplier {
  check(options, 'zonePreference')
  const own = options.zone?.toLowerCase()
  return attributeSupplier({
    name: 'zone-preference',
    key: 'zone',
    fallback: fallbackOf(options, 'all', 'zonePreference'),
    read: (instance) => instance.metadata.zone?.toLowerCase(),
    wanted: (_, context) => own ?? context.zone?.toLowerCase(),
    unset: 'own zone unset',
    memo: 'fixed',
    mayHideRequest: true,
  })
}
