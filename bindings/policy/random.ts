/** @module Draws a candidate. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, type Engine, leased } from './engine.js'

const check = object({})

/**
 * Uniform, or by weight over a weighted list, from the service's own seeded generator.
 * Use it when many clients must not move in step. Breaks at high load: its longest queue is log n / log log n.
 * @see SCLB 4.1 RandomLoadBalancer
 * @example random()
 */
export function random(options: Record<never, never> = {}): Policy {
  check(options, 'random')
  const plain: Engine = {
    timed: false,
    weights: 'draw',
    decayMs: DEFAULT_DECAY_MS,
    pick: (core, block, list) => core.pickRandom(block, list),
    lease: (core, block, list) => core.leaseRandom(block, list),
  }
  return corePolicy('random', ({ quirks }) => {
    if (!quirks.has('ribbon-random-index')) return plain
    return {
      ...plain,
      seesDown: true,
      ...leased((core, block, list) => core.pickRandomUp(block, list)),
    }
  })
}
