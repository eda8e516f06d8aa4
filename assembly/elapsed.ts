/**
 * Whether `everyMs` have gone by since `sinceMs`, or the clock has gone back behind it: what is timed does not wait
 * for a time to come a second time.
 */
export function isOver(sinceMs: f64, nowMs: f64, everyMs: f64): bool {
  const elapsed = nowMs - sinceMs
  return !(elapsed >= 0 && elapsed < everyMs)
}

/** How long ago the time at `slot` was, ms; if the clock has gone back behind it, it counts from now on. */
export function elapsedSince(slot: usize, nowMs: f64): f64 {
  const elapsed = nowMs - load<f64>(slot)
  if (elapsed >= 0) return elapsed
  store<f64>(slot, nowMs)
  return 0
}
