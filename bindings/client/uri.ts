/** @module URLs as text: which service they name, and the same URL towards an instance, no other byte changed. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { ConfigError, NoAddressError } from '../errors.js'
import { show } from '../show.js'
import type { ServiceInstance } from '../types/instance.js'
import { springUrl } from './spring-encoding.js'

/** scheme, then the authority in its parts, then everything else. `scheme:` may be missing (`//svc/x`). */
const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?\/\/(?:([^/?#@]*)@)?(\[[^\]]*\]|[^/?#:@]*)(?::(\d*))?(?=[/?#]|$)/

/** The host of an absolute URL, case as written; undefined if there is none. */
export function hostOf(url: string): string | undefined {
  return PARTS.exec(url)?.[3] || undefined
}

/** Scheme (`http` where none is written) and authority of a URL, case as written, without user info. */
export function originOf(url: string): { scheme: string; authority: string } | undefined {
  const parts = PARTS.exec(url)
  if (!parts?.[3]) return undefined
  return { scheme: parts[1] ?? 'http', authority: parts[4] ? `${parts[3]}:${parts[4]}` : parts[3] }
}

/** The path of a URL or of a path, as written, without query and fragment; `/` where there is none. */
export function pathOf(url: string): string {
  const from = PARTS.exec(url)?.[0].length ?? 0
  const path = /^[^?#]*/.exec(url.slice(from))?.[0]
  return path || '/'
}

/**
 * SCLB's LoadBalancerUriTools.reconstructURI as text: only scheme, host and port change; user info, path, query
 * and fragment stay byte for byte, never re-encoded. The scheme is the instance's own if it has one (ws and wss stay
 * web sockets), else the original's, made secure for a secure instance, never the other way. The port is always
 * written: the instance's if it has one (0 included), else 443 for https and wss, 80 for all others. A URL that leads
 * to the instance already is returned as it is. A path without scheme and host is taken to be the instance's own.
 * @throws EVENKEEL_NO_ADDRESS for an instance that is only a binding
 */
export function reconstructUrl(instance: ServiceInstance, original: string | URL, quirks: Quirks = NO_QUIRKS): string {
  if (instance.host === '') {
    throw new NoAddressError(
      `instance "${instance.instanceId}" of "${instance.serviceId}" is a binding without an address: send with lease.fetch`,
      { serviceId: instance.serviceId },
    )
  }
  const text = typeof original === 'string' ? original : original.href
  const parts = PARTS.exec(text)
  if (parts === null && !/^[/?#]/.test(text)) {
    throw new ConfigError(`${show(text)} is neither an absolute URL nor a path`, { option: 'url' })
  }
  const [all = '', scheme, user, host, port] = parts ?? []
  // lb://service/ is Spring's way to write a URL that leaves the scheme to the instance.
  const asked = scheme?.toLowerCase() === 'lb' ? undefined : scheme
  const to = {
    scheme: quirks.has('uri-double-encode') ? springScheme(instance, asked) : schemeFor(instance, asked),
    user,
    host: instance.host.includes(':') ? `[${instance.host}]` : instance.host,
    port: 0,
  }
  to.port = portFor(instance, to.scheme, quirks)
  if (port && Number(port) === to.port && host === to.host && scheme === to.scheme) return text
  const rest = parts === null && !text.startsWith('/') ? `/${text}` : text.slice(all.length)
  if (quirks.has('uri-double-encode')) return springUrl(to, rest)
  return `${to.scheme}://${user === undefined ? '' : `${user}@`}${to.host}:${to.port}${rest}`
}

function portFor(instance: ServiceInstance, scheme: string, quirks: Quirks): number {
  if (instance.port >= 0) return instance.port
  return scheme === 'https' || (scheme === 'wss' && !quirks.has('wss-port-80')) ? 443 : 80
}

const SECURE: Record<string, string> = { http: 'https', ws: 'wss' }

function schemeFor(instance: ServiceInstance, original = 'http'): string {
  const scheme = original.toLowerCase()
  if (instance.scheme === undefined) return instance.secure ? (SECURE[scheme] ?? original) : original
  const isSocket = scheme === 'ws' || scheme === 'wss'
  if (isSocket && instance.scheme === 'http') return 'ws'
  if (isSocket && instance.scheme === 'https') return 'wss'
  return instance.scheme
}

/** SCLB's: an instance's own scheme replaces that of web sockets too, and an original in capitals is not made secure. */
function springScheme({ scheme, secure }: ServiceInstance, original = 'http'): string {
  return scheme ?? (secure ? (SECURE[original] ?? original) : original)
}
