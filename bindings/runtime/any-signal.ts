/** @module Several signals as one. */

/** One signal for several; undefined for none, and the only one as it is. */
export function anySignal(signals: readonly (AbortSignal | null | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined && signal !== null)
  if (given.length < 2) return given[0]
  if ('any' in AbortSignal) return AbortSignal.any(given)
  // Edge VMs know no AbortSignal.any.
  const joined = new AbortController()
  for (const signal of given) {
    if (signal.aborted) joined.abort(signal.reason)
    else signal.addEventListener('abort', () => joined.abort(signal.reason), { once: true, signal: joined.signal })
  }
  return joined.signal
}
