import { openColumn, rowOf } from './block'
import { elapsedSince } from './elapsed'
import { expNegative } from './exp'
import { BLOCK_PACES, PACE_BYTES, ROW_IN_FLIGHT } from './layout'

/**
 * How a row has answered of late, for relative weight. What is known grows old: it counts half after every half-life.
 *
 *    0         8          16         24          32         40           48           56
 *    ┌─────────┬──────────┬──────────┬───────────┬──────────┬────────────┬────────────┐
 *    │ as of   │ volume   │ error    │ latency   │ outcomes │ silent     │ last       │
 *    │ ms      │ f64      │ share    │ ms, 0: ?  │ ever     │ since, ms  │ started, ms│
 *    └─────────┴──────────┴──────────┴───────────┴──────────┴────────────┴────────────┘
 *
 * Volume: outcomes, each by its age. Silent since: the last answer, or the start of what is in flight if nothing was
 * before; so the oldest request in flight is at least that old, at the cost of no list of them.
 */
const AS_OF: usize = 0
const VOLUME: usize = 8
const ERROR_SHARE: usize = 16
const LATENCY: usize = 24
const OUTCOMES: usize = 32
const SILENT_SINCE: usize = 40
const LAST_STARTED: usize = 48

export function openPaces(block: usize): void {
  openColumn(block, BLOCK_PACES, PACE_BYTES)
}

export function paceOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_PACES) + usize(row) * PACE_BYTES
}

/** A request to the row has begun, and is counted in flight. */
export function startPaced(block: usize, row: i32, nowMs: f64): void {
  const pace = paceOf(block, row)
  if (load<i32>(rowOf(block, row), ROW_IN_FLIGHT) === 1) store<f64>(pace, nowMs, SILENT_SINCE)
  store<f64>(pace, nowMs, LAST_STARTED)
}

/**
 * The row has answered, or failed (1 or 0), after `ms` (NaN: nobody measured). An outcome counts one part in the
 * volume, so that a share or a mean over time is the same at any rate of calls. Where the volume is thin, bad news
 * counts no more than one part in `minVolume`: one failure of one request condemns nobody. Good news counts half:
 * an instance that gets hardly any traffic comes back by its first good answers.
 */
export function endPaced(
  block: usize,
  row: i32,
  nowMs: f64,
  ms: f64,
  failed: i32,
  halfLifeMs: f64,
  minVolume: f64,
): void {
  const pace = paceOf(block, row)
  const elapsed = max<f64>(nowMs - load<f64>(pace, AS_OF), 0)
  const volume = load<f64>(pace, VOLUME) * expNegative((-elapsed / halfLifeMs) * Math.LN2) + 1
  store<f64>(pace, nowMs, AS_OF)
  store<f64>(pace, volume, VOLUME)
  store<f64>(pace, nowMs, SILENT_SINCE)
  store<f64>(pace, load<f64>(pace, OUTCOMES) + 1, OUTCOMES)
  const bad = 1 / max<f64>(volume, minVolume)
  const good = volume < minVolume ? max<f64>(0.5, bad) : bad
  const share = load<f64>(pace, ERROR_SHARE)
  if (failed) {
    store<f64>(pace, share + (1 - share) * bad, ERROR_SHARE)
    return
  }
  store<f64>(pace, share - share * good, ERROR_SHARE)
  if (ms >= 0 && ms < Infinity)
    store<f64>(pace, moved(load<f64>(pace, LATENCY), max<f64>(ms, LEAST_MS), good, bad), LATENCY)
}

/** Clocks may be too coarse to see a quick answer. */
const LEAST_MS: f64 = 0.01

/**
 * Towards a slower sample by latency, so that it is felt at once; towards a faster one by speed, its inverse, so that
 * the way back takes no longer from far than from near.
 */
function moved(latency: f64, ms: f64, good: f64, bad: f64): f64 {
  if (latency === 0) return ms
  if (ms > latency) return latency + (ms - latency) * bad
  return 1 / ((1 - good) / latency + good / ms)
}

/** Whether there have been outcomes enough to go by. */
export function isJudged(pace: usize, minVolume: f64): bool {
  return load<f64>(pace, OUTCOMES) >= minVolume
}

export function errorShareOf(pace: usize): f64 {
  return load<f64>(pace, ERROR_SHARE)
}

/** Of successes, ms; 0: none was measured. */
export function latencyOf(pace: usize): f64 {
  return load<f64>(pace, LATENCY)
}

/** How long there has been no answer to what is in flight, ms. */
export function silenceOf(block: usize, row: i32, nowMs: f64): f64 {
  if (load<i32>(rowOf(block, row), ROW_IN_FLIGHT) === 0) return 0
  return elapsedSince(paceOf(block, row) + SILENT_SINCE, nowMs)
}

/** How long it has had no request at all, ms; 0: one is in flight. */
export function idleOf(block: usize, row: i32, nowMs: f64): f64 {
  if (load<i32>(rowOf(block, row), ROW_IN_FLIGHT) > 0) return 0
  return elapsedSince(paceOf(block, row) + LAST_STARTED, nowMs)
}
