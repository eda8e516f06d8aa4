/** @module A resolver of the user's own. */

import { DiscoveryError } from '../../errors.js'
import { show } from '../../show.js'
import { resolverError, saysNobody } from './failures.js'
import { type AddressRecord, answerOf, type DnsType, type Resolve, type SrvRecord } from './records.js'

/**
 * Asks for the records of a name, which has no trailing dot. [] says that there are none; so does an error with the
 * code ENOTFOUND or ENODATA, as node:dns throws. Any other error is a failure: the last list stays.
 */
export type DnsResolver = (
  name: string,
  type: DnsType,
  options: { signal: AbortSignal },
) => Promise<readonly (AddressRecord | SrvRecord)[]>

export function customResolver(ask: DnsResolver): Resolve {
  return async (name, type, signal) => {
    let records: unknown
    try {
      records = await ask(name, type, { signal })
    } catch (error) {
      if (saysNobody(error)) return answerOf(name, type, [])
      throw resolverError(name, type, error)
    }
    if (Array.isArray(records)) return answerOf(name, type, records)
    throw new DiscoveryError(`dns: ${type} ${name}: the resolver must give an array of records, not ${show(records)}`, {
      failure: 'malformed',
    })
  }
}
