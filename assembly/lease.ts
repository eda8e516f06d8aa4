import { addTo } from './atomic'
import { metersOf, rowOf } from './block'
import { expNegative } from './exp'
import { record } from './histogram'
import { ROW_EWMA, ROW_IN_FLIGHT, ROW_STAMP } from './layout'
import { rowAt } from './list'

/** Counts one request in flight at the candidate with this index. Returns its row; what is below 0 as it is. */
export function acquire(block: usize, list: usize, index: i32): i32 {
  if (index < 0) return index
  const row = rowAt(list, index)
  acquireRow(block, row)
  return row
}

/** Counts one more request in flight at a row: another try of the same instance. */
export function acquireRow(block: usize, row: i32): void {
  addTo(rowOf(block, row) + ROW_IN_FLIGHT, 1)
}

/** Ends one request at `row`; `ended` is one of the ENDED_ constants. */
export function complete(block: usize, row: i32, ended: i32): void {
  const hot = rowOf(block, row)
  assert(load<i32>(hot, ROW_IN_FLIGHT) > 0)
  addTo(hot + ROW_IN_FLIGHT, -1)
  const meter = metersOf(block, row) + ended
  store<f64>(meter, load<f64>(meter) + 1)
}

/**
 * Ends one request that took `ms`, as seen at `nowMs`: recorded in the row's histogram, and as `averagedMs` (the
 * same, or more as a punishment) in its moving average, which forgets by e every `decayMs`. With `peak` a sample
 * above the average replaces it at once, which is Finagle's Peak EWMA (PeakEwma.scala); without, it is a plain
 * average over time.
 */
export function completeAfter(
  block: usize,
  row: i32,
  ended: i32,
  ms: f64,
  averagedMs: f64,
  nowMs: f64,
  decayMs: f64,
  peak: i32,
): void {
  complete(block, row, ended)
  record(block, row, ms)
  average(rowOf(block, row), averagedMs, nowMs, decayMs, peak)
}

function average(hot: usize, ms: f64, nowMs: f64, decayMs: f64, peak: i32): void {
  const ewma = load<f64>(hot, ROW_EWMA)
  const elapsed = max<f64>(nowMs - load<f64>(hot, ROW_STAMP), 0)
  if (ewma < 0 || (peak && ms > ewma)) {
    store<f64>(hot, ms, ROW_EWMA)
  } else {
    const kept = expNegative(-elapsed / decayMs)
    store<f64>(hot, ewma * kept + ms * (1 - kept), ROW_EWMA)
  }
  store<f64>(hot, nowMs, ROW_STAMP)
}
