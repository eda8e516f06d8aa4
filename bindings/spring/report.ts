/** @module The warnings of one translation. */

import type { Property } from './property.js'
import type { SpringWarning } from './types.js'

export class Report {
  readonly #warnings = new Map<string, SpringWarning>()
  readonly #used = new Set<Property>()
  readonly #idle = new Map<Property, string | undefined>()

  /** The same said twice is said once. */
  warn({ key, value, line }: Property, message: string): void {
    this.#warnings.set(`${line} ${key} ${message}`, {
      key,
      ...(value !== '' && { value }),
      message,
      ...(line !== undefined && { line }),
    })
  }

  /** The properties reached the options of some service. */
  use(properties: readonly Property[]): void {
    for (const property of properties) this.#used.add(property)
  }

  /** Warns in the end, once for properties that belong together, unless some service has used them. */
  idle(properties: readonly Property[], message: string): void {
    const [first, ...others] = properties.filter((property) => !this.#idle.has(property))
    if (first === undefined) return
    this.#idle.set(first, message)
    for (const property of others) this.#idle.set(property, undefined)
  }

  /** All of them, in the order of the file. */
  warnings(): readonly SpringWarning[] {
    for (const [property, message] of this.#idle) {
      if (message !== undefined && !this.#used.has(property)) this.warn(property, message)
    }
    return [...this.#warnings.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  }
}
