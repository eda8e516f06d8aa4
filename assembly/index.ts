/** The exports of the core: numbers in, numbers out. Pointers are opaque to callers; layout.ts draws what they name. */

import { pickRandom } from './draw'
import { jump, pickJump } from './jump'
import { ABI_VERSION } from './layout'
import { acquire } from './lease'
import { pickLeastRequest } from './least-request'
import { pickMaglev } from './maglev'
import { pickPeakEwma } from './peak-ewma'
import { pickRendezvous } from './rendezvous'
import { pickRing } from './ring'
import { pickRoundRobin } from './round-robin'

export { isAvailable, pickAvailable, pickBestAvailable } from './availability'
export { createBlock, freeBlock, reserveRows, resetRow } from './block'
export { pickRandom } from './draw'
export { pickDynamicWeight } from './dynamic-weight'
export { pickEdf } from './edf'
export { exclude, includeAll } from './excluded'
export { expNegative } from './exp'
export { createColumn, cutMatching, matchBits } from './filter'
export { quantile } from './histogram'
export { pickInTurn, pickRandomUp, turnAmong } from './in-turn'
export { hashCode, nextInt, setRandomSeed, shuffle } from './java'
export { buildJump, pickJump } from './jump'
export { keyBuffer } from './key'
export { acquire, acquireRow, complete, completeAfter } from './lease'
export { pickLeastConnections, pickLeastResponseTime } from './least-loaded'
export { pickLeastRequest, pickLeastRequestEnvoy } from './least-request'
export { createCut, createList, freeList, weighList } from './list'
export { ln } from './ln'
export { buildMaglev, pickMaglev } from './maglev'
export { endPaced, openPaces, startPaced } from './pace'
export { pickPeakEwma } from './peak-ewma'
export { forgetPlace } from './place'
export { nextF64, seedBlock, startAt } from './prng'
export { noteRecent, openRecent } from './recent'
export { pickRelativeWeight } from './relative-weight'
export { buildRendezvous, pickRendezvous } from './rendezvous'
export { openPublishedWeights, ownerByResponseTime, pickByResponseTime } from './response-weights'
export { buildRing, buildSizedRing, pickRing } from './ring'
export { pickRoundRobin } from './round-robin'
export {
  activeRequests,
  endRequest,
  failuresInWindow,
  isTripped,
  meanResponseMs,
  openServerStats,
  requestsInWindow,
  startRequest,
  trippedUntil,
} from './server-stats'
export { pickSmooth } from './smooth'
export { pickStride } from './stride'
export { cutSubset } from './subset'
export { openWindows, recordInWindow, sampleWindows } from './window'
export { hashBytes } from './xxh64'
export { beginZoneTurns, exchangeTurns, reserveZoneTurns } from './zone-turns'
export {
  availableZones,
  createZones,
  drawZone,
  isZoneOpenNow,
  judgeZones,
  openZoneAtPlace,
  pickZoneAvoiding,
} from './zones'

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
 * the candidate in flight, and give its row: for the quickest picks, where a call of its own for that would be felt.
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

export function leaseRing(block: usize, list: usize, keyLength: i32, loadFactor: i32): i32 {
  return acquire(block, list, pickRing(block, list, keyLength, loadFactor))
}

export function leaseMaglev(block: usize, list: usize, keyLength: i32, loadFactor: i32): i32 {
  return acquire(block, list, pickMaglev(block, list, keyLength, loadFactor))
}

export function leaseRendezvous(block: usize, list: usize, keyLength: i32, loadFactor: i32): i32 {
  return acquire(block, list, pickRendezvous(block, list, keyLength, loadFactor))
}

export function leaseJump(block: usize, list: usize, keyLength: i32): i32 {
  return acquire(block, list, pickJump(block, list, keyLength))
}

/** The jump bucket of the u64 at `key`. */
export function jumpBucket(key: usize, buckets: i32): i32 {
  return jump(load<u64>(key), buckets)
}
