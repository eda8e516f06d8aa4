import { HISTOGRAM_BYTES } from './histogram'
import {
  BLOCK_BYTES,
  BLOCK_CAPACITY,
  BLOCK_HISTOGRAMS,
  BLOCK_METERS,
  BLOCK_PACES,
  BLOCK_RECENT,
  BLOCK_ROWS,
  BLOCK_SERVER_STATS,
  BLOCK_SHARES,
  BLOCK_TURNS,
  BLOCK_WINDOWS,
  BLOCK_ZONE_TURNS,
  METER_BYTES,
  PACE_BYTES,
  RECENT_BYTES,
  ROW_DOWN,
  ROW_EWMA,
  ROW_IN_FLIGHT,
  ROW_SHIFT,
  ROW_WEIGHT,
  SERVER_STATS_BYTES,
  TURN_BYTES,
  WINDOW_BYTES,
} from './layout'

/** A zeroed block without rows. */
export function createBlock(): usize {
  const block = heap.alloc(BLOCK_BYTES)
  memory.fill(block, 0, BLOCK_BYTES)
  return block
}

export function freeBlock(block: usize): void {
  freeAt(block + BLOCK_ROWS)
  freeAt(block + BLOCK_METERS)
  freeAt(block + BLOCK_HISTOGRAMS)
  freeAt(block + BLOCK_WINDOWS)
  freeAt(block + BLOCK_SERVER_STATS)
  freeAt(block + BLOCK_PACES)
  freeAt(block + BLOCK_RECENT)
  freeAt(block + BLOCK_TURNS)
  freeAt(block + BLOCK_SHARES)
  freeAt(block + BLOCK_ZONE_TURNS)
  heap.free(block)
}

function freeAt(slot: usize): void {
  const column = load<usize>(slot)
  if (column) heap.free(column)
}

/** Makes room for `capacity` rows; rows in use keep their numbers and contents. Never shrinks. */
export function reserveRows(block: usize, capacity: i32): void {
  const old = load<i32>(block, BLOCK_CAPACITY)
  if (capacity <= old) return
  store<usize>(block, grow(load<usize>(block, BLOCK_ROWS), old << ROW_SHIFT, capacity << ROW_SHIFT), BLOCK_ROWS)
  store<usize>(block, grow(load<usize>(block, BLOCK_METERS), old * METER_BYTES, capacity * METER_BYTES), BLOCK_METERS)
  growColumn(block + BLOCK_HISTOGRAMS, HISTOGRAM_BYTES, old, capacity)
  growColumn(block + BLOCK_WINDOWS, WINDOW_BYTES, old, capacity)
  growColumn(block + BLOCK_SERVER_STATS, SERVER_STATS_BYTES, old, capacity)
  growColumn(block + BLOCK_PACES, PACE_BYTES, old, capacity)
  growColumn(block + BLOCK_RECENT, RECENT_BYTES, old, capacity)
  growColumn(block + BLOCK_TURNS, TURN_BYTES, old, capacity)
  growColumn(block + BLOCK_SHARES, 8, old, capacity)
  store<i32>(block, capacity, BLOCK_CAPACITY)
}

function grow(old: usize, oldBytes: usize, newBytes: usize): usize {
  const grown = old ? heap.realloc(old, newBytes) : heap.alloc(newBytes)
  memory.fill(grown + oldBytes, 0, newBytes - oldBytes)
  return grown
}

function growColumn(slot: usize, bytes: usize, old: i32, capacity: i32): void {
  const column = load<usize>(slot)
  if (column) store<usize>(slot, grow(column, bytes * usize(old), bytes * usize(capacity)))
}

/** The side column at this place of the block, made of zeroes for all rows when first asked for. */
export function openColumn(block: usize, slot: usize, bytes: usize): usize {
  const column = load<usize>(block + slot)
  if (column) return column
  const made = grow(0, 0, max<usize>(bytes * usize(load<i32>(block, BLOCK_CAPACITY)), 8))
  store<usize>(block + slot, made)
  return made
}

/** The row of an instance not seen before: nothing in flight, no latency known, all else at zero. */
export function resetRow(block: usize, row: i32): void {
  assert(u32(row) < u32(load<i32>(block, BLOCK_CAPACITY)))
  const hot = rowOf(block, row)
  store<i32>(hot, 0, ROW_IN_FLIGHT)
  store<i32>(hot, 0, ROW_DOWN)
  store<f64>(hot, -1, ROW_EWMA)
  store<f64>(hot, 1, ROW_WEIGHT)
  memory.fill(metersOf(block, row), 0, METER_BYTES)
  resetColumn(block + BLOCK_HISTOGRAMS, HISTOGRAM_BYTES, row)
  resetColumn(block + BLOCK_WINDOWS, WINDOW_BYTES, row)
  resetColumn(block + BLOCK_SERVER_STATS, SERVER_STATS_BYTES, row)
  resetColumn(block + BLOCK_PACES, PACE_BYTES, row)
  resetColumn(block + BLOCK_RECENT, RECENT_BYTES, row)
  resetColumn(block + BLOCK_TURNS, TURN_BYTES, row)
  resetColumn(block + BLOCK_SHARES, 8, row)
}

function resetColumn(slot: usize, bytes: usize, row: i32): void {
  const column = load<usize>(slot)
  if (column) memory.fill(column + bytes * usize(row), 0, bytes)
}

export function rowOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_ROWS) + (usize(row) << ROW_SHIFT)
}

export function metersOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_METERS) + usize(row) * METER_BYTES
}
