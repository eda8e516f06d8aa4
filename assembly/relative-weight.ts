import { rowOf } from './block'
import { ROW_IN_FLIGHT } from './layout'
import { isWeighted, lengthOf, rowAt, weightAt } from './list'
import { medianOf } from './median'
import { errorShareOf, idleOf, isJudged, latencyOf, paceOf, silenceOf } from './pace'
import { PLAN_RELATIVE } from './plan'
import {
  drawByPlan,
  drawOtherByPlan,
  isDue,
  markLaid,
  PLAN_PROBED,
  PLAN_UNPROBED_PICKS,
  scratchOf,
  storeSum,
  sumAt,
  weightPlanOf,
} from './weight-plan'

/** Bounds of the factor: an instance that is much faster than its peers must not draw all of them at once. */
const LEAST: f64 = 0.02
const MOST: f64 = 10

/** Weights are worked out so often within a half-life. */
const UPDATES: f64 = 20

/** An instance with less than half of its fair weight is tried after this part of a half-life without a request. */
const PROBED_BELOW: f64 = 0.5
const PROBE_PARTS: f64 = 4

/** And no more than one pick of so many is spent on that. */
const PICKS_A_PROBE = 20

/**
 * Two draws by weight: the first, unless the other is less loaded for its weight, without this request and with it.
 *
 * weight = attached weight × (median latency of the peers / latency) × (1 − error share)³. An instance of which there
 * are fewer than `minVolume` outcomes counts as the median. A latency counts at least as what has been in flight
 * without any answer for that long.
 */
export function pickRelativeWeight(block: usize, list: usize, nowMs: f64, halfLifeMs: f64, minVolume: f64): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const plan = weightPlanOf(list, PLAN_RELATIVE, 1)
  if (isDue(plan, nowMs, halfLifeMs / UPDATES)) lay(block, list, plan, nowMs, halfLifeMs, minVolume)
  const probed = probe(plan)
  if (probed >= 0) return probed
  const first = drawByPlan(block, plan, length)
  const other = drawOtherByPlan(block, plan, length, first)
  return isLessLoaded(block, list, plan, other, first) ? other : first
}

/** The instance whose turn it is to show what it does now; −1: none. */
function probe(plan: usize): i32 {
  const picks = load<i32>(plan, PLAN_UNPROBED_PICKS) + 1
  const probed = load<i32>(plan, PLAN_PROBED)
  if (probed < 0 || picks < PICKS_A_PROBE) {
    store<i32>(plan, min(picks, PICKS_A_PROBE), PLAN_UNPROBED_PICKS)
    return -1
  }
  store<i32>(plan, 0, PLAN_UNPROBED_PICKS)
  store<i32>(plan, -1, PLAN_PROBED)
  return probed
}

/**
 * Whether a has fewer requests over its weight than b, and no more with this one too: else an instance that fails at
 * once, and so has never anything in flight, would draw all requests in spite of its weight.
 */
function isLessLoaded(block: usize, list: usize, plan: usize, a: i32, b: i32): bool {
  const inFlightA = f64(load<i32>(rowOf(block, rowAt(list, a)), ROW_IN_FLIGHT))
  const inFlightB = f64(load<i32>(rowOf(block, rowAt(list, b)), ROW_IN_FLIGHT))
  const weightA = weightInPlan(plan, a)
  const weightB = weightInPlan(plan, b)
  return inFlightA * weightB < inFlightB * weightA && (inFlightA + 1) * weightB <= (inFlightB + 1) * weightA
}

function weightInPlan(plan: usize, index: i32): f64 {
  return sumAt(plan, index + 1) - sumAt(plan, index)
}

function lay(block: usize, list: usize, plan: usize, nowMs: f64, halfLifeMs: f64, minVolume: f64): void {
  const length = lengthOf(list)
  const weighted = isWeighted(list)
  const reference = medianLatency(block, list, scratchOf(plan, length), minVolume)
  let sum: f64 = 0
  let probed = -1
  let longest = halfLifeMs / PROBE_PARTS
  storeSum(plan, 0, 0)
  for (let i = 0; i < length; i++) {
    const row = rowAt(list, i)
    const factor = factorOf(block, row, reference, nowMs, minVolume)
    sum += (weighted ? weightAt(block, list, i) : 1) * factor
    storeSum(plan, i + 1, sum)
    if (factor >= PROBED_BELOW) continue
    const idle = idleOf(block, row, nowMs)
    if (idle < longest || (idle === longest && probed >= 0)) continue
    longest = idle
    probed = i
  }
  store<i32>(plan, probed, PLAN_PROBED)
  markLaid(plan, nowMs)
}

/** Of those that can be judged; 0: of none. */
function medianLatency(block: usize, list: usize, scratch: usize, minVolume: f64): f64 {
  let count = 0
  for (let i = 0, length = lengthOf(list); i < length; i++) {
    const pace = paceOf(block, rowAt(list, i))
    const latency = latencyOf(pace)
    if (latency === 0 || !isJudged(pace, minVolume)) continue
    store<f64>(scratch + (usize(count) << 3), latency)
    count++
  }
  return count === 0 ? 0 : medianOf(scratch, count)
}

function factorOf(block: usize, row: i32, reference: f64, nowMs: f64, minVolume: f64): f64 {
  const pace = paceOf(block, row)
  const judged = isJudged(pace, minVolume)
  const known = judged ? latencyOf(pace) : 0
  const latency = max<f64>(known > 0 ? known : reference, silenceOf(block, row, nowMs))
  const relative = reference > 0 ? min<f64>(reference / latency, MOST) : 1
  const kept = judged ? 1 - errorShareOf(pace) : 1
  return max<f64>(relative * (kept * kept * kept), LEAST)
}
