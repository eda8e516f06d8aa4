/** @module The discovery clients that a balancer has asked, which it closes. */

import type { DiscoveryClient } from '../types/extension.js'
import { closeAll } from './close-all.js'
import { membersOf } from './composite.js'

interface Use {
  /** The balancer's own: kept until it closes, whoever uses it. */
  owned: boolean
  /** Services that ask it now. */
  users: number
  /** Somebody has used it, somebody who does not keep it from being closed. */
  used: boolean
  closable: boolean
}

export class OpenClients {
  readonly #uses = new Map<DiscoveryClient, Use>()

  /** A client that may never be used. */
  own(client: DiscoveryClient): void {
    for (const member of membersOf(client)) this.#useOf(member).owned = true
  }

  /** @param staysOpen SCLB's health checks end what closes a chain: what is below them is not closed */
  use(client: DiscoveryClient, staysOpen: boolean): void {
    for (const member of membersOf(client)) {
      const use = this.#useOf(member)
      use.users++
      use.used = true
      use.closable ||= !staysOpen
    }
  }

  /** The end of one `use`: closes what nobody else asks. */
  async leave(client: DiscoveryClient): Promise<void> {
    const left: DiscoveryClient[] = []
    for (const member of membersOf(client)) {
      const use = this.#useOf(member)
      if (--use.users > 0 || use.owned) continue
      this.#uses.delete(member)
      if (use.closable) left.push(member)
    }
    await closeAll(left)
  }

  /** Closes each once, however many services and composites share it. */
  async close(): Promise<void> {
    const open = [...this.#uses].filter(([, { closable, used }]) => closable || !used)
    await closeAll(open.map(([client]) => client))
  }

  #useOf(client: DiscoveryClient): Use {
    let use = this.#uses.get(client)
    if (use === undefined) this.#uses.set(client, (use = { owned: false, users: 0, used: false, closable: false }))
    return use
  }
}
