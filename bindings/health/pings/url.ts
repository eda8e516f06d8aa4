/** @module An instance is alive if it answers a GET. */

import { boolean, object, refuse } from '../../config/check.js'
import type { Ping } from '../../types/extension.js'
import { checkUrl } from '../check-url.js'

export interface UrlPingOptions {
  /** With a query if need be. Default `/`. */
  path?: string
  /** The body must be exactly this. Default: it is not read. */
  expectedContent?: string
  /** https or http. Default: as the instance is. */
  secure?: boolean
}

/** Fetch standard, "null body status". */
const NO_BODY = [204, 205, 304]

const check = object({
  path: (value, where) => {
    if (typeof value !== 'string') refuse(where, value, 'a path, with a query if need be')
  },
  expectedContent: (value, where) => {
    if (typeof value !== 'string') refuse(where, value, 'a string')
  },
  secure: boolean,
})

/**
 * Alive is who answers a GET with status 200 and, if it is given, with exactly the expected body.
 * Use it for servers that answer 200 whatever their state and say it in the body; else `healthCheck.path` does.
 * Breaks where the path takes long: it costs each instance a request each round.
 * @throws EVENKEEL_CONFIG naming the option
 * @see Ribbon 2.7.18 PingUrl, where the body replaces the status and redirects are followed:
 *   `ribbon-ping-content-only` and `ribbon-ping-follows-redirects` in docs/quirks.md
 * @example healthCheck: { ping: urlPing({ path: '/health', expectedContent: 'ok' }), intervalMs: 10_000 }
 */
export function urlPing(options: UrlPingOptions = {}): Ping {
  check(options, 'urlPing')
  const { path = '/', expectedContent, secure } = options
  return {
    name: 'url',
    async isAlive(instance, { fetch, quirks }) {
      const at = secure === undefined ? instance : { ...instance, secure }
      const url = checkUrl(at, { path, port: undefined, unbracketed: quirks.has('ipv6-unbracketed') })
      const response = await fetch(url)
      const isOk = response.status === 200
      const contentOnly = expectedContent !== undefined && quirks.has('ribbon-ping-content-only')
      if (!isOk && !contentOnly) return { alive: false, reason: `status ${response.status}` }
      if (expectedContent === undefined) return true
      // Ribbon fails where a status has no body, an empty one too.
      if (contentOnly && NO_BODY.includes(response.status)) return { alive: false, reason: `status ${response.status}` }
      return { alive: (await response.text()) === expectedContent, reason: 'not the expected content' }
    },
  }
}
