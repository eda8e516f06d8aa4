/** @module The rotation by deadlines. */

import { int32, object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'

export interface EdfOptions {
  /**
   * Which of a cycle's picks comes first, counted from 0 as `start + 1`, instance by instance: all of the first one's,
   * then the second's, and so on; −1: Envoy's beginning, where the list starts with its heaviest. Default: random.
   */
  start?: number
}

const check = object({ start: int32 })

/**
 * Earliest deadline first: each candidate is due again 1 / weight after its last turn. Weights 5, 1, 1 give
 * a a a a b c a. Costs log n a pick, at any weights. A new list, or new weights, go on from the part of its period
 * that each instance has waited. Candidates of equal weight are taken in turn.
 * Use it for exact shares of many instances. Breaks when instances don't perform as their weights say: it knows
 * nothing of load. Candidates that are due at the same time follow each other: it is burstier than smooth round robin.
 * @see Envoy edf_scheduler.h; its random start is drawn from the picks of a cycle, all as likely
 * @example edf()
 */
export function edf(options: EdfOptions = {}): Policy {
  check(options, 'edf')
  const { start } = options
  return corePolicy('edf', {
    timed: false,
    weights: 'plan',
    decayMs: DEFAULT_DECAY_MS,
    ...(start !== undefined && { start }),
    ...leased((core, block, list) => core.pickEdf(block, list, 0)),
  })
}
