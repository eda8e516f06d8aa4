/** @module The first argument of a fetch. */

import { ConfigError, show } from '../errors.js'

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
