import { firstIdentity, identityIndex, identityLength, nextIdentity } from './identities'
import { hashOfKey } from './key'
import { NO_PLAN } from './layout'
import { lengthOf } from './list'
import { createPlan, PLAN_RING, planOf } from './plan'
import { shareAt, sharesOf } from './shares'
import { beginWalk, firstOpen, isOpen } from './walk'
import { xxh64 } from './xxh64'

/**
 * A ring (Karger et al., STOC '97; ketama; Envoy ring_hash): every instance has many points "<id>_<j>" on the circle
 * of 64-bit hashes, and a key belongs to the first point at or after its own hash, clockwise.
 *
 *    0        4        8           16           16 + 8·size       + 4·(2^bits + 1)
 *    ┌────────┬────────┬───────────┬────────────┬─────────────────┬──────────────┐
 *    │ kind   │ size   │ shift     │ hashes     │ starts          │ owners       │
 *    │ i32    │ i32    │ i32       │ u64 × size │ i32 × 2^bits+1  │ i32 × size   │
 *    └────────┴────────┴───────────┴────────────┴─────────────────┴──────────────┘
 *
 * Hashes ascend. `starts` has, for each value of their top bits, the first point that has them: about one point a
 * value, so that a lookup is one step and not log₂ of the size. Equal hashes are in the order of the identities.
 */
const SIZE: usize = 4
const SHIFT: usize = 8
const HASHES: usize = 16

function startsOf(ring: usize): usize {
  return ring + HASHES + (usize(load<i32>(ring, SIZE)) << 3)
}

function ownersOf(ring: usize): usize {
  const buckets = usize(1) << usize(64 - load<i32>(ring, SHIFT))
  return startsOf(ring) + ((buckets + 1) << 2)
}

/**
 * `points` for each whole weight, so that an instance's points depend on nobody else. Where that is more than `most` in
 * all, half as many, and so on: an instance keeps the first of its points.
 */
export function buildRing(block: usize, list: usize, identities: usize, points: i32, most: i32): void {
  const length = lengthOf(list)
  if (length === 0) return
  const counts = heap.alloc(usize(length) << 2)
  const shares = sharesOf(block, list)
  let unit: f64 = 1
  while (countPoints(shares, identities, length, counts, f64(points) / unit) > u64(max(most, length))) unit *= 2
  heap.free(shares)
  layOut(list, identities, counts)
  heap.free(counts)
}

/** The number of points by place; their sum. Whoever has a weight has a point. */
function countPoints(shares: usize, identities: usize, length: i32, counts: usize, perWeight: f64): u64 {
  let size: u64 = 0
  for (let place = 0; place < length; place++) {
    const weight = shareAt(shares, identityIndex(identities, place))
    const count = weight > 0 ? u64(max<f64>(nearest(weight * perWeight), 1)) : 0
    store<i32>(counts + (usize(place) << 2), i32(count))
    size += count
  }
  return size
}

/**
 * As Envoy's ring_hash_lb: at least `least` points in all, scaled so that the lightest instance has a whole number of
 * them, but no more than `most`. Each takes points while their running count is below the running sum of its shares.
 */
export function buildSizedRing(block: usize, list: usize, identities: usize, least: i32, most: i32): void {
  const length = lengthOf(list)
  if (length === 0) return
  const shares = sharesOf(block, list)
  let sum: f64 = 0
  let lightest: f64 = Infinity
  for (let i = 0; i < length; i++) {
    const weight = shareAt(shares, i)
    sum += weight
    if (weight > 0) lightest = min(lightest, weight)
  }
  lightest /= sum
  const scale = min<f64>(ceil(lightest * f64(least)) / lightest, f64(most))
  const counts = heap.alloc(usize(length) << 2)
  let current: f64 = 0
  let target: f64 = 0
  for (let place = 0; place < length; place++) {
    target += scale * (shareAt(shares, identityIndex(identities, place)) / sum)
    let count = 0
    while (current < target) {
      count++
      current++
    }
    store<i32>(counts + (usize(place) << 2), count)
  }
  heap.free(shares)
  layOut(list, identities, counts)
  heap.free(counts)
}

/** Hashes every point, and sorts them: into buckets by their top bits, then by insertion within each. */
function layOut(list: usize, identities: usize, counts: usize): void {
  const length = lengthOf(list)
  let size = 0
  for (let place = 0; place < length; place++) size += load<i32>(counts + (usize(place) << 2))
  const bits = 32 - clz<i32>(max(size - 1, 1))
  const buckets = 1 << bits
  const bytes = HASHES + (usize(size) << 3) + (usize(buckets + 1) << 2) + (usize(size) << 2)
  const ring = createPlan(list, PLAN_RING, bytes)
  store<i32>(ring, size, SIZE)
  store<i32>(ring, 64 - bits, SHIFT)
  const shift = u64(64 - bits)
  const starts = startsOf(ring)
  const owners = ownersOf(ring)

  const unsorted = heap.alloc(usize(size) << 3)
  hashPoints(identities, counts, length, unsorted)
  for (let point = 0; point < size; point++) {
    const count = starts + (usize(load<u64>(unsorted + (usize(point) << 3)) >> shift) << 2)
    store<i32>(count, load<i32>(count, 4) + 1, 4)
  }
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = starts + (usize(bucket) << 2)
    store<i32>(start, load<i32>(start) + load<i32>(start, 4), 4)
  }
  // While points are put in, starts[b] moves on to where the bucket ends.
  let point = 0
  for (let place = 0; place < length; place++) {
    const owner = identityIndex(identities, place)
    for (let left = load<i32>(counts + (usize(place) << 2)); left > 0; left--) {
      const hash = load<u64>(unsorted + (usize(point++) << 3))
      const start = starts + (usize(hash >> shift) << 2)
      let at = load<i32>(start)
      store<i32>(start, at + 1)
      for (; at > 0 && load<u64>(ring + (usize(at - 1) << 3), HASHES) > hash; at--) {
        store<u64>(ring + (usize(at) << 3), load<u64>(ring + (usize(at - 1) << 3), HASHES), HASHES)
        store<i32>(owners + (usize(at) << 2), load<i32>(owners + (usize(at - 1) << 2)))
      }
      store<u64>(ring + (usize(at) << 3), hash, HASHES)
      store<i32>(owners + (usize(at) << 2), owner)
    }
  }
  memory.copy(starts + 4, starts, usize(buckets) << 2)
  store<i32>(starts, 0)
  heap.free(unsorted)
}

/** XXH64, seed 0, of "<id>_<j>" for j = 0, 1, … of each identity in turn. */
function hashPoints(identities: usize, counts: usize, length: i32, hashes: usize): void {
  let longest = 0
  for (let place = 0; place < length; place++) longest = max(longest, identityLength(identities, place))
  const name = heap.alloc(usize(longest) + MOST_SUFFIX)
  let id = firstIdentity(identities, length)
  for (let place = 0; place < length; place++) {
    const idLength = identityLength(identities, place)
    memory.copy(name, id, usize(idLength))
    store<u8>(name + usize(idLength), UNDERSCORE)
    for (let j = 0, count = load<i32>(counts + (usize(place) << 2)); j < count; j++) {
      store<u64>(hashes, xxh64(name, idLength + 1 + writeDecimal(name + usize(idLength) + 1, j), 0))
      hashes += 8
    }
    id = nextIdentity(id, idLength)
  }
  heap.free(name)
}

const UNDERSCORE: u8 = 0x5f
const DIGIT_ZERO: u8 = 0x30
/** An underscore and a number of 31 bits. */
const MOST_SUFFIX: usize = 11

/** Its digits; how many. */
function writeDecimal(at: usize, value: i32): i32 {
  let digits = 1
  for (let rest = value / 10; rest > 0; rest /= 10) digits++
  for (let digit = digits - 1; digit >= 0; digit--) {
    store<u8>(at + usize(digit), DIGIT_ZERO + u8(value % 10))
    value /= 10
  }
  return digits
}

/** The first point at or after the hash; beyond the last, the first of all. */
function pointAt(ring: usize, hash: u64): i32 {
  const start = startsOf(ring) + (usize(hash >> u64(load<i32>(ring, SHIFT))) << 2)
  let low = load<i32>(start)
  let high = load<i32>(start, 4)
  while (low < high) {
    const middle = (low + high) >> 1
    if (load<u64>(ring + (usize(middle) << 3), HASHES) < hash) low = middle + 1
    else high = middle
  }
  return low === load<i32>(ring, SIZE) ? 0 : low
}

/**
 * The owner of the key's point on the ring; if it is closed, of the next point clockwise whose owner is open. NO_PLAN
 * if the list has no ring.
 */
export function pickRing(block: usize, list: usize, keyLength: i32, loadFactor: i32): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const ring = planOf(list, PLAN_RING)
  if (!ring) return NO_PLAN
  let point = pointAt(ring, hashOfKey(block, keyLength))
  const owners = ownersOf(ring)
  const home = load<i32>(owners + (usize(point) << 2))
  if (!beginWalk(list, loadFactor) || isOpen(block, list, home)) return home
  const size = load<i32>(ring, SIZE)
  for (let step = 1; step < size; step++) {
    if (++point === size) point = 0
    const owner = load<i32>(owners + (usize(point) << 2))
    if (isOpen(block, list, owner)) return owner
  }
  return firstOpen(block, list, home)
}
