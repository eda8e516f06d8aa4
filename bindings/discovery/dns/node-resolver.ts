/** @module node:dns, which asks name servers itself; `lookup` would ask the system and not tell a TTL. */

import { isWorkers } from '../../runtime/host.js'
import { ambiguous, resolverError, saysNobody } from './failures.js'
import { answerOf, type DnsType, isIpv4, type Resolve } from './records.js'

type NodeDns = typeof import('node:dns')
type Asked = Pick<import('node:dns').promises.Resolver, 'resolve4' | 'resolve6' | 'resolveSrv'>

/** The first try's share of the time limit: c-ares asks each server again, and waits twice as long then. */
const TRY_SHARE = 4
const TRIES = 2

/** Of Node and Bun. @param limitMs after which nobody waits any more */
export function nodeResolver(dns: NodeDns, servers: readonly string[] | undefined, limitMs: number): Resolve {
  return async (name, type, signal) => {
    // One for each question: `cancel` ends all of a resolver's, and a new one reads the system's settings anew.
    const resolver = new dns.promises.Resolver({ timeout: Math.ceil(limitMs / TRY_SHARE), tries: TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    const onAbort = () => resolver.cancel()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return answerOf(name, type, await recordsOf(resolver, name, type))
    } catch (error) {
      if (saysNobody(error)) return answerOf(name, type, [])
      throw resolverError(name, type, error)
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/**
 * Of Workers with `nodejs_compat`: there it asks 1.1.1.1 over HTTPS, takes a failed answer for a missing name, and
 * gives CNAME records as addresses.
 */
export function workersResolver(dns: NodeDns): Resolve {
  return async (name, type) => {
    try {
      const records = await recordsOf(dns.promises, name, type)
      return answerOf(name, type, type === 'SRV' ? records : records.filter(isAddress))
    } catch (error) {
      if (saysNobody(error)) throw ambiguous(name, type, error, 'give resolver: { doh: url }')
      throw resolverError(name, type, error)
    }
  }
}

/** The one for the runtime at hand. */
export function nodeDnsResolver(dns: NodeDns, servers: readonly string[] | undefined, limitMs: number): Resolve {
  return isWorkers() ? workersResolver(dns) : nodeResolver(dns, servers, limitMs)
}

async function recordsOf(dns: Asked, name: string, type: DnsType): Promise<readonly unknown[]> {
  if (type === 'A') return dns.resolve4(name, { ttl: true })
  if (type === 'AAAA') return dns.resolve6(name, { ttl: true })
  return (await dns.resolveSrv(name)).map(({ name: target, ...rest }) => ({ target, ...rest }))
}

function isAddress(record: unknown): boolean {
  const { address } = record as { address: string }
  return isIpv4(address) || address.includes(':')
}
