import { beginFilter, eligibleAt, eligibleCount, letThrough } from './eligible'
import { isDown, pickInTurn, turnAmong } from './in-turn'
import { lengthOf, rowAt } from './list'
import { RIBBON_IGNORES_DOWN } from './ribbon-flags'
import { activeRequests, isTripped } from './server-stats'

/** AvailabilityPredicate: the breaker lets requests through, and fewer than `limit` are in flight. */
export function isAvailable(block: usize, row: i32, nowMs: f64, limit: i32, filterTripped: i32): bool {
  return !(filterTripped && isTripped(block, row, nowMs)) && activeRequests(block, row, nowMs) < limit
}

/** Whether a predicate rule may answer this candidate at all. */
export function mayBeChosen(block: usize, list: usize, index: i32, flags: i32): bool {
  return (flags & RIBBON_IGNORES_DOWN) !== 0 || !isDown(block, list, index)
}

/**
 * BestAvailableRule: of those whose breaker is closed the one with the fewest requests in flight, the earliest of
 * equals; in turn if every breaker is open.
 */
export function pickBestAvailable(block: usize, list: usize, nowMs: f64, flags: i32): i32 {
  const length = lengthOf(list)
  let best = -1
  let fewest = i32.MAX_VALUE
  for (let index = 0; index < length; index++) {
    const row = rowAt(list, index)
    if (!mayBeChosen(block, list, index, flags) || isTripped(block, row, nowMs)) continue
    const active = activeRequests(block, row, nowMs)
    if (active >= fewest) continue
    fewest = active
    best = index
  }
  return best < 0 ? pickInTurn(block, list, flags) : best
}

/**
 * AvailabilityFilteringRule: the first available of eleven in turn, the counter being moved once more before the rule
 * gives up on it; then in turn among those available; then among all.
 */
export function pickAvailable(block: usize, list: usize, nowMs: f64, limit: i32, filterTripped: i32, flags: i32): i32 {
  let index = pickInTurn(block, list, flags)
  for (let check = 0; check < 11; check++) {
    if (index >= 0 && isAvailable(block, rowAt(list, index), nowMs, limit, filterTripped)) return index
    index = pickInTurn(block, list, flags)
  }
  filterAvailable(block, list, nowMs, limit, filterTripped, flags)
  if (eligibleCount() === 0) filterNothing(block, list, flags)
  return eligibleAt(turnAmong(block, eligibleCount(), flags))
}

export function filterAvailable(
  block: usize,
  list: usize,
  nowMs: f64,
  limit: i32,
  filterTripped: i32,
  flags: i32,
): void {
  const length = lengthOf(list)
  beginFilter(length)
  for (let index = 0; index < length; index++) {
    if (!mayBeChosen(block, list, index, flags)) continue
    if (isAvailable(block, rowAt(list, index), nowMs, limit, filterTripped)) letThrough(index)
  }
}

/** Everybody passes. */
export function filterNothing(block: usize, list: usize, flags: i32): void {
  const length = lengthOf(list)
  beginFilter(length)
  for (let index = 0; index < length; index++) if (mayBeChosen(block, list, index, flags)) letThrough(index)
}
