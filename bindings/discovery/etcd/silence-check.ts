/** @module Whether a watch that says nothing has nothing to say. */

import { DiscoveryError } from '../../errors.js'
import { pause } from '../registry/pause.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import { rangeOf } from './encoding.js'
import type { Gateway } from './gateway.js'
import type { KeyTable } from './key-table.js'
import { keyRangeAt } from './key-value.js'

/** Checks come up to this share earlier, so that clients that began together don't stay in step. */
const SPREAD = 0.1

/** A change that the watch brings within this was on its way. */
const GRACE_MS = 1_000

export interface SilenceCheckHost {
  readonly gateway: Gateway
  readonly address: RegistryAddress
  readonly prefix: string
  readonly table: KeyTable
  readonly checkIntervalMs: number
  readonly random: () => number
  readonly clock: () => number
  /** The watch, for errors. */
  readonly from: string
  /** The watch has missed nothing. */
  confirmed(): void
}

/**
 * A stalled connection, and a server that is cut off from its cluster, look like a service in which nothing happens:
 * progress is told every ten minutes, and the gateway of 3.4 can't be asked for it. So the server of the watch is asked,
 * once nothing has come for the interval, for keys newer than what the watch has brought (at most one, without its
 * value) and for how many there are. The read is linearizable: a server without a quorum can't answer it.
 */
export class SilenceCheck {
  readonly #host: SilenceCheckHost
  readonly #stop = new AbortController()
  #heardAt: number
  #failure: { readonly error: unknown } | undefined
  #reject: (error: unknown) => void = () => {}

  constructor(host: SilenceCheckHost) {
    this.#host = host
    this.#heardAt = host.clock()
    void this.#run()
  }

  heard(): void {
    this.#heardAt = this.#host.clock()
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Ends the wait for what the watch says next. */
  fail(error: unknown): void {
    this.#failure = { error }
    this.#reject(error)
  }

  /** `next`, unless a check fails first. (A race with one promise for all would keep every line of the watch.) */
  unlessFailed<T>(next: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      if (this.#failure !== undefined) reject(this.#failure.error)
      next.then(resolve, reject)
    })
  }

  async #run(): Promise<void> {
    const { clock, random, checkIntervalMs, confirmed } = this.#host
    const { signal } = this.#stop
    while (!signal.aborted) {
      const intervalMs = checkIntervalMs * (1 - SPREAD * random())
      for (let leftMs = intervalMs; leftMs > 0; leftMs = this.#heardAt + intervalMs - clock()) {
        await pause(Math.ceil(leftMs), signal)
        if (signal.aborted) return
      }
      try {
        await this.#check(signal)
        if (signal.aborted) return
        this.heard()
        confirmed()
      } catch (error) {
        if (signal.aborted) return
        return this.fail(error)
      }
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { table, from } = this.#host
    const before = table.revision
    if (await this.#isCurrent(signal)) return
    await pause(GRACE_MS, signal)
    if (signal.aborted || table.revision > before || (await this.#isCurrent(signal))) return
    throw new DiscoveryError(`${from}: the watch has brought no change since revision ${before}, and there was one`, {
      failure: 'timeout',
    })
  }

  async #isCurrent(signal: AbortSignal): Promise<boolean> {
    const { gateway, address, prefix, table } = this.#host
    const since = table.revision
    const { value, from } = await gateway.ask({
      address,
      path: '/kv/range',
      body: { ...rangeOf(prefix), min_mod_revision: `${since + 1}`, keys_only: true, limit: '1' },
      signal,
    })
    const { revision, keyValues, count } = keyRangeAt(value, from)
    if (revision < since) {
      throw new DiscoveryError(`${from}: its revision went back from ${since} to ${revision}`, { failure: 'status' })
    }
    // A change that came while this was asked has its own proof.
    if (table.revision > since) return true
    if (keyValues.length > 0 || count !== table.size) return false
    table.reached(revision)
    return true
  }
}
