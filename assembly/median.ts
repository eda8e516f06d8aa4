import { sortedCopy } from './rotation'

/** The median of `count` ≥ 1 positive numbers (f64 each), the mean of the middle two of an even count. */
export function medianOf(values: usize, count: i32): f64 {
  // Positive numbers are in the order of their bits.
  const sorted = sortedCopy(values, count)
  const middle = sorted + (usize(count >> 1) << 3)
  const upper = load<f64>(middle)
  const median = count & 1 ? upper : (load<f64>(middle - 8) + upper) / 2
  heap.free(sorted)
  return median
}
