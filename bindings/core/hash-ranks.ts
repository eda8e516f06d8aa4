/** @module Texts in the order of their hashes: an order that is the same wherever it is made, and like a random one. */

import type { Core } from './core.js'

/**
 * Places of the texts, ascending by XXH64 of their UTF-8.
 * @param seedText the upper 53 bits of its XXH64 are the seed: another order for each text. Default: seed 0
 */
export function ranksByHash(core: Core, texts: readonly string[], seedText?: string): number[] {
  const { exports } = core
  const encoder = new TextEncoder()
  const encoded = texts.map((text) => encoder.encode(text))
  const seedBytes = encoder.encode(seedText)
  const bytes = exports.allocate(encoded.reduce((most, { length }) => Math.max(most, length), seedBytes.length))
  const hashes = exports.allocate(Math.max(texts.length, 1) * 8)
  const ranks = exports.allocate(texts.length * 4)
  const hash = (text: Uint8Array, seed: number, at: number) => {
    new Uint8Array(exports.memory.buffer, bytes, text.length).set(text)
    exports.hashBytes(bytes, text.length, seed, at)
  }
  let seed = 0
  if (seedText !== undefined) {
    hash(seedBytes, 0, hashes)
    const [low, high] = core.i32.subarray(hashes >>> 2, (hashes >>> 2) + 2) as unknown as [number, number]
    seed = (high >>> 0) * 2 ** 21 + (low >>> 11)
  }
  encoded.forEach((text, i) => {
    hash(text, seed, hashes + i * 8)
  })
  exports.rankByHash(hashes, texts.length, ranks)
  const ranked = Array.from(core.i32.subarray(ranks >>> 2, (ranks >>> 2) + texts.length))
  for (const pointer of [bytes, hashes, ranks]) exports.release(pointer)
  return ranked
}
