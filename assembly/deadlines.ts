/**
 * A binary heap by (deadline, insertion): the first entry is the one that is due next, of equal ones the one that was
 * put in first.
 *
 *    0          8           16       24      28   32
 *    ┌──────────┬───────────┬────────┬───────┬────┐
 *    │ deadline │ insertion │ weight │ index │    │
 *    │ f64      │ f64       │ f64    │ i32   │    │
 *    └──────────┴───────────┴────────┴───────┴────┘
 */
export const DEADLINE: usize = 0
export const INSERTION: usize = 8
export const DUE_WEIGHT: usize = 16
export const DUE_INDEX: usize = 24

const ENTRY_SHIFT: usize = 5
export const DUE_BYTES: usize = 1 << ENTRY_SHIFT

export function entryAt(entries: usize, at: i32): usize {
  return entries + (usize(at) << ENTRY_SHIFT)
}

/** Puts all entries in the heap's order. */
export function heapify(entries: usize, count: i32): void {
  for (let i = (count >> 1) - 1; i >= 0; i--) sink(entries, count, i)
}

/** Moves the entry at this place of the heap down to where it belongs. */
export function sink(entries: usize, count: i32, at: i32): void {
  const start = entryAt(entries, at)
  const deadline = load<f64>(start, DEADLINE)
  const insertion = load<f64>(start, INSERTION)
  const weight = load<f64>(start, DUE_WEIGHT)
  const index = load<i32>(start, DUE_INDEX)
  let hole = start
  for (;;) {
    let below = 2 * at + 1
    if (below >= count) break
    let child = entryAt(entries, below)
    if (below + 1 < count && isBefore(child + DUE_BYTES, child)) {
      below++
      child += DUE_BYTES
    }
    const due = load<f64>(child, DEADLINE)
    if (deadline < due || (deadline === due && insertion < load<f64>(child, INSERTION))) break
    store<f64>(hole, due, DEADLINE)
    store<f64>(hole, load<f64>(child, INSERTION), INSERTION)
    store<f64>(hole, load<f64>(child, DUE_WEIGHT), DUE_WEIGHT)
    store<i32>(hole, load<i32>(child, DUE_INDEX), DUE_INDEX)
    hole = child
    at = below
  }
  store<f64>(hole, deadline, DEADLINE)
  store<f64>(hole, insertion, INSERTION)
  store<f64>(hole, weight, DUE_WEIGHT)
  store<i32>(hole, index, DUE_INDEX)
}

function isBefore(a: usize, b: usize): bool {
  const dueA = load<f64>(a, DEADLINE)
  const dueB = load<f64>(b, DEADLINE)
  return dueA < dueB || (dueA === dueB && load<f64>(a, INSERTION) < load<f64>(b, INSERTION))
}
