/** @module How often a question may be asked: a token bucket. */

export interface PaceLimits {
  /** So many at once. */
  readonly burst: number
  /** From one to the next after that. */
  readonly intervalMs: number
}

export class Pace {
  readonly #limits: PaceLimits
  readonly #clock: () => number
  #tokens: number
  #countedAt: number

  constructor(limits: PaceLimits, clock: () => number) {
    this.#limits = limits
    this.#clock = clock
    this.#tokens = limits.burst
    this.#countedAt = clock()
  }

  /** Takes a token, which may be one that is there only after the time that is returned, in ms. */
  take(): number {
    const { burst, intervalMs } = this.#limits
    const now = this.#clock()
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#countedAt) / intervalMs) - 1
    this.#countedAt = now
    return this.#tokens >= 0 ? 0 : Math.ceil(-this.#tokens * intervalMs)
  }
}
