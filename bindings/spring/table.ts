/** @module Looking up keys in a table by their relaxed names. */

import type { Key } from './key.js'
import { type Element, relaxed, relaxedName, spelled } from './name.js'

export interface Found {
  readonly key: Key
  readonly name: string
  /** Of a map: the rest of the name, as it is spelled. */
  readonly mapKey: string
}

export interface Table {
  readonly names: readonly string[]
  find(elements: readonly Element[]): Found | undefined
}

export function tableOf(keys: Readonly<Record<string, Key>>): Table {
  const rows = new Map(
    Object.entries(keys).map(([name, key]) => [name.split('.').map(relaxed).join('.'), { name, key }]),
  )
  return {
    names: Object.keys(keys),
    find(elements) {
      for (let length = elements.length; length > 0; length--) {
        const row = rows.get(relaxedName(elements.slice(0, length)))
        if (row === undefined) continue
        // A map needs a key, and all else has none.
        const rest = elements.slice(length)
        if (row.key.map ? rest.length > 0 : rest.length === 0) return { ...row, mapKey: spelled(rest) }
      }
      return undefined
    },
  }
}
