/**
 * Rows that a pick must not answer, though they are of its list: what a call has tried already. Policies that go by a
 * key walk on from them in their own order, so that a retry needs no list, and no table, of its own.
 */
const MOST: i32 = 64
const rows = memory.data(MOST * 4, 4)
let count = 0

/** Until `includeAll`; of more than 64 the first count. */
export function exclude(row: i32): void {
  if (count === MOST) return
  store<i32>(rows + (usize(count) << 2), row)
  count++
}

export function includeAll(): void {
  count = 0
}

export function isExcluded(row: i32): bool {
  for (let i = 0; i < count; i++) if (load<i32>(rows + (usize(i) << 2)) === row) return true
  return false
}

export function anyExcluded(): bool {
  return count > 0
}
