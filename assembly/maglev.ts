import { DEADLINE, DUE_BYTES, DUE_INDEX, DUE_WEIGHT, entryAt, INSERTION, sink } from './deadlines'
import { firstIdentity, identityIndex, identityLength, nextIdentity } from './identities'
import { hashOfKey } from './key'
import { NO_PLAN } from './layout'
import { lengthOf } from './list'
import { createPlan, PLAN_MAGLEV, planOf } from './plan'
import { shareAt, sharesOf } from './shares'
import { beginWalk, firstOpen, isOpen } from './walk'
import { xxh64 } from './xxh64'

/**
 * Maglev's table (Eisenbud et al., NSDI '16, §3.4; hashes and weights as Envoy's maglev_lb): every instance has a
 * permutation of the slots, and in turns each takes its next free one until all are taken.
 *
 *    0        4        8
 *    ┌────────┬────────┬────────────┐
 *    │ kind   │ size   │ owners     │
 *    │ i32    │ i32    │ i32 × size │
 *    └────────┴────────┴────────────┘
 */
const SIZE: usize = 4
const OWNERS: usize = 8

/** While the table is filled: where an instance's permutation stands, its step, its weight and its next turn's target. */
const SEEKER_BYTES: usize = 32
const SEEKER_SLOT: usize = 0
const SEEKER_SKIP: usize = 4
const SEEKER_INDEX: usize = 8
const SEEKER_WEIGHT: usize = 16
const SEEKER_TARGET: usize = 24

/**
 * `size` is a prime. In turn t an instance of weight w takes a slot while t·w has reached its target, which each slot
 * raises by the largest weight: so slots come in proportion to weights, and all take part from the first turn on.
 */
export function buildMaglev(block: usize, list: usize, identities: usize, size: i32): void {
  const length = lengthOf(list)
  if (length === 0) return
  const seekers = heap.alloc(usize(length) * SEEKER_BYTES)
  const end = seekSlots(block, list, identities, size, seekers)
  let heaviest: f64 = 0
  let sum: f64 = 0
  for (let at = seekers; at < end; at += SEEKER_BYTES) {
    heaviest = max(heaviest, load<f64>(at, SEEKER_WEIGHT))
    sum += load<f64>(at, SEEKER_WEIGHT)
  }
  const count = i32((end - seekers) / SEEKER_BYTES)

  const table = createPlan(list, PLAN_MAGLEV, OWNERS + (usize(size) << 2))
  store<i32>(table, size, SIZE)
  const owners = table + OWNERS
  memory.fill(owners, FREE, usize(size) << 2)
  if (f64(count) * heaviest <= sum * MOST_LOOKS) fillInTurn(owners, size, seekers, end, heaviest)
  else fillByNextTurn(owners, size, seekers, count, heaviest)
  heap.free(seekers)
}

/** A turn goes over all instances if so many looks find one that takes a slot: less than a heap costs. */
const MOST_LOOKS: f64 = 8

function fillInTurn(owners: usize, size: i32, seekers: usize, end: usize, heaviest: f64): void {
  let filled = 0
  for (let turn: f64 = 1; filled < size; turn++) {
    for (let at = seekers; at < end && filled < size; at += SEEKER_BYTES) {
      const target = load<f64>(at, SEEKER_TARGET)
      if (turn * load<f64>(at, SEEKER_WEIGHT) < target) continue
      store<f64>(at, target + heaviest, SEEKER_TARGET)
      takeSlot(owners, size, at)
      filled++
    }
  }
}

/** The same, by a heap of each one's next turn. */
function fillByNextTurn(owners: usize, size: i32, seekers: usize, count: i32, heaviest: f64): void {
  const due = heap.alloc(usize(count) * DUE_BYTES)
  for (let i = 0; i < count; i++) {
    const entry = entryAt(due, i)
    const seeker = seekers + usize(i) * SEEKER_BYTES
    store<f64>(entry, 1, DEADLINE)
    store<f64>(entry, f64(i), INSERTION)
    store<f64>(entry, load<f64>(seeker, SEEKER_WEIGHT), DUE_WEIGHT)
    store<i32>(entry, i, DUE_INDEX)
  }
  for (let filled = 0; filled < size; filled++) {
    const seeker = seekers + usize(load<i32>(due, DUE_INDEX)) * SEEKER_BYTES
    takeSlot(owners, size, seeker)
    const target = load<f64>(seeker, SEEKER_TARGET) + heaviest
    store<f64>(seeker, target, SEEKER_TARGET)
    store<f64>(due, turnOf(target, load<f64>(due, DUE_WEIGHT), load<f64>(due, DEADLINE)), DEADLINE)
    sink(due, count, 0)
  }
  heap.free(due)
}

/** The first turn t after `last` with t·w ≥ target, as rounded: products may be above 2^53. */
function turnOf(target: f64, weight: f64, last: f64): f64 {
  let turn = max<f64>(ceil(target / weight), last + 1)
  while (turn > last + 1 && (turn - 1) * weight >= target) turn--
  while (turn * weight < target) turn++
  return turn
}

function takeSlot(owners: usize, size: i32, seeker: usize): void {
  const skip = load<u32>(seeker, SEEKER_SKIP)
  let slot = load<u32>(seeker, SEEKER_SLOT)
  while (load<i32>(owners + (usize(slot) << 2)) >= 0) slot = stepped(slot, skip, u32(size))
  store<i32>(owners + (usize(slot) << 2), load<i32>(seeker, SEEKER_INDEX))
  store<u32>(seeker, stepped(slot, skip, u32(size)), SEEKER_SLOT)
}

/** Every byte of −1. */
const FREE: u8 = 0xff

function stepped(slot: u32, skip: u32, size: u32): u32 {
  const next = slot + skip
  return next >= size ? next - size : next
}

/** Puts the permutations of all that have a weight in a row; its end. */
function seekSlots(block: usize, list: usize, identities: usize, size: i32, seekers: usize): usize {
  const length = lengthOf(list)
  const shares = sharesOf(block, list)
  let id = firstIdentity(identities, length)
  let at = seekers
  for (let place = 0; place < length; place++) {
    const index = identityIndex(identities, place)
    const idLength = identityLength(identities, place)
    const weight = shareAt(shares, index)
    if (weight > 0) {
      store<u32>(at, u32(xxh64(id, idLength, 0) % u64(size)), SEEKER_SLOT)
      store<u32>(at, u32(xxh64(id, idLength, 1) % u64(size - 1)) + 1, SEEKER_SKIP)
      store<i32>(at, index, SEEKER_INDEX)
      store<f64>(at, nearest(weight * 1000), SEEKER_WEIGHT)
      store<f64>(at, 0, SEEKER_TARGET)
      at += SEEKER_BYTES
    }
    id = nextIdentity(id, idLength)
  }
  heap.free(shares)
  return at
}

/**
 * The owner of the key's slot; if it is closed, of the next slot whose owner is open on a walk through the whole
 * table, by a step of the key's own, so that the keys of a closed one are spread. NO_PLAN if the list has no table.
 */
export function pickMaglev(block: usize, list: usize, keyLength: i32, loadFactor: i32): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const table = planOf(list, PLAN_MAGLEV)
  if (!table) return NO_PLAN
  const size = u32(load<i32>(table, SIZE))
  const hash = hashOfKey(block, keyLength)
  let slot = u32(hash % u64(size))
  const owners = table + OWNERS
  const home = load<i32>(owners + (usize(slot) << 2))
  if (!beginWalk(list, loadFactor) || isOpen(block, list, home)) return home
  const skip = u32((hash / u64(size)) % u64(size - 1)) + 1
  for (let step: u32 = 1; step < size; step++) {
    slot = stepped(slot, skip, size)
    const owner = load<i32>(owners + (usize(slot) << 2))
    if (isOpen(block, list, owner)) return owner
  }
  return firstOpen(block, list, home)
}
