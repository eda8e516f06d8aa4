/** @module The client's address that a request carries, in one form whoever wrote it. */

import { headerOf } from '../request.js'
import type { PickRequest } from '../types/request.js'

/**
 * Attribute `clientAddress`, else the first address in the header: of a list as X-Forwarded-For, or the first `for` of
 * RFC 7239's Forwarded.
 * @param header in lower case
 */
export function clientAddressOf(request: PickRequest, header: string): string | undefined {
  const attribute = request.attributes?.clientAddress
  const given = typeof attribute === 'string' ? attribute : firstIn(headerOf(request, header), header)
  return given === undefined ? undefined : normalised(given)
}

function firstIn(value: string | undefined, header: string): string | undefined {
  if (value === undefined) return undefined
  if (header === 'forwarded') return /(?:^|[;,\s])for=("[^"]*"|[^;,\s]*)/i.exec(value)?.[1]
  const comma = value.indexOf(',')
  return comma < 0 ? value : value.slice(0, comma)
}

/**
 * Without space, quotes, port and zone; IPv6 in its one short form, an IPv4 address mapped into it as IPv4. What is no
 * address stays as it is, in lower case: an obfuscated identifier, RFC 7239 §6.3. Nothing, and `unknown`: undefined.
 */
function normalised(given: string): string | undefined {
  const text = given
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .toLowerCase()
  if (text === '' || text === 'unknown') return undefined
  const colon = text.indexOf(':')
  if (colon < 0) return text
  if (colon === text.lastIndexOf(':') && !text.startsWith('[')) return text.slice(0, colon) || undefined
  const bare = (/^\[([^\]]*)\]/.exec(text)?.[1] ?? text).replace(/%.*/, '')
  const mapped = /^(?:0*:)*:?ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)
  if (mapped !== null) return mapped[1]
  return shortIpv6(bare) ?? text
}

/** RFC 5952's form, as URLs have it; undefined: it is no IPv6 address. */
function shortIpv6(address: string): string | undefined {
  try {
    return new URL(`http://[${address}]`).hostname.slice(1, -1)
  } catch {
    return undefined
  }
}
