import { isWeighted, lengthOf, weightAt } from './list'

/**
 * What each candidate counts when a plan is laid out, f64 by index: its weight; 1 each where none are attached, or all
 * have become 0 meanwhile. The caller frees it.
 */
export function sharesOf(block: usize, list: usize): usize {
  const length = lengthOf(list)
  const shares = heap.alloc(max<usize>(usize(length) << 3, 8))
  let sum: f64 = 0
  if (isWeighted(list)) {
    for (let i = 0; i < length; i++) {
      const weight = weightAt(block, list, i)
      store<f64>(shares + (usize(i) << 3), weight)
      sum += weight
    }
  }
  if (sum > 0) return shares
  for (let i = 0; i < length; i++) store<f64>(shares + (usize(i) << 3), 1)
  return shares
}

export function shareAt(shares: usize, index: i32): f64 {
  return load<f64>(shares + (usize(index) << 3))
}
