/** @module Consul's blocking queries, one after the other. */

import { pause } from '../registry/pause.js'
import type { ConsulAgents, HealthAnswer, Place } from './agents.js'
import type { Pace } from './pace.js'

/**
 * The answers from the first question to the first failure: the first at once, the others when Consul has something
 * newer, or has waited long enough. An answer need not say anything new.
 * @param pace of the questions: under churn Consul holds none of them back
 * @see Consul's "Blocking Queries": the index goes back after a snapshot was restored, and is then of no use
 */
export async function* answers(
  agents: ConsulAgents,
  serviceId: string,
  signal: AbortSignal,
  pace: Pace,
): AsyncGenerator<HealthAnswer> {
  let after: Place | undefined
  while (!signal.aborted) {
    const waitMs = pace.take()
    if (waitMs > 0) await pause(waitMs, signal)
    if (signal.aborted) return
    const answer: HealthAnswer = await agents.health(serviceId, signal, after)
    yield answer
    const isReset = after !== undefined && answer.index < after.index
    after = isReset ? undefined : answer
  }
}
