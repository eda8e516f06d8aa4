import { firstIdentity, identityIndex, identityLength, nextIdentity } from './identities'
import { hashOfKey } from './key'
import { NO_PLAN } from './layout'
import { isWeighted, lengthOf } from './list'
import { ln } from './ln'
import { createPlan, PLAN_RENDEZVOUS, planOf } from './plan'
import { shareAt, sharesOf } from './shares'
import { beginWalk, isOpen } from './walk'
import { xxh64, xxh64OfU64 } from './xxh64'

/**
 * Rendezvous hashing (Thaler, Ravishankar 1998): an instance's score for a key is a hash of both, the highest wins.
 * The hash of both is XXH64 of the eight bytes of the identity's XXH64, seeded by the key's.
 *
 *    0        4        8             8 + 8·count     + 8·count
 *    ┌────────┬────────┬─────────────┬───────────────┬──────────────┐
 *    │ kind   │ count  │ hashes      │ weights       │ indexes      │
 *    │ i32    │ i32    │ u64 × count │ f64 × count   │ i32 × count  │
 *    └────────┴────────┴─────────────┴───────────────┴──────────────┘
 */
const COUNT: usize = 4
const HASHES: usize = 8

export function buildRendezvous(block: usize, list: usize, identities: usize): void {
  const length = lengthOf(list)
  const plan = createPlan(list, PLAN_RENDEZVOUS, HASHES + usize(length) * 20)
  let count = 0
  const shares = sharesOf(block, list)
  for (let i = 0; i < length; i++) count += i32(shareAt(shares, i) > 0)
  store<i32>(plan, count, COUNT)
  let entry = plan + HASHES
  let indexes = plan + HASHES + (usize(count) << 4)
  let id = firstIdentity(identities, length)
  for (let place = 0; place < length; place++) {
    const index = identityIndex(identities, place)
    const idLength = identityLength(identities, place)
    const weight = shareAt(shares, index)
    if (weight > 0) {
      store<u64>(entry, xxh64(id, idLength, 0))
      store<f64>(entry + (usize(count) << 3), weight)
      store<i32>(indexes, index)
      entry += 8
      indexes += 4
    }
    id = nextIdentity(id, idLength)
  }
  heap.free(shares)
}

/** The open one with the highest score. NO_PLAN if the list is not prepared. */
export function pickRendezvous(block: usize, list: usize, keyLength: i32, loadFactor: i32): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const plan = planOf(list, PLAN_RENDEZVOUS)
  if (!plan) return NO_PLAN
  const key = hashOfKey(block, keyLength)
  const index = bestOf(block, list, plan, key, beginWalk(list, loadFactor))
  return index >= 0 ? index : bestOf(block, list, plan, key, false)
}

/** −1: everybody is closed. */
function bestOf(block: usize, list: usize, plan: usize, key: u64, mayRefuse: bool): i32 {
  const place = isWeighted(list)
    ? bestByWeight(block, list, plan, key, mayRefuse)
    : best(block, list, plan, key, mayRefuse)
  if (place < 0) return -1
  const indexes = plan + HASHES + (usize(load<i32>(plan, COUNT)) << 4)
  return load<i32>(indexes + (usize(place) << 2))
}

function best(block: usize, list: usize, plan: usize, key: u64, mayRefuse: bool): i32 {
  const count = load<i32>(plan, COUNT)
  const indexes = plan + HASHES + (usize(count) << 4)
  let found = -1
  let highest: u64 = 0
  for (let i = 0; i < count; i++) {
    const score = xxh64OfU64(load<u64>(plan + (usize(i) << 3), HASHES), key)
    if (found >= 0 && score <= highest) continue
    if (mayRefuse && !isOpen(block, list, load<i32>(indexes + (usize(i) << 2)))) continue
    highest = score
    found = i
  }
  return found
}

/**
 * With u in (0, 1) from the hash's top 53 bits: the least −ln u / w, so that shares are as weights (Schindelhauer,
 * Schomaker, "Weighted distributed hash tables", SPAA 2005). −ln u ≥ 1 − u spares most of the logarithms.
 */
function bestByWeight(block: usize, list: usize, plan: usize, key: u64, mayRefuse: bool): i32 {
  const count = load<i32>(plan, COUNT)
  const weights = plan + HASHES + (usize(count) << 3)
  const indexes = weights + (usize(count) << 3)
  let found = -1
  let least: f64 = Infinity
  for (let i = 0; i < count; i++) {
    const hash = xxh64OfU64(load<u64>(plan + (usize(i) << 3), HASHES), key)
    const u = f64(max<u64>(hash >> 11, 1)) * 1.1102230246251565e-16
    const weight = load<f64>(weights + (usize(i) << 3))
    if ((1 - u) / weight >= least) continue
    const cost = -ln(u) / weight
    if (cost >= least) continue
    if (mayRefuse && !isOpen(block, list, load<i32>(indexes + (usize(i) << 2)))) continue
    least = cost
    found = i
  }
  return found
}
