/** String.hashCode of `length` UTF-16 units at `units`: h = 31·h + unit in 32 bits (java.lang.String). */
export function hashCode(units: usize, length: i32): i32 {
  let hash = 0
  for (let end = units + (usize(length) << 1); units < end; units += 2) hash = hash * 31 + i32(load<u16>(units))
  return hash
}

/** java.util.Random as a 48-bit state: scrambled seed, then x·0x5DEECE66D + 11. */
const MULTIPLIER: u64 = 0x5deece66d
const MASK: u64 = (1 << 48) - 1
let state: u64 = 0

/** Random(seed): a whole number, exact up to 2^53. */
export function setRandomSeed(seed: f64): void {
  state = (u64(i64(seed)) ^ MULTIPLIER) & MASK
}

function next31(): i32 {
  state = (state * MULTIPLIER + 0xb) & MASK
  return i32(state >> 17)
}

/** Random.nextInt(bound), bound > 0: the high bits for a power of two, else remainder with rejection. */
export function nextInt(bound: i32): i32 {
  let draw = next31()
  const last = bound - 1
  if ((bound & last) === 0) return i32((i64(bound) * i64(draw)) >> 31)
  let rest = draw % bound
  while (draw - rest + last < 0) {
    draw = next31()
    rest = draw % bound
  }
  return rest
}

/** Collections.shuffle of `length` i32 at `items`, by a Random of this seed. */
export function shuffle(items: usize, length: i32, seed: f64): void {
  setRandomSeed(seed)
  for (let i = length; i > 1; i--) {
    const a = items + (usize(i - 1) << 2)
    const b = items + (usize(nextInt(i)) << 2)
    const swap = load<i32>(a)
    store<i32>(a, load<i32>(b))
    store<i32>(b, swap)
  }
}
