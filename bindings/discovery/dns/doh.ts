/** @module DNS over HTTPS in JSON, as Cloudflare's and Google's public resolvers answer it. */

import { DiscoveryError } from '../../errors.js'
import { arrayAt, malformed, objectAt, textAt } from '../registry/reading.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import { RegistryHttp } from '../registry/registry-http.js'
import type { RegistryTransportOptions } from '../registry/transport-options.js'
import { NOERROR, NXDOMAIN, rcodeError } from './failures.js'
import { answerOf, CNAME, type DnsType, type Resolve, TYPE_NUMBERS } from './records.js'

/** @see https://developers.cloudflare.com/1.1.1.1/encryption/dns-over-https/make-api-requests/dns-json/ */
export function dohResolver(address: RegistryAddress, options: RegistryTransportOptions): Resolve {
  const http = new RegistryHttp('dns', options)
  return async (name, type, signal) => {
    const answer = await http.ask({
      address,
      path: '',
      query: { name, type },
      headers: { accept: 'application/dns-json' },
      signal,
    })
    return answerIn(http.json(answer), name, type)
  }
}

function answerIn(body: unknown, name: string, type: DnsType) {
  const { Status: rcode, TC: truncated, Answer: rows } = objectAt(body, 'the answer')
  if (typeof rcode !== 'number' || !Number.isInteger(rcode)) return malformed('Status', rcode, 'a whole number')
  if (rcode === NXDOMAIN) return answerOf(name, type, [])
  if (rcode !== NOERROR) throw rcodeError(name, type, rcode)
  // A part of a list looks like a list.
  if (truncated === true) throw new DiscoveryError(`dns: ${type} ${name}: truncated`, { failure: 'too-large' })
  const records: unknown[] = []
  const chainTtls: number[] = []
  for (const [i, each] of (rows === undefined || rows === null ? [] : arrayAt(rows, 'Answer')).entries()) {
    const row = objectAt(each, `Answer[${i}]`)
    if (typeof row.type !== 'number') return malformed(`Answer[${i}].type`, row.type, 'a number')
    if (row.type !== CNAME && row.type !== TYPE_NUMBERS[type]) continue
    if (typeof row.TTL !== 'number' || !(row.TTL >= 0)) return malformed(`Answer[${i}].TTL`, row.TTL, 'seconds')
    if (row.type === CNAME) chainTtls.push(row.TTL)
    else records.push(recordOf(textAt(row.data, `Answer[${i}].data`), type, row.TTL))
  }
  return answerOf(name, type, records, chainTtls)
}

function recordOf(data: string, type: DnsType, ttl: number): unknown {
  if (type !== 'SRV') return { address: data, ttl }
  const fields = /^(\d+) +(\d+) +(\d+) +(\S+)$/.exec(data.trim())
  if (fields === null) return data
  const [, priority, weight, port, target] = fields
  return { priority: Number(priority), weight: Number(weight), port: Number(port), target, ttl }
}
