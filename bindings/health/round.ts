/** @module One round of checks: what was heard so far, and the requests that would have to be ended. */

import type { Answer } from './liveness.js'

export class Round {
  /** Later rounds have higher numbers. */
  readonly number: number
  readonly answers: Answer[] = []
  /** Nobody wants its answers any more. */
  aborted = false
  // One each: a signal with more than ten listeners makes Node suspect a leak.
  readonly #requests = new Set<AbortController>()

  constructor(number: number) {
    this.number = number
  }

  /** Runs a check with what ends its request. */
  async check<T>(run: (request: AbortController) => Promise<T>): Promise<T> {
    const request = new AbortController()
    this.#requests.add(request)
    try {
      return await run(request)
    } finally {
      this.#requests.delete(request)
    }
  }

  abort(): void {
    this.aborted = true
    for (const request of this.#requests) request.abort()
  }
}
