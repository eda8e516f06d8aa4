/** @module Reading a pick request. */

import type { PickRequest } from './types/request.js'

export const NO_REQUEST: PickRequest = Object.freeze({})

/** The first value of a header, whatever form the headers have. `name` in lower case. */
export function headerOf(request: PickRequest, name: string): string | undefined {
  const { headers } = request
  if (headers === undefined) return undefined
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  if (Array.isArray(headers)) {
    for (const pair of headers) if (pair[0]?.toLowerCase() === name) return pair[1]
    return undefined
  }
  const record = headers as Record<string, string>
  const exact = record[name]
  if (exact !== undefined) return exact
  for (const key in record) {
    if (key.length === name.length && key.toLowerCase() === name) return record[key]
  }
  return undefined
}
