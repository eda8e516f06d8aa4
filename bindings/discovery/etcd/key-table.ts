/** @module The keys of one service as they are now, each read once. */

import { DiscoveryError } from '../../errors.js'
import { messageOf } from '../message-of.js'
import type { Found } from '../registry/list-keeper.js'
import type { EntryReader } from './entry.js'
import type { KeyRange, KeyValue } from './key-value.js'

/** undefined: no instance; a text: why it could not be read. */
type Row = Found | string | undefined

export class KeyTable {
  readonly #prefix: string
  readonly #read: EntryReader
  readonly #rows = new Map<string, Row>()
  #revision: number

  constructor(prefix: string, read: EntryReader, { keyValues, revision }: KeyRange) {
    this.#prefix = prefix
    this.#read = read
    this.#revision = revision
    for (const each of keyValues) this.put(each)
  }

  /** All changes up to this one are in here. */
  get revision(): number {
    return this.#revision
  }

  get size(): number {
    return this.#rows.size
  }

  put(keyValue: KeyValue): void {
    this.#rows.set(keyValue.id, this.#rowOf(keyValue))
    this.reached(keyValue.modRevision)
  }

  delete({ id, modRevision }: KeyValue): void {
    this.#rows.delete(id)
    this.reached(modRevision)
  }

  reached(revision: number): void {
    if (revision > this.#revision) this.#revision = revision
  }

  /** @throws EVENKEEL_DISCOVERY, malformed, if there are entries and none can be read */
  entries(): { found: readonly Found[]; unreadable: readonly string[] } {
    const found: Found[] = []
    const unreadable: string[] = []
    for (const row of this.#rows.values()) {
      if (typeof row === 'string') unreadable.push(row)
      else if (row !== undefined) found.push(row)
    }
    if (found.length > 0 || unreadable.length === 0) return { found, unreadable }
    const message = `none of ${unreadable.length} values under "${this.#prefix}" can be read: ${unreadable[0]}`
    throw new DiscoveryError(message, { failure: 'malformed' })
  }

  #rowOf({ key, value }: KeyValue): Row {
    const rest = key.slice(this.#prefix.length)
    // The mark of a folder, as those who think of keys as paths leave them.
    if (rest === '' && value === '') return undefined
    if (value === undefined) return `"${key}": the value is no UTF-8`
    try {
      return this.#read(key, rest, value)
    } catch (error) {
      return `"${key}": ${messageOf(error)}`
    }
  }
}
