/** @module Sends a share of the requests to the canaries, the others to the rest. */

import { firstTried } from '../client/first-tried.js'
import { type Check, isObject, map, number, object, refuse } from '../config/check.js'
import type { Supplied, Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { cutTo, type Fallback, fallBack, fallback, memoWith } from './fallback.js'
import { pointOf } from './key-point.js'
import { ALONE, type CoreSupplier, STAGE, type StageContext } from './stage.js'

export interface CanaryOptions {
  /** How many requests of a hundred go to the canaries: 0 to 100, fractions too. */
  percent: number
  /** Which instances are canaries: those with this metadata, or by a function. Default: `{ canary: 'true' }`. */
  match?: Readonly<Record<string, string>> | ((instance: ServiceInstance) => boolean)
  /** There are only canaries, and the request is not for them: 'none' by default. */
  fallback?: Fallback
}

const isText: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a string')
}
const match: Check = (value, where) => {
  if (typeof value === 'function') return
  if (!isObject(value) || Object.keys(value).length === 0) refuse(where, value, 'metadata or a function of an instance')
  map(isText)(value, where)
}
const check = object({ percent: number({ least: 0, most: 100 }), match, fallback })

const NAME = 'canary'

/**
 * Splits the instances into canaries and others, the requests into `percent` and the rest. Requests with the same
 * `key` stay on one side, and those at the canaries stay there when `percent` grows; each without a key is drawn,
 * and what a call tries after that stays on the side of its first attempt.
 * Without canaries their requests go to the others, as a fallback; the others' requests reach no canary unless
 * `fallback` says so.
 * `explain` draws nothing: for a request without a key it shows the side that gets more of them. So does `filter`
 * called by itself, which has no generator to draw from.
 * Breaks when few keys make most requests: the share is of keys, not of load; and when the canaries are fewer than
 * their share of requests needs.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @example canary({ percent: 5, match: { version: 'v2' } })
 */
export function canary(options: CanaryOptions): Supplier {
  check(options, 'canary')
  if (options.percent === undefined) refuse('canary.percent', undefined, 'a number, from 0 to 100')
  const { percent, match = { canary: 'true' }, fallback = 'none' } = options
  const isCanary = typeof match === 'function' ? match : hasMetadata(match)
  const share = percent / 100
  const isDrawn = (request: PickRequest, context: StageContext): boolean => {
    if (request.key !== undefined) return pointOf(request.key) < share
    // Drawn again, `percent` would be a share of attempts. What was tried first tells the side that it was drawn for.
    const first = firstTried(request)
    if (first !== undefined) return Boolean(isCanary(first))
    const point = context.draw()
    return point < 1 ? point < share : share > 0.5
  }
  const part = (list: readonly ServiceInstance[], drawn: boolean, request: PickRequest): Supplied => {
    const kept = list.filter((instance) => Boolean(isCanary(instance)) === drawn)
    if (kept.length === 0) {
      if (drawn) return fallBack('all', list, request, 'no canary instance')
      return fallBack(fallback, list, request, 'only canary instances')
    }
    const reason = drawn ? `canaries get ${percent} % of requests` : `not among the ${percent} % for canaries`
    return { list: kept.length === list.length ? list : kept, reason }
  }
  const supplier: CoreSupplier = {
    name: NAME,
    ...(typeof fallback !== 'function' && { memoKey: (request) => sideOf(isDrawn(request, ALONE)) }),
    filter: (list, request) => part(list, isDrawn(request, ALONE), request),
    [STAGE](context) {
      const { memo, foreign } = memoWith(fallback, 'keyed')
      return {
        name: NAME,
        memo,
        foreign: foreign || typeof match === 'function',
        key: (request) => sideOf(isDrawn(request, context)),
        // Drawn once a pick: where there is a key, it has been.
        cut(list, request, key) {
          const drawn = key === undefined ? isDrawn(request, context) : key === sideOf(true)
          return cutTo(list, part(list.instances, drawn, request), NAME, context.serviceId)
        },
      }
    },
  }
  return supplier
}

function sideOf(drawn: boolean): string {
  return drawn ? 'canaries' : 'others'
}

function hasMetadata(wanted: Readonly<Record<string, string>>): (instance: ServiceInstance) => boolean {
  const entries = Object.entries(wanted)
  return ({ metadata }) => entries.every(([key, value]) => metadata[key] === value)
}
