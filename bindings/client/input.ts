/** @module The first argument of a fetch. */

import { ConfigError } from '../errors.js'
import { isBrowser, isWorkers } from '../runtime/host.js'
import { show } from '../show.js'

/** A `Request`, of whichever realm or library: told by what it has, not by its class. */
export function isRequest(input: string | URL | Request): input is Request {
  return typeof input === 'object' && input !== null && 'url' in input && 'headers' in input
}

/** @throws EVENKEEL_CONFIG for anything but a text, a URL or a Request */
export function urlOf(input: string | URL | Request): string {
  if (typeof input === 'string') return input
  if (isRequest(input)) return input.url
  if (typeof input === 'object' && input !== null && typeof input.href === 'string') return input.href
  throw new ConfigError(`fetch takes a URL or a Request, not ${show(input)}`, { option: 'url' })
}

/**
 * A request without a body, as what `fetch` makes one of: it makes one whatever it is given, and a copy made here
 * would cost as much once more. Undefined where only a copy will do: for a body, and on Workers for its `cf`.
 */
export function fieldsOf(request: Request): RequestInit | undefined {
  if ((request.body !== null && request.body !== undefined) || request.mode === 'navigate' || isWorkers())
    return undefined
  const {
    method,
    headers,
    redirect,
    signal,
    credentials,
    cache,
    mode,
    referrer,
    referrerPolicy,
    integrity,
    keepalive,
  } = request
  return { method, headers, redirect, signal, credentials, cache, mode, referrer, referrerPolicy, integrity, keepalive }
}

/** Fields of a request and what its call has beside them: undefined there means the request's own, as in `fetch`. */
export function overlaid(fields: RequestInit, init: RequestInit | undefined): RequestInit {
  if (init === undefined) return fields
  return { ...fields, ...Object.fromEntries(Object.entries(init).filter(([, value]) => value !== undefined)) }
}

/** The same request to another URL, body and all. Derived once from the caller's: its body can be read once. */
export function readdressed(request: Request, url: string): Request | Promise<Request> {
  if (request.body !== null && request.body !== undefined && isBrowser()) return withHeldBody(request, url)
  return new Request(url, request)
}

/** In browsers a request made from another has a stream for a body, whatever the first one had. */
async function withHeldBody(request: Request, url: string): Promise<Request> {
  const body = await request.arrayBuffer()
  const { method, headers, signal, credentials, cache, redirect, referrer, referrerPolicy, integrity, keepalive } =
    request
  const mode = request.mode === 'navigate' ? 'same-origin' : request.mode
  const settings = { credentials, cache, redirect, referrer, referrerPolicy, integrity, keepalive, mode }
  return new Request(url, { method, headers, signal, body, ...settings })
}
