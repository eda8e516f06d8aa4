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
