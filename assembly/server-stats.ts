import { openColumn } from './block'
import { elapsedSince } from './elapsed'
import {
  BLOCK_ACTIVE_EXPIRY_MS,
  BLOCK_BREAKER_FACTOR_MS,
  BLOCK_BREAKER_MOST_MS,
  BLOCK_BREAKER_THRESHOLD,
  BLOCK_CAPACITY,
  BLOCK_FAILURE_WINDOW_MS,
  BLOCK_REQUEST_WINDOW_MS,
  BLOCK_SERVER_STATS,
  SERVER_STATS_BYTES,
} from './layout'
import {
  BREAKER_CLOSED,
  STATS_ACTIVE,
  STATS_ACTIVE_AT,
  STATS_BEGUN,
  STATS_BLACKOUT_TOTAL,
  STATS_BUCKET,
  STATS_BUCKET_BEFORE,
  STATS_BUCKET_UNTIL,
  STATS_FAILED,
  STATS_FAILED_AT,
  STATS_FAILURES,
  STATS_FAILURES_UNTIL,
  STATS_FIRST_ACCESS,
  STATS_LAST_ACCESS,
  STATS_REQUESTS,
  STATS_SUCCESSIVE,
  STATS_TIME_MAX,
  STATS_TIME_MIN,
  STATS_TIME_SQUARES,
  STATS_TIME_SUM,
  STATS_TIMES,
  VERDICT_NONE,
  VERDICT_TRIPS,
} from './server-stats-layout'

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
  assert(threshold >= 0 && failureWindowMs > 0 && requestWindowMs > 0)
  openColumn(block, BLOCK_SERVER_STATS, SERVER_STATS_BYTES)
  store<i32>(block, threshold, BLOCK_BREAKER_THRESHOLD)
  store<f64>(block, factorMs, BLOCK_BREAKER_FACTOR_MS)
  store<f64>(block, mostMs, BLOCK_BREAKER_MOST_MS)
  store<f64>(block, activeExpiryMs, BLOCK_ACTIVE_EXPIRY_MS)
  store<f64>(block, failureWindowMs, BLOCK_FAILURE_WINDOW_MS)
  store<f64>(block, requestWindowMs, BLOCK_REQUEST_WINDOW_MS)
}

export function statsAt(block: usize, row: i32): usize {
  assert(u32(row) < u32(load<i32>(block, BLOCK_CAPACITY)) && load<usize>(block, BLOCK_SERVER_STATS) !== 0)
  return load<usize>(block, BLOCK_SERVER_STATS) + usize(row) * SERVER_STATS_BYTES
}

/** A request to the row begins. Whether it is the row's first. */
export function startRequest(block: usize, row: i32, nowMs: f64): bool {
  const stats = statsAt(block, row)
  store<i32>(stats, load<i32>(stats, STATS_ACTIVE) + 1, STATS_ACTIVE)
  store<f64>(stats, nowMs, STATS_ACTIVE_AT)
  store<f64>(stats, nowMs, STATS_LAST_ACCESS)
  const begun = load<f64>(stats, STATS_BEGUN)
  if (begun === 0) store<f64>(stats, nowMs, STATS_FIRST_ACCESS)
  store<f64>(stats, begun + 1, STATS_BEGUN)
  turnRequests(block, stats, nowMs)
  store<f64>(stats, load<f64>(stats, STATS_BUCKET) + 1, STATS_BUCKET)
  return begun === 0
}

/**
 * Ribbon's MeasuredRate: whether the bucket that ends after the moment at `until` is over. The next one begins now, when
 * somebody counts or looks: buckets are as long as their window at least, unless the clock goes back.
 */
function isOver(until: usize, nowMs: f64, windowMs: f64): bool {
  const end = load<f64>(until)
  if (end !== 0 && nowMs <= end && nowMs + windowMs >= end) return false
  store<f64>(until, nowMs + windowMs)
  return true
}

function turnRequests(block: usize, stats: usize, nowMs: f64): void {
  if (!isOver(stats + STATS_BUCKET_UNTIL, nowMs, load<f64>(block, BLOCK_REQUEST_WINDOW_MS))) return
  store<f64>(stats, load<f64>(stats, STATS_BUCKET), STATS_BUCKET_BEFORE)
  store<f64>(stats, 0, STATS_BUCKET)
}

function turnFailures(block: usize, stats: usize, nowMs: f64): void {
  if (!isOver(stats + STATS_FAILURES_UNTIL, nowMs, load<f64>(block, BLOCK_FAILURE_WINDOW_MS))) return
  store<f64>(stats, 0, STATS_FAILURES)
}

/**
 * A request to the row is over after `ms` (NaN: nobody measured); `verdict` is one of the VERDICT_ constants.
 * How many ms the breaker that this trips keeps requests out; BREAKER_CLOSED if it had tripped and has healed; else 0.
 */
export function endRequest(block: usize, row: i32, nowMs: f64, ms: f64, verdict: i32): f64 {
  const stats = statsAt(block, row)
  store<i32>(stats, max(load<i32>(stats, STATS_ACTIVE) - 1, 0), STATS_ACTIVE)
  store<f64>(stats, nowMs, STATS_ACTIVE_AT)
  store<f64>(stats, load<f64>(stats, STATS_REQUESTS) + 1, STATS_REQUESTS)
  // Infinite ones would end all sums.
  if (ms >= 0 && ms < Infinity) noteTime(stats, ms)
  if (verdict === VERDICT_NONE) return 0
  if (verdict !== VERDICT_TRIPS) {
    const hadTripped = load<i32>(stats, STATS_SUCCESSIVE) > 0 && blackoutMs(block, stats) > 0
    store<i32>(stats, 0, STATS_SUCCESSIVE)
    return hadTripped && !isTripped(block, row, nowMs) ? BREAKER_CLOSED : 0
  }
  const wasOut = isTripped(block, row, nowMs)
  const failures = load<i32>(stats, STATS_SUCCESSIVE)
  if (failures < i32.MAX_VALUE) store<i32>(stats, failures + 1, STATS_SUCCESSIVE)
  store<f64>(stats, nowMs, STATS_FAILED_AT)
  store<f64>(stats, load<f64>(stats, STATS_FAILED) + 1, STATS_FAILED)
  turnFailures(block, stats, nowMs)
  store<f64>(stats, load<f64>(stats, STATS_FAILURES) + 1, STATS_FAILURES)
  const blackout = blackoutMs(block, stats)
  store<f64>(stats, load<f64>(stats, STATS_BLACKOUT_TOTAL) + blackout, STATS_BLACKOUT_TOTAL)
  return wasOut ? 0 : blackout
}

function noteTime(stats: usize, ms: f64): void {
  const count = load<f64>(stats, STATS_TIMES)
  store<f64>(stats, count + 1, STATS_TIMES)
  store<f64>(stats, load<f64>(stats, STATS_TIME_SUM) + ms, STATS_TIME_SUM)
  store<f64>(stats, load<f64>(stats, STATS_TIME_SQUARES) + ms * ms, STATS_TIME_SQUARES)
  store<f64>(stats, count === 0 ? ms : min(load<f64>(stats, STATS_TIME_MIN), ms), STATS_TIME_MIN)
  store<f64>(stats, max(load<f64>(stats, STATS_TIME_MAX), ms), STATS_TIME_MAX)
}

/** How long the failures so far keep the server out: factor · 2^min(failures − threshold, 16), at most `mostMs`. */
function blackoutMs(block: usize, stats: usize): f64 {
  const beyond = load<i32>(stats, STATS_SUCCESSIVE) - load<i32>(block, BLOCK_BREAKER_THRESHOLD)
  if (beyond < 0) return 0
  return min(
    f64(1 << min(beyond, 16)) * load<f64>(block, BLOCK_BREAKER_FACTOR_MS),
    load<f64>(block, BLOCK_BREAKER_MOST_MS),
  )
}

/** When the breaker lets requests through again; 0 where it never kept any. */
export function trippedUntil(block: usize, row: i32): f64 {
  const stats = statsAt(block, row)
  if (load<f64>(stats, STATS_FAILED) === 0) return 0
  const blackout = blackoutMs(block, stats)
  return blackout > 0 ? load<f64>(stats, STATS_FAILED_AT) + blackout : 0
}

export function isTripped(block: usize, row: i32, nowMs: f64): bool {
  return trippedUntil(block, row) > nowMs && nowMs >= load<f64>(statsAt(block, row), STATS_FAILED_AT)
}

/** Requests in flight by Ribbon's count: looking forgets them when nothing began or ended for the expiry time. */
export function activeRequests(block: usize, row: i32, nowMs: f64): i32 {
  const stats = statsAt(block, row)
  if (elapsedSince(stats + STATS_ACTIVE_AT, nowMs) > load<f64>(block, BLOCK_ACTIVE_EXPIRY_MS)) {
    store<i32>(stats, 0, STATS_ACTIVE)
  }
  return load<i32>(stats, STATS_ACTIVE)
}

/** Failures that count for the breaker, in the current bucket: looking ends one that is over. */
export function failuresInWindow(block: usize, row: i32, nowMs: f64): f64 {
  const stats = statsAt(block, row)
  turnFailures(block, stats, nowMs)
  return load<f64>(stats, STATS_FAILURES)
}

/** Requests that began in the bucket before the current one: looking ends one that is over. */
export function requestsInWindow(block: usize, row: i32, nowMs: f64): f64 {
  const stats = statsAt(block, row)
  turnRequests(block, stats, nowMs)
  return load<f64>(stats, STATS_BUCKET_BEFORE)
}

/** Mean of all response times so far, ms; 0 without any. */
export function meanResponseMs(block: usize, row: i32): f64 {
  const stats = statsAt(block, row)
  const count = load<f64>(stats, STATS_TIMES)
  return count === 0 ? 0 : load<f64>(stats, STATS_TIME_SUM) / count
}
