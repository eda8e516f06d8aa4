import { identityIndex } from './identities'
import { hashOfKey } from './key'
import { NO_PLAN } from './layout'
import { lengthOf } from './list'
import { createPlan, PLAN_JUMP, planOf } from './plan'
import { shareAt, sharesOf } from './shares'
import { beginWalk, isOpen } from './walk'

/**
 * Jump hash over numbered buckets (Lamping, Veach 2014, arXiv 1406.2294): bucket b is the b-th identity that has a weight.
 *
 *    0        4        8
 *    ┌────────┬────────┬──────────────┐
 *    │ kind   │ count  │ indexes      │
 *    │ i32    │ i32    │ i32 × count  │
 *    └────────┴────────┴──────────────┘
 */
const COUNT: usize = 4
const INDEXES: usize = 8

export function buildJump(block: usize, list: usize, identities: usize): void {
  const length = lengthOf(list)
  const plan = createPlan(list, PLAN_JUMP, INDEXES + (usize(length) << 2))
  const shares = sharesOf(block, list)
  let count = 0
  for (let place = 0; place < length; place++) {
    const index = identityIndex(identities, place)
    if (shareAt(shares, index) > 0) store<i32>(plan + (usize(count++) << 2), index, INDEXES)
  }
  heap.free(shares)
  store<i32>(plan, count, COUNT)
}

/** A bucket from 0 to below `buckets`; one more bucket moves 1 key in `buckets` + 1, and none between the others. */
export function jump(key: u64, buckets: i32): i32 {
  let bucket: i64 = -1
  let next: i64 = 0
  while (next < i64(buckets)) {
    bucket = next
    key = key * 2862933555777941757 + 1
    next = i64(f64(bucket + 1) * (2147483648 / f64((key >> 33) + 1)))
  }
  return i32(bucket)
}

/** The key's bucket; if it is closed, the next open one, around. NO_PLAN if the list is not prepared. */
export function pickJump(block: usize, list: usize, keyLength: i32): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const plan = planOf(list, PLAN_JUMP)
  if (!plan) return NO_PLAN
  const count = load<i32>(plan, COUNT)
  const bucket = jump(hashOfKey(block, keyLength), count)
  const home = load<i32>(plan + (usize(bucket) << 2), INDEXES)
  if (!beginWalk(list, 0)) return home
  for (let step = 0; step < count; step++) {
    const index = load<i32>(plan + (usize((bucket + step) % count) << 2), INDEXES)
    if (isOpen(block, list, index)) return index
  }
  return home
}
