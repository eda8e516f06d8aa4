import { BLOCK_CURSOR, BLOCK_FILTERED_CURSOR, BLOCK_PLACED, BLOCK_POSITION } from './layout'

/**
 * xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), its four words
 * at the start of the service's block. 32-bit throughout, so that the wasm2js twin draws as fast as it can.
 */
export function nextU32(block: usize): u32 {
  const s1 = load<u32>(block, 4)
  const result = rotl<u32>(s1 * 5, 7) * 9
  let s2 = load<u32>(block, 8) ^ load<u32>(block)
  let s3 = load<u32>(block, 12) ^ s1
  store<u32>(block, s1 ^ s2, 4)
  store<u32>(block, load<u32>(block) ^ s3)
  s2 ^= s1 << 9
  s3 = rotl<u32>(s3, 11)
  store<u32>(block, s2, 8)
  store<u32>(block, s3, 12)
  return result
}

/** Uniform in [0, n), unbiased: Lemire, "Fast random integer generation in an interval", 2019. */
export function below(block: usize, n: u32): u32 {
  let product = u64(nextU32(block)) * u64(n)
  let low = u32(product)
  if (low < n) {
    const threshold = (u32.MAX_VALUE - n + 1) % n
    while (low < threshold) {
      product = u64(nextU32(block)) * u64(n)
      low = u32(product)
    }
  }
  return u32(product >> 32)
}

/** Uniform in [0, n) for n up to 2^63: draws as many bits as n has, and again while the draw is too large. */
export function below64(block: usize, n: u64): u64 {
  if (n <= 0xffffffff) return u64(below(block, u32(n)))
  const mask = u64.MAX_VALUE >> clz<u64>(n - 1)
  let draw: u64
  do {
    const high = u64(nextU32(block))
    draw = ((high << 32) | u64(nextU32(block))) & mask
  } while (draw >= n)
  return draw
}

/** Uniform in [0, 1) with 53 bits. */
export function nextF64(block: usize): f64 {
  const high = u64(nextU32(block) >>> 5)
  return f64((high << 26) | u64(nextU32(block) >>> 6)) * 1.1102230246251565e-16
}

/** One step of SplitMix64 (Steele, Lea, Flood 2014): turns similar seeds into unrelated states. */
function mix(state: u64): u64 {
  let z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb
  return z ^ (z >> 31)
}

const GOLDEN_GAMMA: u64 = 0x9e3779b97f4a7c15

/**
 * Seeds the service's PRNG by (name, seed) and draws the random starts from it: SCLB's cursor in [0, 1000), and
 * a 62-bit position, which modulo any cycle of weights is uniform for all practical lengths.
 */
export function seedBlock(block: usize, nameHash: i32, seed: f64): void {
  const state = reinterpret<u64>(seed) ^ (u64(u32(nameHash)) * GOLDEN_GAMMA)
  const a = mix(state + GOLDEN_GAMMA)
  const b = mix(state + GOLDEN_GAMMA + GOLDEN_GAMMA)
  store<u64>(block, a)
  store<u64>(block, b, 8)
  if ((a | b) === 0) store<u32>(block, 1)
  const start = i32(below(block, 1000))
  store<i32>(block, start, BLOCK_CURSOR)
  store<i32>(block, start, BLOCK_FILTERED_CURSOR)
  const high = u64(nextU32(block) >>> 2)
  store<u64>(block, (high << 32) | u64(nextU32(block)), BLOCK_POSITION)
}

/** An explicit start: SCLB's first pick is at (start + 1) modulo the length; Ribbon's of a filtered list at `start`. */
export function startAt(block: usize, start: i32): void {
  store<i32>(block, start, BLOCK_CURSOR)
  store<i32>(block, start & 0x7fffffff, BLOCK_FILTERED_CURSOR)
  store<u64>(block, u64(u32(start + 1) & 0x7fffffff), BLOCK_POSITION)
  store<i32>(block, 1, BLOCK_PLACED)
}
