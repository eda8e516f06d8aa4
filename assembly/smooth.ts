import { BLOCK_POSITION } from './layout'
import { isWeighted, lengthOf, rowAt } from './list'
import { createPlan, PLAN_SMOOTH, planOf } from './plan'
import { nextF64, nextU32 } from './prng'
import { sortedCopy } from './rotation'
import { nextInTurn } from './round-robin'
import { hasTurn, keepTurn, openTurns, TURN_SMOOTH, turnOf } from './turns'
import { reducedWeights } from './weights'

/**
 * nginx's smooth weighted round robin (ngx_http_upstream_round_robin.c). At each pick every candidate's credit grows
 * by its weight; the first with the most is picked and pays the total T. So credit / T is the turns a candidate is
 * owed: it is what its row keeps from one list to the next. The same number added to every credit changes nothing.
 *
 *    0        4        8        16       24       32           32 + 8n
 *    ┌────────┬────────┬────────┬────────┬────────┬────────────┬────────────┐
 *    │ kind   │ length │ block  │ total  │        │ credits    │ weights    │
 *    │ i32    │ i32    │ ptr    │ f64    │        │ f64 each   │ f64 each   │
 *    └────────┴────────┴────────┴────────┴────────┴────────────┴────────────┘
 *
 * Weights are the smallest integers in proportion, so credits are exact up to a total of 2^53. Candidates of weight 0
 * have a credit of −∞.
 */
const LENGTH: usize = 4
const BLOCK: usize = 8
const TOTAL: usize = 16
const CREDITS: usize = 32

/** A new rotation goes through so many candidates at most to find its place in the cycle. */
const REHEARSAL = 1 << 18

export function pickSmooth(block: usize, list: usize): i32 {
  if (!isWeighted(list)) return nextInTurn(block, list)
  let plan = planOf(list, PLAN_SMOOTH)
  if (!plan) plan = planSmooth(block, list)
  return plan ? next(plan) : nextInTurn(block, list)
}

function next(plan: usize): i32 {
  const bytes = usize(load<i32>(plan, LENGTH)) << 3
  const end = plan + bytes
  let best = plan
  let most = -Infinity
  for (let at = plan; at < end; at += 8) {
    const credit = load<f64>(at, CREDITS) + load<f64>(at + bytes, CREDITS)
    store<f64>(at, credit, CREDITS)
    if (credit > most) {
      most = credit
      best = at
    }
  }
  store<f64>(best, most - load<f64>(plan, TOTAL), CREDITS)
  return i32((best - plan) >> 3)
}

/** 0 if weights have become equal since they were attached. */
function planSmooth(block: usize, list: usize): usize {
  const weights = reducedWeights(block, list)
  if (!weights) return 0
  openTurns(block)
  const length = lengthOf(list)
  const bytes = usize(length) << 3
  const plan = createPlan(list, PLAN_SMOOTH, CREDITS + (bytes << 1))
  store<i32>(plan, length, LENGTH)
  store<usize>(plan, block, BLOCK)
  let total: f64 = 0
  let known: f64 = 0
  for (let i = 0; i < length; i++) {
    const weight = f64(load<u64>(weights + (usize(i) << 3)))
    store<f64>(plan + (usize(i) << 3) + bytes, weight, CREDITS)
    total += weight
    if (hasTurn(block, rowAt(list, i), TURN_SMOOTH)) known += weight
  }
  store<f64>(plan, total, TOTAL)
  if (known * 2 < total) enterCycle(block, plan, weights)
  else resume(block, list, plan)
  for (let at = plan, end = plan + bytes; at < end; at += 8) {
    if (load<f64>(at + bytes, CREDITS) === 0) store<f64>(at, -Infinity, CREDITS)
  }
  heap.free(weights)
  return plan
}

/**
 * Goes on from the rows' turns. A new row is anywhere in the T credits below the one that leads: so it is the next
 * with the probability of its share. That holds for few new ones at a time, since credits depend on each other: where
 * most weight is new, the cycle is entered anew.
 */
function resume(block: usize, list: usize, plan: usize): void {
  const length = load<i32>(plan, LENGTH)
  const bytes = usize(length) << 3
  const total = load<f64>(plan, TOTAL)
  let lead = -Infinity
  for (let i = 0; i < length; i++) {
    const row = rowAt(list, i)
    if (!hasTurn(block, row, TURN_SMOOTH)) continue
    const at = plan + (usize(i) << 3)
    const credit = unrounded(min(max(turnOf(block, row), -1), 1) * total, total)
    store<f64>(at, credit, CREDITS)
    if (load<f64>(at + bytes, CREDITS) > 0) lead = max(lead, credit + load<f64>(at + bytes, CREDITS))
  }
  for (let i = 0; i < length; i++) {
    if (!hasTurn(block, rowAt(list, i), TURN_SMOOTH)) {
      store<f64>(plan + (usize(i) << 3), lead - nextF64(block) * total, CREDITS)
    }
  }
}

/** Under the same weights credits are what they were: whole numbers. */
function unrounded(credit: f64, total: f64): f64 {
  const whole = nearest(credit)
  return abs(credit - whole) <= total * 4.440892098500626e-16 ? whole : credit
}

/**
 * Starts where the cycle of T picks is at the service's 64-bit position. After t picks credits are t·w modulo T, less
 * T for those that have had their turn: as many as let the sum be 0. These are nearly always the ones with the most;
 * the last picks before t are gone through one by one, all of them in short cycles, so that t is exact there.
 */
function enterCycle(block: usize, plan: usize, weights: usize): void {
  const length = load<i32>(plan, LENGTH)
  const total = load<f64>(plan, TOTAL)
  const position = load<u64>(block, BLOCK_POSITION)
  store<u64>(block, position + u64(nextU32(block)), BLOCK_POSITION)
  const place = f64(position % u64(total))
  const rehearsed = min(place, f64(REHEARSAL / length))
  const credits = plan + CREDITS
  let sum: f64 = 0
  for (let i = 0; i < length; i++) {
    const gained = (place - rehearsed) * f64(load<u64>(weights + (usize(i) << 3)))
    const credit = min(max(gained - floor(gained / total) * total, 0), total)
    store<f64>(credits + (usize(i) << 3), credit)
    sum += credit
  }
  const paid = i32(min(nearest(sum / total), f64(length)))
  if (paid > 0) pay(credits, length, paid, total)
  for (let i: f64 = 0; i < rehearsed; i++) next(plan)
}

/** Takes `total` from the `count` largest credits; of equal ones from the first. */
function pay(credits: usize, length: i32, count: i32, total: f64): void {
  // Credits are not negative: as integers their bits are in the same order.
  const sorted = sortedCopy(credits, length)
  const least = load<f64>(sorted + (usize(length - count) << 3))
  heap.free(sorted)
  const end = credits + (usize(length) << 3)
  let equal = count
  for (let at = credits; at < end; at += 8) if (load<f64>(at) > least) equal--
  for (let at = credits; at < end; at += 8) {
    const credit = load<f64>(at)
    if (credit < least || (credit === least && equal-- <= 0)) continue
    store<f64>(at, credit - total)
  }
}

/** Leaves each row the turns it is owed. */
export function keepSmooth(list: usize, plan: usize): void {
  const length = load<i32>(plan, LENGTH)
  const bytes = usize(length) << 3
  const block = load<usize>(plan, BLOCK)
  const total = load<f64>(plan, TOTAL)
  let sum: f64 = 0
  let count = 0
  for (let at = plan, end = plan + bytes; at < end; at += 8) {
    if (load<f64>(at + bytes, CREDITS) === 0) continue
    sum += load<f64>(at, CREDITS)
    count++
  }
  const mean = sum / f64(count)
  for (let i = 0; i < length; i++) {
    const at = plan + (usize(i) << 3)
    if (load<f64>(at + bytes, CREDITS) === 0) continue
    keepTurn(block, rowAt(list, i), (load<f64>(at, CREDITS) - mean) / total, TURN_SMOOTH)
  }
}
