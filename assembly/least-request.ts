import { rowOf } from './block'
import { drawFirstOfMany, drawMore, drawOne, drawOther } from './draw'
import { LIST_TABLE, ROW_IN_FLIGHT, ROW_WEIGHT } from './layout'
import { lengthOf, rowAt } from './list'

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

/** a's requests over its weight against b's, cross-multiplied; weights count only where the list has them attached. */
function isLessLoaded(block: usize, list: usize, a: i32, b: i32): bool {
  const rowA = rowOf(block, rowAt(list, a))
  const rowB = rowOf(block, rowAt(list, b))
  const loadA = load<i32>(rowA, ROW_IN_FLIGHT)
  const loadB = load<i32>(rowB, ROW_IN_FLIGHT)
  if (!load<usize>(list, LIST_TABLE)) return loadA < loadB
  return f64(loadA) * load<f64>(rowB, ROW_WEIGHT) < f64(loadB) * load<f64>(rowA, ROW_WEIGHT)
}
