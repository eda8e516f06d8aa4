/** @module A copy of the registry that is kept up to date by changes, and made anew where they don't add up. */

import type { RegistryAddress } from '../registry/registry-address.js'
import { type EntrySettings, entryOf } from './entry.js'
import type { EurekaSettings } from './options.js'
import { RegistryIndex } from './registry-index.js'
import type { EurekaServers, ServerApplications } from './servers.js'

/** The server tells a change for three minutes, and its cache may be half a minute old. */
const DELTA_REACH_MS = 150_000

/** So long a server that does not tell changes is not asked for them. */
const NO_DELTA_MS = 300_000

/** Rounds, at most, from one full answer that did not help to the next. */
const MOST_PATIENCE = 20

/** By both clocks: one may stand still while the machine sleeps, the other may be set back. */
interface Moment {
  readonly monotoneMs: number
  readonly wallMs: number
}

type CopySettings = EntrySettings & Pick<EurekaSettings, 'delta' | 'clock'>

export class RegistryCopy {
  readonly index = new RegistryIndex()
  readonly #servers: EurekaServers
  readonly #settings: CopySettings
  #isLoaded = false
  #version: string | undefined
  /** Of the last answer. */
  #saidHash: string | undefined
  #answeredAt: Moment = { monotoneMs: 0, wallMs: 0 }
  /** Whose copy it is: another server need not have heard of the same changes. */
  #server: RegistryAddress | undefined
  #noDeltaUntil = Number.NEGATIVE_INFINITY
  /** Rounds that must pass from a full answer to the next one for the sake of the hash. */
  #patience = 0
  #sinceFull = 0

  constructor(servers: EurekaServers, settings: CopySettings) {
    this.#servers = servers
    this.#settings = settings
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  describe(): Record<string, string> {
    if (!this.#isLoaded) return {}
    return {
      instances: String(this.index.size),
      hash: this.index.hash,
      ...(this.#version !== undefined && { version: this.#version }),
      ...(this.#differs && { mismatch: `the server counts ${this.#saidHash || 'nobody'}` }),
    }
  }

  /**
   * One question, or two where the changes don't add up. What was learned before a failure stays.
   * @throws EVENKEEL_DISCOVERY
   */
  async refresh(signal: AbortSignal): Promise<void> {
    const { clock } = this.#settings
    if (!this.#wantsDelta()) return this.#loadAll(signal)
    const askedAt = this.#now()
    const changes = await this.#servers.delta(signal)
    const isOurs = changes !== undefined && changes.server === this.#server
    if (isOurs) {
      this.#apply(changes)
      this.#answeredAt = askedAt
      if (!this.#needsFull()) return
    }
    await this.#loadAll(signal)
    if (changes === undefined) this.#noDeltaUntil = clock() + NO_DELTA_MS
    this.#patience = isOurs ? Math.min(Math.max(2, this.#patience * 2), MOST_PATIENCE) : 0
  }

  get #differs(): boolean {
    return this.#saidHash !== undefined && this.#saidHash !== this.index.hash
  }

  #wantsDelta(): boolean {
    const { delta, clock } = this.#settings
    const { monotoneMs, wallMs } = this.#now()
    const sinceMs = Math.max(monotoneMs - this.#answeredAt.monotoneMs, wallMs - this.#answeredAt.wallMs)
    return delta && this.#isLoaded && clock() >= this.#noDeltaUntil && sinceMs <= DELTA_REACH_MS
  }

  #now(): Moment {
    return { monotoneMs: this.#settings.clock(), wallMs: Date.now() }
  }

  #apply(changes: ServerApplications): void {
    for (const { app, raw } of changes.instances) {
      const entry = entryOf(raw, app, this.#settings)
      if (raw.actionType === 'DELETED') this.index.remove(entry.key)
      else this.index.put(entry)
    }
    this.#version = changes.version
    this.#saidHash = changes.hash
  }

  /**
   * Whether the copy has lost something. Some servers count wrongly for good (Netflix/eureka#1120, #1528), and caches
   * of theirs may be older than what they count: where a full answer did not help, the next comes after 2 rounds, 4, …
   */
  #needsFull(): boolean {
    this.#sinceFull++
    if (!this.#differs) {
      this.#patience = 0
      return false
    }
    return this.#sinceFull >= this.#patience
  }

  async #loadAll(signal: AbortSignal): Promise<void> {
    const askedAt = this.#now()
    const all = await this.#servers.full(signal)
    this.index.replace(all.instances.map(({ app, raw }) => entryOf(raw, app, this.#settings)))
    this.#isLoaded = true
    this.#answeredAt = askedAt
    this.#server = all.server
    this.#version = all.version
    this.#saidHash = all.hash
    this.#sinceFull = 0
  }
}
