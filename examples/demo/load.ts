/** @module Sends many requests, some at a time. */

/**
 * A closed loop, as callers with a fixed number of workers are: `concurrency` senders, each of which sends its next
 * request when its last one has ended. Rejects with the first error of `send`, and starts nothing after it.
 */
export async function sendAll(
  count: number,
  concurrency: number,
  send: () => Promise<void>,
  ended: () => void,
): Promise<void> {
  let left = count
  const sender = async () => {
    while (left > 0) {
      left--
      try {
        await send()
      } catch (error) {
        left = 0
        throw error
      }
      ended()
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, sender))
}
