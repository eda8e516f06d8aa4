/** @module What comes in quick succession, taken together. */

import { startTimer } from '../../runtime/host.js'

/**
 * The values as they come, those within `gatherMs` of the first in one array. An error comes after what came before
 * it. Who stops reading ends `values` as soon as these answer; the signal ends the wait at once.
 */
export async function* inBatches<T>(
  values: AsyncGenerator<T>,
  gatherMs: number,
  signal: AbortSignal,
): AsyncGenerator<readonly T[], void> {
  let giveUp = (_reason: unknown) => {}
  const onAbort = () => giveUp(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  const read = () => {
    const next = new Promise<IteratorResult<T>>((resolve, reject) => {
      giveUp = reject
      if (signal.aborted) reject(signal.reason)
      values.next().then(resolve, reject)
    })
    // It may fail while nobody waits for it: then it is told when it is asked for.
    next.catch(() => {})
    return next
  }
  try {
    let next = read()
    for (;;) {
      const first = await next
      if (first.done) return
      const batch = [first.value]
      next = read()
      let cancel = () => {}
      const time = new Promise<undefined>((resolve) => {
        cancel = startTimer(() => resolve(undefined), gatherMs)
      })
      for (;;) {
        const more = await Promise.race([next, time]).catch(() => undefined)
        if (more === undefined || more.done) break
        batch.push(more.value)
        next = read()
      }
      cancel()
      yield batch
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    void values.return(undefined).catch(() => {})
  }
}
