/** @module URLs as text: which service they name, and the same URL towards an instance, no other byte changed. */

import { ConfigError, NoAddressError, show } from '../errors.js'
import type { ServiceInstance } from '../types/instance.js'

/** scheme, then the authority in its parts, then everything else. `scheme:` may be missing (`//svc/x`). */
const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?\/\/(?:([^/?#@]*)@)?(\[[^\]]*\]|[^/?#:@]*)(?::(\d*))?(?=[/?#]|$)/

/** The host of an absolute URL, case as written; undefined if there is none. */
export function hostOf(url: string): string | undefined {
  return PARTS.exec(url)?.[3] || undefined
}

/**
 * SCLB's LoadBalancerUriTools.reconstructURI as text: only scheme, host and port change; user info, path, query
 * and fragment stay byte for byte, never re-encoded. The scheme is the instance's own if it has one (ws and wss stay
 * web sockets), else the original's, made secure for a secure instance. A port of −1 leaves the scheme's default.
 * A path without scheme and host is taken to be the instance's own.
 * @throws EVENKEEL_NO_ADDRESS for an instance that is only a binding
 */
export function reconstructUrl(instance: ServiceInstance, original: string | URL): string {
  if (instance.host === '') {
    throw new NoAddressError(
      `instance "${instance.instanceId}" of "${instance.serviceId}" is a binding without an address: send with lease.fetch`,
      { serviceId: instance.serviceId },
    )
  }
  const text = typeof original === 'string' ? original : original.href
  const parts = PARTS.exec(text)
  const host = instance.host.includes(':') ? `[${instance.host}]` : instance.host
  const port = instance.port < 0 ? '' : `:${instance.port}`
  if (parts === null) {
    if (!/^[/?#]/.test(text))
      throw new ConfigError(`${show(text)} is neither an absolute URL nor a path`, { option: 'url' })
    return `${schemeFor(instance, undefined)}://${host}${port}${text.startsWith('/') ? '' : '/'}${text}`
  }
  const user = parts[2] === undefined ? '' : `${parts[2]}@`
  return `${schemeFor(instance, parts[1])}://${user}${host}${port}${text.slice(parts[0].length)}`
}

const SECURE: Record<string, string> = { http: 'https', ws: 'wss' }

function schemeFor(instance: ServiceInstance, original: string | undefined): string {
  const scheme = original?.toLowerCase() ?? 'http'
  const { secure } = instance
  if (instance.scheme !== undefined) {
    const isSocket = scheme === 'ws' || scheme === 'wss'
    if (isSocket && (instance.scheme === 'http' || instance.scheme === 'https')) return secure ? 'wss' : 'ws'
    return instance.scheme
  }
  return secure ? (SECURE[scheme] ?? scheme) : scheme
}
