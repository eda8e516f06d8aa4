/** @module Keeps the instances that this call has tried already out of its next pick. */

import { isSameInstance } from '../instance.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { ServiceInstance } from '../types/instance.js'
import { isEqualInstance } from './same-instance-preference.js'

export const RETRY_AWARE = 'retry-aware'

/**
 * The candidates without any row of `previous`; the whole list, as a fallback, if nothing else is left.
 * @param oneRow as SCLB 5.0 RetryAwareServiceInstanceListSupplier: only the first row of only the last instance
 */
export function cutPrevious(list: CandidateList, previous: readonly ServiceInstance[], oneRow: boolean): Cut {
  const others = oneRow ? withoutOneRow(list, previous.at(-1)) : withoutAll(list, previous)
  if (others.length === list.length) return { list, fellBack: false, reason: undefined }
  if (others.length === 0) return { list, fellBack: true, reason: 'every candidate has been tried' }
  return { list: list.tree.pickOut(list, others), fellBack: false, reason: 'keeps what was not tried' }
}

function withoutAll(list: CandidateList, previous: readonly ServiceInstance[]): number[] {
  const others: number[] = []
  const isTried = amongTried(previous)
  for (let i = 0; i < list.length; i++) if (!isTried(list.instance(i))) others.push(i)
  return others
}

/** The rows of the candidates that were tried already. */
export function triedRows(list: CandidateList, previous: readonly ServiceInstance[]): number[] {
  const rows: number[] = []
  const isTried = amongTried(previous)
  for (let i = 0; i < list.length; i++) if (isTried(list.instance(i))) rows.push(list.rowAt(i))
  return rows
}

/** Whether an instance was tried already, however many were. */
export function amongTried(previous: readonly ServiceInstance[]): (instance: ServiceInstance) => boolean {
  const byId = new Map<string, ServiceInstance[]>()
  for (const tried of previous) {
    const known = byId.get(tried.instanceId)
    if (known === undefined) byId.set(tried.instanceId, [tried])
    else if (!known.some((other) => isSameInstance(other, tried))) known.push(tried)
  }
  return (instance) => byId.get(instance.instanceId)?.some((tried) => isSameInstance(tried, instance)) ?? false
}

function withoutOneRow(list: CandidateList, last: ServiceInstance | undefined): number[] {
  const at = last === undefined ? -1 : list.instances.findIndex((instance) => isEqualInstance(last, instance))
  return list.instances.flatMap((_, i) => (i === at ? [] : [i]))
}
