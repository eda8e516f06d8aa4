/**
 * XXH64 (Collet, the XXH64 format description): 64 bits of any bytes, the same on every machine. Four lanes over
 * blocks of 32 bytes, then the rest by eight, four and one, then all bits mixed.
 */
const P1: u64 = 0x9e3779b185ebca87
const P2: u64 = 0xc2b2ae3d27d4eb4f
const P3: u64 = 0x165667b19e3779f9
const P4: u64 = 0x85ebca77c2b2ae63
const P5: u64 = 0x27d4eb2f165667c5

/** `bytes` is a multiple of 8: the wasm2js twin reads no word across such a border. */
export function xxh64(bytes: usize, length: i32, seed: u64): u64 {
  assert((bytes & 7) === 0)
  let at = bytes
  const end = bytes + usize(length)
  let hash: u64
  if (length >= 32) {
    let a = seed + P1 + P2
    let b = seed + P2
    let c = seed
    let d = seed - P1
    for (; at + 32 <= end; at += 32) {
      a = round(a, load<u64>(at))
      b = round(b, load<u64>(at, 8))
      c = round(c, load<u64>(at, 16))
      d = round(d, load<u64>(at, 24))
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18)
    hash = merge(merge(merge(merge(hash, a), b), c), d)
  } else {
    hash = seed + P5
  }
  hash += u64(length)
  for (; at + 8 <= end; at += 8) hash = eight(hash, load<u64>(at))
  if (at + 4 <= end) {
    hash = rotl<u64>(hash ^ (u64(load<u32>(at)) * P1), 23) * P2 + P3
    at += 4
  }
  for (; at < end; at++) hash = rotl<u64>(hash ^ (u64(load<u8>(at)) * P5), 11) * P1
  return avalanche(hash)
}

/** XXH64 of `length` bytes, written at `hash` as a u64. */
export function hashBytes(bytes: usize, length: i32, seed: f64, hash: usize): void {
  store<u64>(hash, xxh64(bytes, length, u64(seed)))
}

/** XXH64 of the eight bytes of `value`, little end first. */
export function xxh64OfU64(value: u64, seed: u64): u64 {
  return avalanche(eight(seed + P5 + 8, value))
}

function round(lane: u64, value: u64): u64 {
  return rotl<u64>(lane + value * P2, 31) * P1
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * P1 + P4
}

function eight(hash: u64, value: u64): u64 {
  return rotl<u64>(hash ^ round(0, value), 27) * P1 + P4
}

function avalanche(hash: u64): u64 {
  hash = (hash ^ (hash >> 33)) * P2
  hash = (hash ^ (hash >> 29)) * P3
  return hash ^ (hash >> 32)
}
