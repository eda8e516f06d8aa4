import { rowOf } from './block'
import { anyExcluded, isExcluded } from './excluded'
import { ROW_IN_FLIGHT } from './layout'
import { isWeighted, lengthOf, rowAt, weightAt } from './list'

/**
 * Whom one pick by a key may answer. A policy walks its own order until somebody is open: neither tried already nor,
 * with bounded loads, at its bound (Mirrokni, Thorup, Zadimoghaddam, "Consistent hashing with bounded loads",
 * arXiv 1608.01350): its requests in flight stay below ⌈c · (all in flight + 1) · its weight / all weight⌉.
 *
 * Both sums are over those not tried: to another try they are the whole list. Where all are tried, none counts as it.
 * Loads cannot all reach their bounds, since the bounds sum up to more than there is: somebody is always open.
 */
let passing: bool = false
/** c in thousandths; 0: loads are not bounded. */
let factor: f64 = 0
let weighted: bool = false
/** The two sides of the bound, worked out when first needed: all weight, and c times all in flight and this one. */
let weights: f64 = 0
let allowed: f64 = 0

/** Begins a pick. Whether anybody may be closed to it. `loadFactor` is c in thousandths, 0 for none. */
export function beginWalk(list: usize, loadFactor: i32): bool {
  weighted = isWeighted(list)
  passing = anyExcluded() && !isEveryoneExcluded(list)
  factor = f64(loadFactor)
  weights = 0
  return passing || loadFactor > 0
}

function isEveryoneExcluded(list: usize): bool {
  for (let i = 0, length = lengthOf(list); i < length; i++) if (!isExcluded(rowAt(list, i))) return false
  return true
}

export function isOpen(block: usize, list: usize, index: i32): bool {
  const row = rowAt(list, index)
  if (passing && isExcluded(row)) return false
  if (factor === 0) return true
  const inFlight = load<i32>(rowOf(block, row), ROW_IN_FLIGHT)
  if (inFlight === 0) return true
  if (weights === 0) sumUp(block, list)
  return f64(inFlight) * weights < allowed * thousandths(block, list, index)
}

/** In thousandths, as `loadFactor` is: products of whole numbers, exact as long as they stay below 2^53. */
function sumUp(block: usize, list: usize): void {
  let inFlight: f64 = 0
  let sum: f64 = 0
  for (let i = 0, length = lengthOf(list); i < length; i++) {
    const row = rowAt(list, i)
    if (passing && isExcluded(row)) continue
    inFlight += f64(load<i32>(rowOf(block, row), ROW_IN_FLIGHT))
    sum += thousandths(block, list, i)
  }
  weights = sum * 1000
  allowed = factor * (inFlight + 1)
}

function thousandths(block: usize, list: usize, index: i32): f64 {
  return weighted ? nearest(weightAt(block, list, index) * 1000) : 1
}

/** The first open one from `from` on, around the list: for those whom a policy's own order does not reach. */
export function firstOpen(block: usize, list: usize, from: i32): i32 {
  const length = lengthOf(list)
  for (let step = 0; step < length; step++) {
    const index = (from + step) % length
    if (thousandths(block, list, index) > 0 && isOpen(block, list, index)) return index
  }
  return from
}
