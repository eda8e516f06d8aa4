import { LIST_MEAN_WEIGHT } from './layout'
import { isWeighted, lengthOf, weightAt } from './list'

/**
 * What each candidate counts when a plan is laid out, f64 by index: its weight; 1 each where none are attached, or all
 * are 0. The caller frees it.
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
    if (sum > 0) return shares
  }
  const alike = isWeighted(list) ? 0 : load<f64>(list, LIST_MEAN_WEIGHT)
  for (let i = 0; i < length; i++) store<f64>(shares + (usize(i) << 3), alike > 0 ? alike : 1)
  return shares
}

export function shareAt(shares: usize, index: i32): f64 {
  return load<f64>(shares + (usize(index) << 3))
}
