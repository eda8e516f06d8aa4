/** @module List, then watch: from the first question to the first failure. */

import { DiscoveryError } from '../../errors.js'
import type { WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import { jsonLines } from '../registry/json-lines.js'
import { pause } from '../registry/pause.js'
import { inBatches } from './batches.js'
import { isGone, type Selection, type SliceApi } from './slice-api.js'
import { SliceStore } from './slice-store.js'

/** A rollout comes as many events. */
const GATHER_MS = 50

/** A watch that lived so long was a good one: what follows is no fault that a pause would mend. */
const STEADY_MS = 10_000

/** When a server goes, all its clients begin anew: each at some time within this. */
export const SPREAD_MS = 800

/** The API server ends a watch itself, and sends bookmarks before: silence beyond that is a dead connection. */
const SLACK_MS = 10_000

export interface WatchSession {
  readonly api: SliceApi
  readonly selection: Selection
  readonly options: WatchOptions
  readonly watchTimeoutMs: number
  readonly maxLineLength: number
  readonly clock: () => number
  readonly random: () => number
  /** The same object if nothing has changed. */
  listOf(store: SliceStore): readonly InstanceInit[]
}

/** @throws EVENKEEL_DISCOVERY; the signal's reason */
export async function* watchSession(session: WatchSession): AsyncGenerator<readonly InstanceInit[], void> {
  const { api, selection, options, clock, random, listOf } = session
  for (;;) {
    const store = new SliceStore(await api.list(selection, options.signal), (said) => api.quoted(said))
    const listedAt = clock()
    let list = listOf(store)
    yield list
    try {
      for await (const hasChanged of changes(store, session)) {
        const now = hasChanged ? listOf(store) : list
        if (now === list) options.confirmed?.()
        else yield (list = now)
      }
    } catch (error) {
      // Too old to go on from: the list is read anew. At once after a list it would be for ever (a hot loop).
      if (!isGone(error) || clock() - listedAt < STEADY_MS) throw error
    }
    await pause(random() * SPREAD_MS, options.signal)
  }
}

/** One watch after the other, each from where the last one ended; after each batch of events whether it changed anything. */
async function* changes(store: SliceStore, session: WatchSession): AsyncGenerator<boolean, void> {
  const { options, watchTimeoutMs, clock, random } = session
  for (;;) {
    const beganAt = clock()
    // Spread, so that clients that began together don't ask together for ever.
    const timeoutMs = 1_000 * Math.max(1, Math.round((watchTimeoutMs * (0.9 + 0.1 * random())) / 1_000))
    let broken: unknown
    try {
      yield* oneWatch(store, session, timeoutMs)
    } catch (error) {
      // A connection may be cut by anything on the way: nothing is lost, the next watch goes on from there.
      const isCut = error instanceof DiscoveryError && error.failure === 'unreachable'
      if (!isCut || options.signal.aborted) throw error
      broken = error
    }
    const livedMs = clock() - beganAt
    if (livedMs >= 0.9 * timeoutMs) continue
    if (livedMs < STEADY_MS) {
      throw broken ?? new DiscoveryError(`kubernetes: the watch ended after ${Math.round(livedMs)} ms`, ENDED)
    }
    await pause(random() * SPREAD_MS, options.signal)
  }
}

const ENDED = { failure: 'unreachable' } as const

async function* oneWatch(store: SliceStore, session: WatchSession, timeoutMs: number): AsyncGenerator<boolean, void> {
  const { api, selection, options, maxLineLength } = session
  const { signal } = options
  const answer = await api.watch(selection, store.resourceVersion, timeoutMs / 1_000, signal)
  try {
    const idleMs = timeoutMs + SLACK_MS
    const events = jsonLines(answer.body, { maxLineLength, idleMs, from: answer.from })
    for await (const batch of inBatches(events, GATHER_MS, signal)) {
      let hasChanged = false
      let failure: { error: unknown } | undefined
      try {
        for (const event of batch) hasChanged = store.apply(event) || hasChanged
      } catch (error) {
        failure = { error }
      }
      if (hasChanged || failure === undefined) yield hasChanged
      if (failure !== undefined) throw failure.error
    }
  } finally {
    answer.close()
  }
}
