/** @module Where a request's key comes from, for policies that hash it. */

import type { Quirks } from '../compat/quirks.js'
import { type Check, isObject, refuse } from '../config/check.js'
import { cookieOf } from '../cookies.js'
import type { Key } from '../core/key-bytes.js'
import { headerOf } from '../request.js'
import type { PickRequest } from '../types/request.js'

/**
 * A header (in any case), a cookie or an attribute of the request, or a function of it. What is no string, finite
 * number or bigint, and the empty text, is no key: the request then goes to a random instance, as gRPC A76 has it.
 */
export type KeySource =
  | { readonly header: string }
  | { readonly cookie: string }
  | { readonly attribute: string }
  | ((request: PickRequest) => Key | null | undefined)

export type KeyReader = (request: PickRequest) => Key | undefined

export const checkKeySource: Check = (value, where) => {
  if (typeof value === 'function') return
  const [[place, name] = [], ...others] = isObject(value) ? Object.entries(value) : []
  const isPlace = place === 'header' || place === 'cookie' || place === 'attribute'
  if (isPlace && typeof name === 'string' && name !== '' && others.length === 0) return
  refuse(where, value, '{ header }, { cookie } or { attribute } with a name, or a function of a request')
}

/** By default the request's own `key`. */
export function keyReader(source: KeySource | undefined, quirks: Quirks): KeyReader {
  if (source === undefined) return (request) => usable(request.key)
  if (typeof source === 'function') return (request) => usable(source(request))
  if ('header' in source) {
    const name = source.header.toLowerCase()
    return (request) => usable(headerOf(request, name))
  }
  if ('cookie' in source) return (request) => usable(cookieOf(request, source.cookie, quirks))
  return (request) => usable(request.attributes?.[source.attribute])
}

function usable(value: unknown): Key | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'bigint' || Number.isFinite(value) ? (value as Key) : undefined
}
