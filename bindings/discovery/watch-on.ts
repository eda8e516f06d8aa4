/** @module A client that is followed until nobody wants its list any more, whatever it fails with. */

import { DiscoveryError } from '../errors.js'
import { MOST_MS } from '../runtime/host.js'
import type { DiscoveryClient, WatchOptions } from '../types/extension.js'
import type { List, ListStream } from './ask.js'
import { askWithin } from './ask-within.js'
import { RETRIES, RETRY_MS } from './list-source.js'
import { Backoff } from './registry/backoff.js'
import { pause } from './registry/pause.js'

/** Questions come up to this share earlier, so that clients that began together don't stay in step. */
const SPREAD = 0.1

/** The longest pause, on average, as long as there is no list at all: calls fail meanwhile. */
const COLD_MOST_MS = 5_000

/** Who hears of it. Nothing is told after the signal has aborted. */
export interface Following {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly ttlMs: number
  /** Uniform in [0, 1). */
  readonly random?: (() => number) | undefined
  take(list: List): void
  failed(error: unknown): void
  partlyFailed(error: unknown): void
  confirmed(): void
}

/**
 * Takes what the client pushes; one that does not is asked each `ttlMs`. Begun again by pauses that grow when it throws
 * or ends. Never rejects.
 */
export async function watchOn(client: DiscoveryClient, serviceId: string, following: Following): Promise<void> {
  const { signal, timeoutMs, ttlMs, random = Math.random } = following
  const unlessEnded =
    <T extends unknown[]>(tell: (...of: T) => void) =>
    (...of: T) => {
      if (!signal.aborted) tell(...of)
    }
  const failed = unlessEnded(following.failed)
  const partlyFailed = unlessEnded(following.partlyFailed)
  const options = { signal, timeoutMs, ttlMs, failed, partlyFailed, confirmed: unlessEnded(following.confirmed) }
  const backoff = new Backoff(RETRIES, random)
  let mostMs: number | undefined = COLD_MOST_MS
  while (!signal.aborted) {
    try {
      for await (const list of client.watch?.(serviceId, options) ?? askedAgain(client, serviceId, options, random)) {
        if (signal.aborted) return
        backoff.reset()
        mostMs = client.watch === undefined ? ttlMs : undefined
        following.take(list)
      }
      throw new DiscoveryError(`discovery "${client.name}" ended its watch of "${serviceId}"`, { serviceId })
    } catch (error) {
      failed(error)
    }
    await pause(backoff.next(mostMs), signal)
  }
}

async function* askedAgain(
  client: DiscoveryClient,
  serviceId: string,
  { signal, timeoutMs, ttlMs, partlyFailed }: WatchOptions & Pick<Following, 'ttlMs'>,
  random: () => number,
): ListStream {
  for (;;) {
    yield await askWithin(client, serviceId, signal, timeoutMs, partlyFailed)
    await pause(Math.min(Math.max(ttlMs, RETRY_MS) * (1 - SPREAD * random()), MOST_MS), signal)
    if (signal.aborted) return
  }
}
