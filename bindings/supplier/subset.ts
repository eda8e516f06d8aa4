/** @module Each client keeps a fixed part of a large list, so that connections don't multiply. */

import { number, object, text } from '../config/check.js'
import { coreOf } from '../core/core.js'
import { ConfigError } from '../errors.js'
import type { CandidateList } from '../service/candidates.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { ALONE, type CoreSupplier, STAGE, type StageContext } from './stage.js'

export interface SubsetOptions {
  /** Names this client among its fellows: its host name, pod name or ordinal. Default: the balancer's `instanceId`. */
  instanceId?: string
  /** Default 100. */
  size?: number
}

const check = object({ instanceId: text, size: number({ least: 1, most: 2 ** 31 - 1, whole: true }) })

/**
 * SCLB's deterministic subset: java.lang.String.hashCode of the id picks the round and the slice of a
 * java.util.Random shuffle, whose order the result keeps. The list is first put in order of its instances' ids, so
 * that clients agree that are told of them in different orders. Lists up to `size` pass as they are.
 * Breaks when ids are unrelated strings (the load is then binomial, not even) and when a list changes its length:
 * the whole subset changes.
 * @throws EVENKEEL_CONFIG for options that can't be used; when the service is made, if there is no id
 * @see SCLB 4.1 SubsetServiceInstanceListSupplier, which takes the list as it comes; SRE book, chapter 20
 * @example subset({ instanceId: 'web-7', size: 20 })
 */
export function subset(options: SubsetOptions = {}): Supplier {
  check(options, 'subset')
  const { size = 100 } = options
  const idIn = (context: StageContext) => options.instanceId ?? context.instanceId ?? refuseNameless(context)
  const supplier: CoreSupplier = {
    name: 'subset',
    memoKey: () => undefined,
    filter(list) {
      const instanceId = idIn(ALONE)
      if (list.length <= size) return list
      const ordered = isOrdered(list) ? list : [...list].sort(byId)
      const kept = sliceOf(ordered.length, instanceId, size).map((index) => ordered[index] as ServiceInstance)
      return { list: kept, reason: keeps(kept, list) }
    },
    [STAGE](context) {
      const instanceId = idIn(context)
      const asGiven = context.quirks.has('subset-unsorted')
      return {
        name: 'subset',
        memo: 'fixed',
        foreign: false,
        key: () => undefined,
        cut(list) {
          if (list.length <= size) return { list, fellBack: false, reason: undefined }
          const { core } = list.tree
          const ordered = asGiven || isOrdered(list.instances) ? list : inOrder(list)
          const handle = core.exports.cutSubset(ordered.handle, core.hashText(instanceId), size)
          if (ordered !== list) ordered.free()
          const kept = list.tree.adopt(list, handle)
          return { list: kept, fellBack: false, reason: keeps(kept, list) }
        },
      }
    },
  }
  return supplier
}

/** The places that this client takes, of so many; as assembly/subset.ts. */
function sliceOf(length: number, instanceId: string, size: number): number[] {
  const core = coreOf()
  const count = Math.floor(length / size)
  const hash = core.hashText(instanceId) & 0x7fffffff
  const indexes = core.exports.allocate(length * 4)
  const { i32 } = core
  for (let i = 0; i < length; i++) i32[(indexes >>> 2) + i] = i
  core.exports.shuffle(indexes, length, Math.floor(hash / count))
  const from = (indexes >>> 2) + (hash % count) * size
  const slice = Array.from(core.i32.subarray(from, from + size))
  core.exports.release(indexes)
  return slice
}

/** By code units: the same order on every runtime and in every locale. */
function byId(a: ServiceInstance, b: ServiceInstance): number {
  return a.instanceId < b.instanceId ? -1 : a.instanceId > b.instanceId ? 1 : 0
}

function isOrdered(list: readonly ServiceInstance[]): boolean {
  for (let i = 1; i < list.length; i++) {
    if ((list[i - 1] as ServiceInstance).instanceId > (list[i] as ServiceInstance).instanceId) return false
  }
  return true
}

/** The same candidates in order, without their weights: a list to be cut, which the caller frees. */
function inOrder(list: CandidateList): CandidateList {
  const indexes = list.instances.map((_, i) => i)
  indexes.sort((a, b) => byId(list.instance(a), list.instance(b)))
  return list.tree.pickOut(list, indexes, false)
}

function keeps(kept: { length: number }, of: { length: number }): string {
  return `keeps ${kept.length} of ${of.length} for this client`
}

function refuseNameless({ serviceId }: StageContext): never {
  throw new ConfigError(
    `subset${serviceId && ` of service "${serviceId}"`} needs instanceId, a string that names this client among its ` +
      'fellows: its own option or the balancer’s',
    { option: 'subset.instanceId', ...(serviceId && { serviceId }) },
  )
}
