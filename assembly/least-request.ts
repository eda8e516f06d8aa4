import { rowOf } from './block'
import { drawFirstOfMany, drawMore, drawOne, drawOther } from './draw'
import { pickEdf } from './edf'
import { LIST_TABLE, ROW_IN_FLIGHT, ROW_WEIGHT } from './layout'
import { isWeighted, lengthOf, rowAt } from './list'
import { below } from './prng'

/**
 * Least request of `choices` distinct draws (gRPC A48; two: Mitzenmacher's power of two choices). Load is requests
 * in flight over the weight. The first drawn wins a tie, so an idle service is shared by weight.
 */
export function pickLeastRequest(block: usize, list: usize, choices: i32): i32 {
  const length = lengthOf(list)
  if (length < 2) return length - 1
  if (choices === 2) {
    const first = drawOne(block, list)
    const other = drawOther(block, list, first)
    return isLessLoaded(block, list, other, first) ? other : first
  }
  let best = drawFirstOfMany(block, list)
  for (let count = 1, most = min(choices, length); count < most; count++) {
    const other = drawMore(block, list, count)
    if (other < 0) break
    if (isLessLoaded(block, list, other, best)) best = other
  }
  return best
}

/**
 * Envoy's least request (least_request_lb.cc). Equal weights: `choices` draws with replacement, so that the busier of
 * two still gets a quarter; of these the first with strictly fewer requests. Unequal ones: earliest deadline first,
 * by weight / (requests in flight + 1)^bias.
 */
export function pickLeastRequestEnvoy(block: usize, list: usize, choices: i32, bias: f64): i32 {
  if (isWeighted(list)) return pickEdf(block, list, bias)
  const length = lengthOf(list)
  if (length < 2) return length - 1
  let best = i32(below(block, u32(length)))
  for (let count = 1; count < choices; count++) {
    const other = i32(below(block, u32(length)))
    if (isLessLoaded(block, list, other, best)) best = other
  }
  return best
}

/** a's requests over its weight against b's, cross-multiplied; weights count only where the list has them attached. */
function isLessLoaded(block: usize, list: usize, a: i32, b: i32): bool {
  const rowA = rowOf(block, rowAt(list, a))
  const rowB = rowOf(block, rowAt(list, b))
  const loadA = load<i32>(rowA, ROW_IN_FLIGHT)
  const loadB = load<i32>(rowB, ROW_IN_FLIGHT)
  if (!load<usize>(list, LIST_TABLE)) return loadA < loadB
  return f64(loadA) * load<f64>(rowB, ROW_WEIGHT) < f64(loadB) * load<f64>(rowA, ROW_WEIGHT)
}
