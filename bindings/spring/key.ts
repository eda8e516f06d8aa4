/** @module A row of a table of keys: how its value is read, where it goes, and what has to be said of it. */

import { ConfigError } from '../index.js'
import { type Lookup, resolvePlaceholders } from './placeholders.js'
import type { Property } from './property.js'
import type { Reader } from './readers.js'
import type { Report } from './report.js'
import type { Settings, Slot, Slots } from './settings.js'

export interface Key {
  readonly reader: Reader<unknown>
  /** Left out: nothing of evenkeel corresponds to it. */
  readonly slot?: Slot
  /** What follows the name is the key of a map. */
  readonly map?: true
  /** SCLB reads it for all clients together only. */
  readonly global?: true
  /** A warning, if the value deserves one. */
  note?(value: never): string | undefined
}

/** A key whose value goes to a slot. */
export function to<S extends Slot>(
  slot: S,
  reader: Reader<Slots[S]>,
  note?: (value: Slots[S]) => string | undefined,
): Key {
  return { slot, reader, ...(note && { note }) }
}

/** Keys `name.<anything>`, each an entry of a map. */
export function entries(slot: Slot, reader: Reader<string>): Key {
  return { slot, reader, map: true }
}

/** A key that only deserves a warning; without one for a value that comes to the same. */
export function unused<T>(reader: Reader<T>, note: (value: T) => string | undefined): Key {
  return { reader, note }
}

export function globally(key: Key): Key {
  return { ...key, global: true }
}

export interface Reading {
  readonly lookup: Lookup
  readonly report: Report
}

/**
 * Reads a property by its row into settings.
 * @throws EVENKEEL_CONFIG if the value is unreadable
 */
export function apply(key: Key, property: Property, mapKey: string, settings: Settings, reading: Reading): void {
  const value = readValue(key.reader, property, reading)
  if (value === undefined) return
  const note = (key.note as ((value: unknown) => string | undefined) | undefined)?.(value)
  if (note !== undefined) reading.report.warn(property, note)
  if (key.slot === undefined) return
  if (key.map) settings.put(key.slot, mapKey, value, property)
  else settings.set(key.slot, value, property)
}

/**
 * The value of a property; undefined if it is blank, or has a placeholder that nothing defines.
 * @throws EVENKEEL_CONFIG if it is unreadable
 */
export function readValue<T>(reader: Reader<T>, property: Property, { lookup, report }: Reading): T | undefined {
  const { text, missing } = resolvePlaceholders(property.value, lookup)
  if (missing.length > 0) {
    report.warn(property, `not read: neither the file nor \`environment\` says what ${placeholders(missing)} is`)
    return undefined
  }
  const trimmed = text.trim()
  if (trimmed === '' && !reader.takesBlank) return undefined
  const value = reader.read(trimmed)
  if (value === undefined) throw unreadable(property, reader.accepts, text)
  return value
}

function placeholders(names: readonly string[]): string {
  return names.map((name) => `\${${name}}`).join(', ')
}

export function unreadable({ key, value, line }: Property, accepted: string, text = value): ConfigError {
  const place = line === undefined ? '' : ` (line ${line})`
  return new ConfigError(`${key}${place} must be ${accepted}, not ${JSON.stringify(text)}`, { option: key })
}
