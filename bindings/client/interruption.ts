/** @module Ends by a signal: one listener on it, however many calls and bodies it may end. */

interface Listening {
  readonly ends: Set<() => void>
  stop(): void
}

const bySignal = new WeakMap<AbortSignal, Listening>()

/**
 * Calls `end` when the signal aborts, at once if it has. What is no signal never does.
 * @returns takes that back. The last one leaves the signal as it was, so that it can be collected
 */
export function whenAborted(signal: AbortSignal, end: () => void): () => void {
  if (typeof signal.addEventListener !== 'function') return () => {}
  if (signal.aborted) {
    end()
    return () => {}
  }
  const { ends, stop } = bySignal.get(signal) ?? listenTo(signal)
  ends.add(end)
  return () => {
    if (ends.delete(end) && ends.size === 0) stop()
  }
}

function listenTo(signal: AbortSignal): Listening {
  const ends = new Set<() => void>()
  const endAll = () => {
    stop()
    for (const end of ends) end()
  }
  const stop = () => {
    bySignal.delete(signal)
    signal.removeEventListener('abort', endAll)
  }
  signal.addEventListener('abort', endAll)
  const listening = { ends, stop }
  bySignal.set(signal, listening)
  return listening
}

/**
 * Settles as `sent` does, unless one of the signals aborts first: with its reason then. Transports and bindings need
 * not listen to a signal. What they come up with later is nobody's: a body is given up, an error dropped.
 */
export function unlessAborted(
  sent: Promise<Response>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<Response> {
  return new Promise((resolve, reject) => {
    let aborted = false
    const stops: (() => void)[] = []
    const settle = () => {
      for (const stop of stops) stop()
    }
    sent.then(
      (response) => {
        if (aborted) return giveUp(response)
        settle()
        resolve(response)
      },
      (error) => {
        settle()
        reject(error)
      },
    )
    for (const signal of signals) {
      if (signal === undefined || aborted) continue
      const abort = () => {
        aborted = true
        settle()
        reject(signal.reason ?? new DOMException('This operation was aborted', 'AbortError'))
      }
      stops.push(whenAborted(signal, abort))
    }
  })
}

/** A body that nobody will read: its connection is free again. */
export function giveUp(response: Response): void {
  try {
    response.body?.cancel().catch(() => {})
  } catch {
    // No Response, or its body is a thing of its own: nothing of it is ours.
  }
}
