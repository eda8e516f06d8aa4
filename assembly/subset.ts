import { shuffle } from './java'
import { LIST_POSITIONS, LIST_ROWS } from './layout'
import { createCut, lengthOf, positionAt, rowAt } from './list'

/**
 * SCLB's deterministic subset (SubsetServiceInstanceListSupplier, after the SRE book, chapter 20): clients of one
 * round share a shuffle and take disjoint slices of it. `idHash` is String.hashCode of the client's instance id.
 * Order of the result: the shuffled one. Of a list no longer than `size`: a copy.
 */
export function cutSubset(list: usize, idHash: i32, size: i32): usize {
  const length = lengthOf(list)
  if (length <= size) return cutSlice(list, 0, 0, length)
  const hash = idHash & 0x7fffffff
  const count = length / size
  const shuffled = heap.alloc(usize(length) << 2)
  for (let i = 0; i < length; i++) store<i32>(shuffled + (usize(i) << 2), i)
  shuffle(shuffled, length, f64(hash / count))
  const cut = cutSlice(list, shuffled, (hash % count) * size, size)
  heap.free(shuffled)
  return cut
}

/** `size` candidates of the list: those whose indexes are at `indexes` (0: the list's own order) from `from` on. */
function cutSlice(list: usize, indexes: usize, from: i32, size: i32): usize {
  const cut = createCut(size)
  const positions = load<usize>(cut, LIST_POSITIONS)
  for (let i = 0; i < size; i++) {
    const index = indexes ? load<i32>(indexes + (usize(from + i) << 2)) : i
    store<i32>(cut + (usize(i) << 2), rowAt(list, index), LIST_ROWS)
    store<i32>(positions + (usize(i) << 2), positionAt(list, index))
  }
  return cut
}
