import { HISTOGRAM_BYTES } from './histogram'
import {
  BLOCK_BYTES,
  BLOCK_CAPACITY,
  BLOCK_HISTOGRAMS,
  BLOCK_METERS,
  BLOCK_ROWS,
  METER_BYTES,
  ROW_EWMA,
  ROW_IN_FLIGHT,
  ROW_SHIFT,
  ROW_WEIGHT,
} from './layout'

/** A zeroed block without rows. */
export function createBlock(): usize {
  const block = heap.alloc(BLOCK_BYTES)
  memory.fill(block, 0, BLOCK_BYTES)
  return block
}

export function freeBlock(block: usize): void {
  const rows = load<usize>(block, BLOCK_ROWS)
  const meters = load<usize>(block, BLOCK_METERS)
  const histograms = load<usize>(block, BLOCK_HISTOGRAMS)
  if (rows) heap.free(rows)
  if (meters) heap.free(meters)
  if (histograms) heap.free(histograms)
  heap.free(block)
}

/** Makes room for `capacity` rows; rows in use keep their numbers and contents. Never shrinks. */
export function reserveRows(block: usize, capacity: i32): void {
  const old = load<i32>(block, BLOCK_CAPACITY)
  if (capacity <= old) return
  store<usize>(block, grow(load<usize>(block, BLOCK_ROWS), old << ROW_SHIFT, capacity << ROW_SHIFT), BLOCK_ROWS)
  store<usize>(block, grow(load<usize>(block, BLOCK_METERS), old * METER_BYTES, capacity * METER_BYTES), BLOCK_METERS)
  const histograms = load<usize>(block, BLOCK_HISTOGRAMS)
  if (histograms)
    store<usize>(block, grow(histograms, old * HISTOGRAM_BYTES, capacity * HISTOGRAM_BYTES), BLOCK_HISTOGRAMS)
  store<i32>(block, capacity, BLOCK_CAPACITY)
}

function grow(old: usize, oldBytes: usize, newBytes: usize): usize {
  const grown = old ? heap.realloc(old, newBytes) : heap.alloc(newBytes)
  memory.fill(grown + oldBytes, 0, newBytes - oldBytes)
  return grown
}

/** The row of an instance not seen before: nothing in flight, no latency known, all meters at zero. */
export function resetRow(block: usize, row: i32): void {
  assert(u32(row) < u32(load<i32>(block, BLOCK_CAPACITY)))
  const hot = rowOf(block, row)
  store<i32>(hot, 0, ROW_IN_FLIGHT)
  store<f64>(hot, -1, ROW_EWMA)
  store<f64>(hot, 1, ROW_WEIGHT)
  memory.fill(metersOf(block, row), 0, METER_BYTES)
  const histograms = load<usize>(block, BLOCK_HISTOGRAMS)
  if (histograms) memory.fill(histograms + row * HISTOGRAM_BYTES, 0, HISTOGRAM_BYTES)
}

export function rowOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_ROWS) + (usize(row) << ROW_SHIFT)
}

export function metersOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_METERS) + usize(row) * METER_BYTES
}
