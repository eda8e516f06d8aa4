/**
 * @module Priming: an instance that is new to the list is a candidate once it has answered a request, whatever it said.
 * Its connection is open then, and what it loads at its first request is loaded. After Ribbon's PrimeConnections.
 */

import type { Quirks } from '../compat/quirks.js'
import type { PrimeSettings } from '../config/settings.js'
import type { Gate } from '../discovery/list-source.js'
import { isSameInstance } from '../instance.js'
import { isWorkers, MOST_MS, startTimer } from '../runtime/host.js'
import { holding, waitFor } from '../runtime/wait.js'
import type { FetchLike, ServiceInstance } from '../types/instance.js'
import type { WaitOptions } from '../types/request.js'
import { checkUrl } from './check-url.js'
import { askByGet, probe } from './probe.js'

/** What priming takes from its service. */
export interface PrimingHost {
  readonly serviceId: string
  readonly transport: FetchLike
  readonly quirks: Quirks
  /** The list in force. */
  instances(): readonly ServiceInstance[]
  /** Others are primed now. */
  changed(): void
}

/** Requests under way at the same time. */
const MOST_AT_ONCE = 64

/** What is known of one instance. */
interface Entry {
  readonly instance: ServiceInstance
  /** It has answered; Ribbon's: or its attempts are used up. */
  ready: boolean
  /** Attempts in this go that failed, and what the last one failed with. */
  failed: number
  reason: string | undefined
  /** Ends what is under way for it: a request or a pause. */
  stop: () => void
}

export class Priming implements Gate {
  readonly #settings: PrimeSettings
  readonly #host: PrimingHost
  /** On Workers nothing runs between requests, and no connection is shared by them: everybody counts as primed. */
  readonly #off = isWorkers()
  /** By instance id. */
  readonly #entries = new Map<string, Entry>()
  /** Whose next attempt is due. */
  readonly #due: Entry[] = []
  #underWay = 0
  #begun = false
  #closed = false
  /** A list has come. */
  #hasList = false
  /** It once was known enough to pick: it stays so. */
  #passed: boolean
  /** Ends the wait for a first list that is slow to be primed; undefined: it has not begun. */
  #cancelTotal: (() => void) | undefined
  readonly #waiting = new Set<() => void>()

  constructor(settings: PrimeSettings, host: PrimingHost) {
    this.#settings = settings
    this.#host = host
    this.#passed = this.#off
  }

  /** Enough of the first list is primed, or it took too long; of nobody there is nothing to prime. */
  get open(): boolean {
    return this.#passed || (this.#begun && this.#hasList && this.#entries.size === 0)
  }

  /** Why everybody counts as primed. */
  get unasked(): string | undefined {
    return this.#off ? 'nothing is primed on Workers' : undefined
  }

  isReady(instance: ServiceInstance): boolean {
    return this.#off || this.#entryOf(instance)?.ready === true
  }

  /** Why an instance is not primed. */
  reasonOf(instance: ServiceInstance): string {
    const { failed = 0, reason } = this.#entryOf(instance) ?? {}
    if (reason === undefined) return 'not primed yet'
    return `not primed: attempt ${failed} of ${this.#settings.attempts}: ${reason}`
  }

  begin(): void {
    if (this.#begun || this.#off || this.#closed) return
    this.#begun = true
    if (this.#hasList) this.listed()
  }

  async passed(options: WaitOptions): Promise<void> {
    this.begin()
    const steps = async () => {
      while (!this.open && !this.#closed) await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
    await holding(waitFor(steps(), options, `priming the instances of "${this.#host.serviceId}"`))
  }

  /** A list has come: who is new in it is tried, who has left it is no more. */
  listed(): void {
    this.#hasList = true
    if (!this.#begun || this.#closed) return
    const present = new Map(this.#host.instances().map((instance) => [instance.instanceId, instance]))
    for (const [id, entry] of this.#entries) {
      const now = present.get(id)
      if (now !== undefined && isSameInstance(now, entry.instance)) continue
      this.#entries.delete(id)
      entry.stop()
    }
    for (const [id, instance] of present) {
      if (this.#entries.has(id)) continue
      const entry: Entry = { instance, ready: false, failed: 0, reason: undefined, stop: () => {} }
      this.#entries.set(id, entry)
      this.#due.push(entry)
    }
    if (this.#entries.size === 0) this.#wake()
    else if (!this.#passed) this.#cancelTotal ??= startTimer(() => this.#pass(), this.#settings.totalMs)
    this.#settle()
    this.#tryDue()
  }

  close(): void {
    this.#closed = true
    this.#cancelTotal?.()
    for (const { stop } of this.#entries.values()) stop()
    this.#entries.clear()
    this.#wake()
  }

  /** Of the list, while it is the same instance. */
  #entryOf(instance: ServiceInstance): Entry | undefined {
    const entry = this.#entries.get(instance.instanceId)
    return entry !== undefined && isSameInstance(entry.instance, instance) ? entry : undefined
  }

  #tryDue(): void {
    while (this.#underWay < MOST_AT_ONCE && this.#due.length > 0) {
      const entry = this.#due.shift() as Entry
      if (this.#isWanted(entry)) void this.#try(entry)
    }
  }

  #isWanted(entry: Entry): boolean {
    return !this.#closed && this.#entries.get(entry.instance.instanceId) === entry
  }

  /** Never rejects. */
  async #try(entry: Entry): Promise<void> {
    const { path, timeoutMs } = this.#settings
    const { transport, quirks } = this.#host
    const { instance } = entry
    const request = new AbortController()
    entry.stop = () => request.abort()
    this.#underWay++
    const url = () => checkUrl(instance, { path, port: undefined, unbracketed: quirks.has('ipv6-unbracketed') })
    const ask = (signal: AbortSignal) => askByGet(instance, { url: url(), transport, accept: () => true }, signal)
    const { alive, reason } = await probe(ask, timeoutMs, request)
    this.#underWay--
    if (this.#isWanted(entry)) {
      if (alive) this.#succeeded(entry)
      else this.#failed(entry, reason)
    }
    this.#tryDue()
  }

  #succeeded(entry: Entry): void {
    entry.ready = true
    entry.stop = () => {}
    this.#host.changed()
    this.#settle()
  }

  #failed(entry: Entry, reason: string | undefined): void {
    const { attempts, pauseMs, totalMs } = this.#settings
    entry.failed++
    entry.reason = reason
    const isLast = entry.failed >= attempts
    if (isLast && this.#host.quirks.has('ribbon-prime-ready-on-failure')) return this.#succeeded(entry)
    entry.stop = startTimer(
      () => this.#again(entry, isLast),
      isLast ? totalMs : Math.min(pauseMs * entry.failed, MOST_MS),
    )
    if (isLast) this.#settle()
  }

  /** @param anew its attempts were used up, and begin from the first */
  #again(entry: Entry, anew: boolean): void {
    if (anew) {
      entry.failed = 0
      entry.reason = undefined
    }
    this.#due.push(entry)
    this.#tryDue()
  }

  /** Opens the gate if enough are ready, or nothing more will come of this go. */
  #settle(): void {
    if (this.#passed || this.#entries.size === 0) return
    const { minShare, attempts } = this.#settings
    const entries = [...this.#entries.values()]
    const ready = entries.filter((entry) => entry.ready).length
    const isOver = entries.every((entry) => entry.ready || entry.failed >= attempts)
    if (ready >= Math.ceil(entries.length * minShare) || isOver) this.#pass()
  }

  #pass(): void {
    if (this.#passed || this.#closed) return
    this.#passed = true
    this.#cancelTotal?.()
    this.#host.changed()
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
