/** @module Numbers that look random and are the same in every run. */

/** In [0, below), from the upper bits of a multiplicative hash of `i`. */
export function scattered(i: number, below: number): number {
  return Math.floor(((Math.imul(i + 1, 0x9e3779b1) >>> 0) / 2 ** 32) * below)
}

/** 1024 latencies from 1 to 100 ms. */
export const LATENCIES_MS: readonly number[] = Array.from({ length: 1024 }, (_, i) => 1 + scattered(i, 9_900) / 100)
