import { rowOf } from './block'
import { buildCumulative } from './cumulative'
import {
  LIST_LENGTH,
  LIST_MEAN_WEIGHT,
  LIST_ORDER,
  LIST_PLAN,
  LIST_PLAN_BYTES,
  LIST_POSITIONS,
  LIST_ROWS,
  LIST_STRAIGHT,
  LIST_TABLE,
  ORDER_EQUAL,
  ORDER_INTERLEAVED,
  ORDER_WEIGHTED,
  ROW_WEIGHT,
} from './layout'
import { forgetPlace } from './place'
import { dropPlan } from './plan'
import { buildRotation } from './rotation'
import { reducedWeights } from './weights'

/** A list of `length` candidates; the caller fills in the row numbers at LIST_ROWS. */
export function createList(length: i32): usize {
  const list = heap.alloc(usize(LIST_ROWS) + (usize(length) << 2))
  store<i32>(list, length, LIST_LENGTH)
  store<i32>(list, ORDER_EQUAL, LIST_ORDER)
  store<usize>(list, 0, LIST_POSITIONS)
  store<usize>(list, 0, LIST_TABLE)
  store<f64>(list, 1, LIST_MEAN_WEIGHT)
  store<i32>(list, 0, LIST_STRAIGHT)
  store<usize>(list, 0, LIST_PLAN)
  store<usize>(list, 0, LIST_PLAN_BYTES)
  forgetPlace(list)
  return list
}

/** A list that also keeps each candidate's position in the list it was cut from. */
export function createCut(length: i32): usize {
  const list = createList(length)
  store<usize>(list, heap.alloc(max<usize>(usize(length) << 2, 4)), LIST_POSITIONS)
  return list
}

export function freeList(list: usize): void {
  const positions = load<usize>(list, LIST_POSITIONS)
  const table = load<usize>(list, LIST_TABLE)
  if (positions) heap.free(positions)
  if (table) heap.free(table)
  dropPlan(list)
  heap.free(list)
}

/**
 * Attaches the rows' weights to the list in the form that its policy picks by. Weights that are all equal (or all
 * zero) attach nothing: every policy then treats its candidates alike. Memory: O(n) whatever the weights are.
 */
export function weighList(block: usize, list: usize, order: i32): void {
  const length = load<i32>(list, LIST_LENGTH)
  if (length < 2 || load<i32>(list, LIST_ORDER) !== ORDER_EQUAL) return
  const weights = reducedWeights(block, list)
  // In the unit of the rows' weights, so that inFlight × mean / weight has none.
  store<f64>(list, meanWeight(block, list), LIST_MEAN_WEIGHT)
  if (!weights) return
  store<i32>(list, order, LIST_ORDER)
  if (order !== ORDER_WEIGHTED) {
    store<usize>(
      list,
      order === ORDER_INTERLEAVED ? buildRotation(weights, length) : buildCumulative(weights, length),
      LIST_TABLE,
    )
  }
  heap.free(weights)
}

/** Whether weights are attached, and not all alike. */
export function isWeighted(list: usize): bool {
  return load<i32>(list, LIST_ORDER) !== ORDER_EQUAL
}

function meanWeight(block: usize, list: usize): f64 {
  const length = load<i32>(list, LIST_LENGTH)
  let sum: f64 = 0
  for (let i = 0; i < length; i++) sum += weightAt(block, list, i)
  return sum / f64(length)
}

export function weightAt(block: usize, list: usize, index: i32): f64 {
  return load<f64>(rowOf(block, rowAt(list, index)), ROW_WEIGHT)
}

export function lengthOf(list: usize): i32 {
  return load<i32>(list, LIST_LENGTH)
}

export function rowAt(list: usize, index: i32): i32 {
  assert(u32(index) < u32(load<i32>(list, LIST_LENGTH)))
  return load<i32>(list, LIST_STRAIGHT) ? index : load<i32>(list + (usize(index) << 2), LIST_ROWS)
}

/** Where the candidate stood in the list that this one was first cut from. */
export function positionAt(list: usize, index: i32): i32 {
  const positions = load<usize>(list, LIST_POSITIONS)
  return positions ? load<i32>(positions + (usize(index) << 2)) : index
}
