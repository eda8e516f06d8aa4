/** @module What a service counts beside its rows. */

export class Counters {
  noInstance = 0
  retriesSame = 0
  retriesNext = 0
  cacheHits = 0
  cacheMisses = 0
  readonly #fallbacks = new Map<string, number>()

  countFallback(supplier: string): void {
    this.#fallbacks.set(supplier, (this.#fallbacks.get(supplier) ?? 0) + 1)
  }

  /** By supplier. */
  get fallbacks(): Record<string, number> {
    return Object.fromEntries(this.#fallbacks)
  }
}
