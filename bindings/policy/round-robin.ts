/** @module Takes the candidates in turn. */

import { int32, object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, type Engine, leased } from './engine.js'
import { ribbonFlags, ribbonStart } from './ribbon-rule.js'

export interface RoundRobinOptions {
  /** SCLB's initial position: the first pick is at `start + 1`; −1: at the first candidate. Default: random in [0, 1000). */
  start?: number
}

const check = object({ start: int32 })

/**
 * One candidate after the other; over a weighted list SCLB's interleaved sequence or blocks, by `weighted({ order })`.
 * Use it when instances and requests are alike. Breaks when they are not: a slow or failing instance keeps its
 * full share.
 * Ribbon's RoundRobinRule and ClientConfigEnabledRoundRobinRule are this.
 * Each list goes on by itself: a retry or another hint passes over nobody. A refreshed list goes on after the last pick.
 * @see SCLB 4.1 RoundRobinLoadBalancer: a 31-bit position; weighted lists have one of 64 bits, from a random place
 * @example roundRobin({ start: -1 })
 */
export function roundRobin(options: RoundRobinOptions = {}): Policy {
  check(options, 'roundRobin')
  const { start } = options
  const plain: Engine = {
    timed: false,
    weights: 'rotate',
    decayMs: DEFAULT_DECAY_MS,
    ...(start !== undefined && { start }),
    pick: (core, block, list) => core.pickRoundRobin(block, list),
    lease: (core, block, list) => core.leaseRoundRobin(block, list),
  }
  return corePolicy('round-robin', ({ quirks }) => {
    const tenProbes = quirks.has('ribbon-ten-probes')
    if (!tenProbes && !quirks.has('ribbon-counter')) {
      return quirks.has('round-robin-shared-cursor') ? ofOneCursor(plain) : plain
    }
    const flags = ribbonFlags(quirks)
    return {
      ...ribbonStart(quirks),
      ...plain,
      seesDown: tenProbes,
      ...leased((core, block, list) => core.pickInTurn(block, list, flags)),
    }
  })
}

/** SCLB's: all lists of a service move one cursor. */
function ofOneCursor(plain: Engine): Engine {
  return {
    ...plain,
    pick(core, block, list) {
      core.forgetPlace(list)
      return core.pickRoundRobin(block, list)
    },
    lease(core, block, list) {
      core.forgetPlace(list)
      return core.leaseRoundRobin(block, list)
    },
  }
}
