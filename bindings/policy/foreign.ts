/** @module Policies of the user's own: asked by their `pick`, and what they answer is checked. */

import { ConfigError } from '../errors.js'
import { show } from '../show.js'
import type { Candidates, PickContext, Policy } from '../types/extension.js'
import { DEFAULT_DECAY_MS, type Engine, type EngineContext, engineOf, leased } from './engine.js'

/** @throws EVENKEEL_CONFIG for an answer that is no index of the list and not −1 */
export function pickWith(policy: Policy, list: Candidates, context: PickContext, serviceId: string): number {
  const index = policy.pick(list, context)
  if (Number.isInteger(index) && index >= -1 && index < list.length) return index
  throw new ConfigError(
    `policy "${policy.name}" of service "${serviceId}" picked ${show(index)} of ${list.length} candidates`,
    { serviceId, option: 'policy' },
  )
}

/** How a policy works that another one asks: as it is built in, or the user's. */
export function subEngineOf(policy: Policy, context: EngineContext): Engine {
  return engineOf(policy, context) ?? foreignEngine(policy, context)
}

function foreignEngine(policy: Policy, { serviceId, random }: EngineContext): Engine {
  const pick: Engine['pick'] = (_core, _block, _handle, nowMs, request, list) =>
    list.length === 0 ? -1 : pickWith(policy, list, { request, nowMs, random }, serviceId)
  return {
    timed: true,
    weights: 'draw',
    decayMs: DEFAULT_DECAY_MS,
    foreign: true,
    ...leased(pick),
  }
}

/** A policy that asks another one passes on to it how leases ended. */
export function hearingFor(policy: Policy, sub: Policy): Policy {
  if (sub.done === undefined) return policy
  return Object.assign(policy, {
    done: (...ending: Parameters<NonNullable<Policy['done']>>) => sub.done?.(...ending),
  })
}
