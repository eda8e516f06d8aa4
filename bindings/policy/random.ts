/** @module Draws a candidate. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS } from './engine.js'

const check = object({})

/**
 * Uniform, or by weight over a weighted list, from the service's own seeded generator.
 * Use it when many clients must not move in step. Breaks at high load: its longest queue is log n / log log n.
 * @see SCLB 4.1 RandomLoadBalancer
 * @example random()
 */
export function random(options: Record<never, never> = {}): Policy {
  check(options, 'random')
  return corePolicy('random', {
    timed: false,
    weights: 'draw',
    decayMs: DEFAULT_DECAY_MS,
    pick: (core, block, list) => core.pickRandom(block, list),
    lease: (core, block, list) => core.leaseRandom(block, list),
  })
}
