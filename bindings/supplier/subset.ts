/** @module Each client keeps a fixed part of a large list, so that connections don't multiply. */

import { number, object, refuse, text } from '../config/check.js'
import { coreOf } from '../core/core.js'
import type { Supplier } from '../types/extension.js'
import { type CoreSupplier, STAGE } from './stage.js'

export interface SubsetOptions {
  /** Names this client among its fellows: its host name, pod name or ordinal. */
  instanceId: string
  /** Default 100. */
  size?: number
}

const check = object({ instanceId: text, size: number({ least: 1, most: 2 ** 31 - 1, whole: true }) })

/**
 * SCLB's deterministic subset, bit for bit: java.lang.String.hashCode of the id picks the round and the slice of a
 * java.util.Random shuffle. Lists up to `size` pass as they are.
 * Breaks when ids are unrelated strings (the load is then binomial, not even) and when a list changes its length:
 * the whole subset changes.
 * @see SCLB 4.1 SubsetServiceInstanceListSupplier; SRE book, chapter 20
 * @example subset({ instanceId: 'web-7', size: 20 })
 */
export function subset(options: SubsetOptions): Supplier {
  check(options, 'subset')
  const { instanceId, size = 100 } = options
  if (instanceId === undefined) {
    refuse('subset.instanceId', instanceId, 'a string that names this client among its fellows')
  }
  const supplier: CoreSupplier = {
    name: 'subset',
    memoKey: () => undefined,
    filter(list) {
      if (list.length <= size) return list
      const core = coreOf()
      const indexes = core.exports.allocate(list.length * 4)
      const { round, bucket } = placeOf(core.hashText(instanceId), list.length, size)
      const { i32 } = core
      for (let i = 0; i < list.length; i++) i32[(indexes >>> 2) + i] = i
      core.exports.shuffle(indexes, list.length, round)
      const from = (indexes >>> 2) + bucket * size
      const kept = Array.from(core.i32.subarray(from, from + size), (index) => list[index] as (typeof list)[number])
      core.exports.release(indexes)
      return kept
    },
    [STAGE]: () => ({
      name: 'subset',
      memo: 'fixed',
      foreign: false,
      key: () => undefined,
      cut(list) {
        if (list.length <= size) return { list, fellBack: false, reason: undefined }
        const { core } = list.tree
        const handle = core.exports.cutSubset(list.handle, core.hashText(instanceId), size)
        return { list: list.tree.adopt(list, handle), fellBack: false, reason: undefined }
      },
    }),
  }
  return supplier
}

function placeOf(hash: number, length: number, size: number): { round: number; bucket: number } {
  const count = Math.floor(length / size)
  const positive = hash & 0x7fffffff
  return { round: Math.floor(positive / count), bucket: positive % count }
}
