import { lengthOf, weightAt } from './list'

/** Weights keep three decimals: they count in thousandths, as exact integers up to 2^31 − 1 whole ones. */
const UNIT: f64 = 1000

/**
 * The list's weights in thousandths over their greatest common divisor, as u64 each: the smallest integers in the
 * same proportion (SCLB 4.1 WeightedServiceInstanceListSupplier divides by the same). 0 if all weights are equal,
 * so that there is nothing to attach; what is not a number counts as 0. The caller frees the result.
 */
export function reducedWeights(block: usize, list: usize): usize {
  const length = lengthOf(list)
  const weights = heap.alloc(usize(length) << 3)
  let divisor: u64 = 0
  let equal = true
  const first = weightAt(block, list, 0)
  for (let i = 0; i < length; i++) {
    const weight = weightAt(block, list, i)
    if (weight !== first) equal = false
    const scaled: u64 = weight > 0 ? u64(nearest(weight * UNIT)) : 0
    divisor = gcd(scaled, divisor)
    store<u64>(weights + (usize(i) << 3), scaled)
  }
  if (equal || divisor === 0) {
    heap.free(weights)
    return 0
  }
  for (let p = weights, end = weights + (usize(length) << 3); p < end; p += 8) {
    store<u64>(p, load<u64>(p) / divisor)
  }
  return weights
}

function gcd(a: u64, b: u64): u64 {
  while (b !== 0) {
    const rest = a % b
    a = b
    b = rest
  }
  return a
}
