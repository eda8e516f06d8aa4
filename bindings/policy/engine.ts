/** @module How a built-in policy reaches the core. */

import { ORDER_BLOCK, ORDER_DRAW, ORDER_INTERLEAVED, ORDER_WEIGHTED } from '../../assembly/layout.js'
import type { Quirks } from '../compat/quirks.js'
import type { CoreExports, Pointer } from '../core/exports.js'
import { ConfigError } from '../errors.js'
import { CandidateList } from '../service/candidates.js'
import type { Policy } from '../types/extension.js'
import type { PickRequest } from '../types/request.js'
import type { Recorder } from './recorder.js'

export interface Engine {
  /** Reads the clock at pick and at done. */
  readonly timed: boolean
  /** How the core lays out attached weights for it: a rotation, to be drawn from, or by a plan of the policy's own. */
  readonly weights: 'rotate' | 'draw' | 'plan'
  /** Time after which a latency counts 1/e in the moving average. */
  readonly decayMs: number
  /** The average jumps to a slower sample at once. */
  readonly peak?: boolean
  /** A failure is averaged as a latency of this many ms at least. */
  readonly failureRttMs?: number
  /** Explicit first place of a rotation. */
  readonly start?: number
  /** Passes over what a call has tried by itself, from the same list: it is told the rows. */
  readonly walksOn?: boolean
  /** Goes by who is down by itself: the list keeps those whose check failed, marked in the core. */
  readonly seesDown?: boolean
  /** And may choose one of them. */
  readonly picksDown?: boolean
  /** Passes over instances, or zones, for their open breakers. */
  readonly breakers?: boolean
  /** Goes by metadata `zone`. */
  readonly zones?: boolean
  /** A pick may run a function of the user's, which may do anything to the service. */
  readonly foreign?: boolean
  /** Lays out a table of each list's instances before it picks. */
  readonly keyed?: boolean
  /** What looks like a mistake where it picks from so many. */
  note?(instances: number): string | undefined
  /** How long calls that can wait look again where it chose nobody, ms. */
  readonly patienceMs?: number
  /** What the core keeps of each instance for it. */
  readonly recorders?: readonly Recorder[]
  /** Once for each list that is picked from, before the first pick: what the core can't know by itself. */
  prepare?(list: CandidateList): void
  /** Index of the choice, −1 for none. @param tried rows to pass over, where it `walksOn` */
  pick(
    core: CoreExports,
    block: Pointer,
    handle: Pointer,
    nowMs: number,
    request: PickRequest,
    list: CandidateList,
    tried?: readonly number[],
  ): number
  /** The same, and counts it in flight: its row. */
  lease(
    core: CoreExports,
    block: Pointer,
    handle: Pointer,
    nowMs: number,
    request: PickRequest,
    list: CandidateList,
    tried?: readonly number[],
  ): number
}

/** What a policy may know of the service it works in. */
export interface EngineContext {
  readonly serviceId: string
  readonly quirks: Quirks
  readonly zone: string | undefined
  /** Names this client among its fellows. */
  readonly instanceId: string | undefined
  /** Uniform in [0, 1) from the service's own generator; 0 when it is closed. */
  random(): number
  /** The service's, ms. */
  clock(): number
}

/** A pick, and a lease that counts what it chose by a further call: for policies that are not the quickest by far. */
export function leased(pick: Engine['pick']): Pick<Engine, 'pick' | 'lease'> {
  return {
    pick,
    lease: (core, block, handle, nowMs, request, list, tried) =>
      core.acquire(block, handle, pick(core, block, handle, nowMs, request, list, tried)),
  }
}

/** Finagle's and linkerd's. */
export const DEFAULT_DECAY_MS = 10_000

const ENGINE = Symbol('evenkeel.engine')

type EngineFor = (context: EngineContext) => Engine

/** @param engine how it works; a function where that depends on the service, asked once for each */
export function corePolicy(name: string, engine: Engine | EngineFor): Policy {
  const policy: Policy & { [ENGINE]: EngineFor } = {
    name,
    pick(candidates, { nowMs, request }) {
      if (!(candidates instanceof CandidateList)) {
        throw new ConfigError(`${name} picks from the candidates that a service hands to a policy, no others`)
      }
      if (candidates.freed) {
        throw new ConfigError(
          `${name} can't pick from candidates that were kept beyond the pick they were handed out for`,
        )
      }
      const { core, members, engines } = candidates.tree
      return engines.pick(engines.of(policy) as Engine, core.exports, members.block, candidates, nowMs, request)
    },
    [ENGINE]: typeof engine === 'function' ? engine : () => engine,
  }
  return policy
}

/** The engine of a built-in policy in one service; undefined: it is a policy of the user's own. */
export function engineOf(policy: Policy, context: EngineContext): Engine | undefined {
  return (policy as { [ENGINE]?: EngineFor })[ENGINE]?.(context)
}

/** What `weighList` is told. Policies of the user's own may wrap any built-in one: drawing suits them best. */
export function orderFor(engine: Engine | undefined, rotation: 'interleaved' | 'block'): number {
  if (engine === undefined || engine.weights === 'draw') return ORDER_DRAW
  if (engine.weights === 'plan') return ORDER_WEIGHTED
  return rotation === 'block' ? ORDER_BLOCK : ORDER_INTERLEAVED
}
