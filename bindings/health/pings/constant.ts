/** @module Everybody is what the option says. */

import { boolean, object } from '../../config/check.js'
import type { Ping } from '../../types/extension.js'

export interface ConstantPingOptions {
  /** Default true. */
  alive?: boolean
}

const check = object({ alive: boolean })

/**
 * All instances are alive, or none is; in rounds like any ping.
 * Use it to try out what a service does without instances.
 * @throws EVENKEEL_CONFIG naming the option
 * @see Ribbon 2.7.18 PingConstant
 * @example healthCheck: { ping: constantPing({ alive: false }) }
 */
export function constantPing(options: ConstantPingOptions = {}): Ping {
  check(options, 'constantPing')
  const { alive = true } = options
  return { name: 'constant', isAlive: () => ({ alive, reason: 'the ping says so' }) }
}
