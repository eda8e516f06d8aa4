import { BLOCK_PLACED, BLOCK_POSITION } from './layout'
import { isWeighted, lengthOf, weightAt } from './list'
import { positionOf, putPosition } from './place'
import { createPlan, PLAN_STRIDE, planOf } from './plan'
import { nextU32 } from './prng'
import { nextInTurn } from './round-robin'

/**
 * gRPC's static stride scheduler (grpc-go weightedroundrobin/scheduler.go): weights in 65 535ths of the largest, and
 * one 64-bit counter a list. Candidate b = s mod n is picked in generation g = s div n unless
 * (W·g + 32767·b) mod 65 535 is below 65 535 − W; then the next is looked at. The heaviest is never passed over, so
 * a pick looks at no more than n, at max / mean on average.
 *
 *    0        4        8        16       20         24
 *    ┌────────┬────────┬────────┬────────┬──────────┬────────────┐
 *    │ kind   │ length │ at     │ next   │ generat. │ weights    │
 *    │ i32    │ i32    │ u64    │ i32    │ u32      │ u16 each   │
 *    └────────┴────────┴────────┴────────┴──────────┴────────────┘
 *
 * `next` and `generation` (modulo 65 535) are what the counter comes to at `at`.
 */
const LENGTH: usize = 4
const AT: usize = 8
const NEXT: usize = 16
const GENERATION: usize = 20
const WEIGHTS: usize = 24

const SCALE: u32 = 65535

export function pickStride(block: usize, list: usize): i32 {
  if (!isWeighted(list)) return nextInTurn(block, list)
  let plan = planOf(list, PLAN_STRIDE)
  if (!plan) plan = planStride(block, list)
  const position = positionOf(block, list)
  if (position !== load<u64>(plan, AT)) moveTo(plan, position)
  const length = load<i32>(plan, LENGTH)
  let next = load<i32>(plan, NEXT)
  let generation = load<u32>(plan, GENERATION)
  let looked: u64 = 0
  let picked: i32
  let passed: bool
  do {
    picked = next
    passed = isPassedOver(plan, next, generation)
    looked++
    next++
    if (next === length) {
      next = 0
      generation = generation === SCALE - 1 ? 0 : generation + 1
    }
  } while (passed)
  store<i32>(plan, next, NEXT)
  store<u32>(plan, generation, GENERATION)
  store<u64>(plan, position + looked, AT)
  putPosition(block, list, position + looked)
  return picked
}

function isPassedOver(plan: usize, index: i32, generation: u32): bool {
  const weight = u32(load<u16>(plan + (usize(index) << 1), WEIGHTS))
  // The first term is below 65 535², the second is reduced: their sum is below 2^32.
  return (weight * generation + ((u32(index) * 32767) % SCALE)) % SCALE < SCALE - weight
}

function moveTo(plan: usize, position: u64): void {
  const length = u64(load<i32>(plan, LENGTH))
  store<i32>(plan, i32(position % length), NEXT)
  store<u32>(plan, u32((position / length) % u64(SCALE)), GENERATION)
  store<u64>(plan, position, AT)
}

/**
 * A weight that is not a number is unknown: it counts as the mean of those above 0. Weights of 0 are drained.
 * However small, others are picked once in 65 535 generations.
 */
function planStride(block: usize, list: usize): usize {
  const length = lengthOf(list)
  const plan = createPlan(list, PLAN_STRIDE, WEIGHTS + (usize(length) << 1))
  store<i32>(plan, length, LENGTH)
  let most: f64 = 0
  let sum: f64 = 0
  let known = 0
  for (let i = 0; i < length; i++) {
    const weight = weightAt(block, list, i)
    if (!(weight > 0)) continue
    most = max(most, weight)
    sum += weight
    known++
  }
  const mean = known > 0 ? sum / f64(known) : 1
  if (known === 0) most = 1
  for (let i = 0; i < length; i++) {
    let weight = weightAt(block, list, i)
    if (!(weight >= 0) || known === 0) weight = mean
    // Rounds halves up, as Math.round does in Go and JavaScript.
    const scaled = weight > 0 ? max<u32>(u32(floor((f64(SCALE) * weight) / most + 0.5)), 1) : 0
    store<u16>(plan + (usize(i) << 1), u16(scaled), WEIGHTS)
  }
  if (!load<i32>(block, BLOCK_PLACED)) place(block, plan)
  moveTo(plan, positionOf(block, list))
  return plan
}

/**
 * A service's random start is at one of its picks, each as likely: at a random count one has to draw again where the
 * candidate is passed over, or those behind it in the list have its chances too.
 */
function place(block: usize, plan: usize): void {
  const drawsMost = load<i32>(plan, LENGTH) << 2
  for (let draws = 0; draws < drawsMost; draws++) {
    moveTo(plan, load<u64>(block, BLOCK_POSITION))
    if (!isPassedOver(plan, load<i32>(plan, NEXT), load<u32>(plan, GENERATION))) break
    const high = u64(nextU32(block) >>> 2)
    store<u64>(block, (high << 32) | u64(nextU32(block)), BLOCK_POSITION)
  }
  store<i32>(block, 1, BLOCK_PLACED)
}
