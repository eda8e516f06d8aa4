import { rowOf } from './block'
import { DEADLINE, DUE_BYTES, DUE_INDEX, DUE_WEIGHT, entryAt, heapify, INSERTION, sink } from './deadlines'
import { expNegative } from './exp'
import { BLOCK_POSITION, ROW_IN_FLIGHT } from './layout'
import { isWeighted, lengthOf, rowAt, weightAt } from './list'
import { ln } from './ln'
import { createPlan, PLAN_EDF, planOf } from './plan'
import { nextF64, nextU32 } from './prng'
import { nextInTurn } from './round-robin'
import { hasTurn, keepTurn, openTurns, TURN_EDF, turnOf } from './turns'
import { reducedWeights } from './weights'

/**
 * Earliest deadline first (Envoy's edf_scheduler.h): a binary heap of candidates by (deadline, insertion). The first
 * is picked, its deadline is the time, and its next one is 1/weight later.
 *
 *    0        4        8        16       24       32
 *    ┌────────┬────────┬────────┬────────┬────────┬───────────────────┐
 *    │ kind   │ count  │ block  │ time   │ added  │ entries …         │
 *    │ i32    │ i32    │ ptr    │ f64    │ f64    │ deadlines.ts      │
 *    └────────┴────────┴────────┴────────┴────────┴───────────────────┘
 *
 * The part of its period that a candidate has waited is what its row keeps from one list to the next. Candidates of
 * weight 0 are not in the heap.
 */
const COUNT: usize = 4
const BLOCK: usize = 8
const TIME: usize = 16
const ADDED: usize = 24
const ENTRIES: usize = 32

/** However many requests it has in flight, a candidate is due again after so many of its periods. */
const SLOWEST: f64 = 1048576

/**
 * @param bias how much requests in flight lengthen the period of the picked one: by the factor (inFlight + 1)^bias,
 * which is Envoy's weighted least request; 0: not at all
 */
export function pickEdf(block: usize, list: usize, bias: f64): i32 {
  if (!isWeighted(list)) return nextInTurn(block, list)
  let plan = planOf(list, PLAN_EDF)
  if (!plan) plan = planEdf(block, list, bias)
  if (!plan) return nextInTurn(block, list)
  const first = plan + ENTRIES
  const index = load<i32>(first, DUE_INDEX)
  const time = load<f64>(first, DEADLINE)
  store<f64>(plan, time, TIME)
  store<f64>(first, time + slowness(block, list, index, bias) / load<f64>(first, DUE_WEIGHT), DEADLINE)
  store<f64>(first, load<f64>(plan, ADDED), INSERTION)
  store<f64>(plan, load<f64>(plan, ADDED) + 1, ADDED)
  sink(first, load<i32>(plan, COUNT), 0)
  return index
}

function slowness(block: usize, list: usize, index: i32, bias: f64): f64 {
  if (bias === 0) return 1
  const requests = f64(load<i32>(rowOf(block, rowAt(list, index)), ROW_IN_FLIGHT) + 1)
  return bias === 1 ? requests : 1 / max(expNegative(-bias * ln(requests)), 1 / SLOWEST)
}

/** 0 if weights have become equal since they were attached. */
function planEdf(block: usize, list: usize, bias: f64): usize {
  const weights = reducedWeights(block, list)
  if (!weights) return 0
  openTurns(block)
  const length = lengthOf(list)
  const plan = createPlan(list, PLAN_EDF, ENTRIES + usize(length) * DUE_BYTES)
  store<usize>(plan, block, BLOCK)
  let count = 0
  let total: u64 = 0
  let known: u64 = 0
  for (let i = 0; i < length; i++) {
    const weight = load<u64>(weights + (usize(i) << 3))
    if (weight === 0) continue
    const entry = entryAt(plan + ENTRIES, count)
    store<f64>(entry, weightAt(block, list, i), DUE_WEIGHT)
    store<i32>(entry, i, DUE_INDEX)
    store<f64>(entry, f64(count), INSERTION)
    total += weight
    if (hasTurn(block, rowAt(list, i), TURN_EDF)) known += weight
    count++
  }
  store<i32>(plan, count, COUNT)
  store<f64>(plan, f64(count), ADDED)
  if (known === 0) enterCycle(block, plan, weights, total)
  else resume(block, list, plan, bias)
  heap.free(weights)
  heapify(plan + ENTRIES, count)
  return plan
}

/**
 * A new row is anywhere in its period, however many are new: each waits by its own weight alone. A row waits no longer
 * than it would if it were picked now.
 */
function resume(block: usize, list: usize, plan: usize, bias: f64): void {
  for (let i = 0, count = load<i32>(plan, COUNT); i < count; i++) {
    const entry = entryAt(plan + ENTRIES, i)
    const index = load<i32>(entry, DUE_INDEX)
    const row = rowAt(list, index)
    const left = hasTurn(block, row, TURN_EDF)
      ? min(max(1 - turnOf(block, row), 0), slowness(block, list, index, bias))
      : nextF64(block)
    store<f64>(entry, left / load<f64>(entry, DUE_WEIGHT), DEADLINE)
  }
}

/**
 * Starts at one of the T picks of the cycle, by the service's 64-bit position: candidate by candidate, W_0 of the
 * first, W_1 of the second, …, each of them as likely as the others. The k-th of candidate j is due at k/w_j; of
 * those due at the same time it goes first.
 */
function enterCycle(block: usize, plan: usize, weights: usize, total: u64): void {
  const position = load<u64>(block, BLOCK_POSITION)
  store<u64>(block, position + u64(nextU32(block)), BLOCK_POSITION)
  const count = load<i32>(plan, COUNT)
  let place = position % total
  let first = 0
  let own = reducedOf(plan, weights, first)
  while (place >= own) {
    place -= own
    own = reducedOf(plan, weights, ++first)
  }
  const turn = f64(place + 1)
  for (let i = 0; i < count; i++) {
    const entry = entryAt(plan + ENTRIES, i)
    const due = i === first ? turn : ceil((turn * f64(reducedOf(plan, weights, i))) / f64(own))
    store<f64>(entry, due / load<f64>(entry, DUE_WEIGHT), DEADLINE)
  }
  const chosen = entryAt(plan + ENTRIES, first)
  store<f64>(plan, load<f64>(chosen, DEADLINE), TIME)
  store<f64>(chosen, -1, INSERTION)
}

function reducedOf(plan: usize, weights: usize, entry: i32): u64 {
  return load<u64>(weights + (usize(load<i32>(entryAt(plan + ENTRIES, entry), DUE_INDEX)) << 3))
}

/** Leaves each row how much of its period it has waited. */
export function keepEdf(list: usize, plan: usize): void {
  const block = load<usize>(plan, BLOCK)
  const time = load<f64>(plan, TIME)
  for (let i = 0, count = load<i32>(plan, COUNT); i < count; i++) {
    const entry = entryAt(plan + ENTRIES, i)
    const left = (load<f64>(entry, DEADLINE) - time) * load<f64>(entry, DUE_WEIGHT)
    keepTurn(block, rowAt(list, load<i32>(entry, DUE_INDEX)), 1 - left, TURN_EDF)
  }
}
