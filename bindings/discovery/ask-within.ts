/** @module A question to one client with a time limit of its own, within a longer one. */

import { DiscoveryError } from '../errors.js'
import { startTimer } from '../runtime/host.js'
import { waitFor } from '../runtime/wait.js'
import type { DiscoveryClient } from '../types/extension.js'
import { askForList, isPromise, type List } from './ask.js'

/**
 * The client's list; rejects when `limitMs` (undefined: no limit) is up or `signal` aborts, and the client hears of
 * either. An answer that comes later is not looked at.
 */
export function askWithin(
  client: DiscoveryClient,
  serviceId: string,
  signal: AbortSignal,
  limitMs: number | undefined,
): Promise<List> | List {
  const stop = new AbortController()
  const answer = askForList(client, serviceId, { signal: stop.signal, timeoutMs: limitMs })
  if (!isPromise(answer)) return answer
  const onAbort = () => stop.abort(signal.reason)
  if (signal.aborted) onAbort()
  signal.addEventListener('abort', onAbort, { once: true })
  const cancelTimer =
    limitMs === undefined
      ? () => {}
      : startTimer(() => {
          const message = `discovery "${client.name}" did not answer within ${limitMs} ms`
          stop.abort(new DiscoveryError(message, { serviceId }))
        }, limitMs)
  return waitFor(answer, { signal: stop.signal }, 'discovery').finally(() => {
    cancelTimer()
    signal.removeEventListener('abort', onAbort)
  })
}
