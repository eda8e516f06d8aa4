import { rowOf } from './block'
import { drawOne, drawOther } from './draw'
import { expNegative } from './exp'
import { LIST_MEAN_WEIGHT, LIST_TABLE, ROW_EWMA, ROW_IN_FLIGHT, ROW_STAMP, ROW_WEIGHT } from './layout'
import { lengthOf, rowAt } from './list'

/**
 * Peak EWMA with two choices (Finagle PeakEwma.scala, linkerd): the cheaper of two distinct draws, the first on a tie.
 */
export function pickPeakEwma(block: usize, list: usize, nowMs: f64, decayMs: f64, defaultRttMs: f64): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  const first = drawOne(block, list)
  const other = drawOther(block, list, first)
  return costOf(block, list, other, nowMs, decayMs, defaultRttMs) <
    costOf(block, list, first, nowMs, decayMs, defaultRttMs)
    ? other
    : first
}

/**
 * What one more request would wait: the latency, decayed since it was last seen, times the requests in flight and
 * this one. Reading changes nothing: Finagle's decays the stored average at each look, which biases it low. An
 * instance without history costs `defaultRttMs` for each request in flight: it is tried at once, but not flooded.
 * Where weights are attached, requests in flight count in units of the instance's share.
 */
function costOf(block: usize, list: usize, index: i32, nowMs: f64, decayMs: f64, defaultRttMs: f64): f64 {
  const row = rowOf(block, rowAt(list, index))
  let inFlight = f64(load<i32>(row, ROW_IN_FLIGHT))
  if (load<usize>(list, LIST_TABLE)) inFlight *= load<f64>(list, LIST_MEAN_WEIGHT) / load<f64>(row, ROW_WEIGHT)
  return expectedMs(row, inFlight, nowMs, decayMs, defaultRttMs)
}

/** What one more request would wait behind so many. */
export function expectedMs(row: usize, inFlight: f64, nowMs: f64, decayMs: f64, defaultRttMs: f64): f64 {
  const ewma = load<f64>(row, ROW_EWMA)
  if (ewma < 0) return defaultRttMs * inFlight
  const elapsed = nowMs - load<f64>(row, ROW_STAMP)
  return (elapsed > 0 ? ewma * expNegative(-elapsed / decayMs) : ewma) * (inFlight + 1)
}
