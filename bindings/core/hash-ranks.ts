/** @module Texts in the order of their hashes: an order that is the same wherever it is made, and like a random one. */

import type { Core } from './core.js'
import { mostUtf8, writeUtf8 } from './utf8.js'

/**
 * Places of the texts, ascending by XXH64 of their UTF-8.
 * @param seedText the upper 53 bits of its XXH64 are the seed: another order for each text. Default: seed 0
 */
export function ranksByHash(core: Core, texts: readonly string[], seedText?: string): number[] {
  const { exports } = core
  const bytes = exports.allocate(texts.reduce((most, text) => Math.max(most, mostUtf8(text)), mostUtf8(seedText ?? '')))
  const hashes = exports.allocate(Math.max(texts.length, 1) * 8)
  const hash = (text: string, seed: number, at: number) => {
    exports.hashBytes(bytes, writeUtf8(text, core.u8, bytes) - bytes, seed, at)
  }
  let seed = 0
  if (seedText !== undefined) {
    hash(seedText, 0, hashes)
    const [low, high] = core.i32.subarray(hashes >>> 2, (hashes >>> 2) + 2) as unknown as [number, number]
    seed = (high >>> 0) * 2 ** 21 + (low >>> 11)
  }
  texts.forEach((text, i) => {
    hash(text, seed, hashes + i * 8)
  })
  // The low half of each hash, then the high one.
  const halves = Uint32Array.from(core.i32.subarray(hashes >>> 2, (hashes >>> 2) + texts.length * 2))
  for (const pointer of [bytes, hashes]) exports.release(pointer)
  const half = (i: number) => halves[i] as number
  return texts.map((_, i) => i).sort((a, b) => half(2 * a + 1) - half(2 * b + 1) || half(2 * a) - half(2 * b))
}
