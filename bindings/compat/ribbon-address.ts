/** @module Ribbon's reading of an address: what follows the first colon is the port. */

import { refuse } from '../config/check.js'
import { parseJavaInt } from '../supplier/java-int.js'
import type { InstanceInit } from '../types/instance.js'

const WHOLE = /^(?:(https?):\/\/)?([^/:]*)(?::([^/]*))?/i

/**
 * Addresses taken apart as Ribbon does, which knows no scheme but http and https, drops a path and keeps the case.
 * @throws EVENKEEL_CONFIG for an address whose port is no number, which is every IPv6 address, and for what nothing could
 * be sent to: no host, or a port beyond 65 535, which Ribbon takes
 * @see Ribbon 2.7.18 Server.getHostPort, which throws a NumberFormatException
 */
export function cutAtColon(inits: readonly InstanceInit[], where: string): readonly InstanceInit[] {
  if (!Array.isArray(inits)) return inits
  return inits.map((init: InstanceInit, i) => {
    if (typeof init === 'string') return partsOf(init, `${where}[${i}]`)
    if (init instanceof URL || typeof init?.url !== 'string') return init
    const { url, ...rest } = init
    return { ...partsOf(url, `${where}[${i}].url`), ...rest }
  })
}

function partsOf(address: string, where: string): { host: string; port: number; scheme?: string } {
  const [, given, host = '', digits] = WHOLE.exec(address) as RegExpExecArray
  const scheme = given?.toLowerCase()
  const port = digits === undefined ? (scheme === 'https' ? 443 : 80) : parseJavaInt(digits)
  if (host === '' || port === undefined || port < 0 || port > 65_535) {
    refuse(where, address, 'host:port with one colon (ribbon-split-at-colon)')
  }
  return { host, port, ...(scheme !== undefined && { scheme }) }
}
