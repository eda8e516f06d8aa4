/** @module What a supplier offers where nobody is what was asked for. */

import { type Check, refuse } from '../config/check.js'
import { ConfigError } from '../errors.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { Supplied } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { type Stage, sublist } from './stage.js'

/**
 * all: everybody. none: nobody. stable: the instances with metadata `stable` = "true"; in a list without that mark,
 * those without metadata `canary` = "true". Or a function that returns a sub-list of what it is given; it is asked
 * for each pick.
 * Whoever is offered, it is a fallback: told by `explain`, the `fallback` event and `stats().fallbacks`.
 */
export type Fallback =
  | 'all'
  | 'none'
  | 'stable'
  | ((list: readonly ServiceInstance[], request: PickRequest) => readonly ServiceInstance[])

export const fallback: Check = (value, where) => {
  if (typeof value === 'function' || ['all', 'none', 'stable'].includes(value as string)) return
  refuse(where, value, "'all', 'none', 'stable' or a function of a list and a request")
}

/**
 * The fallback of a supplier that can be strict.
 * @throws EVENKEEL_CONFIG if the options contradict each other
 */
export function fallbackOf(
  { strict, fallback: given }: { strict?: boolean; fallback?: Fallback },
  otherwise: Fallback,
  where: string,
): Fallback {
  if (!strict) return given ?? otherwise
  if (given === undefined || given === 'none') return 'none'
  throw new ConfigError(`${where} is strict and has a fallback: give one or the other`, { option: `${where}.fallback` })
}

/** How a stage with this fallback is memoised: what a function answers may depend on anything in a request. */
export function memoWith(given: Fallback, memo: Stage['memo']): Pick<Stage, 'memo' | 'foreign'> {
  return typeof given === 'function' ? { memo: 'never', foreign: true } : { memo, foreign: false }
}

export function leaningOf(given: Fallback): NonNullable<Stage['leaning']> {
  return given === 'none' ? 'strict' : 'preference'
}

/** What is offered instead. Nobody is no fallback; what is no list at all the chain refuses. */
export function fallBack(
  given: Fallback,
  list: readonly ServiceInstance[],
  request: PickRequest,
  reason: string,
): Required<Supplied> {
  const offered = offeredBy(given, list, request)
  return { list: offered, fellBack: Array.isArray(offered) && offered.length > 0, reason }
}

function offeredBy(
  given: Fallback,
  list: readonly ServiceInstance[],
  request: PickRequest,
): readonly ServiceInstance[] {
  if (given === 'all') return list
  if (given === 'none') return []
  if (given === 'stable') return stableOf(list)
  return given(list, request)
}

function stableOf(list: readonly ServiceInstance[]): readonly ServiceInstance[] {
  const marked = list.filter(({ metadata }) => metadata.stable === 'true')
  return marked.length > 0 ? marked : list.filter(({ metadata }) => metadata.canary !== 'true')
}

/**
 * A supplier's plain answer as a list of the core.
 * @throws EVENKEEL_CONFIG if it has an instance that the supplier was not given
 */
export function cutTo(list: CandidateList, answer: Supplied, name: string, serviceId: string): Cut {
  const { list: kept, fellBack = false, reason } = answer
  return { list: sublist(list, kept, name, serviceId), fellBack, reason }
}
