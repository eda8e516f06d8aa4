/** @module Cookies of a request, and how one is written. */

import type { Quirks } from './compat/quirks.js'
import { headerOf } from './request.js'
import type { SetCookieOptions } from './supplier/sticky-session.js'
import type { PickRequest } from './types/request.js'

/** The value of a cookie of the request: from `cookies`, else from its Cookie header. */
export function cookieOf(request: PickRequest, name: string, quirks: Quirks): string | undefined {
  if (request.headers === undefined && request.cookies === undefined) return undefined
  if (request.cookies !== undefined && Object.hasOwn(request.cookies, name)) return request.cookies[name]
  if (quirks.has('cookie-split-equals')) return bySpring(request, name)
  const header = headerOf(request, 'cookie')
  return header === undefined ? undefined : firstNamed(header, name)
}

/** RFC 6265 §4.2.1: pairs between semicolons, the name up to the first `=`, white space around both dropped. */
function firstNamed(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals >= 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/**
 * SCLB's RequestData: a whole header is one cookie, cut at every `=`, of which the first two pieces count. Of several
 * headers, where they are told apart, the last one of the name.
 */
function bySpring(request: PickRequest, name: string): string | undefined {
  const { headers } = request
  const lines = Array.isArray(headers)
    ? headers.flatMap(([key, line = '']) => (key?.toLowerCase() === 'cookie' ? [line] : []))
    : [headerOf(request, 'cookie') ?? '']
  for (const line of lines.reverse()) {
    // As java.lang.String.split, which drops empty pieces at the end.
    const [key, value] = line.replace(/=+$/, '').split('=')
    if (key === name && value !== undefined) return value
  }
  return undefined
}

/** RFC 6265 cookie-octets: everything else is written in percents, half a surrogate pair as U+FFFD. */
export function encodeCookieValue(value: string): string {
  if (/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(value)) return value
  // As String.toWellFormed, which not every runtime has: with `u`, whole pairs are no surrogates.
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, '\ufffd'))
}

/** A Cookie header in which this cookie has this value: where it stood, or last. The other pairs stay as written. */
export function withCookie(header: string | undefined, name: string, value: string): string {
  const pair = `${name}=${encodeCookieValue(value)}`
  if (!header?.trim()) return pair
  let placed = false
  const pairs: string[] = []
  for (const given of header.split(';')) {
    if (given.split('=', 1)[0]?.trim() !== name) pairs.push(given)
    else if (!placed) {
      placed = true
      pairs.push(pairs.length === 0 ? pair : ` ${pair}`)
    }
  }
  return placed ? pairs.join(';') : `${header}; ${pair}`
}

/** As SCLB does: one more pair for each instance, after whatever is there, its id as it is. */
export function appendedCookies(header: string | undefined, name: string, values: readonly string[]): string {
  return [...(header ? [header] : []), ...values.map((value) => `${name}=${value}`)].join('; ')
}

/** The value of a Set-Cookie header, RFC 6265 §4.1.1. */
export function setCookieText(name: string, value: string, attributes: SetCookieOptions): string {
  const { path, maxAgeSeconds, domain, secure, httpOnly, sameSite } = attributes
  return [
    `${name}=${encodeCookieValue(value)}`,
    path !== undefined && `Path=${path}`,
    domain !== undefined && `Domain=${domain}`,
    maxAgeSeconds !== undefined && `Max-Age=${maxAgeSeconds}`,
    secure && 'Secure',
    httpOnly && 'HttpOnly',
    sameSite !== undefined && `SameSite=${sameSite[0]?.toUpperCase()}${sameSite.slice(1)}`,
  ]
    .filter(Boolean)
    .join('; ')
}
