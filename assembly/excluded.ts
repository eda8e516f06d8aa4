/**
 * Rows that a pick must not answer, though they are of its list: what a call has tried already. Policies that go by a
 * key walk on from them in their own order, so that a retry needs no list, and no table, of its own. One bit a row.
 */
let bits: usize = 0
/** Bytes there are, and of these how many from the first may have a bit set. */
let room: usize = 0
let used: usize = 0

/** Until `includeAll`. */
export function exclude(row: i32): void {
  assert(row >= 0)
  const word = wordOf(row)
  const end = word + 4
  if (end > room) makeRoom(end)
  store<u32>(bits + word, load<u32>(bits + word) | bitOf(row))
  used = max(used, end)
}

export function includeAll(): void {
  memory.fill(bits, 0, used)
  used = 0
}

export function isExcluded(row: i32): bool {
  const word = wordOf(row)
  return word < used && (load<u32>(bits + word) & bitOf(row)) !== 0
}

export function anyExcluded(): bool {
  return used > 0
}

function wordOf(row: i32): usize {
  return (usize(row) >> 5) << 2
}

function bitOf(row: i32): u32 {
  return u32(1) << u32(row & 31)
}

function makeRoom(bytes: usize): void {
  const grown = max<usize>(bytes, max<usize>(2 * room, 64))
  bits = room ? heap.realloc(bits, grown) : heap.alloc(grown)
  memory.fill(bits + room, 0, grown - room)
  room = grown
}
