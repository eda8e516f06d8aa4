/** @module Where a request may name the API version that it wants. */

import { headerOf } from '../request.js'
import type { PickRequest } from '../types/request.js'

export interface VersionPlaces {
  /** A header, matched ignoring case. */
  header?: string
  /** A parameter of the query. */
  query?: string
  /** A segment of the path, counted from 0. */
  pathSegment?: number
  /** Media types and the parameter that holds the version: `{ 'application/json': 'version' }`. */
  mediaType?: Readonly<Record<string, string>>
}

type Find = (request: PickRequest) => string | undefined

/**
 * Looks in the given places and takes the first version found: header, query, path, media types in their order.
 * @see SCLB 5.0 LoadBalancerApiVersionStrategy
 */
export function finderOf({ header, query, pathSegment, mediaType = {} }: VersionPlaces): Find {
  const places: Find[] = []
  if (header !== undefined) {
    const name = header.toLowerCase()
    places.push((request) => headerOf(request, name))
  }
  if (query !== undefined) places.push((request) => queryOf(request, query))
  if (pathSegment !== undefined) places.push((request) => segmentOf(request, pathSegment))
  for (const [type, parameter] of Object.entries(mediaType)) places.push(inMediaType(type, parameter))
  const [only] = places
  if (only !== undefined && places.length === 1) return only
  return (request) => {
    for (let i = 0; i < places.length; i++) {
      const found = (places[i] as Find)(request)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** The places in words. */
export function placesIn({ header, query, pathSegment, mediaType = {} }: VersionPlaces): string {
  return [
    header !== undefined && `header ${header}`,
    query !== undefined && `query parameter ${query}`,
    pathSegment !== undefined && `path segment ${pathSegment}`,
    ...Object.entries(mediaType).map(([type, parameter]) => `parameter ${parameter} of ${type}`),
  ]
    .filter(Boolean)
    .join(', ')
}

/** Path and query of a URL, whole or without its beginning. RFC 3986, appendix B. */
const URL_PARTS = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i

/** The first parameter of the name; none if that has no `=`. */
function queryOf({ url = '' }: PickRequest, name: string): string | undefined {
  const query = URL_PARTS.exec(String(url))?.[2] ?? ''
  for (const pair of query.split('&')) {
    const value = new URLSearchParams(pair).get(name)
    if (value !== null) return pair.includes('=') ? value : undefined
  }
  return undefined
}

/** Empty segments don't count, as in Spring's PathContainer. */
function segmentOf({ url = '' }: PickRequest, index: number): string | undefined {
  const path = URL_PARTS.exec(String(url))?.[1] ?? ''
  return path.split('/').filter((segment) => segment !== '')[index]
}

/**
 * The first compatible media type of Accept decides, version or not; if none is compatible, Content-Type.
 * @see Spring Framework 7.0 MediaTypeParamApiVersionResolver
 */
function inMediaType(wanted: string, parameter: string): Find {
  const pattern = wanted.toLowerCase()
  const name = parameter.toLowerCase()
  return (request) => {
    const types = [...piecesOf(headerOf(request, 'accept'), ','), ...piecesOf(headerOf(request, 'content-type'), ',')]
    for (const type of types) {
      const [essence = '', ...parameters] = piecesOf(type, ';')
      if (isCompatible(pattern, essence.toLowerCase())) return parameterOf(parameters, name)
    }
    return undefined
  }
}

const PIECES = { ',': /(?:"[^"]*"|[^,"])+/g, ';': /(?:"[^"]*"|[^;"])+/g }

/** What stands between separators that are not quoted. */
function piecesOf(text = '', separator: keyof typeof PIECES): string[] {
  return text.match(PIECES[separator])?.map((piece) => piece.trim()) ?? []
}

function parameterOf(parameters: readonly string[], name: string): string | undefined {
  for (const parameter of parameters) {
    const equals = parameter.indexOf('=')
    if (equals < 0 || parameter.slice(0, equals).trim().toLowerCase() !== name) continue
    return parameter
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1')
  }
  return undefined
}

/** Spring's MimeType.isCompatibleWith: equal, or one of them covers the other by a wildcard. */
function isCompatible(a: string, b: string): boolean {
  const [typeA = '', subtypeA = ''] = a.split('/')
  const [typeB = '', subtypeB = ''] = b.split('/')
  if (typeA === '*' || typeB === '*') return true
  return typeA === typeB && (subtypeA === subtypeB || covers(subtypeA, subtypeB) || covers(subtypeB, subtypeA))
}

/** `*` covers everything, `*+json` covers `json` and all that ends in `+json`. */
function covers(pattern: string, subtype: string): boolean {
  if (pattern === '*') return true
  return pattern.startsWith('*+') && (subtype === pattern.slice(2) || subtype.endsWith(pattern.slice(1)))
}
