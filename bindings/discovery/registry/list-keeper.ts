/** @module What a registry says as a list, in an order of its own and with unchanged entries as they were. */

import type { InstanceInit } from '../../types/instance.js'

/** An instance as a registry has it. `weight`, `zone`, `status` and the like are metadata, in the standard's names. */
export interface Found {
  readonly instanceId: string
  /** IPv6 without brackets. */
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly metadata: Readonly<Record<string, string>>
  /** Of two entries for the same instance the higher counts. Default 0. */
  readonly rank?: number
}

type KeptInit = Readonly<Exclude<InstanceInit, string | URL>> & Found

/**
 * One of a service. Registries answer in any order and rotate it: here it is by instance id. Who is listed twice, under
 * one id or at one address, is listed once: of a server with two ids each would send it twice the requests.
 */
export class ListKeeper {
  #list: readonly KeptInit[] = []
  /** Who was left out because of another entry, with the reason. */
  #merged: readonly string[] = []
  /** Entries that could not be read, with the reason. */
  #unreadable: readonly string[] = []

  /** For `describe`: what is not plain from the list. */
  get remarks(): Record<string, string> {
    return {
      ...(this.#merged.length > 0 && { merged: summaryOf(this.#merged) }),
      ...(this.#unreadable.length > 0 && { unreadable: summaryOf(this.#unreadable) }),
    }
  }

  /**
   * The list to hand on: the one before, the same object, if nothing has changed.
   * @param unreadable what was said of entries that could not be read
   */
  keep(found: readonly Found[], unreadable: readonly string[] = []): readonly InstanceInit[] {
    this.#unreadable = unreadable
    const sorted = isSorted(found) ? found : found.toSorted(byId)
    const list = this.#once(sorted).map((each, i) => this.#known(each, i))
    const before = this.#list
    if (list.length === before.length && list.every((each, i) => each === before[i])) return before
    this.#list = Object.freeze(list)
    return this.#list
  }

  /** Each id and each address once. */
  #once(sorted: readonly Found[]): readonly Found[] {
    const byAddress = new Map<string, Found>()
    const merged: string[] = []
    const left = new Set<Found>()
    const leaveOut = (one: Found, other: Found, why: string) => {
      left.add(one)
      const { instanceId, host, port } = one
      merged.push(`"${instanceId}" at ${host}:${port} (${why} as "${other.instanceId}" at ${other.host}:${other.port})`)
    }
    let previous: Found | undefined
    for (const each of sorted) {
      if (previous?.instanceId === each.instanceId) {
        const [out, stays] = isHigher(each, previous) ? [previous, each] : [each, previous]
        leaveOut(out, stays, 'the same id')
        previous = stays
        if (out === each) continue
      }
      previous = each
      const address = `${each.host}:${each.port}`
      const other = byAddress.get(address)
      if (other === undefined || left.has(other)) {
        byAddress.set(address, each)
      } else if (isHigher(each, other)) {
        leaveOut(other, each, 'the same address')
        byAddress.set(address, each)
      } else {
        leaveOut(each, other, 'the same address')
      }
    }
    this.#merged = merged
    return left.size === 0 ? sorted : sorted.filter((each) => !left.has(each))
  }

  /** The object that said the same before. Lists hardly change: it mostly stands where it stood. */
  #known(found: Found, place: number): KeptInit {
    const before = this.#list
    const near = before[place]
    const old = near?.instanceId === found.instanceId ? near : search(before, found.instanceId)
    if (old !== undefined && saysTheSame(old, found)) return old
    const { instanceId, host, port, secure, metadata } = found
    return Object.freeze({ instanceId, host, port, secure, metadata: Object.freeze({ ...metadata }) })
  }
}

const byId = (a: Found, b: Found) => (a.instanceId < b.instanceId ? -1 : a.instanceId > b.instanceId ? 1 : 0)

function isSorted(found: readonly Found[]): boolean {
  for (let i = 1; i < found.length; i++) {
    if ((found[i - 1] as Found).instanceId > (found[i] as Found).instanceId) return false
  }
  return true
}

function isHigher(a: Found, b: Found): boolean {
  return (a.rank ?? 0) > (b.rank ?? 0)
}

/** By halving: the list is sorted by id. */
function search(list: readonly KeptInit[], instanceId: string): KeptInit | undefined {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] as KeptInit).instanceId < instanceId) low = middle + 1
    else high = middle
  }
  const found = list[low]
  return found?.instanceId === instanceId ? found : undefined
}

function saysTheSame(old: Found, found: Found): boolean {
  if (old.host !== found.host || old.port !== found.port || old.secure !== found.secure) return false
  if (old.metadata === found.metadata) return true
  const keys = Object.keys(found.metadata)
  if (keys.length !== Object.keys(old.metadata).length) return false
  return keys.every((key) => old.metadata[key] === found.metadata[key])
}

/** The first few, and how many there are. */
function summaryOf(remarks: readonly string[]): string {
  const shown = remarks.slice(0, 5).join('; ')
  return remarks.length > 5 ? `${shown}; and ${remarks.length - 5} more` : shown
}
