/**
 * Who the candidates of a list are, in the order that a policy wants them: as the bindings hand them over for a plan
 * to be built.
 *
 *    0        4         8
 *    ┌────────┬─────────┬───┬─────────────────────────────────────────┐
 *    │ index  │ length  │ … │ the bytes of each in the same order,    │
 *    │ i32    │ i32     │   │ each from the next multiple of 8 on     │
 *    └────────┴─────────┴───┴─────────────────────────────────────────┘
 */
export function identityIndex(identities: usize, place: i32): i32 {
  return load<i32>(identities + (usize(place) << 3))
}

/** In bytes of UTF-8. */
export function identityLength(identities: usize, place: i32): i32 {
  return load<i32>(identities + (usize(place) << 3), 4)
}

/** Where its bytes begin; those of the next are `nextIdentity` on. */
export function firstIdentity(identities: usize, count: i32): usize {
  return identities + (usize(count) << 3)
}

export function nextIdentity(bytes: usize, length: i32): usize {
  return bytes + ((usize(length) + 7) & ~7)
}
