/** Indexes of the candidates that a filter let through, in one pick: room for the longest list that was filtered. */
let room: i32 = 0
let indexes: usize = 0
let count: i32 = 0

export function beginFilter(length: i32): void {
  if (length > room) {
    if (indexes) heap.free(indexes)
    indexes = heap.alloc(usize(length) << 2)
    room = length
  }
  count = 0
}

export function letThrough(index: i32): void {
  store<i32>(indexes + (usize(count) << 2), index)
  count++
}

export function eligibleCount(): i32 {
  return count
}

export function eligibleAt(place: i32): i32 {
  return place < 0 ? -1 : load<i32>(indexes + (usize(place) << 2))
}
