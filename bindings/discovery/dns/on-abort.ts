/** @module Any number of waits for one signal by a single listener: of more than ten on one, Node warns of a leak. */

interface Group {
  readonly callbacks: Set<() => void>
  end(): void
}

const groups = new WeakMap<AbortSignal, Group>()

/** Calls back when the signal aborts, or at once if it has; not after what is returned has been called. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const group = groups.get(signal) ?? groupOf(signal)
  group.callbacks.add(callback)
  return () => {
    if (group.callbacks.delete(callback) && group.callbacks.size === 0) group.end()
  }
}

function groupOf(signal: AbortSignal): Group {
  const callbacks = new Set<() => void>()
  const callAll = () => {
    for (const callback of callbacks) callback()
  }
  const end = () => {
    groups.delete(signal)
    signal.removeEventListener('abort', callAll)
  }
  const group = { callbacks, end }
  groups.set(signal, group)
  signal.addEventListener('abort', callAll, { once: true })
  return group
}
