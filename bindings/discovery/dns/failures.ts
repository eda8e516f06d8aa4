/** @module What the runtimes' resolvers and the protocol call their failures. "Nobody" is none of these. */

import { DiscoveryError, type DiscoveryFailure } from '../../errors.js'
import { messageOf } from '../message-of.js'
import type { DnsType } from './records.js'

/** RFC 1035 §4.1.1 and RFC 2136. */
const RCODES: readonly string[] = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  'YXDOMAIN',
  'YXRRSET',
  'NXRRSET',
  'NOTAUTH',
  'NOTZONE',
]

export const NOERROR = 0
export const NXDOMAIN = 3
const REFUSED = 5

/** A response code that says neither "these" nor "nobody". */
export function rcodeError(name: string, type: DnsType, rcode: number): DiscoveryError {
  const failure = rcode === REFUSED ? 'denied' : 'status'
  return new DiscoveryError(`dns: ${type} ${name}: ${RCODES[rcode] ?? `response code ${rcode}`}`, { failure })
}

/** Of node:dns on Node and Bun. Bun says ENOTFOUND for ENODATA. */
const NOBODY = new Set(['ENOTFOUND', 'ENODATA'])

/** As seen on Node 20, Bun 1.4 and Deno 2.9; what is not here is 'unreachable'. */
const FAILURES: Readonly<Record<string, DiscoveryFailure>> = {
  EREFUSED: 'denied',
  ESERVFAIL: 'status',
  ENOTIMP: 'status',
  EFORMERR: 'status',
  EBADRESP: 'malformed',
  ETIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  TimedOut: 'timeout',
  TimeoutError: 'timeout',
}

/** c-ares' ARES_EBADNAME, for which Bun has the code ENOTFOUND too. */
const BAD_NAME = 8

/** Whether an error of node:dns says that there is nobody. */
export function saysNobody(error: unknown): boolean {
  const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown }
  return typeof code === 'string' && NOBODY.has(code) && errno !== BAD_NAME
}

/** What a resolver threw, as an error of discovery. */
export function resolverError(name: string, type: DnsType, error: unknown): DiscoveryError {
  if (error instanceof DiscoveryError) return error
  const { code, name: kind } = (error ?? {}) as { code?: unknown; name?: unknown }
  const failure = FAILURES[String(code)] ?? FAILURES[String(kind)] ?? 'unreachable'
  return new DiscoveryError(`dns: ${type} ${name}: ${messageOf(error)}`, { failure, cause: error })
}

/** Where "there is no such name" and "the server could not say" are the same error: only the second is safe to assume. */
export function ambiguous(name: string, type: DnsType, cause: unknown, advice: string): DiscoveryError {
  const message = `dns: ${type} ${name}: not found, or the name server failed; this resolver doesn't tell which: ${advice}`
  return new DiscoveryError(message, { failure: 'unreachable', cause })
}
