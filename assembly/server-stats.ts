import { openColumn } from './block'
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
  STATS_BUCKET_FROM,
  STATS_FAILED_AT,
  STATS_FAILURES,
  STATS_FAILURES_FROM,
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
  countInBucket(stats, begun === 0, nowMs, load<f64>(block, BLOCK_REQUEST_WINDOW_MS))
  return begun === 0
}

/** Buckets follow one another without gaps while requests come; after an empty one the next begins with its request. */
function countInBucket(stats: usize, isFirst: bool, nowMs: f64, windowMs: f64): void {
  const age = nowMs - load<f64>(stats, STATS_BUCKET_FROM)
  if (!isFirst && age < windowMs) {
    store<f64>(stats, load<f64>(stats, STATS_BUCKET) + 1, STATS_BUCKET)
    return
  }
  const follows = !isFirst && age < 2 * windowMs
  store<f64>(stats, follows ? load<f64>(stats, STATS_BUCKET) : 0, STATS_BUCKET_BEFORE)
  store<f64>(stats, follows ? load<f64>(stats, STATS_BUCKET_FROM) + windowMs : nowMs, STATS_BUCKET_FROM)
  store<f64>(stats, 1, STATS_BUCKET)
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
  const hadTripped = blackoutMs(block, stats) > 0
  if (verdict !== VERDICT_TRIPS) {
    store<i32>(stats, 0, STATS_SUCCESSIVE)
    return hadTripped ? BREAKER_CLOSED : 0
  }
  const wasOut = isTripped(block, row, nowMs)
  const failures = load<i32>(stats, STATS_SUCCESSIVE)
  if (failures < i32.MAX_VALUE) store<i32>(stats, failures + 1, STATS_SUCCESSIVE)
  store<f64>(stats, nowMs, STATS_FAILED_AT)
  countFailure(stats, nowMs, load<f64>(block, BLOCK_FAILURE_WINDOW_MS))
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

function countFailure(stats: usize, nowMs: f64, windowMs: f64): void {
  const failures = load<f64>(stats, STATS_FAILURES)
  if (failures > 0 && nowMs - load<f64>(stats, STATS_FAILURES_FROM) < windowMs) {
    store<f64>(stats, failures + 1, STATS_FAILURES)
  } else {
    store<f64>(stats, 1, STATS_FAILURES)
    store<f64>(stats, nowMs, STATS_FAILURES_FROM)
  }
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
  const blackout = blackoutMs(block, stats)
  return blackout > 0 ? load<f64>(stats, STATS_FAILED_AT) + blackout : 0
}

export function isTripped(block: usize, row: i32, nowMs: f64): bool {
  return trippedUntil(block, row) > nowMs
}

/** Requests in flight by Ribbon's count: looking forgets them when nothing began or ended for the expiry time. */
export function activeRequests(block: usize, row: i32, nowMs: f64): i32 {
  const stats = statsAt(block, row)
  if (nowMs - load<f64>(stats, STATS_ACTIVE_AT) > load<f64>(block, BLOCK_ACTIVE_EXPIRY_MS)) {
    store<i32>(stats, 0, STATS_ACTIVE)
  }
  return load<i32>(stats, STATS_ACTIVE)
}

/** Failures that count for the breaker, in the current bucket. */
export function failuresInWindow(block: usize, row: i32, nowMs: f64): f64 {
  const stats = statsAt(block, row)
  const age = nowMs - load<f64>(stats, STATS_FAILURES_FROM)
  return age < load<f64>(block, BLOCK_FAILURE_WINDOW_MS) ? load<f64>(stats, STATS_FAILURES) : 0
}

/** Requests that began in the last bucket that is complete. */
export function requestsInWindow(block: usize, row: i32, nowMs: f64): f64 {
  const stats = statsAt(block, row)
  const windowMs = load<f64>(block, BLOCK_REQUEST_WINDOW_MS)
  const age = nowMs - load<f64>(stats, STATS_BUCKET_FROM)
  if (age < windowMs) return load<f64>(stats, STATS_BUCKET_BEFORE)
  return age < 2 * windowMs ? load<f64>(stats, STATS_BUCKET) : 0
}

/** Mean of all response times so far, ms; 0 without any. */
export function meanResponseMs(block: usize, row: i32): f64 {
  const stats = statsAt(block, row)
  const count = load<f64>(stats, STATS_TIMES)
  return count === 0 ? 0 : load<f64>(stats, STATS_TIME_SUM) / count
}
