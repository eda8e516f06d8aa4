/** @module Keeps the instances of the client's own zone. */

import { checkOptions, optionalBoolean, optionalText } from '../config/check.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier, checkFallback, type Fallback } from './attribute.js'

export interface ZonePreferenceOptions {
  /** Default: the balancer's `zone`. */
  zone?: string
  /** No instance in the zone: none at all. */
  strict?: boolean
  /** No instance in the zone: 'all' (default) or 'none', which is `strict`. */
  fallback?: Fallback
}

/**
 * Instances whose metadata `zone` is the own zone, ignoring case; all of them if none is, or if no own zone is set.
 * @see SCLB 4.1 ZonePreferenceServiceInstanceListSupplier
 * @example zonePreference({ zone: 'shanghai' })
 */
export function zonePreference(options: ZonePreferenceOptions = {}): Supplier {
  checkOptions('zonePreference', options, ['zone', 'strict', 'fallback'])
  const own = optionalText('zonePreference.zone', options.zone)?.toLowerCase()
  const strict = optionalBoolean('zonePreference.strict', options.strict) ?? false
  return attributeSupplier({
    name: 'zone-preference',
    key: 'zone',
    fallback: strict ? 'none' : checkFallback(options.fallback ?? 'all', 'zonePreference.fallback'),
    read: (instance) => instance.metadata.zone?.toLowerCase(),
    wanted: (_, context) => own ?? context.zone?.toLowerCase(),
    fixed: true,
    unset: 'own zone unset',
  })
}
