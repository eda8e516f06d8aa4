/** @module A question to one client with a time limit of its own, within a longer one. */

import { startTimer } from '../runtime/host.js'
import { waitFor } from '../runtime/wait.js'
import type { DiscoveryClient } from '../types/extension.js'
import { askForList, isPromise, type List, tooLate } from './ask.js'
import { stopWith } from './stop-with.js'

/**
 * The client's list; rejects when `limitMs` (undefined: no limit) is up or `signal` aborts, and the client hears of
 * either. An answer that comes later is not looked at.
 */
export function askWithin(
  client: DiscoveryClient,
  serviceId: string,
  signal: AbortSignal,
  limitMs: number | undefined,
  partlyFailed?: (error: unknown) => void,
): Promise<List> | List {
  const { stop, leave } = stopWith(signal)
  let cancelTimer = () => {}
  const end = () => {
    cancelTimer()
    leave()
  }
  let answer: Promise<List> | List
  try {
    answer = askForList(client, serviceId, {
      signal: stop.signal,
      timeoutMs: limitMs,
      ...(partlyFailed && { partlyFailed }),
    })
  } catch (error) {
    leave()
    throw error
  }
  if (!isPromise(answer)) {
    leave()
    return answer
  }
  if (limitMs !== undefined)
    cancelTimer = startTimer(() => stop.abort(tooLate(client.name, serviceId, limitMs)), limitMs)
  return waitFor(answer, { signal: stop.signal }, 'discovery').finally(end)
}
