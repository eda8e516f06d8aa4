/** @module The faster of two random candidates, by a latency average that rises at once and sinks slowly. */

import { duration, object } from '../config/check.js'
import { msOf } from '../config/duration.js'
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

const check = object({ decayMs: duration(1), defaultRttMs: duration(), failureRttMs: duration() })

/**
 * Power of two choices over latency × (requests in flight + 1). The average jumps to a slower sample at once and
 * comes down with `decayMs`. Failures count as slow, so that an instance that fails fast is not taken for a quick one.
 * Use it as the default for HTTP. Breaks with long polling, where latency says nothing of load, and when each of
 * many clients sees only a few requests.
 * @see Finagle PeakEwma.scala; linkerd2-proxy PR 4537 for failures
 * @example peakEwma({ decayMs: 5000 })
 */
export function peakEwma(options: PeakEwmaOptions = {}): Policy {
  check(options, 'peakEwma')
  const decayMs = msOf(options.decayMs) ?? DEFAULT_DECAY_MS
  const defaultRttMs = msOf(options.defaultRttMs) ?? 30
  const failureRttMs = msOf(options.failureRttMs) ?? 5_000
  return corePolicy('peak-ewma', {
    timed: true,
    weights: 'draw',
    decayMs,
    peak: true,
    failureRttMs,
    pick: (core, block, list, nowMs) => core.pickPeakEwma(block, list, nowMs, decayMs, defaultRttMs),
    lease: (core, block, list, nowMs) => core.leasePeakEwma(block, list, nowMs, decayMs, defaultRttMs),
  })
}
