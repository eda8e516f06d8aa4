import { openColumn } from './block'
import { isOver } from './elapsed'
import { BLOCK_WINDOW_SAMPLING, BLOCK_WINDOWS, WINDOW_BYTES } from './layout'

/**
 * A row's traffic of the last sixty seconds, in buckets of one second, and the factor that dynamic weight has made
 * of it. A bucket holds its second as long as that is less than sixty before the last one recorded.
 *
 *    0          8           16         24            32         36        40        44         48          56
 *    ┌──────────┬───────────┬──────────┬─────────────┬──────────┬─────────┬─────────┬──────────┬───────────┬───────┐
 *    │ last     │ samples   │ factor   │ factor of   │ outcomes │ has a   │ requests│ failures │ summed ms │ 59    │
 *    │ second   │ recorded  │ f64      │ ms          │ passed   │ factor  │ i32     │ i32      │ f64       │ more  │
 *    │ f64      │ f64       │          │ f64         │ over i32 │ is i32  │         │          │           │       │
 *    └──────────┴───────────┴──────────┴─────────────┴──────────┴─────────┴─────────┴──────────┴───────────┴───────┘
 */
const SECOND: usize = 0
const SAMPLES: usize = 8
const FACTOR: usize = 16
const FACTOR_AT: usize = 24
const PASSED_OVER: usize = 32
/** What the factor is: FACTOR_NONE, FACTOR_LENT or FACTOR_OWN. */
const FACTOR_IS: usize = 36
const BUCKETS: usize = 40

const SECONDS = 60
const BUCKET_SHIFT: usize = 4
const BUCKET_BYTES: usize = 16
const FAILURES: usize = 4
const SUM_MS: usize = 8

/** Beyond, seconds are no exact whole numbers any more. */
const LAST_SECOND: f64 = 9007199254740991

export function openWindows(block: usize): void {
  openColumn(block, BLOCK_WINDOWS, WINDOW_BYTES)
}

/** From now on every `every`-th outcome of each row is recorded. */
export function sampleWindows(block: usize, every: i32): void {
  store<i32>(block, every, BLOCK_WINDOW_SAMPLING)
}

export function windowOf(block: usize, row: i32): usize {
  return load<usize>(block, BLOCK_WINDOWS) + usize(row) * WINDOW_BYTES
}

/** One outcome of the row: it took `ms` ≥ 0, and failed or not (1 or 0). */
export function recordInWindow(block: usize, row: i32, nowMs: f64, ms: f64, failed: i32): void {
  const window = windowOf(block, row)
  const passed = load<i32>(window, PASSED_OVER) + 1
  if (passed < load<i32>(block, BLOCK_WINDOW_SAMPLING)) {
    store<i32>(window, passed, PASSED_OVER)
    return
  }
  store<i32>(window, 0, PASSED_OVER)
  const second = moveTo(window, floor(nowMs / 1000))
  const bucket = bucketAt(window, second)
  store<i32>(bucket, load<i32>(bucket) + 1)
  store<i32>(bucket, load<i32>(bucket, FAILURES) + failed, FAILURES)
  store<f64>(bucket, load<f64>(bucket, SUM_MS) + ms, SUM_MS)
  store<f64>(window, load<f64>(window, SAMPLES) + 1, SAMPLES)
}

/**
 * Empties the buckets of the seconds that have gone by without an outcome. The second it is: a clock that goes back by
 * less than a window writes to seconds of it once more; by more, the window begins anew.
 */
function moveTo(window: usize, now: f64): f64 {
  const last = load<f64>(window, SECOND)
  const second = abs(now) <= LAST_SECOND ? now : last
  const gone = second - last
  if (gone <= 0 && gone > -SECONDS) return second
  if (gone > 0 && gone < SECONDS) {
    for (let gap: f64 = 1; gap <= gone; gap += 1) memory.fill(bucketAt(window, last + gap), 0, BUCKET_BYTES)
  } else {
    memory.fill(window + BUCKETS, 0, usize(SECONDS) << BUCKET_SHIFT)
  }
  store<f64>(window, second, SECOND)
  return second
}

function bucketAt(window: usize, second: f64): usize {
  return window + BUCKETS + (usize(second - floor(second / SECONDS) * SECONDS) << BUCKET_SHIFT)
}

/** What `totalWindow` found. */
let requests: i64 = 0
let failures: i64 = 0
let sumMs: f64 = 0

/** Adds up the sixty seconds that end with the one of `nowMs`, for `meanMs` and `errorRate` to tell. */
export function totalWindow(window: usize, nowMs: f64): void {
  requests = 0
  failures = 0
  sumMs = 0
  const last = load<f64>(window, SECOND)
  const gone = max<f64>(floor(nowMs / 1000) - last, 0)
  for (let age: f64 = 0; age + gone < SECONDS; age += 1) {
    const bucket = bucketAt(window, last - age)
    requests += load<i32>(bucket)
    failures += load<i32>(bucket, FAILURES)
    sumMs += load<f64>(bucket, SUM_MS)
  }
}

/** 100 without any traffic. */
export function meanMs(): f64 {
  return requests === 0 ? 100 : sumMs / f64(requests)
}

/** Failures over requests; 0 without any traffic. */
export function errorRate(): f64 {
  return requests === 0 ? 0 : f64(failures) / f64(requests)
}

/** How many outcomes have been recorded since the row began. */
export function samplesOf(window: usize): f64 {
  return load<f64>(window, SAMPLES)
}

const FACTOR_NONE = 0
const FACTOR_LENT = 1
const FACTOR_OWN = 2

/** Whether the window's own factor is to be worked out, for the first time or once more. */
export function isFactorDue(window: usize, nowMs: f64, everyMs: f64): bool {
  return load<i32>(window, FACTOR_IS) !== FACTOR_OWN || isOver(load<f64>(window, FACTOR_AT), nowMs, everyMs)
}

export function hasFactor(window: usize): bool {
  return load<i32>(window, FACTOR_IS) !== FACTOR_NONE
}

export function factorOf(window: usize): f64 {
  return load<f64>(window, FACTOR)
}

/** Of its peers, until it has one of its own. */
export function lendFactor(window: usize, factor: f64): void {
  store<f64>(window, factor, FACTOR)
  store<i32>(window, FACTOR_LENT, FACTOR_IS)
}

export function storeFactor(window: usize, factor: f64, nowMs: f64): void {
  store<f64>(window, factor, FACTOR)
  store<f64>(window, nowMs, FACTOR_AT)
  store<i32>(window, FACTOR_OWN, FACTOR_IS)
}
