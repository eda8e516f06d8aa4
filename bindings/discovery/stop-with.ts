/** @module A signal of one's own that also aborts with another. */

export interface LinkedStop {
  readonly stop: AbortController
  /** Ends the link; to be called when whatever listens to the signal has ended. */
  leave(): void
}

export function stopWith(signal: AbortSignal): LinkedStop {
  const stop = new AbortController()
  const onAbort = () => stop.abort(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  return { stop, leave: () => signal.removeEventListener('abort', onAbort) }
}
