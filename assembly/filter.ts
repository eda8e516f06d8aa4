import { LIST_POSITIONS, LIST_ROWS } from './layout'
import { createCut, lengthOf, positionAt, rowAt } from './list'

/**
 * Filters over columns. A column holds one interned value (zone, hint, tag, …) for each position of a first list;
 * 0 is "no value". From 64 entries on, four are compared at once where the build has SIMD.
 */
export function createColumn(length: i32): usize {
  return heap.alloc(max<usize>(usize(length) << 2, 16))
}

/** Sets bit i of `bits` (⌈length / 32⌉ u32) where column[i] = value. Returns how many are set. */
export function matchBits(column: usize, length: i32, value: i32, bits: usize): i32 {
  let count = 0
  let i = 0
  if (ASC_FEATURE_SIMD && length >= 64) {
    const wanted = i32x4.splat(value)
    for (const whole = length & ~31; i < whole; i += 32) {
      const at = column + (usize(i) << 2)
      const word =
        nibble(at, wanted) |
        (nibble(at + 16, wanted) << 4) |
        (nibble(at + 32, wanted) << 8) |
        (nibble(at + 48, wanted) << 12) |
        (nibble(at + 64, wanted) << 16) |
        (nibble(at + 80, wanted) << 20) |
        (nibble(at + 96, wanted) << 24) |
        (nibble(at + 112, wanted) << 28)
      store<u32>(bits + (usize(i) >> 3), word)
      count += popcnt(word)
    }
  }
  for (; i < length; i += 32) {
    let word: u32 = 0
    for (let bit = 0, most = min(length - i, 32); bit < most; bit++) {
      word |= u32(load<i32>(column + (usize(i + bit) << 2)) === value) << bit
    }
    store<u32>(bits + (usize(i) >> 3), word)
    count += popcnt(word)
  }
  return count
}

function nibble(at: usize, wanted: v128): u32 {
  return i32x4.bitmask(i32x4.eq(v128.load(at), wanted))
}

/** The candidates of `list` whose column has `value`, in order, as a new list (perhaps empty). */
export function cutMatching(list: usize, column: usize, value: i32): usize {
  return load<usize>(list, LIST_POSITIONS) ? cutByLookup(list, column, value) : cutByScan(list, column, value)
}

/** Of a first list: position = index, so the column is scanned as it lies. */
function cutByScan(list: usize, column: usize, value: i32): usize {
  const length = lengthOf(list)
  const bits = heap.alloc(max<usize>((usize(length + 31) >> 5) << 2, 4))
  const count = matchBits(column, length, value, bits)
  const cut = createCut(count)
  let row = cut + LIST_ROWS
  let position = load<usize>(cut, LIST_POSITIONS)
  for (let base = 0; base < length; base += 32) {
    let word = load<u32>(bits + (usize(base) >> 3))
    while (word) {
      const index = base + i32(ctz(word))
      store<i32>(row, rowAt(list, index))
      store<i32>(position, index)
      row += 4
      position += 4
      word &= word - 1
    }
  }
  heap.free(bits)
  return cut
}

/** Of a list cut before: each candidate's value is looked up by its position. */
function cutByLookup(list: usize, column: usize, value: i32): usize {
  const length = lengthOf(list)
  let count = 0
  for (let i = 0; i < length; i++) count += i32(valueAt(list, column, i) === value)
  const cut = createCut(count)
  const positions = load<usize>(cut, LIST_POSITIONS)
  let at: usize = 0
  for (let i = 0; i < length; i++) {
    if (valueAt(list, column, i) !== value) continue
    store<i32>(cut + at, rowAt(list, i), LIST_ROWS)
    store<i32>(positions + at, positionAt(list, i))
    at += 4
  }
  return cut
}

function valueAt(list: usize, column: usize, index: i32): i32 {
  return load<i32>(column + (usize(positionAt(list, index)) << 2))
}
