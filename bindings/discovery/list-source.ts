/** @module Where a service's list comes from, and how old it is. One subclass for each way a list arrives. */

import { ClosedError, DiscoveryError } from '../errors.js'
import type { ListChange } from '../types/answers.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import type { WaitOptions } from '../types/request.js'

export interface SourceHost {
  readonly serviceId: string
  readonly clock: () => number
  /** Puts a list in force. Throws if it can't be read; the old one then stays. */
  publish(list: readonly InstanceInit[]): ListChange
  failed(error: unknown): void
}

export type WaitUntil = ((promise: Promise<unknown>) => void) | undefined

/** How long the registry is left alone after it failed. */
export const RETRY_MS = 1_000

export abstract class ListSource {
  /** Undefined: the list was written by the user. */
  readonly client: DiscoveryClient | undefined
  /** Whether the list grows old by itself: picks then look at the clock. */
  abstract readonly ages: boolean
  /** A list has been in force, perhaps an empty one. */
  listed = false
  /** What the last answer failed with; undefined after a good one. */
  lastError: unknown
  failures = 0
  protected readonly host: SourceHost
  /** Set when the service has closed. */
  protected closed: ClosedError | undefined
  protected listedAt = Number.NaN

  constructor(client: DiscoveryClient | undefined, host: SourceHost) {
    this.client = client
    this.host = host
  }

  /** Since the list was last confirmed; NaN: there is none. */
  get ageMs(): number {
    return this.listed ? this.host.clock() - this.listedAt : Number.NaN
  }

  abstract isFresh(nowMs: number): boolean

  /** Whether a call that can wait should, rather than be served the list at hand. */
  abstract mustWait(nowMs: number): boolean

  /** Sees to it that a list arrives, if one is due. Never throws; a failure is recorded. */
  abstract revive(waitUntil?: WaitUntil): void

  /** Resolves when a list has arrived, or failed to. */
  protected abstract arrival(options: WaitOptions): Promise<void>

  /** Asks now, whatever the age of the list. */
  abstract refresh(options?: WaitOptions): Promise<ListChange>

  /**
   * Resolves when there is a list that need not be waited for: true if it was.
   * @throws EVENKEEL_DISCOVERY if there is none and the source failed; EVENKEEL_TIMEOUT; the signal's reason
   */
  async ready(options: WaitOptions = {}): Promise<boolean> {
    if (!this.mustWait(this.host.clock())) return false
    await this.arrival(options)
    if (this.closed !== undefined) throw this.closed
    if (!this.listed) throw this.unavailable()
    return true
  }

  /** Puts a whole list in force. */
  accept(list: readonly InstanceInit[]): ListChange {
    const change = this.host.publish(list)
    this.listed = true
    this.listedAt = this.host.clock()
    this.lastError = undefined
    return change
  }

  close(): void {
    const { serviceId } = this.host
    this.closed = new ClosedError(`service "${serviceId}" is closed`, { serviceId })
  }

  protected fail(error: unknown): void {
    if (this.closed !== undefined) return
    this.failures++
    this.lastError = error
    this.host.failed(error)
  }

  protected unavailable(): DiscoveryError {
    const { serviceId } = this.host
    const reason = this.lastError instanceof Error ? this.lastError.message : String(this.lastError)
    const message = `discovery "${this.client?.name}" could not list "${serviceId}": ${reason}`
    return new DiscoveryError(message, { serviceId, cause: this.lastError })
  }
}
