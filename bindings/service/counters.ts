/** @module What a service counts beside its rows. */

export class Counters {
  noInstance = 0
  retriesSame = 0
  retriesNext = 0
  cacheHits = 0
  cacheMisses = 0
  readonly fallbacks: Record<string, number> = {}

  countFallback(supplier: string): void {
    this.fallbacks[supplier] = (this.fallbacks[supplier] ?? 0) + 1
  }
}
