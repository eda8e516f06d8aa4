/** @module SCLB's weighted list as it is: every candidate as often as its weight. */

import { ConfigError } from '../errors.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'

/** SCLB allocates all of them at once; what is written out here is bounded. */
const MOST_ENTRIES = 1 << 22

/**
 * Each candidate as often as its weight over the greatest common divisor of all, round by round. Whatever follows
 * (filters, subset, retry-aware, round robin by its 31-bit position) takes each entry for an instance of its own.
 * As there, weights are added up in 32 bits: beyond 2^31 − 1 the list is too short, or empty, or the pick fails.
 * @see SCLB 5.0 LazyWeightedServiceInstanceList
 */
export function expandedList(list: CandidateList, serviceId: string): Cut {
  const weights = list.instances.map((_, i) => list.tree.members.weightAt(list.rowAt(i)))
  const divisor = weights.reduce(greatestCommonDivisor, 0) || 1
  const size = Math.trunc(weights.reduce((sum, weight) => (sum + weight) | 0, 0) / divisor)
  if (size < 0 || size > MOST_ENTRIES) {
    const message = `the weights of "${serviceId}" ask for a list of ${size} entries: from 0 to ${MOST_ENTRIES} are written out`
    throw new ConfigError(message, { serviceId, option: 'compat' })
  }
  return { list: list.tree.pickOut(list, rounds(weights, divisor, size)), fellBack: false, reason: undefined }
}

/** The first `size` entries: in round r every index whose weight is r divisors or more. */
function rounds(weights: readonly number[], divisor: number, size: number): number[] {
  const entries: number[] = []
  let active = weights.map((_, i) => i)
  for (let round = 1; entries.length < size; round++) {
    const isOver = (i: number) => (weights[i] as number) < round * divisor
    if (active.some(isOver)) active = active.filter((i) => !isOver(i))
    for (const i of active) if (entries.length < size) entries.push(i)
  }
  return entries
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
