/** @module A list that is asked for, and kept: fresh, then served stale while one call refreshes it, then waited for. */

import type { ServiceSettings } from '../config/settings.js'
import type { DiscoveryError } from '../errors.js'
import { isWorkers, startTimer } from '../runtime/host.js'
import { type SingleFlight, singleFlight, unshared } from '../runtime/single-flight.js'
import { checkWait, waitFor } from '../runtime/wait.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { WaitOptions } from '../types/request.js'
import {
  ask,
  endedWithoutList,
  firstOf,
  isPromise,
  isStream,
  type List,
  type ListStream,
  listIn,
  tooLate,
} from './ask.js'
import { follow } from './follow.js'
import {
  ListSource,
  NO_CHANGE,
  RETRIES,
  RETRY_MS,
  type SourceHost,
  type SourceSettings,
  type WaitUntil,
} from './list-source.js'
import { Poller } from './poller.js'
import { Backoff } from './registry/backoff.js'

/** One question to the client. */
interface Question {
  /** Later questions have higher numbers. */
  readonly number: number
  readonly askedAt: number
  /** Ends it. */
  readonly stop: AbortController
}

type AskedSettings = SourceSettings & Pick<ServiceSettings, 'freshness' | 'polling' | 'discoveryTimeoutMs'>

export class AskedSource extends ListSource {
  readonly ages = true
  readonly #settings: AskedSettings
  /** Undefined: who finds the list old asks. On Workers no timer lives between requests. */
  readonly #poller: Poller | undefined
  readonly #flight: SingleFlight
  /** The questions under way, and the one whose answer goes on. */
  readonly #questions = new Set<Question>()
  #followed: Question | undefined
  /** How often it was asked, and the number of the question whose answer is in force. */
  #asked = 0
  #answered = 0
  /** For so long since then nobody is asked in the background. */
  #pauseMs = 0
  #pausedAt = 0
  readonly #backoff: Backoff
  #lastChange: ListChange = NO_CHANGE

  constructor(client: DiscoveryClient, settings: AskedSettings, host: SourceHost) {
    super(client, host, settings)
    this.#settings = settings
    this.#backoff = new Backoff(RETRIES, host.random)
    this.#flight = settings.quirks.has('cache-no-single-flight') ? unshared() : singleFlight(host.clock)
    if (settings.polling !== undefined && !isWorkers()) this.#poller = new Poller(settings.polling, () => this.#poll())
  }

  /** While an answer goes on there is nothing to ask. Never rejects. */
  async #poll(): Promise<void> {
    if (this.#followed === undefined) await this.#flight.run(() => this.#ask())
  }

  isCurrent(nowMs: number): boolean {
    if (!this.hasList || this.doubt.since !== undefined) return false
    if (this.#followed !== undefined || this.#poller !== undefined) return true
    return this.#isYounger(nowMs, this.#settings.freshness.ttlMs)
  }

  /** As in SCLB a list of nobody is never fresh, unless the list is asked for only once. */
  isFresh(nowMs: number): boolean {
    return this.isCurrent(nowMs) && (this.hasSomebody || this.#followed !== undefined || this.#isAskedOnce)
  }

  get #isAskedOnce(): boolean {
    return this.#settings.freshness.ttlMs === Number.POSITIVE_INFINITY
  }

  /** A failed registry makes any age good enough, until it is asked again. */
  protected isDue(nowMs: number): boolean {
    if (!this.hasList) return true
    if (this.#followed !== undefined) return false
    if (!this.hasSomebody) return !this.#isAskedOnce
    if (this.#mustPause(nowMs)) return false
    if (this.doubt.since !== undefined) return this.doubt.leftMs(nowMs) === 0
    const { ttlMs, staleMs } = this.#settings.freshness
    return !this.#isYounger(nowMs, ttlMs + staleMs)
  }

  /** A list of a time that is still to come, by a clock that has gone back, is of any age. */
  #isYounger(nowMs: number, ageMs: number): boolean {
    return nowMs >= this.listedAt && nowMs - this.listedAt < ageMs
  }

  /** Where the clock has gone back the pause is over. */
  #mustPause(nowMs: number): boolean {
    return nowMs >= this.#pausedAt && nowMs - this.#pausedAt < this.#pauseMs
  }

  #pause(ms: number): void {
    this.#pauseMs = ms
    this.#pausedAt = this.host.clock()
  }

  revive(waitUntil?: WaitUntil): void {
    if (this.closed !== undefined || this.#flight.busy || this.#mustPause(this.host.clock())) return
    const flight = this.#flight.run(() => this.#ask())
    waitUntil?.(flight)
  }

  protected arrival(options: WaitOptions): Promise<void> {
    const what = `waiting for the instances of "${this.host.serviceId}"`
    return waitFor(
      this.#flight.run(() => this.#ask()),
      options,
      what,
    )
  }

  async refresh(options: WaitOptions = {}): Promise<ListChange> {
    checkWait(options)
    await this.arrival(options)
    if (this.closed !== undefined) throw this.closed
    if (this.lastError !== undefined) throw this.unavailable()
    return this.#lastChange
  }

  override accept(list: List): ListChange {
    this.#lastChange = super.accept(list)
    this.#backoff.reset()
    this.#pause(list.length > 0 ? 0 : RETRY_MS)
    return this.#lastChange
  }

  protected override fail(error: unknown): void {
    this.#pause(this.#backoff.next(this.#settings.freshness.ttlMs))
    super.fail(error)
  }

  override close(): void {
    super.close()
    this.#poller?.close()
    for (const { stop } of this.#questions) stop.abort(this.closed)
    this.#flight.release()
  }

  /** Never rejects. Of a client that answers at once, the list is in force when this returns. */
  #ask(): Promise<void> | undefined {
    if (this.closed !== undefined) return undefined
    this.#poller?.begin()
    const client = this.client as DiscoveryClient
    const { serviceId, clock } = this.host
    const question: Question = { number: ++this.#asked, askedAt: clock(), stop: new AbortController() }
    const { signal } = question.stop
    // On Workers another request may close the service, and must not touch the I/O of this one.
    if (!isWorkers()) this.#questions.add(question)
    const cancelTimer = this.#limit(question)
    const end = () => {
      cancelTimer()
      if (question !== this.#followed) this.#questions.delete(question)
    }
    const failed = (error: unknown) => this.fail(error)
    try {
      const answer = ask(client, serviceId, {
        signal,
        timeoutMs: this.#limitMs,
        partlyFailed: (error) => this.partlyFailed(error),
      })
      if (isStream(answer) && !isWorkers()) {
        return waitFor(this.#follow(answer, question), { signal }, 'discovery').catch(failed).finally(end)
      }
      const list = isStream(answer) ? firstOf(answer, client.name, serviceId) : answer
      if (isPromise(list)) {
        return waitFor(list, { signal }, 'discovery')
          .then((list) => this.#take(list, question), failed)
          .finally(end)
      }
      end()
      this.#take(list, question)
    } catch (error) {
      end()
      this.fail(error)
    }
    return undefined
  }

  /** When a question is ended. SCLB's limit on a blocking client ends nothing: the answer comes too late. */
  get #limitMs(): number | undefined {
    const { discoveryTimeoutMs, quirks } = this.#settings
    return quirks.has('discovery-timeout-late') ? undefined : discoveryTimeoutMs
  }

  #limit({ stop }: Question): () => void {
    const limitMs = this.#limitMs
    return limitMs === undefined ? () => {} : startTimer(() => stop.abort(this.#tooLate()), limitMs)
  }

  #tooLate(): DiscoveryError {
    return tooLate((this.client as DiscoveryClient).name, this.host.serviceId, this.#settings.discoveryTimeoutMs)
  }

  /** While an answer goes on, what it said last is fresh. */
  async #follow(stream: ListStream, question: Question): Promise<void> {
    const take = (list: List) => {
      if (this.#followed !== question) this.#leave(this.#followed)
      this.#followed = question
      this.#take(list, question)
    }
    const ended = (error?: unknown) => {
      this.#questions.delete(question)
      if (this.#followed !== question) return
      this.#followed = undefined
      if (this.hasList) this.listedAt = this.host.clock()
      if (error !== undefined) this.fail(error)
    }
    if (await follow(stream, { take, ended }, question.stop.signal)) return
    throw endedWithoutList((this.client as DiscoveryClient).name, this.host.serviceId)
  }

  /** Another answer goes on now. */
  #leave(question: Question | undefined): void {
    if (question === undefined) return
    question.stop.abort()
    this.#questions.delete(question)
  }

  /** The answer to an earlier question than the one whose answer is in force comes too late. */
  #take(answer: List, { number, askedAt }: Question): void {
    if (this.closed !== undefined || number < this.#answered) return
    this.#answered = number
    const { discoveryTimeoutMs, quirks } = this.#settings
    const { serviceId, clock } = this.host
    try {
      const isLate = quirks.has('discovery-timeout-late') && clock() - askedAt >= discoveryTimeoutMs
      this.accept(isLate ? [] : listIn(answer, (this.client as DiscoveryClient).name, serviceId, quirks))
      if (isLate) this.fail(this.#tooLate())
    } catch (error) {
      this.fail(error)
    }
  }
}
