import { LIST_TABLE } from './layout'
import { positionOf, putPosition } from './place'

/**
 * The interleaved weighted rotation of SCLB (LazyWeightedServiceInstanceList) without its expanded list. Its cycle
 * is, for r = 1, 2, …, max W: every i in list order with W_i ≥ r. With the distinct weights u_1 < u_2 < … (u_0 = 0)
 * and c_j = |{i: W_i ≥ u_j}|, level j is (u_j − u_{j−1}) repetitions of the same c_j candidates. So a place in the
 * cycle is a level, found by its first place, and the remainder by c_j.
 *
 *    0        8        16       24       28       32       36       40           44        48
 *    ┌────────┬────────┬────────┬────────┬────────┬────────┬────────┬────────────┬─────────┬─────────┬──────────┬────────┐
 *    │ cycle  │ at     │ place  │ level  │ turn   │ levels │ length │ levelTable │ active  │ weights │ level    │ active │
 *    │ u64    │ u64    │ u64    │ i32    │ i32    │ i32    │ i32    │ ptr        │ ptr     │ u64 × n │ entries  │ i32 ×n │
 *    └────────┴────────┴────────┴────────┴────────┴────────┴────────┴────────────┴─────────┴─────────┴──────────┴────────┘
 *
 * `active` holds the indexes of the level at hand, in list order. The next level's are a subset, and level j lasts at
 * least c_j picks, so walking on costs one move a pick, amortised. Going back a level, or on to the next cycle, lists
 * them again in O(n). Memory is O(n) at any weights.
 */
const CYCLE: usize = 0
const AT: usize = 8
const PLACE: usize = 16
const LEVEL: usize = 24
const TURN: usize = 28
const LEVELS: usize = 32
const LENGTH: usize = 36
const LEVEL_TABLE: usize = 40
const ACTIVE: usize = 44
const WEIGHTS: usize = 48

/** Level entry: the place where it begins, its least weight u_j, how many candidates c_j. */
const LEVEL_BYTES: usize = 24
const LEVEL_START: usize = 0
const LEVEL_WEIGHT: usize = 8
const LEVEL_COUNT: usize = 16

/** Builds the table of `length` weights (u64 each, some positive). One allocation. */
export function buildRotation(weights: usize, length: i32): usize {
  const sorted = sortedCopy(weights, length)
  let levels = 0
  let previous: u64 = 0
  for (let i = 0; i < length; i++) {
    const weight = load<u64>(sorted + (usize(i) << 3))
    if (weight !== previous) levels++
    previous = weight
  }
  const weightBytes = usize(length) << 3
  const levelBytes = usize(levels) * LEVEL_BYTES
  const table = heap.alloc(WEIGHTS + weightBytes + levelBytes + (usize(length) << 2))
  memory.fill(table, 0, WEIGHTS)
  memory.copy(table + WEIGHTS, weights, weightBytes)
  const levelTable = table + WEIGHTS + weightBytes
  let place: u64 = 0
  let level = levelTable
  previous = 0
  for (let i = 0; i < length; i++) {
    const weight = load<u64>(sorted + (usize(i) << 3))
    if (weight === previous) continue
    store<u64>(level, place, LEVEL_START)
    store<u64>(level, weight, LEVEL_WEIGHT)
    store<i32>(level, length - i, LEVEL_COUNT)
    place += (weight - previous) * u64(length - i)
    previous = weight
    level += LEVEL_BYTES
  }
  heap.free(sorted)
  store<u64>(table, place, CYCLE)
  store<i32>(table, levels, LEVELS)
  store<i32>(table, length, LENGTH)
  store<usize>(table, levelTable, LEVEL_TABLE)
  store<usize>(table, levelTable + levelBytes, ACTIVE)
  enter(table, 0)
  return table
}

/** The next pick of the interleaved rotation, by the list's 64-bit position. */
export function nextInterleaved(block: usize, list: usize): i32 {
  const table = load<usize>(list, LIST_TABLE)
  const position = positionOf(block, list)
  putPosition(block, list, position + 1)
  const cycle = load<u64>(table, CYCLE)
  const moved = position - load<u64>(table, AT)
  store<u64>(table, position, AT)
  let place = load<u64>(table, PLACE) + moved
  const wrapped = place >= cycle
  if (wrapped) place %= cycle
  store<u64>(table, place, PLACE)
  let level = load<i32>(table, LEVEL)
  let entry = levelEntry(table, level)
  if (!wrapped && place >= load<u64>(entry, LEVEL_START) && place < levelEnd(table, level)) {
    // Mostly the next turn of the same level: no division.
    const count = load<i32>(entry, LEVEL_COUNT)
    let turn = u64(load<i32>(table, TURN)) + moved
    if (turn >= u64(count)) {
      turn -= u64(count)
      if (turn >= u64(count)) turn = (place - load<u64>(entry, LEVEL_START)) % u64(count)
    }
    store<i32>(table, i32(turn), TURN)
  } else {
    level = findLevel(table, place)
    if (level !== load<i32>(table, LEVEL)) enter(table, level)
    entry = levelEntry(table, level)
    store<i32>(table, i32((place - load<u64>(entry, LEVEL_START)) % u64(load<i32>(entry, LEVEL_COUNT))), TURN)
  }
  return load<i32>(load<usize>(table, ACTIVE) + (usize(load<i32>(table, TURN)) << 2))
}

function levelEntry(table: usize, level: i32): usize {
  return load<usize>(table, LEVEL_TABLE) + usize(level) * LEVEL_BYTES
}

function levelEnd(table: usize, level: i32): u64 {
  return level + 1 < load<i32>(table, LEVELS)
    ? load<u64>(levelEntry(table, level + 1), LEVEL_START)
    : load<u64>(table, CYCLE)
}

/** The last level that begins at or before `place`. */
function findLevel(table: usize, place: u64): i32 {
  let low = 0
  let high = load<i32>(table, LEVELS) - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (load<u64>(levelEntry(table, middle), LEVEL_START) <= place) low = middle
    else high = middle - 1
  }
  return low
}

/** Lists the candidates of a level, in list order: from those of the level before, or from all. */
function enter(table: usize, level: i32): void {
  const active = load<usize>(table, ACTIVE)
  const weights = table + WEIGHTS
  const least = load<u64>(levelEntry(table, level), LEVEL_WEIGHT)
  const from = load<i32>(table, LEVEL)
  const narrowed = level > from && level > 0
  const length = narrowed ? load<i32>(levelEntry(table, from), LEVEL_COUNT) : load<i32>(table, LENGTH)
  let count = 0
  for (let i = 0; i < length; i++) {
    const index = narrowed ? load<i32>(active + (usize(i) << 2)) : i
    if (load<u64>(weights + (usize(index) << 3)) < least) continue
    store<i32>(active + (usize(count) << 2), index)
    count++
  }
  assert(count === load<i32>(levelEntry(table, level), LEVEL_COUNT))
  store<i32>(table, level, LEVEL)
}

/** The weights in ascending order: a radix sort by the bytes in which they differ. The caller frees it. */
export function sortedCopy(weights: usize, length: i32): usize {
  const bytes = usize(length) << 3
  let from = heap.alloc(bytes)
  let to = heap.alloc(bytes)
  const counts = heap.alloc(256 << 2)
  memory.copy(from, weights, bytes)
  let differing: u64 = 0
  const first = load<u64>(weights)
  for (let p = weights, end = weights + bytes; p < end; p += 8) differing |= load<u64>(p) ^ first
  for (let shift: u64 = 0; shift < 64; shift += 8) {
    if (((differing >> shift) & 0xff) === 0) continue
    memory.fill(counts, 0, 256 << 2)
    for (let p = from, end = from + bytes; p < end; p += 8) {
      const count = counts + (usize((load<u64>(p) >> shift) & 0xff) << 2)
      store<i32>(count, load<i32>(count) + 1)
    }
    let sum = 0
    for (let digit = 0; digit < 256; digit++) {
      const count = load<i32>(counts + (usize(digit) << 2))
      store<i32>(counts + (usize(digit) << 2), sum)
      sum += count
    }
    for (let p = from, end = from + bytes; p < end; p += 8) {
      const weight = load<u64>(p)
      const count = counts + (usize((weight >> shift) & 0xff) << 2)
      const at = load<i32>(count)
      store<i32>(count, at + 1)
      store<u64>(to + (usize(at) << 3), weight)
    }
    const swap = from
    from = to
    to = swap
  }
  heap.free(to)
  heap.free(counts)
  return from
}
