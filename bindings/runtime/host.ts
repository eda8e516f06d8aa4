/** @module What differs between runtimes beside the loader: entropy, clock, timers, and whose promises may be shared. */

/** Workers tie a promise to the request that made it: awaited from another it hangs or fails. */
export function isWorkers(): boolean {
  return globalThis.navigator?.userAgent === 'Cloudflare-Workers'
}

/** A seed of 53 bits from the runtime. Not at import: Workers refuse entropy outside a request. */
export function entropy(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
  return (high >>> 11) * 2 ** 32 + low
}

export function defaultClock(): () => number {
  return typeof performance === 'object' ? () => performance.now() : () => Date.now()
}

/** A timer that keeps no process alive. */
export function startTimer(callback: () => void, ms: number): () => void {
  const timer: unknown = setTimeout(callback, ms)
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
  return () => clearTimeout(timer as number)
}
