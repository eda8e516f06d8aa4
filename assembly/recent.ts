import { openColumn } from './block'
import { BLOCK_RECENT, RECENT_BYTES } from './layout'

/**
 * Response times of a row over a window of time, kept as two halves: the one at hand and the one before. Whatever is
 * older than both has no part in the mean, however many samples it had.
 *
 *    0         8        16         24       32
 *    ┌─────────┬────────┬──────────┬────────┬──────────────┐
 *    │ samples │ Σ ms   │ samples  │ Σ ms   │ number of    │
 *    │ now     │ now    │ before   │ before │ the half     │
 *    └─────────┴────────┴──────────┴────────┴──────────────┘
 */
const SAMPLES: usize = 0
const SUM: usize = 8
const SAMPLES_BEFORE: usize = 16
const SUM_BEFORE: usize = 24
const HALF: usize = 32

export function openRecent(block: usize): void {
  openColumn(block, BLOCK_RECENT, RECENT_BYTES)
}

/** The row's window, moved on to `nowMs`. */
function recentAt(block: usize, row: i32, nowMs: f64, halfMs: f64): usize {
  const recent = load<usize>(block, BLOCK_RECENT) + usize(row) * RECENT_BYTES
  const half = floor(nowMs / halfMs)
  const passed = half - load<f64>(recent, HALF)
  if (passed === 0) return recent
  const follows = passed === 1
  store<f64>(recent, follows ? load<f64>(recent, SAMPLES) : 0, SAMPLES_BEFORE)
  store<f64>(recent, follows ? load<f64>(recent, SUM) : 0, SUM_BEFORE)
  store<f64>(recent, 0, SAMPLES)
  store<f64>(recent, 0, SUM)
  store<f64>(recent, half, HALF)
  return recent
}

export function noteRecent(block: usize, row: i32, nowMs: f64, halfMs: f64, ms: f64): void {
  const recent = recentAt(block, row, nowMs, halfMs)
  store<f64>(recent, load<f64>(recent, SAMPLES) + 1, SAMPLES)
  store<f64>(recent, load<f64>(recent, SUM) + ms, SUM)
}

/** Mean response time of the window, ms; −1 without any. */
export function meanRecent(block: usize, row: i32, nowMs: f64, halfMs: f64): f64 {
  const recent = recentAt(block, row, nowMs, halfMs)
  const samples = load<f64>(recent, SAMPLES) + load<f64>(recent, SAMPLES_BEFORE)
  return samples === 0 ? -1 : (load<f64>(recent, SUM) + load<f64>(recent, SUM_BEFORE)) / samples
}
