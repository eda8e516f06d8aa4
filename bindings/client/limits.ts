/** @module Time limits of a call and of an attempt, beside the caller's own signal. */

import { TimeoutError } from '../errors.js'

/** A timer that aborts. Stopped when the headers are there: a body may take as long as it likes. */
export class TimeLimit {
  readonly controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  /** The error that callers get, if the time was up. */
  expired: TimeoutError | undefined

  constructor(ms: number, serviceId: string, what: string, option: string) {
    this.#timer = setTimeout(() => {
      const message = `${what} took longer than ${ms} ms (${option})`
      this.expired = new TimeoutError(message, { serviceId, option })
      this.controller.abort(this.expired)
    }, ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

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
