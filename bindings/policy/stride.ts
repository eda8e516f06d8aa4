/** @module The rotation that keeps nothing but a counter. */

import { int32, object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'

export interface StrideOptions {
  /** The counter begins at `start + 1`; −1: at 0. Default: random. */
  start?: number
}

const check = object({ start: int32 })

/**
 * gRPC's static stride scheduler: a counter goes round the list, and a candidate lets its turn pass in the share of
 * the rounds that it weighs less than the heaviest. Weights 5, 1, 1 give a c a a b a a. A pick costs the heaviest
 * weight over the mean, and n at most. All lists of a service move the one counter, which no refresh sets back.
 * Candidates of equal weight are taken in turn.
 * Use it as weighted rotation at any size. Breaks when one weight is a hundred times the mean: each pick passes over a
 * hundred candidates, and weights below 1/65 535 of the heaviest count as that; and when lists of other lengths or orders
 * take turns pick by pick: where each stands depends on the one counter and its own length, so a light instance may
 * never be met at its turn.
 * @see grpc-go balancer/weightedroundrobin/scheduler.go
 * @example stride()
 */
export function stride(options: StrideOptions = {}): Policy {
  check(options, 'stride')
  const { start } = options
  return corePolicy('stride', {
    timed: false,
    weights: 'plan',
    decayMs: DEFAULT_DECAY_MS,
    ...(start !== undefined && { start }),
    ...leased((core, block, list) => core.pickStride(block, list)),
  })
}
