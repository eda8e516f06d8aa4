/** @module Keeps the instances that this call has tried already out of its next pick. */

import { isSameInstance } from '../instance.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { ServiceInstance } from '../types/instance.js'

export const RETRY_AWARE = 'retry-aware'

/**
 * The candidates without any row of `previous`; the whole list if nothing else is left.
 * @see SCLB 4.1 RetryAwareServiceInstanceListSupplier, which removes only one row of only the last instance
 */
export function cutPrevious(list: CandidateList, previous: readonly ServiceInstance[]): Cut {
  const others: number[] = []
  for (let i = 0; i < list.length; i++) {
    if (!previous.some((tried) => isSameInstance(tried, list.instance(i)))) others.push(i)
  }
  if (others.length === list.length) return { list, fellBack: false, reason: undefined }
  if (others.length === 0) return { list, fellBack: true, reason: 'every candidate has been tried' }
  return { list: list.tree.pickOut(list, others), fellBack: false, reason: undefined }
}
