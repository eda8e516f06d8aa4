/**
 * The median of `count` ≥ 1 positive numbers (f64 each), the mean of the middle two of an even count. Their bits are
 * in their order, so it is found byte by byte from the top: eight passes at most, whatever they are.
 */
export function medianOf(values: usize, count: i32): f64 {
  const upper = nth(values, count, count >> 1)
  return count & 1 ? upper : (nth(values, count, (count >> 1) - 1) + upper) / 2
}

const counts = memory.data(256 * 4, 4)

/** The value with `rank` others before it in ascending order. */
function nth(values: usize, count: i32, rank: i32): f64 {
  const end = values + (usize(count) << 3)
  let known: u64 = 0
  let prefix: u64 = 0
  let left = rank
  for (let byte = 7; byte >= 0; byte--) {
    const shift = u64(byte) << 3
    memory.fill(counts, 0, 256 * 4)
    for (let p = values; p < end; p += 8) {
      const bits = load<u64>(p)
      if ((bits & known) !== prefix) continue
      const at = counts + (usize((bits >> shift) & 0xff) << 2)
      store<i32>(at, load<i32>(at) + 1)
    }
    let digit = 0
    for (; digit < 255; digit++) {
      const own = load<i32>(counts + (usize(digit) << 2))
      if (left < own) break
      left -= own
    }
    prefix |= u64(digit) << shift
    known |= u64(0xff) << shift
  }
  return reinterpret<f64>(prefix)
}
