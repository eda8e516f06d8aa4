import { LIST_TABLE } from './layout'
import { lengthOf } from './list'
import { positionOf, putPosition } from './place'

/**
 * Cumulative weights: entry i is W_0 + … + W_{i−1}, entry n the total. A point in [0, total) belongs to the last i
 * whose entry is not above it; candidates of weight 0 own no point.
 */
export function buildCumulative(weights: usize, length: i32): usize {
  const table = heap.alloc(usize(length + 1) << 3)
  let sum: u64 = 0
  for (let i = 0; i < length; i++) {
    store<u64>(table + (usize(i) << 3), sum)
    sum += load<u64>(weights + (usize(i) << 3))
  }
  store<u64>(table + (usize(length) << 3), sum)
  return table
}

export function cumulativeAt(table: usize, index: i32): u64 {
  return load<u64>(table + (usize(index) << 3))
}

/** The candidate that owns `point`: O(log n). */
export function ownerOf(table: usize, length: i32, point: u64): i32 {
  let low = 0
  let high = length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (cumulativeAt(table, middle) <= point) low = middle
    else high = middle - 1
  }
  return low
}

/** The next pick of the block rotation, A A A B B C for weights 3, 2, 1, by the list's 64-bit position. */
export function nextInBlock(block: usize, list: usize): i32 {
  const table = load<usize>(list, LIST_TABLE)
  const length = lengthOf(list)
  const position = positionOf(block, list)
  putPosition(block, list, position + 1)
  return ownerOf(table, length, position % cumulativeAt(table, length))
}
