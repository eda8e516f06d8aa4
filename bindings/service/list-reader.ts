/** @module Reads lists, most of which say what the one before said. */

import { messageOf } from '../discovery/message-of.js'
import { ConfigError } from '../errors.js'
import { isSameInstance, type ListOrigin, restates, toInstance } from '../instance.js'
import type { InstanceInit, ServiceInstance } from '../types/instance.js'

/** A list that was read and checked, not yet in force. */
export interface ReadList {
  readonly instances: readonly ServiceInstance[]
  /** Ids that it had more than once; their first entry counts. */
  readonly duplicates: readonly string[]
  /** What was said of entries that could not be read, and are left out. Never of a written list. */
  readonly unreadable: readonly string[]
}

/** How an entry was written, to know it again. */
interface Writing {
  /** The entry itself where it was a text, else its `url`. */
  readonly text: string | undefined
  readonly isText: boolean
  readonly derivedId: boolean
}

export class ListReader {
  readonly #serviceId: string
  /** By the place of the entry; undefined: it could not be read. */
  #last: readonly (ServiceInstance | undefined)[] = []
  #writings: readonly (Writing | undefined)[] = []
  #hadDuplicates = false

  constructor(serviceId: string) {
    this.#serviceId = serviceId
  }

  /**
   * Reads a whole list and changes nothing that is in force.
   * @param known the instance in force under an id
   * @throws EVENKEEL_CONFIG in a written list for an unreadable entry, a repeated id or an unknown field; in a
   * discovered one if there are entries and none can be read
   */
  read(
    inits: readonly InstanceInit[],
    where: string,
    origin: ListOrigin,
    known: (instanceId: string) => ServiceInstance | undefined,
  ): ReadList {
    if (!Array.isArray(inits)) {
      throw new ConfigError(`${where} must be an array of instances`, { option: where, serviceId: this.#serviceId })
    }
    const place = { index: 0, toString: () => `${where}[${place.index}]` }
    const instances = new Array<ServiceInstance | undefined>(inits.length)
    const writings = new Array<Writing | undefined>(inits.length)
    const unreadable: unknown[] = []
    for (let i = 0; i < inits.length; i++) {
      const init = inits[i] as InstanceInit
      const old = this.#last[i]
      const writing = this.#writings[i]
      if (old !== undefined && writing !== undefined && saysAgain(init, old, writing, origin)) {
        instances[i] = old
        writings[i] = writing
        continue
      }
      place.index = i
      try {
        instances[i] = toInstance(init, this.#serviceId, place, origin, known)
        writings[i] = writingOf(init)
      } catch (error) {
        if (origin === 'written') throw error
        unreadable.push(error)
      }
    }
    if (unreadable.length > 0 && unreadable.length === inits.length) throw unreadable[0]
    const repeated = this.#repeated(instances)
    if (repeated.length > 0 && origin === 'written') {
      const [index, { instanceId }] = repeated[0] as [number, ServiceInstance]
      const option = `${where}[${index}].instanceId`
      const message = `${where}[${index}] repeats the instance id "${instanceId}"`
      throw new ConfigError(message, { option, serviceId: this.#serviceId })
    }
    this.#last = instances
    this.#writings = writings
    const isWhole = repeated.length === 0 && unreadable.length === 0
    const dropped = new Set(repeated.map(([index]) => index))
    return {
      instances: (isWhole
        ? instances
        : instances.filter((each, i) => each !== undefined && !dropped.has(i))) as ServiceInstance[],
      duplicates: repeated.map(([, { instanceId }]) => instanceId),
      unreadable: unreadable.map(messageOf),
    }
  }

  /**
   * The entries whose id stands earlier in the list. What stands where it stood before was unique then, so only
   * the others have to be compared, unless the last list had duplicates itself.
   */
  #repeated(instances: readonly (ServiceInstance | undefined)[]): [number, ServiceInstance][] {
    if (isUnchanged(this.#last, instances) && !this.#hadDuplicates) return []
    const seen = new Set<string>()
    const repeated: [number, ServiceInstance][] = []
    for (let i = 0; i < instances.length; i++) {
      const instance = instances[i]
      if (instance === undefined) continue
      if (seen.has(instance.instanceId)) repeated.push([i, instance])
      else seen.add(instance.instanceId)
    }
    this.#hadDuplicates = repeated.length > 0
    return repeated
  }
}

/** The same identities at the same places. */
function isUnchanged(
  before: readonly (ServiceInstance | undefined)[],
  after: readonly (ServiceInstance | undefined)[],
): boolean {
  if (before.length !== after.length) return false
  for (let i = 0; i < after.length; i++) {
    const [a, b] = [before[i], after[i]]
    if (a !== b && (a === undefined || b === undefined || !isSameInstance(a, b))) return false
  }
  return true
}

function saysAgain(init: InstanceInit, old: ServiceInstance, writing: Writing, origin: ListOrigin): boolean {
  if (typeof init === 'string') return writing.isText && init === writing.text
  if (typeof init !== 'object' || init === null || init instanceof URL) return false
  const sameUrl = !writing.isText && init.url !== undefined && init.url === writing.text
  return restates(init, old, origin, sameUrl, writing.derivedId)
}

function writingOf(init: InstanceInit): Writing {
  if (typeof init === 'string') return { text: init, isText: true, derivedId: true }
  if (init instanceof URL) return { text: undefined, isText: false, derivedId: true }
  const text = typeof init.url === 'string' ? init.url : undefined
  return { text, isText: false, derivedId: init.instanceId === undefined }
}
