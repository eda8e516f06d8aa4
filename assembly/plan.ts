import { keepEdf } from './edf'
import { LIST_PLAN, LIST_PLAN_BYTES } from './layout'
import { keepSmooth } from './smooth'

/**
 * What a policy has prepared for picks from one list, in a form of its own: one allocation, whose first word says of
 * which kind it is. A policy of the user's may take turns between built-in ones: each replaces what another left.
 *
 *    0       4
 *    ┌───────┬───┐
 *    │ kind  │ … │
 *    │ i32   │   │
 *    └───────┴───┘
 */
export const PLAN_RING = 1
export const PLAN_MAGLEV = 2
export const PLAN_RENDEZVOUS = 3
export const PLAN_JUMP = 4
export const PLAN_SMOOTH = 5
export const PLAN_EDF = 6
export const PLAN_STRIDE = 7
export const PLAN_RESPONSE_WEIGHTS = 9
export const PLAN_DYNAMIC = 11
export const PLAN_RELATIVE = 12

/** The list's plan of this kind; 0: there is none, or one of another kind. */
export function planOf(list: usize, kind: i32): usize {
  const plan = load<usize>(list, LIST_PLAN)
  return plan && load<i32>(plan) === kind ? plan : 0
}

/** A zeroed plan of this many bytes, its first word included, in place of the one that was there. */
export function createPlan(list: usize, kind: i32, bytes: usize): usize {
  dropPlan(list)
  const plan = heap.alloc(bytes)
  memory.fill(plan, 0, bytes)
  store<i32>(plan, kind)
  store<usize>(list, plan, LIST_PLAN)
  store<usize>(list, bytes, LIST_PLAN_BYTES)
  return plan
}

/** The rows keep what the list's rotation knows of them. */
export function dropPlan(list: usize): void {
  const plan = load<usize>(list, LIST_PLAN)
  if (!plan) return
  const kind = load<i32>(plan)
  if (kind === PLAN_SMOOTH) keepSmooth(list, plan)
  else if (kind === PLAN_EDF) keepEdf(list, plan)
  heap.free(plan)
  store<usize>(list, 0, LIST_PLAN)
  store<usize>(list, 0, LIST_PLAN_BYTES)
}
