import { openColumn } from './block'
import {
  BLOCK_ACTIVE_EXPIRY_MS,
  BLOCK_BREAKER_FACTOR_MS,
  BLOCK_BREAKER_MOST_MS,
  BLOCK_BREAKER_THRESHOLD,
  BLOCK_FAILURE_WINDOW_MS,
  BLOCK_REQUEST_WINDOW_MS,
  BLOCK_SERVER_STATS,
  SERVER_STATS_BYTES,
} from './layout'

/**
 * Ribbon's statistics of a server (ServerStats), one entry a row. Times are ms of the caller's clock.
 *
 *    0           8             16            24          32      40    48      56    64
 *    ┌───────────┬─────────────┬─────────────┬───────────┬───────┬─────┬───────┬─────┬─────┐
 *    │ requests  │ active      │ last        │ blackout  │ times │ Σ   │ Σ²    │ min │ max │
 *    │ completed │ changed at  │ failure at  │ total ms  │ n     │ ms  │ ms²   │ ms  │ ms  │
 *    └───────────┴─────────────┴─────────────┴───────────┴───────┴─────┴───────┴─────┴─────┘
 *    72          76        80             88          96         104       112       120        128       136
 *    ┌───────────┬─────────┬──────────────┬───────────┬──────────┬─────────┬─────────┬──────────┬─────────┬─────────┐
 *    │successive │ active  │ failures     │ their     │ requests │ of the  │ their   │ accessed │ first   │ spare   │
 *    │failures   │ i32     │ in bucket    │ bucket    │ in bucket│ one     │ bucket  │ at       │ access  │         │
 *    │i32        │         │ f64          │ f64       │ f64      │ before  │ f64     │ f64      │ f64     │         │
 *    └───────────┴─────────┴──────────────┴───────────┴──────────┴─────────┴─────────┴──────────┴─────────┴─────────┘
 */
const REQUESTS: usize = 0
const ACTIVE_AT: usize = 8
const FAILED_AT: usize = 16
const BLACKOUT_TOTAL: usize = 24
const TIMES: usize = 32
const TIME_SUM: usize = 40
const TIME_SQUARES: usize = 48
const TIME_MIN: usize = 56
const TIME_MAX: usize = 64
const SUCCESSIVE: usize = 72
const ACTIVE: usize = 76

/** How a request ended, as the breaker sees it. */
export const VERDICT_ANSWERED = 0
export const VERDICT_TRIPPING = 1
export const VERDICT_OTHER_ERROR = 2
export const VERDICT_NOTHING = 3

/** Makes room for every row's statistics. @param threshold failures in a row that trip the breaker */
export function openServerStats(
  block: usize,
  threshold: i32,
  factorMs: f64,
  mostMs: f64,
  activeExpiryMs: f64,
  failureWindowMs: f64,
  requestWindowMs: f64,
): void {
  openColumn(block, BLOCK_SERVER_STATS, SERVER_STATS_BYTES)
  store<i32>(block, threshold, BLOCK_BREAKER_THRESHOLD)
  store<f64>(block, factorMs, BLOCK_BREAKER_FACTOR_MS)
  store<f64>(block, mostMs, BLOCK_BREAKER_MOST_MS)
  store<f64>(block, activeExpiryMs, BLOCK_ACTIVE_EXPIRY_MS)
  store<f64>(block, failureWindowMs, BLOCK_FAILURE_WINDOW_MS)
  store<f64>(block, requestWindowMs, BLOCK_REQUEST_WINDOW_MS)
}

export function statsAt(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_SERVER_STATS) + usize(row) * SERVER_STATS_BYTES
}

/** A request to the row begins. */
export function startRequest(block: usize, row: i32, nowMs: f64): void {
  const stats = statsAt(block, row)
  store<i32>(stats, load<i32>(stats, ACTIVE) + 1, ACTIVE)
  store<f64>(stats, nowMs, ACTIVE_AT)
}

/** A request to the row is over after `ms` (NaN: nobody measured); `verdict` is one of the VERDICT_ constants. */
export function endRequest(block: usize, row: i32, nowMs: f64, ms: f64, verdict: i32): void {
  const stats = statsAt(block, row)
  store<i32>(stats, max(load<i32>(stats, ACTIVE) - 1, 0), ACTIVE)
  store<f64>(stats, nowMs, ACTIVE_AT)
  store<f64>(stats, load<f64>(stats, REQUESTS) + 1, REQUESTS)
  if (ms >= 0) noteTime(stats, ms)
  if (verdict === VERDICT_NOTHING) return
  if (verdict === VERDICT_TRIPPING) {
    store<i32>(stats, load<i32>(stats, SUCCESSIVE) + 1, SUCCESSIVE)
    store<f64>(stats, nowMs, FAILED_AT)
    store<f64>(stats, load<f64>(stats, BLACKOUT_TOTAL) + blackoutMs(block, stats), BLACKOUT_TOTAL)
  } else {
    store<i32>(stats, 0, SUCCESSIVE)
  }
}

function noteTime(stats: usize, ms: f64): void {
  const count = load<f64>(stats, TIMES)
  store<f64>(stats, count + 1, TIMES)
  store<f64>(stats, load<f64>(stats, TIME_SUM) + ms, TIME_SUM)
  store<f64>(stats, load<f64>(stats, TIME_SQUARES) + ms * ms, TIME_SQUARES)
  store<f64>(stats, count === 0 ? ms : min(load<f64>(stats, TIME_MIN), ms), TIME_MIN)
  store<f64>(stats, max(load<f64>(stats, TIME_MAX), ms), TIME_MAX)
}

/** How long the failures so far keep the server out: factor · 2^min(failures − threshold, 16), at most `mostMs`. */
function blackoutMs(block: usize, stats: usize): f64 {
  const beyond = load<i32>(stats, SUCCESSIVE) - load<i32>(block, BLOCK_BREAKER_THRESHOLD)
  if (beyond < 0) return 0
  return min(
    f64(1 << min(beyond, 16)) * load<f64>(block, BLOCK_BREAKER_FACTOR_MS),
    load<f64>(block, BLOCK_BREAKER_MOST_MS),
  )
}

/** When the breaker lets requests through again; 0 where it never kept any. */
export function trippedUntil(block: usize, row: i32): f64 {
  const stats = statsAt(block, row)
  const blackout = blackoutMs(block, stats)
  return blackout > 0 ? load<f64>(stats, FAILED_AT) + blackout : 0
}

export function isTripped(block: usize, row: i32, nowMs: f64): bool {
  return trippedUntil(block, row) > nowMs
}

/** Requests in flight by Ribbon's count: forgotten when nothing began or ended for the expiry time. */
export function activeRequests(block: usize, row: i32, nowMs: f64): i32 {
  const stats = statsAt(block, row)
  const active = load<i32>(stats, ACTIVE)
  if (active === 0) return 0
  if (active > 0 && nowMs - load<f64>(stats, ACTIVE_AT) <= load<f64>(block, BLOCK_ACTIVE_EXPIRY_MS)) return active
  store<i32>(stats, 0, ACTIVE)
  return 0
}

/** Mean of all response times so far, ms; 0 without any. */
export function meanResponseMs(block: usize, row: i32): f64 {
  const stats = statsAt(block, row)
  const count = load<f64>(stats, TIMES)
  return count === 0 ? 0 : load<f64>(stats, TIME_SUM) / count
}
