/** @module Keeps the instances of the client's own zone. */

import { boolean, object, text } from '../config/check.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier, type Fallback, fallback } from './attribute.js'

export interface ZonePreferenceOptions {
  /** Default: the balancer's `zone`. */
  zone?: string
  /** No instance in the zone: none at all. */
  strict?: boolean
  /** No instance in the zone: 'all' (default) or 'none', which is `strict`. */
  fallback?: Fallback
}

const check = object({ zone: text, strict: boolean, fallback })

/**
 * Instances whose metadata `zone` is the own zone, ignoring case; all of them if none is, or if no own zone is set.
 * @see SCLB 4.1 ZonePreferenceServiceInstanceListSupplier
 * @example zonePreference({ zone: 'shanghai' })
 */
export function zonePreference(options: ZonePreferenceOptions = {}): Supplier {
  check(options, 'zonePreference')
  const own = options.zone?.toLowerCase()
  return attributeSupplier({
    name: 'zone-preference',
    key: 'zone',
    fallback: options.strict ? 'none' : (options.fallback ?? 'all'),
    read: (instance) => instance.metadata.zone?.toLowerCase(),
    wanted: (_, context) => own ?? context.zone?.toLowerCase(),
    fixed: true,
    unset: 'own zone unset',
  })
}
