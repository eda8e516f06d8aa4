import { openColumn } from './block'
import { isOver } from './elapsed'
import { isDown, pickInTurn } from './in-turn'
import { BLOCK_SHARE_VERSION, BLOCK_SHARED_AT, BLOCK_SHARED_COUNT, BLOCK_SHARES } from './layout'
import { lengthOf, rowAt } from './list'
import { createPlan, PLAN_RESPONSE_WEIGHTS, planOf } from './plan'
import { nextF64 } from './prng'
import { meanRecent } from './recent'
import { FORMULA_MAX, RIBBON_LIFETIME, RIBBON_ZERO_FIRST } from './ribbon-flags'
import { meanResponseMs } from './server-stats'

/**
 * Weights by response time, as the list's plan: cumulative, C_i = w_0 + … + w_i.
 *
 *    0       4   8          16       24
 *    ┌───────┬───┬──────────┬────────┬──────────────┐
 *    │ kind  │   │ of which │ total  │ C_i, f64 × n │
 *    │       │   │ update   │ f64    │              │
 *    └───────┴───┴──────────┴────────┴──────────────┘
 */
const UPDATE: usize = 8
const TOTAL: usize = 16
const CUMULATIVE: usize = 24

/** Below this total Ribbon goes in turn. */
const NEXT_TO_NOTHING: f64 = 0.001

/** Room for the weights that Ribbon publishes for all lists until its timer's next run. */
export function openPublishedWeights(block: usize): void {
  openColumn(block, BLOCK_SHARES, 8)
}

/**
 * WeightedResponseTimeRule: drawn in proportion to the weights, which are worked out again every `updateMs` and for
 * each new list; in turn where nobody has any.
 * @param whole all servers, whom Ribbon weighs, whatever list is picked from
 * @param halfMs half of the window whose mean counts
 */
export function pickByResponseTime(
  block: usize,
  list: usize,
  whole: usize,
  nowMs: f64,
  updateMs: f64,
  halfMs: f64,
  formula: i32,
  flags: i32,
): i32 {
  const length = lengthOf(list)
  if (length === 0) return -1
  let update = load<f64>(block, BLOCK_SHARE_VERSION)
  const due = update === 0 || isOver(load<f64>(block, BLOCK_SHARED_AT), nowMs, updateMs)
  if (due) {
    update += 1
    store<f64>(block, update, BLOCK_SHARE_VERSION)
    store<f64>(block, nowMs, BLOCK_SHARED_AT)
  }
  let plan = planOf(list, PLAN_RESPONSE_WEIGHTS)
  if (!plan || load<f64>(plan, UPDATE) !== update) {
    if (!plan) plan = createPlan(list, PLAN_RESPONSE_WEIGHTS, CUMULATIVE + (usize(length) << 3))
    store<f64>(plan, update, UPDATE)
    const weights = plan + CUMULATIVE
    if ((flags & RIBBON_LIFETIME) === 0) {
      weigh(block, list, weights, nowMs, halfMs, formula)
    } else {
      if (due) publish(block, whole, formula)
      recall(block, list, whole, weights)
    }
    store<f64>(plan, accumulate(weights, length), TOTAL)
  }
  const total = load<f64>(plan, TOTAL)
  if (total < NEXT_TO_NOTHING) return pickInTurn(block, list, flags)
  const index = shareOwner(plan, length, nextF64(block) * total, flags)
  return isDown(block, list, index) ? drawUp(block, list, plan, flags) : index
}

/** The first candidate whose cumulative weight is above `point`; Ribbon's: not below it. */
function shareOwner(plan: usize, length: i32, point: f64, flags: i32): i32 {
  let low = 0
  let high = length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    const sum = load<f64>(plan + (usize(middle) << 3), CUMULATIVE)
    if (sum > point || ((flags & RIBBON_ZERO_FIRST) !== 0 && sum === point)) high = middle
    else low = middle + 1
  }
  return low
}

/** Whom a draw of `point`, from 0 up to the list's total weight, chooses; −1 of a list without weights. */
export function ownerByResponseTime(list: usize, point: f64, flags: i32): i32 {
  const plan = planOf(list, PLAN_RESPONSE_WEIGHTS)
  return plan ? shareOwner(plan, lengthOf(list), point, flags) : -1
}

/** A draw among those that are not down; Ribbon draws from all until it hits one, for ever if there is none. */
function drawUp(block: usize, list: usize, plan: usize, flags: i32): i32 {
  const length = lengthOf(list)
  let sum: f64 = 0
  for (let index = 0; index < length; index++) if (!isDown(block, list, index)) sum += weightOf(plan, index)
  if (sum < NEXT_TO_NOTHING) return pickInTurn(block, list, flags)
  const point = nextF64(block) * sum
  let last = -1
  sum = 0
  for (let index = 0; index < length; index++) {
    if (isDown(block, list, index)) continue
    const weight = weightOf(plan, index)
    if (weight === 0) continue
    sum += weight
    last = index
    if (sum > point) break
  }
  return last
}

function weightOf(plan: usize, index: i32): f64 {
  const at = plan + CUMULATIVE + (usize(index) << 3)
  return index === 0 ? load<f64>(at) : load<f64>(at) - load<f64>(at - 8)
}

/** From what the window has seen: a candidate without samples has the mean weight of those with some. */
function weigh(block: usize, list: usize, weights: usize, nowMs: f64, halfMs: f64, formula: i32): void {
  const length = lengthOf(list)
  for (let i = 0; i < length; i++)
    store<f64>(weights + (usize(i) << 3), meanRecent(block, rowAt(list, i), nowMs, halfMs))
  weighMeans(weights, length, formula)
}

/** From all response times ever seen, which are 0 where there are none; for all lists until the next update. */
function publish(block: usize, whole: usize, formula: i32): void {
  const length = lengthOf(whole)
  const weights = heap.alloc(max<usize>(usize(length) << 3, 8))
  for (let i = 0; i < length; i++) store<f64>(weights + (usize(i) << 3), meanResponseMs(block, rowAt(whole, i)))
  weighMeans(weights, length, formula)
  const published = load<usize>(block, BLOCK_SHARES)
  for (let i = 0; i < length; i++) {
    store<f64>(published + (usize(rowAt(whole, i)) << 3), load<f64>(weights + (usize(i) << 3)))
  }
  heap.free(weights)
  store<i32>(block, length, BLOCK_SHARED_COUNT)
}

/** What was published; nothing if it was for another number of servers. */
function recall(block: usize, list: usize, whole: usize, weights: usize): void {
  const length = lengthOf(list)
  const published = load<usize>(block, BLOCK_SHARES)
  const holds = load<i32>(block, BLOCK_SHARED_COUNT) === lengthOf(whole)
  for (let i = 0; i < length; i++) {
    const weight = holds ? load<f64>(published + (usize(rowAt(list, i)) << 3)) : 0
    store<f64>(weights + (usize(i) << 3), weight)
  }
}

/** Turns means, −1 where unknown, into weights. */
function weighMeans(means: usize, length: i32, formula: i32): void {
  let known = 0
  let sum: f64 = 0
  let most: f64 = 0
  for (let i = 0; i < length; i++) {
    const mean = load<f64>(means + (usize(i) << 3))
    if (mean < 0) continue
    known++
    sum += mean
    most = max(most, mean)
  }
  const top = formula === FORMULA_MAX ? most : sum
  const unknown = known === 0 ? 0 : top - sum / f64(known)
  for (let i = 0; i < length; i++) {
    const mean = load<f64>(means + (usize(i) << 3))
    store<f64>(means + (usize(i) << 3), mean < 0 ? unknown : max<f64>(top - mean, 0))
  }
}

/** Their running sum in place of the weights; the total. */
function accumulate(weights: usize, length: i32): f64 {
  let sum: f64 = 0
  for (let i = 0; i < length; i++) {
    sum += load<f64>(weights + (usize(i) << 3))
    store<f64>(weights + (usize(i) << 3), sum)
  }
  return sum
}
