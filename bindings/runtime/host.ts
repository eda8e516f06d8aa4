/** @module What differs between runtimes beside the loader: entropy, clock, timers, and whose promises may be shared. */

/** Workers tie a promise to the request that made it: awaited from another it hangs or fails. */
export function isWorkers(): boolean {
  return globalThis.navigator?.userAgent === 'Cloudflare-Workers'
}

/** Browsers send a body that is a stream over HTTP/2 and HTTP/3 only. */
export function isBrowser(): boolean {
  return globalThis.navigator?.userAgent?.startsWith('Mozilla/') ?? false
}

/** A seed of 53 bits from the runtime: enough to tell clients apart, and at hand everywhere without loading crypto. */
export function entropy(): number {
  return Math.floor(Math.random() * 2 ** 53)
}

export function defaultClock(): () => number {
  return typeof performance === 'object' ? () => performance.now() : () => Date.now()
}

/** The longest time that timers take. */
export const MOST_MS = 2 ** 31 - 1

/** A timer that keeps no process alive. */
export function startTimer(callback: () => void, ms: number): () => void {
  const timer: unknown = setTimeout(callback, ms)
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
  return () => clearTimeout(timer as number)
}
