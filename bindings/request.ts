/** @module Reading a pick request. */

import type { PickRequest } from './types/request.js'

export const NO_REQUEST: PickRequest = Object.freeze({})

/** A header as `Headers` gives it, whatever form the headers have: repeated ones joined. `name` in lower case. */
export function headerOf(request: PickRequest, name: string): string | undefined {
  const { headers } = request
  if (headers === undefined) return undefined
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  if (Array.isArray(headers)) {
    const values = headers.filter((pair) => pair[0]?.toLowerCase() === name).map((pair) => pair[1] as string)
    return values.length === 0 ? undefined : values.join(name === 'cookie' ? '; ' : ', ')
  }
  const record = headers as Record<string, string>
  const exact = record[name]
  if (exact !== undefined) return exact
  for (const key in record) {
    if (key.length === name.length && key.toLowerCase() === name) return record[key]
  }
  return undefined
}
