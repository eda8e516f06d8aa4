/** @module Ribbon's predicate rule: in turn among those that pass predicates, with others to fall back on. */

import { array, number, object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, type Engine, leased } from './engine.js'
import { type Passing, type Predicate, type PredicateGiven, predicateOf } from './predicates.js'
import { RULE, ribbonDown, ribbonFlags, ribbonStart } from './ribbon-rule.js'
import { serverStats } from './server-stats.js'

export type { PredicateFunction, PredicateView } from './predicates.js'

export interface FilteringOptions {
  /**
   * A candidate must pass all of them: `'availability'`, `'zone-avoidance'`, either with options as `{ type, … }`, or a
   * function of the instance.
   */
  predicates?: readonly PredicateGiven[]
  /**
   * Lists of predicates to filter by instead, from all candidates again, one after the other while too few pass. What
   * the last one leaves stands, were it nobody; `[]` lets everybody pass. Default: `[]`.
   */
  fallbacks?: readonly (readonly PredicateGiven[])[]
  /** Fewer than this are too few. Default 1. */
  minFiltered?: number
  /** So is this share of the candidates, rounded down, or less. Default 0. */
  minFilteredShare?: number
}

const check = object({
  predicates: array(undefined, 'predicates'),
  fallbacks: array(Array.isArray, 'lists of predicates'),
  minFiltered: number({ least: 0, most: 2 ** 31 - 1, whole: true }),
  minFilteredShare: number({ least: 0, most: 1 }),
})

/**
 * Predicates of your own, or Ribbon's, then in turn among those that pass. Knows no weights.
 * Use it where who may be chosen depends on what is known at that moment: load, latency, the request. What depends on
 * metadata alone is a supplier's, whose answers are kept. Breaks with long lists: every predicate looks at every
 * candidate in every pick, which Ribbon's rules do in the core.
 * @throws EVENKEEL_CONFIG for options that can't be used; whatever a predicate throws fails the pick
 * @see Ribbon 2.7 PredicateBasedRule, CompositePredicate
 * @example filtering({ predicates: ['availability', ({ metadata }) => metadata.disk !== 'full'] })
 */
export function filtering(options: FilteringOptions = {}): Policy {
  check(options, 'filtering')
  const { minFiltered = 1, minFilteredShare = 0 } = options
  const steps = [
    allOf(options.predicates ?? [], 'filtering.predicates'),
    ...(options.fallbacks ?? [[]]).map((each, i) => allOf(each, `filtering.fallbacks[${i}]`)),
  ]
  const has = (quality: 'breakers' | 'zones' | 'foreign') =>
    steps.flat().some((predicate) => predicate[quality] === true)
  return corePolicy('filtering', ({ quirks }) => {
    const flags = ribbonFlags(quirks)
    const pick: Engine['pick'] = (core, block, _handle, nowMs, request, list) => {
      const all = list.instances.map((_, index) => index)
      const passing = { core, block, list, request, nowMs, flags }
      const enough = Math.max(minFiltered, shareOf(all.length, minFilteredShare) + 1)
      let passed: readonly number[] = []
      for (const step of steps) {
        passed = passAll(step, all, passing)
        if (passed.length >= enough) break
      }
      return passed[core.turnAmong(block, passed.length, flags)] ?? -1
    }
    return {
      ...RULE,
      ...ribbonStart(quirks),
      ...ribbonDown(quirks),
      breakers: has('breakers'),
      zones: has('zones'),
      foreign: has('foreign'),
      recorders: [serverStats()],
      ...leased(pick),
    }
  })
}

/** Java's, in single precision: 0.29 of 100 are 29, in double precision they would be 28. */
function shareOf(count: number, share: number): number {
  return Math.floor(Math.fround(count * Math.fround(share)))
}

function allOf(given: readonly unknown[], where: string): Predicate[] {
  return given.map((each, i) => predicateOf(each, `${where}[${i}]`))
}

function passAll(predicates: readonly Predicate[], all: readonly number[], passing: Passing): readonly number[] {
  return predicates.reduce((indexes: readonly number[], predicate) => predicate.pass(indexes, passing), all)
}
