/** @module The bytes of a request's key in the core, where a pick by key hashes them. */

import { ConfigError } from '../errors.js'
import type { CoreExports } from './exports.js'
import { mostUtf8, writeUtf8 } from './utf8.js'

/** What policies hash: numbers count as their text. */
export type Key = string | number | bigint

/** What a pick is told where the request has no key. */
export const NO_KEY = -1

/** Longer ones are no keys but mistakes, and the core would keep the room for them. */
const MOST_CHARACTERS = 1 << 20

export class KeyBytes {
  readonly #exports: CoreExports
  /** Growing memory detaches the views of a WebAssembly.Memory, which is quicker to see than to ask for its buffer. */
  readonly #detaches: boolean
  #bytes = new Uint8Array()

  constructor(exports: CoreExports) {
    this.#exports = exports
    this.#detaches = typeof WebAssembly === 'object' && exports.memory instanceof WebAssembly.Memory
  }

  /**
   * Puts the key in place. How many bytes of UTF-8 it has, as the pick functions want to be told; NO_KEY without one.
   * @throws EVENKEEL_CONFIG for one of more than 2^20 UTF-16 units
   */
  put(key: Key | undefined): number {
    if (key === undefined) return NO_KEY
    const text = typeof key === 'string' ? key : String(key)
    if (text.length > MOST_CHARACTERS) {
      throw new ConfigError(`a key of ${text.length} characters: ${MOST_CHARACTERS} are the most; hash it before`)
    }
    return writeUtf8(text, this.#room(mostUtf8(text)), 0)
  }

  #room(bytes: number): Uint8Array {
    const known = this.#bytes
    if (known.length >= bytes && known.length > 0 && (this.#detaches || known.buffer === this.#exports.memory.buffer)) {
      return known
    }
    const room = Math.max(bytes, 2 * known.length, 256)
    const at = this.#exports.keyBuffer(room)
    return (this.#bytes = new Uint8Array(this.#exports.memory.buffer, at, room))
  }
}
