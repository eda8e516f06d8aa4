/** @module How the gateway writes bytes (base64) and 64-bit numbers (texts), as the JSON mapping of proto3 has it. */

import { malformed } from '../registry/reading.js'

export function toBase64(text: string): string {
  return base64Of(new TextEncoder().encode(text))
}

/** What a range or a watch of all keys with this beginning is asked with; the empty one is all there are. */
export function rangeOf(prefix: string): { key: string; range_end: string } {
  if (prefix === '') return { key: 'AA==', range_end: 'AA==' }
  const end = new TextEncoder().encode(prefix)
  // The first key after all of them. No byte of UTF-8 is 0xff.
  end[end.length - 1] = (end.at(-1) as number) + 1
  return { key: toBase64(prefix), range_end: base64Of(end) }
}

/** @throws EVENKEEL_DISCOVERY, malformed */
export function bytesAt(value: unknown, where: string): Uint8Array {
  if (typeof value !== 'string') return malformed(where, value, 'base64')
  try {
    return Uint8Array.from(atob(value), (character) => character.charCodeAt(0))
  } catch {
    return malformed(where, value, 'base64')
  }
}

/** Left out where it is 0. @throws EVENKEEL_DISCOVERY, malformed */
export function int64At(value: unknown, where: string): number {
  if (value === undefined) return 0
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : malformed(where, value, 'a whole number')
}

function base64Of(bytes: Uint8Array): string {
  let characters = ''
  for (const byte of bytes) characters += String.fromCharCode(byte)
  return btoa(characters)
}
