/** @module A wait in the background, for which no process stays alive. */

import { startTimer } from '../../runtime/host.js'

/** Resolves after `ms`, or as soon as the signal aborts; never rejects. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = startTimer(end, ms)
    signal.addEventListener('abort', end, { once: true })
  })
}
