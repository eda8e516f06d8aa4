/** @module How a policy that hashes keys reaches the core. */

import { NO_PLAN } from '../../assembly/layout.js'
import { type Check, number } from '../config/check.js'
import type { CoreExports, Pointer } from '../core/exports.js'
import type { CandidateList } from '../service/candidates.js'
import type { Policy } from '../types/extension.js'
import type { PickRequest } from '../types/request.js'
import { corePolicy, DEFAULT_DECAY_MS, type Engine } from './engine.js'
import { type IdOrder, withIdentities } from './identities.js'
import { type KeyReader, type KeySource, keyReader } from './request-key.js'

/** The core's part of one policy. `keyLength` is that of the key put in place, in bytes. */
export interface KeyedCalls {
  /** Lays out the list's plan. */
  build(core: CoreExports, block: Pointer, list: Pointer, identities: Pointer): void
  pick(core: CoreExports, block: Pointer, list: Pointer, keyLength: number): number
  lease(core: CoreExports, block: Pointer, list: Pointer, keyLength: number): number
  /** As the engine's. */
  note?(instances: number): string | undefined
}

/** @param order how the core is told of the instances: never as the list has them */
export function keyedPolicy(name: string, source: KeySource | undefined, order: IdOrder, calls: KeyedCalls): Policy {
  const foreign = typeof source === 'function'
  return corePolicy(name, ({ quirks }) => ({ ...keyedEngine(keyReader(source, quirks), order, calls), foreign }))
}

export function keyedEngine(keyOf: KeyReader, order: IdOrder, calls: KeyedCalls): Engine {
  const prepare = (list: CandidateList) => {
    const { core, members } = list.tree
    withIdentities(list, order, (identities) => calls.build(core.exports, members.block, list.handle, identities))
    list.resized?.()
  }
  const planned = (
    call: KeyedCalls['pick'],
    core: CoreExports,
    block: Pointer,
    list: CandidateList,
    keyLength: number,
  ): number => {
    const answer = call(core, block, list.handle, keyLength)
    if (answer !== NO_PLAN) return answer
    prepare(list)
    return call(core, block, list.handle, keyLength)
  }
  const ask = (
    call: KeyedCalls['pick'],
    core: CoreExports,
    block: Pointer,
    request: PickRequest,
    list: CandidateList,
    tried: readonly number[] | undefined,
  ): number => {
    // The key may come from code of the user's, which may pick as well: nothing is told to the core before.
    const keyLength = list.tree.core.key.put(keyOf(request))
    if (tried === undefined) return planned(call, core, block, list, keyLength)
    try {
      for (const row of tried) core.exclude(row)
      return planned(call, core, block, list, keyLength)
    } finally {
      core.includeAll()
    }
  }
  return {
    timed: false,
    weights: 'plan',
    decayMs: DEFAULT_DECAY_MS,
    walksOn: true,
    keyed: true,
    ...(calls.note && { note: calls.note }),
    prepare,
    pick: (core, block, _, _nowMs, request, list, tried) => ask(calls.pick, core, block, request, list, tried),
    lease: (core, block, _, _nowMs, request, list, tried) => ask(calls.lease, core, block, request, list, tried),
  }
}

/** Above 1, or loads would not fit; three decimals count. */
export const checkLoadFactor: Check = number({ least: 1.001, most: 1000 })

/** As the core takes it. */
export function thousandths(loadFactor: number | undefined): number {
  return loadFactor === undefined ? 0 : Math.round(loadFactor * 1000)
}
