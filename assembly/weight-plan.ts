import { isOver } from './elapsed'
import { WEIGHT_PLAN_SUMS } from './layout'
import { lengthOf } from './list'
import { createPlan, planOf } from './plan'
import { below, nextF64 } from './prng'

/**
 * Weights that a policy has worked out for the candidates of one list, laid end to end to be drawn from. Entry i is
 * w_0 + … + w_{i−1}, entry n their sum.
 *
 *    0       4          8          16       20           24          24 + 8·(n + 1)
 *    ┌───────┬──────────┬──────────┬────────┬────────────┬───────────┬─────────────┐
 *    │ kind  │ laid     │ laid at  │ to     │ picks since│ sums      │ scratch     │
 *    │ i32   │ i32: 0/1 │ ms, f64  │ probe  │ a probe    │ f64 each  │ f64 each    │
 *    │       │          │          │ i32    │ i32        │           │             │
 *    └───────┴──────────┴──────────┴────────┴────────────┴───────────┴─────────────┘
 */
const LAID: usize = 4
const LAID_AT: usize = 8
export const PLAN_PROBED: usize = 16
export const PLAN_UNPROBED_PICKS: usize = 20

/** The list's plan of this kind, made if there is none. @param scratch numbers of room beside each candidate's sum */
export function weightPlanOf(list: usize, kind: i32, scratch: i32): usize {
  const plan = planOf(list, kind)
  if (plan) return plan
  return createPlan(list, kind, usize(WEIGHT_PLAN_SUMS) + (usize(lengthOf(list) * (1 + scratch) + 1) << 3))
}

/** Whether the weights have not been laid out yet, or not for `everyMs`. */
export function isDue(plan: usize, nowMs: f64, everyMs: f64): bool {
  return !load<i32>(plan, LAID) || isOver(load<f64>(plan, LAID_AT), nowMs, everyMs)
}

export function markLaid(plan: usize, nowMs: f64): void {
  store<i32>(plan, 1, LAID)
  store<f64>(plan, nowMs, LAID_AT)
}

export function storeSum(plan: usize, index: i32, sum: f64): void {
  store<f64>(plan + (usize(index) << 3), sum, WEIGHT_PLAN_SUMS)
}

export function sumAt(plan: usize, index: i32): f64 {
  return load<f64>(plan + (usize(index) << 3), WEIGHT_PLAN_SUMS)
}

export function scratchOf(plan: usize, length: i32): usize {
  return plan + WEIGHT_PLAN_SUMS + (usize(length + 1) << 3)
}

/** One candidate in proportion to the weights, in O(log n); uniformly if they come to nothing. */
export function drawByPlan(block: usize, plan: usize, length: i32): i32 {
  const sum = sumAt(plan, length)
  if (!(sum > 0 && sum < Infinity)) return i32(below(block, u32(length)))
  return ownerOfPoint(plan, length, nextF64(block) * sum)
}

/** Another candidate than `first`, in proportion to the weights of the rest; `first` itself if these come to nothing. */
export function drawOtherByPlan(block: usize, plan: usize, length: i32, first: i32): i32 {
  const start = sumAt(plan, first)
  const share = sumAt(plan, first + 1) - start
  const rest = sumAt(plan, length) - share
  if (!(rest > 0 && rest < Infinity)) return first
  const point = nextF64(block) * rest
  const other = ownerOfPoint(plan, length, point >= start ? point + share : point)
  // The sums are rounded: a point at the very edge of its share may lie a bit within.
  if (other === first) return first + 1 < length ? first + 1 : first - 1
  return other
}

/** The last candidate whose sum is not above the point. */
function ownerOfPoint(plan: usize, length: i32, point: f64): i32 {
  let low = 0
  let high = length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (sumAt(plan, middle) <= point) low = middle
    else high = middle - 1
  }
  return low
}
