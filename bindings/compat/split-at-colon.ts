/** @module Ribbon's reading of an address: what follows the first colon is the port. */

import { refuse } from '../config/check.js'
import type { InstanceInit } from '../types/instance.js'

/**
 * @throws EVENKEEL_CONFIG for an address that has more colons, which is every IPv6 address
 * @see Ribbon 2.7.18 Server.getHostPort, which throws a NumberFormatException
 */
export function refuseMoreColons(inits: readonly InstanceInit[], where: string): void {
  if (!Array.isArray(inits)) return
  for (const [i, init] of inits.entries()) {
    const [written, place] = typeof init?.url === 'string' ? [init.url, '.url'] : [init, '']
    if (typeof written !== 'string') continue
    const [authority = ''] = written.replace(/^https?:\/\//i, '').split('/')
    const [, ...rest] = authority.split(':')
    if (rest.length > 1) refuse(`${where}[${i}]${place}`, written, 'host:port with one colon (ribbon-split-at-colon)')
  }
}
