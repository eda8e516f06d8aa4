/** @module Reading a registry's JSON: what is not of the expected shape is a malformed answer, named by its place. */

import { isObject } from '../../config/check.js'
import { DiscoveryError } from '../../errors.js'
import { show } from '../../show.js'

/** @throws EVENKEEL_DISCOVERY, malformed */
export function malformed(where: string, value: unknown, expected: string): never {
  const shown = value === undefined ? 'missing' : `not ${show(value)}`
  throw new DiscoveryError(`${where} must be ${expected}, ${shown}`, { failure: 'malformed' })
}

export function objectAt(value: unknown, where: string): Record<string, unknown> {
  return isObject(value) ? value : malformed(where, value, 'an object')
}

export function arrayAt(value: unknown, where: string): readonly unknown[] {
  return Array.isArray(value) ? value : malformed(where, value, 'an array')
}

export function textAt(value: unknown, where: string): string {
  return typeof value === 'string' ? value : malformed(where, value, 'a text')
}

/** A host name or address, alone. IPv6 is answered without its brackets. */
export function hostAt(value: unknown, where: string): string {
  const bare = typeof value === 'string' ? value.replace(/^\[(.*)\]$/s, '$1') : ''
  return /^[^\s/?#@\\[\]]+$/.test(bare) ? bare : malformed(where, value, 'a host name or address')
}

/** A port, as a number or as the text of one. */
export function portAt(value: unknown, where: string): number {
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  const isPort = Number.isInteger(port) && (port as number) > 0 && (port as number) <= 65_535
  return isPort ? (port as number) : malformed(where, value, 'a port from 1 to 65535')
}

/** A map of texts; registries say numbers and booleans too, which count as what they are written as. */
export function textsAt(value: unknown, where: string): Record<string, string> {
  if (value === undefined || value === null) return {}
  const texts: Record<string, string> = {}
  for (const [key, each] of Object.entries(objectAt(value, where))) {
    if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean') texts[key] = String(each)
  }
  return texts
}
