/** @module Keeps the instances of the client's own zone. */

import { boolean, object, text } from '../config/check.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
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
  const own = folded(options.zone)
  return attributeSupplier({
    name: 'zone-preference',
    key: 'zone',
    fallback: fallbackOf(options, 'all', 'zonePreference'),
    read: zoneOf,
    wanted(context) {
      const zone = own ?? folded(context.zone)
      return () => zone
    },
    unset: 'own zone unset',
    memo: 'fixed',
    mayHideRequest: true,
  })
}

/** The column that `zoneOf` fills. */
export const ZONE_COLUMN = 'zone-preference zone'

/** The instance's zone, to be compared with a folded one. */
export function zoneOf(instance: ServiceInstance): string | undefined {
  return folded(instance.metadata.zone)
}

/** What java.lang.String.equalsIgnoreCase compares: the lower case of the upper case, character by character. */
export function folded(text: string | undefined): string | undefined {
  if (text === undefined || /^[\0-\x7f]*$/.test(text)) return text?.toLowerCase()
  return Array.from(text, (character) => {
    const upper = alone(character.toUpperCase(), character)
    return upper === '\u0130' ? 'i' : alone(upper.toLowerCase(), upper)
  }).join('')
}

/** Java leaves alone what becomes several characters. */
function alone(changed: string, character: string): string {
  return [...changed].length === 1 ? changed : character
}
