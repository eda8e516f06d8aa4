/** @module What health checks cost and find. */

export class CheckMeter {
  checks = 0
  failures = 0
  #totalMs = 0

  add(alive: boolean, durationMs: number): void {
    this.checks++
    if (!alive) this.failures++
    this.#totalMs += durationMs
  }

  /** NaN before the first check. */
  get meanMs(): number {
    return this.#totalMs / this.checks
  }
}
