/** @module The least loaded of a few random candidates. */

import { number, object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS } from './engine.js'

export interface LeastRequestOptions {
  /** How many distinct candidates are compared; 2 (default) to 10, as gRPC A48. */
  choices?: number
}

const check = object({ choices: number({ least: 2, most: 10, whole: true }) })

/**
 * The one with the fewest requests in flight, of two distinct random candidates ("power of two choices").
 * Over a weighted list candidates are drawn by weight and load counts per weight.
 * Use it when requests differ in cost. Breaks when a failing instance answers fast: it looks idle and draws traffic.
 * @see gRPC A48; Mitzenmacher, "The power of two choices in randomized load balancing", 2001; Finagle P2CPick
 * @example leastRequest({ choices: 3 })
 */
export function leastRequest(options: LeastRequestOptions = {}): Policy {
  check(options, 'leastRequest')
  const { choices = 2 } = options
  return corePolicy('least-request', {
    timed: false,
    weights: 'draw',
    decayMs: DEFAULT_DECAY_MS,
    pick: (core, block, list) => core.pickLeastRequest(block, list, choices),
    lease: (core, block, list) => core.leaseLeastRequest(block, list, choices),
  })
}
