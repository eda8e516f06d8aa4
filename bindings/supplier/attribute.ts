/** @module Suppliers that keep the instances with one attribute value, scanned in the core over a column. */

import { LIST_LENGTH } from '../../assembly/layout.js'
import { headerOf } from '../request.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { Supplied } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { cutTo, type Fallback, fallBack, leaningOf, memoWith } from './fallback.js'
import { ALONE, type CoreSupplier, STAGE, type Stage, type StageContext } from './stage.js'

export interface Attribute {
  /** The supplier's name. */
  readonly name: string
  /** The metadata it reads, for `explain`. */
  readonly key: string
  readonly fallback: Fallback
  /** The instance's value, normalised for comparing: the same for all suppliers of this name and key. */
  read(instance: ServiceInstance): string | undefined
  /** In a service: the value that a request wants kept; undefined: no preference, everything stays. */
  wanted(context: StageContext): (request: PickRequest) => string | undefined
  /** Why there is no preference, for `explain`. */
  readonly unset: string
  /** fixed: the wanted value is the service's own, not a request's. */
  readonly memo: 'fixed' | 'keyed'
  readonly mayHideRequest?: boolean
}

export function attributeSupplier(attribute: Attribute): CoreSupplier {
  const { name, key, read, wanted, unset, fallback, mayHideRequest = false } = attribute
  const missed = (list: readonly ServiceInstance[], request: PickRequest, value: string): Supplied => {
    const reason = list.some((instance) => read(instance) !== undefined)
      ? `no instance has ${key} "${value}"`
      : `no instance has ${key} metadata`
    return fallBack(fallback, list, request, reason)
  }
  const wantedAlone = wanted(ALONE)
  return {
    name,
    ...(typeof fallback !== 'function' && { memoKey: wantedAlone }),
    filter(list, request) {
      const value = wantedAlone(request)
      if (value === undefined) return { list, reason: unset }
      const kept = list.filter((instance) => read(instance) === value)
      return kept.length > 0 ? { list: kept, reason: keeps(key, value) } : missed(list, request, value)
    },
    [STAGE](context): Stage {
      const wantedHere = wanted(context)
      return {
        name,
        ...memoWith(fallback, attribute.memo),
        mayHideRequest,
        leaning: leaningOf(fallback),
        key: wantedHere,
        cut(list, request): Cut {
          const value = wantedHere(request)
          if (value === undefined) return { list, fellBack: false, reason: unset }
          const kept = cutMatching(list, `${name} ${key}`, read, value)
          if (kept !== undefined) return { list: kept, fellBack: false, reason: keeps(key, value) }
          return cutTo(list, missed(list.instances, request, value), name, context.serviceId)
        },
      }
    },
  }
}

/**
 * The candidates with this value, found in the core; undefined: there are none.
 * @param column names what `read` reads: it is read once for all that ask under this name
 */
export function cutMatching(
  list: CandidateList,
  column: string,
  read: Attribute['read'],
  value: string,
): CandidateList | undefined {
  const { tree } = list
  const { exports } = tree.core
  const { pointer, ids } = tree.column(column, read)
  const id = ids.get(value)
  if (id === undefined) return undefined
  const handle = exports.cutMatching(list.handle, pointer, id)
  const count = tree.core.i32[(handle + LIST_LENGTH) >>> 2] as number
  if (count > 0 && count < list.length) return tree.adopt(list, handle)
  exports.freeList(handle)
  return count > 0 ? list : undefined
}

/** A request's header, of several the first, where they are told apart; a blank one is none. `name` in lower case. */
export function headerTextOf(request: PickRequest, name: string): string | undefined {
  const { headers } = request
  const value = Array.isArray(headers)
    ? headers.find(([key]) => key?.toLowerCase() === name)?.[1]
    : headerOf(request, name)
  // Nearly every value begins with something visible and needs no look at the rest.
  return value === undefined || value.charCodeAt(0) > 0x20 ? value : value.trim() || undefined
}

function keeps(key: string, value: string): string {
  return `keeps ${key} "${value}"`
}
