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
    const sorted = isSorted(found) ? found : found.toSorted(inOrder)
    const merged: string[] = []
    const ofIds = onceEachId(sorted, merged)
    const olds = ofIds.map(({ instanceId }, place) => this.#old(instanceId, place))
    // Addresses of the list before are each of one instance: of those alone none is there twice.
    const isWhereItWas = olds.every((old, i) => old !== undefined && isSameAddress(old, ofIds[i] as Found))
    const list = isWhereItWas
      ? ofIds.map((each, i) => keptOf(each, olds[i]))
      : onceEachAddress(ofIds, merged).map((each, i) => keptOf(each, this.#old(each.instanceId, i)))
    this.#merged = merged
    const before = this.#list
    if (list.length === before.length && list.every((each, i) => each === before[i])) return before
    this.#list = Object.freeze(list)
    return this.#list
  }

  /** Who had the id before. Lists hardly change: it mostly stands where it stood. */
  #old(instanceId: string, place: number): KeptInit | undefined {
    const near = this.#list[place]
    return near?.instanceId === instanceId ? near : search(this.#list, instanceId)
  }
}

/**
 * Of two with one id and one rank the first in order stays: the same one in whichever order they are told.
 * @param merged takes who is left out, with the reason
 */
function onceEachId(sorted: readonly Found[], merged: string[]): readonly Found[] {
  const once: Found[] = []
  for (const each of sorted) {
    const last = once.at(-1)
    if (last?.instanceId !== each.instanceId) {
      once.push(each)
    } else if (isHigher(each, last)) {
      merged.push(leftOut(last, each, 'the same id'))
      once[once.length - 1] = each
    } else {
      merged.push(leftOut(each, last, 'the same id'))
    }
  }
  return once
}

/** After `onceEachId`, so that who is left out for its id takes nobody's place at its address. */
function onceEachAddress(found: readonly Found[], merged: string[]): readonly Found[] {
  const once = new Map<string, Found>()
  for (const each of found) {
    const address = `${each.host}:${each.port}`
    const other = once.get(address)
    if (other === undefined) {
      once.set(address, each)
    } else if (isHigher(each, other)) {
      merged.push(leftOut(other, each, 'the same address'))
      once.set(address, each)
    } else {
      merged.push(leftOut(each, other, 'the same address'))
    }
  }
  return once.size === found.length ? found : found.filter((each) => once.get(`${each.host}:${each.port}`) === each)
}

function leftOut(one: Found, other: Found, why: string): string {
  const at = ({ instanceId, host, port }: Found) => `"${instanceId}" at ${host}:${port}`
  return `${at(one)} (${why} as ${at(other)})`
}

/** The object that said the same before. */
function keptOf(found: Found, old: KeptInit | undefined): KeptInit {
  if (old !== undefined && saysTheSame(old, found)) return old
  const { instanceId, host, port, secure, metadata } = found
  return Object.freeze({ instanceId, host, port, secure, metadata: Object.freeze({ ...metadata }) })
}

function isSameAddress(a: Found, b: Found): boolean {
  return a.host === b.host && a.port === b.port
}

/** By id; two of one id by address. */
function inOrder(a: Found, b: Found): number {
  if (a.instanceId !== b.instanceId) return a.instanceId < b.instanceId ? -1 : 1
  if (a.host !== b.host) return a.host < b.host ? -1 : 1
  return a.port - b.port
}

function isSorted(found: readonly Found[]): boolean {
  for (let i = 1; i < found.length; i++) if (inOrder(found[i - 1] as Found, found[i] as Found) > 0) return false
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
  if (!isSameAddress(old, found) || old.secure !== found.secure) return false
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
