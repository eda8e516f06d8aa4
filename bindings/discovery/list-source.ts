/** @module Where a service's list comes from, and how old it is. One subclass for each way a list arrives. */

import type { ServiceSettings } from '../config/settings.js'
import { ClosedError, DiscoveryError, type DiscoveryErrorDetails } from '../errors.js'
import { checkWait } from '../runtime/wait.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import type { WaitOptions } from '../types/request.js'
import { EmptyListDoubt } from './empty-list-doubt.js'
import { LeftOut } from './left-out.js'
import { messageOf } from './message-of.js'
import { CUT_OFF_GROWTH } from './registry/backoff.js'
import { within } from './within.js'

export interface SourceHost {
  readonly serviceId: string
  readonly clock: () => number
  /**
   * Uniform in [0, 1): spreads the questions of many clients over time. Not what picks are drawn from, which stay the
   * same whatever the registry does. Default: `Math.random`.
   */
  readonly random?: () => number
  /** Puts a list in force. Throws if it can't be read; the old one then stays. */
  publish(list: readonly InstanceInit[]): ListChange
  /** What was said of entries of the last list that could not be read, and are left out. */
  unreadable?(): readonly string[]
  /** The registry lists nobody, which is not believed yet. */
  doubted(): void
  failed(error: unknown): void
}

/** What has to be known of a list before it is used: who of it is alive. */
export interface Gate {
  readonly open: boolean
  /** Begins to find out, if it has not. */
  begin(): void
  /** Resolves when the gate is open, or nothing more will come of it. */
  passed(options: WaitOptions): Promise<void>
}

export type SourceSettings = Pick<ServiceSettings, 'protectMs' | 'quirks'>

export type WaitUntil = ((promise: Promise<unknown>) => void) | undefined

/** How long the registry is left alone after it said that there is nobody, and on average after its first failure. */
export const RETRY_MS = 1_000

/** The pauses after failures in a row, on average. */
export const RETRIES = { minMs: RETRY_MS, maxMs: 30_000, growth: CUT_OFF_GROWTH }

export const NO_CHANGE: ListChange = Object.freeze({ added: [], removed: [], changed: [] })

export abstract class ListSource {
  /** Undefined: the list was written by the user. */
  readonly client: DiscoveryClient | undefined
  /** Whether the list grows old by itself: picks then look at the clock. */
  abstract readonly ages: boolean
  /** What the last answer failed with; undefined after a good one. */
  lastError: unknown
  failures = 0
  gate: Gate | undefined
  readonly doubt: EmptyListDoubt
  protected readonly host: SourceHost
  /** Set when the service has closed. */
  protected closed: ClosedError | undefined
  protected listedAt = Number.NaN
  /** A list is in force, perhaps an empty one. */
  protected hasList = false
  /** The list in force names somebody. */
  protected hasSomebody = false
  readonly #leftOut = new LeftOut()
  /** SCLB's: a failure is nobody, not the last good list. */
  readonly #failureEmpties: boolean

  constructor(client: DiscoveryClient | undefined, host: SourceHost, settings?: SourceSettings) {
    this.client = client
    this.host = host
    this.doubt = new EmptyListDoubt(settings?.protectMs ?? 0)
    this.#failureEmpties = settings?.quirks.has('discovery-failure-empties') ?? false
  }

  /** There is a list to pick from, perhaps an empty one. */
  get listed(): boolean {
    return this.hasList && (this.gate === undefined || this.gate.open)
  }

  /** Since the list was last confirmed; NaN: there is none. */
  get ageMs(): number {
    return this.hasList ? this.host.clock() - this.listedAt : Number.NaN
  }

  /** The list in force is what the source says, as far as is known. */
  abstract isCurrent(nowMs: number): boolean

  /** Current, and no reason to ask again: one that names nobody always is. */
  abstract isFresh(nowMs: number): boolean

  /** Whether a call that can wait should wait for a list. */
  protected abstract isDue(nowMs: number): boolean

  /** Sees to it that a list arrives, if one is due. Never throws; a failure is recorded. */
  abstract revive(waitUntil?: WaitUntil): void

  /** Resolves when a list has arrived, or failed to. */
  protected abstract arrival(options: WaitOptions): Promise<void>

  /** Asks now, whatever the age of the list. */
  abstract refresh(options?: WaitOptions): Promise<ListChange>

  /** Whether a call that can wait should, rather than be served what is at hand. */
  mustWait(nowMs: number): boolean {
    return (this.gate !== undefined && !this.gate.open) || this.isDue(nowMs)
  }

  /**
   * Resolves when there is a list that need not be waited for, and is known who of it is alive: true if it was
   * waited for.
   * @throws EVENKEEL_DISCOVERY if there is none and the source failed; EVENKEEL_TIMEOUT; the signal's reason;
   * EVENKEEL_CONFIG for options that are none
   */
  async ready(options: WaitOptions = {}): Promise<boolean> {
    checkWait(options)
    if (!this.mustWait(this.host.clock())) return false
    const { gate } = this
    if (gate === undefined || gate.open) {
      await this.readyList(options)
      return true
    }
    await within(options, `waiting for the instances of "${this.host.serviceId}"`, async (signal) => {
      await this.readyList({ signal })
      await gate.passed({ signal })
    })
    if (this.closed !== undefined) throw this.closed
    return true
  }

  /** As `ready`, whoever of the list is alive. */
  async readyList(options: WaitOptions): Promise<void> {
    checkWait(options)
    if (!this.isDue(this.host.clock())) return
    await this.arrival(options)
    if (this.closed !== undefined) throw this.closed
    if (!this.hasList) throw this.unavailable()
  }

  /** Puts a whole list in force, unless it is a sudden "none" that is not believed yet. */
  accept(list: readonly InstanceInit[]): ListChange {
    const nowMs = this.host.clock()
    this.lastError = undefined
    if (!this.doubt.believes(list, this.hasSomebody, nowMs)) {
      this.host.doubted()
      return NO_CHANGE
    }
    const change = this.host.publish(list)
    // Not before: an answer that can't be read says nothing of the doubt.
    this.doubt.end()
    this.hasList = true
    this.hasSomebody = list.length > 0
    this.listedAt = nowMs
    const error = this.#leftOut.news(this.host.unreadable?.() ?? [], this.host.serviceId)
    if (error !== undefined) this.partlyFailed(error)
    return change
  }

  close(): void {
    const { serviceId } = this.host
    this.closed = new ClosedError(`service "${serviceId}" is closed`, { serviceId })
  }

  protected fail(error: unknown): void {
    if (this.closed !== undefined) return
    if (this.#failureEmpties) this.#acceptNobody()
    if (this.closed !== undefined) return
    this.failures++
    this.lastError = error
    this.host.failed(error)
  }

  /** Told and counted like a failure, but there is an answer, which is taken. */
  partlyFailed(error: unknown): void {
    if (this.closed !== undefined) return
    this.failures++
    this.host.failed(error)
  }

  protected unavailable(cause = this.lastError): DiscoveryError {
    const { serviceId } = this.host
    const message = `discovery "${this.client?.name}" could not list "${serviceId}": ${messageOf(cause)}`
    return new DiscoveryError(message, { serviceId, cause, ...failureIn(cause) })
  }

  #acceptNobody(): void {
    try {
      this.accept([])
    } catch {
      // A listener of the change has closed the service.
    }
  }
}

/** How the registry failed, where its client says so. */
function failureIn(error: unknown): DiscoveryErrorDetails {
  if (!(error instanceof DiscoveryError)) return {}
  const { failure, status } = error
  return { ...(failure !== undefined && { failure }), ...(status !== undefined && { status }) }
}
