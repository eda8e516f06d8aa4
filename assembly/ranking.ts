import { xxh64 } from './xxh64'

/** XXH64 of `length` bytes, written at `hash` as a u64. */
export function hashBytes(bytes: usize, length: i32, seed: f64, hash: usize): void {
  store<u64>(hash, xxh64(bytes, length, u64(seed)))
}

/** The indexes 0 … length − 1 to `ranks`, by ascending hash; the lower index first of equal ones. A heap sort. */
export function rankByHash(hashes: usize, length: i32, ranks: usize): void {
  for (let i = 0; i < length; i++) store<i32>(ranks + (usize(i) << 2), i)
  for (let root = (length >> 1) - 1; root >= 0; root--) sink(hashes, ranks, root, length)
  for (let last = length - 1; last > 0; last--) {
    const greatest = load<i32>(ranks)
    store<i32>(ranks, load<i32>(ranks + (usize(last) << 2)))
    store<i32>(ranks + (usize(last) << 2), greatest)
    sink(hashes, ranks, 0, last)
  }
}

function sink(hashes: usize, ranks: usize, root: i32, length: i32): void {
  const index = load<i32>(ranks + (usize(root) << 2))
  let at = root
  for (let child = 2 * at + 1; child < length; child = 2 * at + 1) {
    let greater = load<i32>(ranks + (usize(child) << 2))
    if (child + 1 < length) {
      const other = load<i32>(ranks + (usize(child + 1) << 2))
      if (isBefore(hashes, greater, other)) {
        greater = other
        child++
      }
    }
    if (!isBefore(hashes, index, greater)) break
    store<i32>(ranks + (usize(at) << 2), greater)
    at = child
  }
  store<i32>(ranks + (usize(at) << 2), index)
}

function isBefore(hashes: usize, a: i32, b: i32): bool {
  const hashA = load<u64>(hashes + (usize(a) << 3))
  const hashB = load<u64>(hashes + (usize(b) << 3))
  return hashA < hashB || (hashA === hashB && a < b)
}
