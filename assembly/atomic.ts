/**
 * Adds to a number that several threads may count at once; what it was before. Atomic in the shared build, where they
 * may; elsewhere one thread owns the memory, and a plain addition is.
 */
export function addTo(at: usize, by: i32): i32 {
  if (ASC_FEATURE_THREADS) return atomic.add<i32>(at, by)
  const before = load<i32>(at)
  store<i32>(at, before + by)
  return before
}
