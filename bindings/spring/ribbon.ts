/** @module Reads Ribbon's keys, of all clients and of each. */

import { nearest } from './distance.js'
import { apply, type Reading } from './key.js'
import { relaxed, spelled } from './name.js'
import type { Property } from './property.js'
import { RIBBON_KEYS } from './ribbon-keys.js'
import type { Scopes } from './scopes.js'
import { tableOf } from './table.js'

const TABLE = tableOf(RIBBON_KEYS)

/** Reads the property if it is one of these. */
export function readRibbon(property: Property, scopes: Scopes, reading: Reading): boolean {
  const { elements } = property
  const at = elements.findIndex(({ text }) => relaxed(text) === 'ribbon')
  if (at < 0 || at === elements.length - 1 || elements[0]?.text === 'spring') return false
  const settings = at === 0 ? scopes.all : scopes.client(spelled(elements.slice(0, at)))
  const name = elements.slice(at + 1)
  const found = TABLE.find(name)
  if (found !== undefined) apply(found.key, property, found.mapKey, settings, reading)
  else {
    const near = nearest(spelled(name), TABLE.names)
    const effect = near !== undefined && RIBBON_KEYS[near]?.slot === undefined ? ' It is not translated either' : ''
    const meant = near === undefined ? '' : `; did you mean ${near}?${effect}`
    reading.report.warn(property, `not read: Ribbon has no such key${meant}`)
  }
  return true
}
