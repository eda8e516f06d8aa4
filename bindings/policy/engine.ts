/** @module How a built-in policy reaches the core. */

import { ORDER_BLOCK, ORDER_DRAW, ORDER_INTERLEAVED } from '../../assembly/layout.js'
import type { CoreExports, Pointer } from '../core/exports.js'
import { ConfigError } from '../errors.js'
import { CandidateList } from '../service/candidates.js'
import type { Policy } from '../types/extension.js'

export interface Engine {
  /** Reads the clock at pick and at done. */
  readonly timed: boolean
  /** How the core lays out attached weights for it: a rotation, or to be drawn from. */
  readonly weights: 'rotate' | 'draw'
  /** Time after which a latency counts 1/e in the moving average. */
  readonly decayMs: number
  /** Peak EWMA: jumps to a slower sample at once, and takes a failure for a latency of this many ms (0: does not). */
  readonly peak?: { readonly failureRttMs: number }
  /** Explicit first place of a rotation. */
  readonly start?: number
  /** Index of the choice, −1 for none. */
  pick(core: CoreExports, block: Pointer, list: Pointer, nowMs: number): number
  /** The same, and counts it in flight: its row. */
  lease(core: CoreExports, block: Pointer, list: Pointer, nowMs: number): number
}

/** Finagle's and linkerd's. */
export const DEFAULT_DECAY_MS = 10_000

const ENGINE = Symbol('evenkeel.engine')

export function corePolicy(name: string, engine: Engine): Policy {
  const policy: Policy & { [ENGINE]: Engine } = {
    name,
    pick(candidates, context) {
      if (!(candidates instanceof CandidateList)) {
        throw new ConfigError(`${name} picks from the candidates that a service hands to a policy, no others`)
      }
      const { core, members } = candidates.tree
      return engine.pick(core.exports, members.block, candidates.handle, context.nowMs)
    },
    [ENGINE]: engine,
  }
  return policy
}

export function engineOf(policy: Policy): Engine | undefined {
  return (policy as { [ENGINE]?: Engine })[ENGINE]
}

/** What `weighList` is told. Policies of the user's own may wrap any built-in one: drawing suits them best. */
export function orderFor(engine: Engine | undefined, rotation: 'interleaved' | 'block'): number {
  if (engine === undefined || engine.weights === 'draw') return ORDER_DRAW
  return rotation === 'block' ? ORDER_BLOCK : ORDER_INTERLEAVED
}
