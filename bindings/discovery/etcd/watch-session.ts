/** @module One watch of a service's keys: all of them first, then each change, until the first failure. */

import { isObject } from '../../config/check.js'
import { DiscoveryError, type DiscoveryFailure } from '../../errors.js'
import { MOST_MS } from '../../runtime/host.js'
import type { WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import { jsonLines } from '../registry/json-lines.js'
import { pause } from '../registry/pause.js'
import { objectAt } from '../registry/reading.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import { rangeOf } from './encoding.js'
import type { Gateway } from './gateway.js'
import type { KeyTable } from './key-table.js'
import { SilenceCheck } from './silence-check.js'
import { isCompacted, takeWatchAnswer } from './watch-answer.js'

/** A watch that was compacted away sooner than this would be again. */
const LEAST_LIFE_MS = 1_000

/** A watch that lived so long was a good one. */
const STEADY_MS = 10_000

/** When a server goes, all its clients begin anew: each at some time within this. */
const SPREAD_MS = 800

export interface WatchHost {
  readonly gateway: Gateway
  readonly checkIntervalMs: number
  readonly maxLineLength: number
  readonly random: () => number
  readonly clock: () => number
  /** All keys of the service, from whichever server answers. */
  read(signal: AbortSignal): Promise<{ address: RegistryAddress; table: KeyTable }>
  /** The list of what the table has. @throws EVENKEEL_DISCOVERY, malformed */
  keep(table: KeyTable): readonly InstanceInit[]
}

/**
 * Watches from the revision after that of the range, at the server that answered it: nothing between the two is lost. A
 * connection that was cut after it had lived is no failure: transports end what is silent (Node's and Bun's `fetch`
 * after five minutes, and progress is told every ten), and the next watch goes on from where this one has got.
 * @see https://etcd.io/docs/v3.4/learning/api/#watch-streams
 */
export async function* watchSession(
  host: WatchHost,
  prefix: string,
  options: WatchOptions,
): AsyncGenerator<readonly InstanceInit[], void> {
  for (;;) {
    const { address, table } = await host.read(options.signal)
    yield host.keep(table)
    const state: WatchState = { address, table, isPartial: false }
    try {
      yield* watches(host, prefix, options, state)
    } catch (error) {
      if (!(error instanceof ReadAnew)) throw error
    }
  }
}

interface WatchState {
  readonly address: RegistryAddress
  readonly table: KeyTable
  /** The table has a part of its revision's changes only. */
  isPartial: boolean
}

/** What was missed can't be had any more: the range tells what has become of it. */
class ReadAnew extends Error {}

/** One watch after the other, each from where the last one has got. @throws ReadAnew; EVENKEEL_DISCOVERY */
async function* watches(
  host: WatchHost,
  prefix: string,
  options: WatchOptions,
  state: WatchState,
): AsyncGenerator<readonly InstanceInit[], never> {
  for (let isFirst = true; ; isFirst = false) {
    const beganAt = host.clock()
    try {
      yield* follow(host, prefix, options, state)
    } catch (error) {
      const livedMs = host.clock() - beganAt
      // Compacted away, and sooner than this it would be again; or the token has expired, which the range renews.
      if (isCompacted(error) && livedMs >= LEAST_LIFE_MS) throw new ReadAnew()
      if (!isFirst && (isCompacted(error) || failureOf(error) === 'denied')) throw new ReadAnew()
      if (options.signal.aborted || livedMs < STEADY_MS || failureOf(error) !== 'unreachable') throw error
      if (state.isPartial) throw new ReadAnew()
    }
    await pause(host.random() * SPREAD_MS, options.signal)
    options.signal.throwIfAborted()
  }
}

function failureOf(error: unknown): DiscoveryFailure | undefined {
  return error instanceof DiscoveryError ? error.failure : undefined
}

/** One watch. Never ends but by a failure. */
async function* follow(
  host: WatchHost,
  prefix: string,
  options: WatchOptions,
  state: WatchState,
): AsyncGenerator<readonly InstanceInit[], never> {
  const { address, table } = state
  const { gateway } = host
  const create = { ...rangeOf(prefix), start_revision: `${table.revision + 1}`, progress_notify: true, fragment: true }
  const answer = await gateway.open({
    address,
    path: '/watch',
    body: { create_request: create },
    signal: options.signal,
  })
  const { from } = answer
  // Silence is not of this body's making: progress is told every ten minutes only.
  const lines = jsonLines(answer.body, { maxLineLength: host.maxLineLength, idleMs: MOST_MS, from })
  const check = new SilenceCheck({ ...host, address, prefix, table, from, confirmed: () => options.confirmed?.() })
  const onAbort = () => check.fail(options.signal.reason)
  options.signal.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      const { value, done } = await check.unlessFailed(lines.next())
      if (done) throw new DiscoveryError(`${from}: the server ended the watch`, { failure: 'unreachable' })
      check.heard()
      const line = objectAt(value, from)
      if (isObject(line.error)) {
        const said = gateway.quoted(line.error.message)
        throw new DiscoveryError(`${from}: the server ended the watch: ${said}`, { failure: 'status' })
      }
      const what = takeWatchAnswer(objectAt(line.result, `${from}: result`), table, from, (text) =>
        gateway.quoted(text),
      )
      state.isPartial = what === 'partial'
      if (what === 'changed') yield host.keep(table)
      else if (what === 'progress') options.confirmed?.()
    }
  } finally {
    options.signal.removeEventListener('abort', onAbort)
    check.stop()
    answer.close()
    // Not waited for: what is being read may never come.
    lines.return(undefined).catch(() => {})
  }
}
