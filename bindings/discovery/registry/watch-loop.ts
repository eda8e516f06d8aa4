/** @module A watch that goes on by itself after failures. */

import { DiscoveryError } from '../../errors.js'
import type { WatchOptions } from '../../types/extension.js'
import type { Backoff } from './backoff.js'
import { pause } from './pause.js'

/** A session that lasted this long was a good one: what ended it is the first failure again. */
const STEADY_MS = 10_000

/** A registry that says when to ask again is heard, but not for longer than this. */
const MOST_ASKED_MS = 60_000

/** As long as there is no list at all, calls fail: it is tried more often. */
const COLD_MOST_MS = 5_000

export interface WatchLoop {
  readonly options: WatchOptions
  readonly backoff: Backoff
  readonly clock: () => number
}

/** How long a registry that failed so asks to be left alone, in ms; 0: it does not say. */
export function askedPauseMs(error: unknown): number {
  return error instanceof DiscoveryError ? Math.min(error.retryAfterMs ?? 0, MOST_ASKED_MS) : 0
}

/**
 * Yields what `session` yields, and begins another one after a pause when it throws or ends.
 * @param session from the first question to the first failure; nothing of an earlier one is to be relied on
 */
export async function* watchLoop<T>(session: () => AsyncIterable<T>, loop: WatchLoop): AsyncGenerator<T, void> {
  const { options, backoff, clock } = loop
  const { signal } = options
  let hasList = false
  while (!signal.aborted) {
    const beganAt = clock()
    let askedMs = 0
    try {
      for await (const value of session()) {
        if (signal.aborted) return
        hasList = true
        yield value
      }
      throw new DiscoveryError('the registry ended the watch', { failure: 'unreachable' })
    } catch (error) {
      if (signal.aborted) return
      if (clock() - beganAt >= STEADY_MS) backoff.reset()
      options.failed?.(error)
      askedMs = askedPauseMs(error)
    }
    // After that time, not at it: many are told the same.
    await pause(askedMs + backoff.next(hasList ? undefined : COLD_MOST_MS), signal)
  }
}
