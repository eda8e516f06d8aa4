/** @module X-Forwarded-Host and X-Forwarded-Proto: what the caller asked for, told to the instance. */

import { hostOf, originOf } from './uri.js'

const HOST = 'x-forwarded-host'
const PROTO = 'x-forwarded-proto'

/** The authority and scheme of the URL asked for; what the caller says already is left alone. */
export function forward(headers: Headers, asked: string): void {
  const origin = originOf(asked)
  if (origin === undefined) return
  if (!headers.has(HOST)) headers.set(HOST, origin.authority)
  if (!headers.has(PROTO)) headers.set(PROTO, origin.scheme)
}

/** As SCLB does, which sees the URL when it is rebuilt already: host and scheme of each attempt's instance. */
export function forwardInstances(headers: Headers, sentTo: readonly string[]): void {
  for (const url of sentTo) {
    headers.append(HOST, hostOf(url) ?? '')
    headers.append(PROTO, originOf(url)?.scheme ?? 'http')
  }
}
