/** @module The whole registry on this side: by service id, counted by status, and which services a change touches. */

import { type Entry, saysTheSame } from './entry.js'

const NOBODY: ReadonlyMap<string, Entry> = new Map()

export class RegistryIndex {
  readonly #all = new Map<string, Entry>()
  readonly #byName = new Map<string, Map<string, Entry>>()
  readonly #counts = new Map<string, number>()
  #touched = new Set<string>()

  get size(): number {
    return this.#all.size
  }

  /** `DOWN_1_UP_2_`, over all instances: what the server says of its own. */
  get hash(): string {
    return [...this.#counts]
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, count]) => `${status}_${count}_`)
      .join('')
  }

  /** Whether there is anybody of that name, of any status. @param name in upper case */
  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** The instances of a service. @param name in upper case */
  named(name: string): Iterable<Entry> {
    return (this.#byName.get(name) ?? NOBODY).values()
  }

  /** Takes these and no others. */
  replace(entries: readonly Entry[]): void {
    const left = new Set(this.#all.keys())
    for (const entry of entries) {
      left.delete(entry.key)
      this.put(entry)
    }
    for (const key of left) this.remove(key)
  }

  /** Adds it, or takes it in place of the one before; one that says the same changes nothing. */
  put(entry: Entry): void {
    const old = this.#all.get(entry.key)
    if (old !== undefined) {
      if (saysTheSame(old, entry)) return
      this.#leave(old, entry.names)
    }
    this.#all.set(entry.key, entry)
    this.#count(entry.status, 1)
    for (const name of entry.names) {
      let group = this.#byName.get(name)
      if (group === undefined) this.#byName.set(name, (group = new Map()))
      group.set(entry.key, entry)
      this.#touched.add(name)
    }
  }

  remove(key: string): void {
    const old = this.#all.get(key)
    if (old === undefined) return
    this.#all.delete(key)
    this.#leave(old, [])
  }

  /** Names whose instances have changed since this was asked last. */
  takeTouched(): ReadonlySet<string> {
    const touched = this.#touched
    this.#touched = new Set()
    return touched
  }

  #leave(old: Entry, stays: readonly string[]): void {
    this.#count(old.status, -1)
    for (const name of old.names) {
      this.#touched.add(name)
      if (stays.includes(name)) continue
      const group = this.#byName.get(name)
      group?.delete(old.key)
      if (group?.size === 0) this.#byName.delete(name)
    }
  }

  #count(status: string, by: number): void {
    this.#counts.set(status, (this.#counts.get(status) ?? 0) + by)
  }
}
