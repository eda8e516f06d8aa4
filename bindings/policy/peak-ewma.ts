/** @module The faster of two random candidates, by a latency average that rises at once and sinks slowly. */

import { checkOptions, optionalNumber } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS } from './engine.js'

export interface PeakEwmaOptions {
  /** After this long without samples a latency counts 1/e. Default 10 000, Finagle's and linkerd's. */
  decayMs?: number
  /** What an instance without history costs for each request in flight. Default 30, linkerd's. */
  defaultRttMs?: number
  /** A failed request counts as this latency; 0: as its own (Finagle). Default 5 000, linkerd's. */
  failureRttMs?: number
}

/**
 * Power of two choices over latency × (requests in flight + 1). The average jumps to a slower sample at once and
 * comes down with `decayMs`. Failures count as slow, so that an instance that fails fast is not taken for a quick one.
 * Use it as the default for HTTP. Breaks with long polling, where latency says nothing of load, and when each of
 * many clients sees only a few requests.
 * @see Finagle PeakEwma.scala; linkerd2-proxy PR 4537 for failures
 * @example peakEwma({ decayMs: 5000 })
 */
export function peakEwma(options: PeakEwmaOptions = {}): Policy {
  checkOptions('peakEwma', options, ['decayMs', 'defaultRttMs', 'failureRttMs'])
  const ms = { least: 0, most: 2 ** 31 - 1, unit: 'ms' }
  const decayMs = optionalNumber('peakEwma.decayMs', options.decayMs, { ...ms, least: 1 }) ?? DEFAULT_DECAY_MS
  const defaultRttMs = optionalNumber('peakEwma.defaultRttMs', options.defaultRttMs, ms) ?? 30
  const failureRttMs = optionalNumber('peakEwma.failureRttMs', options.failureRttMs, ms) ?? 5_000
  return corePolicy('peak-ewma', {
    timed: true,
    weights: 'draw',
    decayMs,
    peak: { failureRttMs },
    pick: (core, block, list, nowMs) => core.pickPeakEwma(block, list, nowMs, decayMs, defaultRttMs),
    lease: (core, block, list, nowMs) => core.leasePeakEwma(block, list, nowMs, decayMs, defaultRttMs),
  })
}
