/** @module The least loaded of all candidates. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'

const check = object({})

/**
 * The one with the fewest requests in flight, of all candidates; over a weighted list, for its weight. Those that are
 * level are drawn from, by weight. Each pick looks at all candidates.
 * Use it for few instances and long requests (streams, sockets), where every one counts. Breaks when many clients see
 * the same idle instance and all of them go there, and when a failing instance answers fast: it looks idle.
 * @see Envoy least_request FULL_SCAN; nginx ngx_http_upstream_least_conn_module.c
 * @example leastConnections()
 */
export function leastConnections(options: Record<never, never> = {}): Policy {
  check(options, 'leastConnections')
  return corePolicy('least-connections', {
    timed: false,
    weights: 'plan',
    decayMs: DEFAULT_DECAY_MS,
    ...leased((core, block, list) => core.pickLeastConnections(block, list)),
  })
}
