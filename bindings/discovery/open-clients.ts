/** @module The discovery clients that a balancer has asked, which it closes. */

import type { DiscoveryClient } from '../types/extension.js'
import { membersOf } from './composite.js'

export class OpenClients {
  readonly #clients = new Set<DiscoveryClient>()
  /** Those that somebody uses who does not keep them from being closed. */
  readonly #closable = new Set<DiscoveryClient>()
  readonly #used = new Set<DiscoveryClient>()

  /** A client that may never be used. */
  own(client: DiscoveryClient): void {
    for (const member of membersOf(client)) this.#clients.add(member)
  }

  /** @param staysOpen SCLB's health checks end what closes a chain: what is below them is not closed */
  use(client: DiscoveryClient, staysOpen: boolean): void {
    this.own(client)
    for (const member of membersOf(client)) {
      this.#used.add(member)
      if (!staysOpen) this.#closable.add(member)
    }
  }

  /** Closes each once, however many services and composites share it. */
  async close(): Promise<void> {
    const clients = [...this.#clients].filter((client) => this.#closable.has(client) || !this.#used.has(client))
    await Promise.all(clients.map((client) => client.close?.()))
  }
}
