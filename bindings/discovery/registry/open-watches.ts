/** @module The watches of one client, so that closing it can end them. */

import type { WatchOptions } from '../../types/extension.js'
import { stopWith } from '../stop-with.js'

/**
 * Each watch has a signal of its own: one for all would gather a listener for each service, of which Node warns from
 * the eleventh on. The client can be used again after `close`: another balancer that shares it begins its watches anew.
 */
export class OpenWatches {
  readonly #open = new Set<AbortController>()

  /** What `watch` yields, until it ends, `options.signal` aborts, or all are closed. */
  async *run<T>(options: WatchOptions, watch: (options: WatchOptions) => AsyncIterable<T>): AsyncGenerator<T, void> {
    const { signal } = options
    if (signal.aborted) return
    const { stop, leave } = stopWith(signal)
    this.#open.add(stop)
    try {
      yield* watch({ ...options, signal: stop.signal })
    } finally {
      leave()
      this.#open.delete(stop)
    }
  }

  close(reason: unknown): void {
    for (const stop of this.#open) stop.abort(reason)
  }
}
