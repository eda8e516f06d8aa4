import { expNegative } from './exp'
import { isWeighted, lengthOf, rowAt, weightAt } from './list'
import { PLAN_DYNAMIC } from './plan'
import { drawByPlan, isDue, markLaid, storeSum, weightPlanOf } from './weight-plan'
import {
  errorRate,
  factorOf,
  hasFactor,
  isFactorDue,
  lendFactor,
  meanMs,
  samplesOf,
  storeFactor,
  totalWindow,
  windowOf,
} from './window'

/** From this sample on an instance has a weight of its own. */
const WARM: f64 = 100

/**
 * One draw by dynamic weights: attached weight × e^(−mean ms / 1000) × max(0.01, 1 − 2 × error rate), smoothed as
 * 0.7 × old + 0.3 × computed. The weights of a list are worked out at the first pick from it, then at the first pick
 * after every `updateMs`.
 */
export function pickDynamicWeight(block: usize, list: usize, nowMs: f64, updateMs: f64): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const plan = weightPlanOf(list, PLAN_DYNAMIC, 0)
  if (isDue(plan, nowMs, updateMs)) lay(block, list, plan, nowMs, updateMs)
  return drawByPlan(block, plan, length)
}

function lay(block: usize, list: usize, plan: usize, nowMs: f64, updateMs: f64): void {
  const length = lengthOf(list)
  const weighted = isWeighted(list)
  let warm = 0
  let sum: f64 = 0
  for (let i = 0; i < length; i++) {
    const window = windowOf(block, rowAt(list, i))
    if (samplesOf(window) < WARM) continue
    if (isFactorDue(window, nowMs, updateMs)) update(window, nowMs)
    sum += (weighted ? weightAt(block, list, i) : 1) * factorOf(window)
    warm++
  }
  const mean = sum / f64(warm)
  sum = 0
  storeSum(plan, 0, 0)
  for (let i = 0; i < length; i++) {
    const window = windowOf(block, rowAt(list, i))
    const base = weighted ? weightAt(block, list, i) : 1
    if (samplesOf(window) < WARM) {
      // Kept as a factor: what smoothing starts from at the hundredth sample.
      lendFactor(window, warm > 0 && base > 0 ? mean / base : expNegative(-0.1))
    }
    sum += base * factorOf(window)
    storeSum(plan, i + 1, sum)
  }
  markLaid(plan, nowMs)
}

/** Several lists may hold the row: it is updated once in a time for all of them. */
function update(window: usize, nowMs: f64): void {
  totalWindow(window, nowMs)
  const computed = expNegative(-meanMs() / 1000) * max<f64>(0.01, 1 - 2 * errorRate())
  storeFactor(window, hasFactor(window) ? 0.7 * factorOf(window) + 0.3 * computed : computed, nowMs)
}
