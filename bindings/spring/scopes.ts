/** @module The settings of a file: those of all clients, and those of each. */

import { Settings } from './settings.js'

export class Scopes {
  readonly all = new Settings()
  readonly #clients = new Map<string, Settings>()

  client(id: string): Settings {
    const settings = this.#clients.get(id) ?? new Settings()
    this.#clients.set(id, settings)
    return settings
  }

  /** In the order of the file. */
  get ids(): readonly string[] {
    return [...this.#clients.keys()]
  }

  /** A client's own settings over those of all. */
  effective(id: string): Settings {
    return (this.#clients.get(id) ?? new Settings()).over(this.all)
  }
}
