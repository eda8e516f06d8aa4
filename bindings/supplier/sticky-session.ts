/** @module Keeps the instance that a request's cookie names. */

import { boolean, type Check, number, object, oneOf, refuse, text } from '../config/check.js'
import { cookieOf } from '../cookies.js'
import { ConfigError } from '../errors.js'
import type { CandidateList } from '../service/candidates.js'
import type { Supplied, Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { cutMatching } from './attribute.js'
import { cutTo, type Fallback, fallBack, fallback, leaningOf, memoWith } from './fallback.js'
import { ALONE, type CoreSupplier, STAGE, type StageContext } from './stage.js'

/** Attributes of the cookie that a response is given. RFC 6265 §5.2. */
export interface SetCookieOptions {
  /** Default: `/`. */
  path?: string
  /** Left out: a cookie of the browser's session. */
  maxAgeSeconds?: number
  domain?: string
  secure?: boolean
  httpOnly?: boolean
  /** 'none' needs `secure`. */
  sameSite?: 'strict' | 'lax' | 'none'
}

export interface StickySessionOptions {
  /** The cookie's name. Default: `sc-lb-instance-id`. */
  cookie?: string
  /** The cookie names an instance that is not there: 'all' by default. */
  fallback?: Fallback
  /** Tells the instance its own id: adds the cookie to the request that is sent. Default: false. */
  addServiceInstanceCookie?: boolean
  /** Gives the response a Set-Cookie with the instance's id. true: with no attribute but the path. Default: false. */
  setCookie?: boolean | SetCookieOptions
}

/** What a client does to requests and responses for a sticky supplier. */
export interface Stickiness {
  readonly cookie: string
  readonly addServiceInstanceCookie: boolean
  /** The attributes to set it with; false: it is not set. */
  readonly setCookie: false | SetCookieOptions
}

const STICKY = Symbol('evenkeel.sticky')

/** RFC 6265 §4.1.1: a cookie's name is a token, an attribute's value has no control characters and no semicolon. */
const cookieName: Check = (value, where) => {
  if (typeof value !== 'string' || !/^[!#$%&'*+.^`|~\w-]+$/.test(value)) refuse(where, value, 'the name of a cookie')
}
const attributeText: Check = (value, where) => {
  text(value, where)
  if (!/^[\x20-\x3a\x3c-\x7e]+$/.test(value as string)) refuse(where, value, 'printable ASCII without semicolons')
}
const attributes = object({
  path: attributeText,
  maxAgeSeconds: number({ least: 0, whole: true }),
  domain: attributeText,
  secure: boolean,
  httpOnly: boolean,
  sameSite: oneOf('strict', 'lax', 'none'),
})
const setCookie: Check = (value, where) => {
  if (typeof value === 'boolean') return
  attributes(value, where)
  const { sameSite, secure } = value as SetCookieOptions
  if (sameSite === 'none' && !secure) {
    throw new ConfigError(`${where}.sameSite 'none' needs secure: true, or browsers drop the cookie`, {
      option: `${where}.sameSite`,
    })
  }
}
const check = object({ cookie: cookieName, fallback, addServiceInstanceCookie: boolean, setCookie })

/**
 * The one instance whose `instanceId` is the cookie's value, as it stands or percent-decoded; if it is not there, the
 * fallback. All instances for a request without the cookie.
 * Breaks when few clients make most requests: their instances get the load, whatever the policy.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see SCLB 4.1 RequestBasedStickySessionServiceInstanceListSupplier, which leaves it to the caller to set the cookie
 * @example stickySession({ cookie: 'node', setCookie: { httpOnly: true, maxAgeSeconds: 3600 } })
 */
export function stickySession(options: StickySessionOptions = {}): Supplier {
  check(options, 'stickySession')
  const { cookie = 'sc-lb-instance-id', fallback = 'all', addServiceInstanceCookie = false } = options
  const name = 'sticky-session'
  const wanted = (request: PickRequest, { quirks }: StageContext) => cookieOf(request, cookie, quirks) || undefined
  const unset = `no cookie "${cookie}"`
  const missed = (list: readonly ServiceInstance[], request: PickRequest, id: string): Supplied =>
    fallBack(fallback, list, request, `no instance "${id}"`)
  const supplier: CoreSupplier & { [STICKY]: Stickiness } = {
    name,
    ...(typeof fallback !== 'function' && { memoKey: (request) => wanted(request, ALONE) }),
    filter(list, request) {
      const value = wanted(request, ALONE)
      if (value === undefined) return { list, reason: unset }
      for (const id of idsIn(value)) {
        const named = list.find((instance) => instance.instanceId === id)
        if (named !== undefined) return { list: [named], reason: `keeps "${id}"` }
      }
      return missed(list, request, value)
    },
    [STAGE]: (context) => ({
      name,
      ...memoWith(fallback, 'keyed'),
      leaning: leaningOf(fallback),
      key: (request) => wanted(request, context),
      cut(list, request) {
        const value = wanted(request, context)
        if (value === undefined) return { list, fellBack: false, reason: unset }
        for (const id of idsIn(value)) {
          const named = cutMatching(list, name, ({ instanceId }) => instanceId, id)
          if (named !== undefined) return { list: firstOf(named, list), fellBack: false, reason: `keeps "${id}"` }
        }
        return cutTo(list, missed(list.instances, request, value), name, context.serviceId)
      },
    }),
    [STICKY]: { cookie, addServiceInstanceCookie, setCookie: attributesOf(options.setCookie) },
  }
  return supplier
}

/** How a client keeps its callers at their instances; undefined for any other supplier. */
export function stickyOf(supplier: Supplier): Stickiness | undefined {
  return (supplier as { [STICKY]?: Stickiness })[STICKY]
}

function attributesOf(given: StickySessionOptions['setCookie'] = false): Stickiness['setCookie'] {
  return given === false ? false : { path: '/', ...(given !== true && given) }
}

/** SCLB's weighted list has an instance more than once. */
function firstOf(named: CandidateList, from: CandidateList): CandidateList {
  if (named.length === 1) return named
  const first = named.tree.pickOut(named, [0])
  if (named !== from) named.free()
  return first
}

/** What a cookie may name: itself, and what `encodeCookieValue` made it of. */
function idsIn(cookie: string): string[] {
  if (!cookie.includes('%')) return [cookie]
  try {
    return [cookie, decodeURIComponent(cookie)]
  } catch {
    return [cookie]
  }
}
