/** @module Several servers of one registry: whoever answered last is asked next, who failed is left alone for a while. */

import { DiscoveryError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import { messageOf } from '../message-of.js'
import type { RegistryAddress } from './registry-address.js'

/** Eureka's client: when so many are in quarantine, all are let out. */
const MOST_QUARANTINED = 0.66

/** Who has not answered within this when the question is given up is not simply somebody who was asked too late. */
const LONG_MS = 1_000

export class Endpoints {
  readonly #name: string
  readonly #addresses: readonly RegistryAddress[]
  readonly #clock: () => number
  readonly #quarantined = new Set<RegistryAddress>()
  #current: RegistryAddress | undefined

  /** @param addresses in the order of preference, at least one @param clock in ms */
  constructor(name: string, addresses: readonly RegistryAddress[], clock = defaultClock()) {
    this.#clock = clock
    this.#name = name
    this.#addresses = addresses
  }

  /** Who answered last; before the first answer who is asked first. */
  get current(): RegistryAddress {
    return this.#current ?? (this.#addresses[0] as RegistryAddress)
  }

  /** All of them, for `describe`. */
  get shown(): string {
    return this.#addresses.map(({ base }) => base).join(', ')
  }

  /**
   * What the first server says that says anything. Each is asked once, those in quarantine last.
   * @throws what the only server failed with, or EVENKEEL_DISCOVERY with what each failed with
   */
  async ask<T>(signal: AbortSignal, question: (address: RegistryAddress) => Promise<T>): Promise<T> {
    const errors: unknown[] = []
    // All of them have to want it.
    let retryAfterMs = Number.POSITIVE_INFINITY
    for (const address of this.#order()) {
      const askedAt = this.#clock()
      try {
        const answer = await question(address)
        this.#quarantined.delete(address)
        this.#current = address
        return answer
      } catch (error) {
        if (signal.aborted) {
          // It may hang, with no time left to ask another: the next question begins with that.
          if (this.#clock() - askedAt >= LONG_MS) this.#quarantine(address)
          throw error
        }
        errors.push(error)
        retryAfterMs = Math.min(retryAfterMs, (error instanceof DiscoveryError && error.retryAfterMs) || 0)
        this.#quarantine(address)
      }
    }
    if (errors.length === 1) throw errors[0]
    const each = errors.map(messageOf).join('; ')
    throw new DiscoveryError(`none of ${errors.length} ${this.#name} servers answered: ${each}`, {
      ...(errors[0] instanceof DiscoveryError && errors[0].failure && { failure: errors[0].failure }),
      ...(retryAfterMs > 0 && { retryAfterMs }),
      cause: new AggregateError(errors, each),
    })
  }

  #order(): RegistryAddress[] {
    const first = this.current
    const rank = (address: RegistryAddress) => (this.#quarantined.has(address) ? 2 : address === first ? 0 : 1)
    return this.#addresses.toSorted((a, b) => rank(a) - rank(b))
  }

  #quarantine(address: RegistryAddress): void {
    this.#quarantined.add(address)
    if (this.#quarantined.size >= MOST_QUARANTINED * this.#addresses.length) this.#quarantined.clear()
  }
}
