/** @module The least loaded of a few random candidates. */

import { number, object, oneOf } from '../config/check.js'
import { ConfigError } from '../errors.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'

export interface LeastRequestOptions {
  /** How many candidates are compared; 2 (default) to 10, as gRPC A48. */
  choices?: number
  /** Whose: candidates are distinct, and drawn by weight (Finagle's, the default); or Envoy's, see there. */
  form?: 'finagle' | 'envoy'
  /** Envoy's, over a weighted list: how much requests in flight take from a weight. Default 1; 0: nothing. */
  activeRequestBias?: number
}

const check = object({
  choices: number({ least: 2, most: 10, whole: true }),
  form: oneOf('finagle', 'envoy'),
  activeRequestBias: number({ least: 0, most: 10 }),
})

/**
 * The one with the fewest requests in flight, of two distinct random candidates ("power of two choices").
 * Over a weighted list candidates are drawn by weight and load counts per weight.
 *
 * Envoy's form draws with replacement, so that the busier of two still gets a quarter, and goes over a weighted list
 * as `edf` does, by weight / (requests in flight + 1)^activeRequestBias.
 *
 * Use it when requests differ in cost. Breaks when a failing instance answers fast: it looks idle and draws traffic.
 * @see gRPC A48; Mitzenmacher, "The power of two choices in randomized load balancing", 2001; Finagle P2CPick;
 * Envoy load_balancing_policies/least_request
 * @example leastRequest({ choices: 3 })
 */
export function leastRequest(options: LeastRequestOptions = {}): Policy {
  check(options, 'leastRequest')
  const { choices = 2, form = 'finagle', activeRequestBias } = options
  const common = { timed: false, decayMs: DEFAULT_DECAY_MS }
  if (form === 'finagle') {
    if (activeRequestBias !== undefined) {
      const option = 'leastRequest.activeRequestBias'
      throw new ConfigError(`${option} is an option of form: 'envoy'`, { option })
    }
    return corePolicy('least-request', {
      ...common,
      weights: 'draw',
      pick: (core, block, list) => core.pickLeastRequest(block, list, choices),
      lease: (core, block, list) => core.leaseLeastRequest(block, list, choices),
    })
  }
  const bias = activeRequestBias ?? 1
  return corePolicy('least-request', {
    ...common,
    weights: 'plan',
    ...leased((core, block, list) => core.pickLeastRequestEnvoy(block, list, choices, bias)),
  })
}
