/** @module One of several discovery clients, and what it has said of one service. */

import type { Quirks } from '../compat/quirks.js'
import { DiscoveryError } from '../errors.js'
import { ListReader } from '../service/list-reader.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { isPromise, type List, listIn } from './ask.js'
import { askWithin } from './ask-within.js'
import { LeftOut } from './left-out.js'

/** What a question brought: a list, or what it failed with. */
export interface Answer {
  readonly list?: List
  readonly error?: unknown
}

export const NOBODY: readonly ServiceInstance[] = Object.freeze([])

export class Member {
  readonly client: DiscoveryClient
  /** Its last list that could be read, as it was said; undefined: there was none. */
  list: List | undefined
  /** Those on it: the same array as long as it says the same. */
  instances = NOBODY
  /** What it has failed with since it last said anything. */
  error: unknown
  /** It has said something, or its share of the time is up: nobody waits for it. */
  heard = false
  /** Of entries of its last list that can't be read, unless that was told before. */
  news: unknown
  readonly #leftOut = new LeftOut()
  readonly #serviceId: string
  readonly #quirks: Quirks
  readonly #reader: ListReader

  constructor(client: DiscoveryClient, serviceId: string, quirks: Quirks) {
    this.client = client
    this.#serviceId = serviceId
    this.#quirks = quirks
    this.#reader = new ListReader(serviceId)
  }

  /** Never rejects or throws. */
  ask(signal: AbortSignal, limitMs: number | undefined): Promise<Answer> | Answer {
    const failed = (error: unknown) => this.fail(error)
    try {
      const answer = askWithin(this.client, this.#serviceId, signal, limitMs)
      return isPromise(answer) ? answer.then((list) => this.take(list), failed) : this.take(answer)
    } catch (error) {
      return failed(error)
    }
  }

  /** A list that can't be read is its client's failure, not that of all. */
  take(said: List): Answer {
    const { name } = this.client
    try {
      const list = listIn(said, name, this.#serviceId, this.#quirks)
      const where = `the list of discovery "${name}"`
      const { instances, unreadable } = this.#reader.read(list, where, 'discovered', () => undefined)
      if (this.list === undefined || !isSame(instances, this.instances)) {
        this.list = list
        this.instances = instances
      }
      this.news = this.#leftOut.news(unreadable, this.#serviceId)
      this.error = undefined
      this.heard = true
      return { list }
    } catch (error) {
      return this.fail(error)
    }
  }

  fail(error: unknown): Answer {
    this.error = error ?? new DiscoveryError(`discovery "${this.client.name}" failed with ${error}`)
    this.heard = true
    return { error: this.error }
  }
}

/** All that any of them lists; who is listed twice is taken from the earlier one. */
export function unionOf(members: readonly Member[]): readonly ServiceInstance[] {
  const union = new Map<string, ServiceInstance>()
  for (const { instances } of members) {
    for (const instance of instances) if (!union.has(instance.instanceId)) union.set(instance.instanceId, instance)
  }
  return union.size === 0 ? NOBODY : [...union.values()]
}

export function isSame(a: readonly ServiceInstance[], b: readonly ServiceInstance[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}
