/** @module The rotation that spreads the turns of the heavy ones most evenly. */

import { int32, object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'

export interface SmoothRoundRobinOptions {
  /** How far the cycle has gone when the service begins: `start + 1` picks; −1: none, as nginx. Default: random. */
  start?: number
}

const check = object({ start: int32 })

/**
 * Weighted round robin without bursts: weights 5, 1, 1 give a a b a c a a. Any T picks in a row, T the sum of the
 * weights in their smallest whole proportion, give each candidate exactly its weight. Each pick looks at all
 * candidates. A new list, or new weights, go on from the turns that each instance is owed. Candidates of equal weight
 * are taken in turn.
 * Use it for exact shares of up to some hundred instances. Breaks when instances don't perform as their weights say:
 * it knows nothing of load; with thousands of instances use `stride`.
 * @see nginx ngx_http_upstream_round_robin.c
 * @example smoothRoundRobin({ start: -1 })
 */
export function smoothRoundRobin(options: SmoothRoundRobinOptions = {}): Policy {
  check(options, 'smoothRoundRobin')
  const { start } = options
  return corePolicy('smooth-round-robin', {
    timed: false,
    weights: 'plan',
    decayMs: DEFAULT_DECAY_MS,
    ...(start !== undefined && { start }),
    ...leased((core, block, list) => core.pickSmooth(block, list)),
  })
}
