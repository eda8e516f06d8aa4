/** @module The same client, the same instance. */

import { object, text } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { clientAddressOf } from './client-address.js'
import { corePolicy } from './engine.js'
import { byText } from './identities.js'
import { keyedEngine } from './keyed-engine.js'
import { RING, type RingOptions, ringCalls } from './ring-hash.js'

export interface SourceHashOptions extends RingOptions {
  /**
   * Where the address stands that a request without attribute `clientAddress` carries: the first of a list, or the first
   * `for` of `Forwarded`. Default `x-forwarded-for`.
   */
  header?: string
}

const check = object({ ...RING, header: text })

/**
 * `ringHash` by the address of the client that the request carries: attribute `clientAddress`, else a header. Ports,
 * brackets, zones and the many ways to write an IPv6 address make no difference. A request without an address goes to
 * a random instance.
 * Use it where requests have no better key. Breaks when many clients share an address (a proxy, a NAT), and where
 * the header comes from outside unchecked: it is the client's own word.
 * @see ring-hash; nginx ip_hash and HAProxy `balance source` for the idea
 * @throws EVENKEEL_CONFIG for a bad option
 * @example sourceHash({ header: 'cf-connecting-ip' })
 */
export function sourceHash(options: SourceHashOptions = {}): Policy {
  check(options, 'sourceHash')
  const header = (options.header ?? 'x-forwarded-for').toLowerCase()
  const calls = ringCalls(options, 'sourceHash')
  return corePolicy(
    'source-hash',
    keyedEngine((request) => clientAddressOf(request, header), byText, calls),
  )
}
