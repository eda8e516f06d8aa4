/** @module An answer that goes on: its first list answers the question, later ones come unasked. */

import type { List, ListStream } from './ask.js'

export interface Follower {
  /** Called with every list, the first included. */
  take(list: List): void
  /** The stream has ended after its first list; with an error if that was why. */
  ended(error?: unknown): void
}

/** Resolves true when the first list has been taken, false if the stream ended without one; rejects if it failed so. */
export function follow(stream: ListStream, follower: Follower, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve, reject) => {
    let answered = false
    const run = async () => {
      for await (const list of stream) {
        if (signal.aborted) return
        follower.take(list)
        answered = true
        resolve(true)
      }
      if (answered) follower.ended()
      else resolve(false)
    }
    run().catch((error) => (answered ? follower.ended(error) : reject(error)))
  })
}
