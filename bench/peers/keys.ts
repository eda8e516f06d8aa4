/** @module The keys that hashing contestants are asked for, one after the other. */

/** More than the caches of some of them hold. A power of two, as all counts of keys: `op & (count − 1)` goes round. */
export const MANY_KEYS = 16_384
/** Held by all caches. */
export const FEW_KEYS = 512

export function keysOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `user-${i}-session`)
}
