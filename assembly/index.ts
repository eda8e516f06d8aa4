/** The exports of the core: numbers in, numbers out. Pointers are opaque to callers; layout.ts draws what they name. */

import { pickRandom } from './draw'
import { ABI_VERSION } from './layout'
import { acquire } from './lease'
import { pickLeastRequest } from './least-request'
import { pickPeakEwma } from './peak-ewma'
import { pickRoundRobin } from './round-robin'

export { createBlock, freeBlock, reserveRows, resetRow } from './block'
export { pickRandom } from './draw'
export { exclude, includeAll } from './excluded'
export { expNegative } from './exp'
export { createColumn, cutMatching, matchBits } from './filter'
export { quantile } from './histogram'
export { hashCode, nextInt, setRandomSeed, shuffle } from './java'
export { acquire, acquireRow, complete, completeAfter } from './lease'
export { pickLeastRequest } from './least-request'
export { createCut, createList, freeList, weighList } from './list'
export { pickPeakEwma } from './peak-ewma'
export { nextF64, seedBlock, startAt } from './prng'
export { pickRoundRobin } from './round-robin'
export {
  activeRequests,
  endRequest,
  isTripped,
  meanResponseMs,
  openServerStats,
  startRequest,
  trippedUntil,
} from './server-stats'
export { cutSubset } from './subset'

export function abiVersion(): i32 {
  return ABI_VERSION
}

/** Room for the caller's own bytes (columns, strings, bit sets). */
export function allocate(bytes: i32): usize {
  return heap.alloc(max(bytes, 1))
}

export function release(pointer: usize): void {
  heap.free(pointer)
}

/** Does nothing: what a call into the core costs. */
export function empty(block: usize, list: usize): i32 {
  return -1
}

/**
 * The pick functions give the index of the chosen candidate, −1 of an empty list. The lease functions pick, count
 * the candidate in flight, and give its row.
 */

export function leaseRoundRobin(block: usize, list: usize): i32 {
  return acquire(block, list, pickRoundRobin(block, list))
}

export function leaseRandom(block: usize, list: usize): i32 {
  return acquire(block, list, pickRandom(block, list))
}

export function leaseLeastRequest(block: usize, list: usize, choices: i32): i32 {
  return acquire(block, list, pickLeastRequest(block, list, choices))
}

export function leasePeakEwma(block: usize, list: usize, nowMs: f64, decayMs: f64, defaultRttMs: f64): i32 {
  return acquire(block, list, pickPeakEwma(block, list, nowMs, decayMs, defaultRttMs))
}
