/** @module Several discovery clients followed at once: who pushes is watched, who does not is asked again and again. */

import { startTimer } from '../runtime/host.js'
import type { WatchOptions } from '../types/extension.js'
import { type List, tooLate } from './ask.js'
import { CompositeList, type CompositeMode } from './composite-list.js'
import type { Member } from './composite-member.js'
import { stopWith } from './stop-with.js'
import { TimeShare } from './time-share.js'
import { watchOn } from './watch-on.js'

/** Where the service says nothing of it: the defaults of its `cache.ttlMs` and `discoveryTimeoutMs`. */
const TTL_MS = 35_000
const TIMEOUT_MS = 30_000

/** What clients say is in force as soon as they say it. Of one that fails the last list goes on counting. */
export class CompositeWatch extends CompositeList {
  readonly #serviceId: string
  /** Not yet told: failures of whole clients, and of parts of them. */
  #failures: unknown[] = []
  #parts: unknown[] = []
  #isConfirmed = false
  #hasNews = false
  #wake = () => {}

  constructor(members: readonly Member[], serviceId: string, mode: CompositeMode) {
    super(members, mode)
    this.#serviceId = serviceId
  }

  /** To be called once. Ends when the signal aborts, and all clients' watches with it. */
  async *lists(options: WatchOptions): AsyncGenerator<List, void> {
    const { timeoutMs = TIMEOUT_MS, ttlMs = TTL_MS } = options
    const { stop, leave } = stopWith(options.signal)
    const { signal } = stop
    signal.addEventListener('abort', () => this.#changed(), { once: true })
    const shareMs = new TimeShare(timeoutMs).of(this.members.length) as number
    const cancelPatience = startTimer(() => {
      for (const member of this.members) {
        if (!member.heard) this.#failed(member, tooLate(member.client.name, this.#serviceId, shareMs))
      }
    }, shareMs)
    try {
      if (!signal.aborted)
        for (const member of this.members) this.#follow(member, signal, { timeoutMs, shareMs, ttlMs })
      while (!signal.aborted) {
        const list = this.#next()
        if (list !== undefined) {
          yield list
          continue
        }
        this.#tell(options)
        await this.#news()
      }
    } finally {
      stop.abort(options.signal.reason)
      cancelPatience()
      leave()
    }
  }

  #follow(member: Member, signal: AbortSignal, times: { timeoutMs: number; shareMs: number; ttlMs: number }): void {
    const { timeoutMs, shareMs, ttlMs } = times
    void watchOn(member.client, this.#serviceId, {
      signal,
      timeoutMs: member.client.watch === undefined ? timeoutMs : shareMs,
      ttlMs,
      take: (list) => {
        const { error } = member.take(list)
        if (error !== undefined) return this.#failed(member, error)
        // Of a list that is handed on as it was said, the service tells what can't be read.
        if (this.mode === 'merge' && member.news !== undefined) this.#parts.push(member.news)
        this.#confirmed()
      },
      failed: (error) => this.#failed(member, error),
      partlyFailed: (error) => {
        this.#parts.push(error)
        this.#changed()
      },
      confirmed: () => {
        if (member.list === undefined) return
        member.error = undefined
        this.#confirmed()
      },
    })
  }

  #confirmed(): void {
    this.#isConfirmed = true
    this.#changed()
  }

  #failed(member: Member, error: unknown): void {
    this.#failures.push(member.fail(error).error)
    this.#changed()
  }

  #changed(): void {
    this.#hasNews = true
    this.#wake()
  }

  /** Resolves when anything has changed since it last did. */
  async #news(): Promise<void> {
    if (!this.#hasNews) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    this.#hasNews = false
  }

  #next(): List | undefined {
    if (!this.isDecided) return undefined
    const wasLacking = this.isLacking
    const list = this.next()
    if (list !== undefined) this.#isConfirmed = false
    // Earlier failures of those who have never had a list now are why the one in force is not current.
    if (this.isLacking && !wasLacking && this.isHanded) {
      for (const { list, error } of this.members) {
        if (list === undefined && !this.#failures.includes(error)) this.#failures.push(error)
      }
    }
    return list
  }

  /** What has come to pass beside lists. As long as another may still answer, no failure is one of all. */
  #tell(options: WatchOptions): void {
    if (!this.isDecided) return
    const { contributors } = this
    const isServed = this.isHanded && !this.isLacking && contributors.some(({ error }) => error === undefined)
    for (const error of this.#parts.splice(0)) options.partlyFailed?.(error)
    for (const error of this.#failures.splice(0)) {
      if (isServed) options.partlyFailed?.(error)
      else options.failed?.(error)
    }
    const isConfirmed = this.#isConfirmed && contributors.every(({ error }) => error === undefined)
    this.#isConfirmed = false
    if (isConfirmed && this.isHanded) options.confirmed?.()
  }
}
