/** @module A fake registry as a `fetch`, without a network: for runtimes without servers, and for virtual time. */

import type { FetchLike } from '../../bindings/index.js'
import type { FakeRegistry } from './registry.js'

/** Rejects as `fetch` does when its signal aborts, or when the registry throws (its connection is gone). */
export function inProcess(fake: Pick<FakeRegistry, 'fetch'>): FetchLike {
  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    signal.throwIfAborted()
    let onAbort = () => {}
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
    })
    try {
      return await Promise.race([fake.fetch(request), aborted])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}
