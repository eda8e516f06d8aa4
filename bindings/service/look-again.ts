/** @module The wait of a patient policy for somebody to choose. */

import { sleep } from '../runtime/wait.js'
import type { ServiceLease } from './lease.js'
import type { BalancedService } from './service.js'

/** The shortest pause between two looks; and how many looks there are at most. */
const LEAST_PAUSE_MS = 10
const MOST_LOOKS = 50

/**
 * Looks once more after each pause, for as long as the service's policy is patient. By the time slept as well as by
 * the clock, which may stand still.
 * @throws EVENKEEL_CLOSED if the service is closed meanwhile; the signal's reason if it aborts
 */
export async function lookAgain(
  service: BalancedService,
  look: () => ServiceLease | undefined,
  signal: AbortSignal | undefined,
): Promise<ServiceLease | undefined> {
  const patienceMs = service.picker.engine?.patienceMs ?? 0
  const until = service.clock() + patienceMs
  let leftMs = patienceMs
  while (leftMs > 0 && service.clock() < until) {
    const pauseMs = Math.min(Math.max(patienceMs / MOST_LOOKS, LEAST_PAUSE_MS), leftMs)
    await sleep(pauseMs, signal)
    leftMs -= pauseMs
    service.checkOpen()
    // The look before this one was not the last: it does not count.
    service.counters.noInstance--
    const lease = look()
    if (lease !== undefined) return lease
  }
  return undefined
}
