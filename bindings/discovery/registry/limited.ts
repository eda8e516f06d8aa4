/** @module Work with a time limit, which may listen to its signal or not. */

import { DiscoveryError } from '../../errors.js'
import { startTimer } from '../../runtime/host.js'
import { stopWith } from '../stop-with.js'

export interface WorkLimits {
  readonly signal: AbortSignal
  readonly limitMs: number
  /** What took too long: `consul: GET …: no answer`. */
  readonly what: string
}

/**
 * What `work` resolves to; its signal aborts when the given one does, or the time is up.
 * @throws what `work` does; EVENKEEL_DISCOVERY, timeout; the signal's reason
 */
export async function limited<T>(
  { signal, limitMs, what }: WorkLimits,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw signal.reason
  const { stop, leave } = stopWith(signal)
  const cancel = startTimer(() => {
    stop.abort(new DiscoveryError(`${what} within ${limitMs} ms`, { failure: 'timeout' }))
  }, limitMs)
  const ended = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(stop.signal), ended])
  } catch (error) {
    throw stop.signal.aborted ? stop.signal.reason : error
  } finally {
    cancel()
    leave()
  }
}
