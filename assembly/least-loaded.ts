import { rowOf } from './block'
import { ROW_IN_FLIGHT, ROW_WEIGHT } from './layout'
import { isWeighted, lengthOf, rowAt, weightAt } from './list'
import { expectedMs } from './peak-ewma'
import { below, nextF64 } from './prng'

/**
 * The fewest requests in flight for its weight, of all candidates: O(n). Those that are level are drawn from, by
 * weight where weights are attached (Envoy's FULL_SCAN draws uniformly, nginx's least_conn rotates by weight).
 */
export function pickLeastConnections(block: usize, list: usize): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const weighted = isWeighted(list)
  let best = -1
  let least: f64 = 1
  let share: f64 = 0
  let level: f64 = 0
  for (let i = 0; i < length; i++) {
    const row = rowOf(block, rowAt(list, i))
    const weight = weighted ? load<f64>(row, ROW_WEIGHT) : 1
    if (!(weight > 0)) continue
    const requests = f64(load<i32>(row, ROW_IN_FLIGHT))
    const here = requests * share
    const there = least * weight
    if (here > there) continue
    if (here < there) {
      best = i
      least = requests
      share = weight
      level = 0
    }
    level += weight
  }
  if (level === share) return best
  let point = drawBelow(block, level, weighted)
  let last = best
  for (let i = best; i < length; i++) {
    const row = rowOf(block, rowAt(list, i))
    const weight = weighted ? load<f64>(row, ROW_WEIGHT) : 1
    if (!(weight > 0) || f64(load<i32>(row, ROW_IN_FLIGHT)) * share !== least * weight) continue
    if (point < weight) return i
    point -= weight
    last = i
  }
  return last
}

/**
 * The least latency × (requests in flight + 1) for its weight, of all candidates: O(n). Those that are level are
 * drawn from, by weight where weights are attached.
 */
export function pickLeastResponseTime(block: usize, list: usize, nowMs: f64, decayMs: f64, defaultRttMs: f64): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const weighted = isWeighted(list)
  let best = -1
  let least = Infinity
  let level: f64 = 0
  let count = 0
  for (let i = 0; i < length; i++) {
    const weight = weighted ? weightAt(block, list, i) : 1
    if (!(weight > 0)) continue
    const cost = waitAt(block, list, i, nowMs, decayMs, defaultRttMs) / weight
    if (cost > least) continue
    if (cost < least || best < 0) {
      best = i
      least = cost
      level = 0
      count = 0
    }
    level += weight
    count++
  }
  if (count < 2) return best
  let point = drawBelow(block, level, weighted)
  let last = best
  for (let i = best; i < length; i++) {
    const weight = weighted ? weightAt(block, list, i) : 1
    if (!(weight > 0) || waitAt(block, list, i, nowMs, decayMs, defaultRttMs) / weight !== least) continue
    if (point < weight) return i
    point -= weight
    last = i
  }
  return last
}

function waitAt(block: usize, list: usize, index: i32, nowMs: f64, decayMs: f64, defaultRttMs: f64): f64 {
  const row = rowOf(block, rowAt(list, index))
  return expectedMs(row, f64(load<i32>(row, ROW_IN_FLIGHT)), nowMs, decayMs, defaultRttMs)
}

function drawBelow(block: usize, level: f64, weighted: bool): f64 {
  return weighted ? nextF64(block) * level : f64(below(block, u32(level)))
}
