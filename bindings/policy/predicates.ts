/** @module Predicates that `filtering` goes by: two of Ribbon's by name, and the user's own. */

import { object, refuse } from '../config/check.js'
import type { CoreExports, Pointer } from '../core/exports.js'
import { verdictOf } from '../report.js'
import type { CandidateList } from '../service/candidates.js'
import type { Candidates } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { AVAILABILITY, type AvailabilityOptions, availabilityOf } from './availability.js'
import { ZONES, type ZoneOptions, zoneLimitsOf, zonesOf } from './zones.js'

/** What a predicate may look at beside the instance. Valid only during the pick. */
export interface PredicateView {
  readonly request: PickRequest
  readonly nowMs: number
  readonly candidates: Candidates
  /** The instance's index among the candidates. */
  readonly index: number
}

export type PredicateFunction = (instance: ServiceInstance, view: PredicateView) => boolean

/** By name, or with options; or a function. */
export type PredicateGiven =
  | 'availability'
  | 'zone-avoidance'
  | ({ type: 'availability' } & AvailabilityOptions)
  | ({ type: 'zone-avoidance' } & ZoneOptions)
  | PredicateFunction

/** A pick that is under way. */
export interface Passing {
  readonly core: CoreExports
  readonly block: Pointer
  readonly list: CandidateList
  readonly request: PickRequest
  readonly nowMs: number
  readonly flags: number
}

export interface Predicate {
  /** As an engine's. */
  readonly foreign?: boolean
  readonly breakers?: boolean
  readonly zones?: boolean
  /** Those of the indexes that pass. */
  pass(indexes: readonly number[], passing: Passing): number[]
}

const OPTIONS = { availability: object(AVAILABILITY), 'zone-avoidance': object(ZONES) }

/** @throws EVENKEEL_CONFIG for what is no predicate */
export function predicateOf(given: unknown, where: string): Predicate {
  if (typeof given === 'function') return foreignPredicate(given as PredicateFunction)
  const { type, ...options } =
    typeof given === 'object' && given !== null ? (given as { type?: unknown }) : { type: given }
  if (type !== 'availability' && type !== 'zone-avoidance') {
    refuse(where, given, "'availability', 'zone-avoidance', one of them as { type }, or a function of an instance")
  }
  OPTIONS[type](options, where)
  return type === 'availability' ? availability(options) : zoneAvoidance(options)
}

function foreignPredicate(passes: PredicateFunction): Predicate {
  return {
    foreign: true,
    pass: (indexes, { list, request, nowMs }) =>
      indexes.filter((index) => {
        const view = { request, nowMs, candidates: list, index }
        return verdictOf(passes, 'a predicate of filtering', passes(list.instance(index), view)) === true
      }),
  }
}

function availability(options: AvailabilityOptions): Predicate {
  const { limit, tripped } = availabilityOf(options)
  return {
    breakers: tripped === 1,
    pass: (indexes, { core, block, list, nowMs }) =>
      indexes.filter((index) => core.isAvailable(block, list.rowAt(index), nowMs, limit, tripped)),
  }
}

function zoneAvoidance(options: ZoneOptions): Predicate {
  const { load, share } = zoneLimitsOf(options)
  return {
    breakers: true,
    zones: true,
    pass(indexes, { core, block, list, nowMs, flags }) {
      const zones = zonesOf(list.tree)
      core.judgeZones(block, zones, nowMs, load, share, flags)
      return indexes.filter((index) => core.isZoneOpenNow(block, zones, list.handle, index, load, share, flags))
    },
  }
}
