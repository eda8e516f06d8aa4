/** @module Suppliers that keep the instances with one attribute value, scanned in the core over a column. */

import { LIST_LENGTH } from '../../assembly/layout.js'
import { oneOf } from '../config/check.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { type CoreSupplier, STAGE, type StageContext } from './stage.js'

/** What a non-strict supplier offers when nothing matches. */
export type Fallback = 'all' | 'none'

export const fallback = oneOf('all', 'none')

export interface Attribute {
  /** The supplier's name. */
  readonly name: string
  /** The metadata it reads, for `explain`. */
  readonly key: string
  readonly fallback: Fallback
  /** The instance's value, normalised for comparing. */
  read(instance: ServiceInstance): string | undefined
  /** The value to keep; undefined: no preference, everything stays. */
  wanted(request: PickRequest, context: StageContext): string | undefined
  /** The wanted value is the service's own, not a request's. */
  readonly fixed: boolean
  /** Why there is no preference, for `explain`. */
  readonly unset: string
}

export function attributeSupplier(attribute: Attribute): CoreSupplier {
  const { name, key, read, wanted } = attribute
  const alone: StageContext = { serviceId: '', zone: undefined, hint: undefined }
  return {
    name,
    memoKey: (request) => wanted(request, alone),
    filter(list, request) {
      const value = wanted(request, alone)
      if (value === undefined) return { list, reason: attribute.unset }
      const matching = list.filter((instance) => read(instance) === value)
      if (matching.length > 0) return { list: matching, reason: keeps(key, value) }
      const reason = mismatch(
        list.some((instance) => read(instance) !== undefined),
        key,
        value,
      )
      return attribute.fallback === 'all' ? { list, fellBack: true, reason } : { list: matching, reason }
    },
    [STAGE]: (context) => ({
      name,
      memo: attribute.fixed ? 'fixed' : 'keyed',
      foreign: false,
      key: (request) => wanted(request, context),
      cut(list, request): Cut {
        const value = wanted(request, context)
        if (value === undefined) return { list, fellBack: false, reason: attribute.unset }
        const { column, matching } = match(list, name, read, value)
        if (matching.length > 0) return { list: matching, fellBack: false, reason: keeps(key, value) }
        const reason = mismatch(column.ids.size > 0, key, value)
        if (attribute.fallback === 'none') return { list: matching, fellBack: false, reason }
        matching.free()
        return { list, fellBack: true, reason }
      },
    }),
  }
}

function match(list: CandidateList, name: string, read: Attribute['read'], value: string) {
  const { tree } = list
  const { exports } = tree.core
  const column = tree.column(name, read)
  const handle = exports.cutMatching(list.handle, column.pointer, column.ids.get(value) ?? -1)
  if ((tree.core.i32[(handle + LIST_LENGTH) >>> 2] as number) === list.length && list.length > 0) {
    exports.freeList(handle)
    return { column, matching: list }
  }
  return { column, matching: tree.adopt(list, handle) }
}

function keeps(key: string, value: string): string {
  return `keeps ${key} "${value}"`
}

function mismatch(anyValue: boolean, key: string, value: string): string {
  return anyValue ? `no instance has ${key} "${value}"` : `no instance has ${key} metadata`
}
