/** @module What a name server answers, in one shape for all resolvers, and what of it can be read. */

import { isObject } from '../../config/check.js'
import { DiscoveryError } from '../../errors.js'
import { show } from '../../show.js'

export type DnsType = 'A' | 'AAAA' | 'SRV'

/** An A or AAAA record. */
export interface AddressRecord {
  address: string
  /** In seconds. */
  ttl?: number
}

/** An SRV record. A target of `.` (or an empty one) says that the service is not offered. */
export interface SrvRecord {
  target: string
  port: number
  priority: number
  weight: number
  /** In seconds. */
  ttl?: number
}

/** Numbers and texts of the protocol. RFC 1035, 2782, 3596. */
export const TYPE_NUMBERS: Readonly<Record<DnsType, number>> = { A: 1, AAAA: 28, SRV: 33 }
export const CNAME = 5

/** One question's answer. No records: the name doesn't exist, or has none of that type. */
export interface DnsAnswer {
  /** Of the type that was asked for: `AddressRecord` or `SrvRecord`. */
  readonly addresses: readonly string[]
  readonly services: readonly Required<Omit<SrvRecord, 'ttl'>>[]
  /** The shortest of all records that led to the answer; undefined: the resolver doesn't say. */
  readonly ttlMs: number | undefined
  readonly unreadable: readonly string[]
}

export type Resolve = (name: string, type: DnsType, signal: AbortSignal) => Promise<DnsAnswer>

/** TTLs beyond 31 bits count as 0 (RFC 2181 §8). */
const MOST_TTL = 2 ** 31 - 1

/**
 * Reads what a resolver gave.
 * @param chainTtls of CNAME records on the way, in seconds
 * @throws EVENKEEL_DISCOVERY, malformed, if there are records and none can be read
 */
export function answerOf(
  name: string,
  type: DnsType,
  records: readonly unknown[],
  chainTtls: readonly number[] = [],
): DnsAnswer {
  const addresses: string[] = []
  const services: Required<Omit<SrvRecord, 'ttl'>>[] = []
  const unreadable: string[] = []
  let ttl = Math.min(...chainTtls.map(ttlIn))
  for (const record of records) {
    const service = type === 'SRV' ? serviceIn(record) : undefined
    const address = type === 'SRV' ? undefined : addressIn(record, type)
    if (service !== undefined) services.push(service)
    else if (address !== undefined) addresses.push(address)
    else {
      unreadable.push(`${type} ${name}: ${written(record)}`)
      continue
    }
    const given = (record as { ttl?: unknown }).ttl
    if (typeof given === 'number' && given >= 0) ttl = Math.min(ttl, ttlIn(given))
  }
  if (records.length > 0 && unreadable.length === records.length) {
    const message = `dns: ${type} ${name}: none of ${records.length} records can be read: ${unreadable[0]}`
    throw new DiscoveryError(message, { failure: 'malformed' })
  }
  return { addresses, services, ttlMs: Number.isFinite(ttl) ? ttl * 1_000 : undefined, unreadable }
}

/** A record of any shape, for a remark. */
function written(record: unknown): string {
  try {
    return (JSON.stringify(record) ?? show(record)).slice(0, 100)
  } catch {
    return show(record)
  }
}

function ttlIn(seconds: number): number {
  return seconds > MOST_TTL ? 0 : seconds
}

function addressIn(record: unknown, type: 'A' | 'AAAA'): string | undefined {
  if (!isObject(record) || typeof record.address !== 'string') return undefined
  const { address } = record
  if (type === 'A') return isIpv4(address) ? address : undefined
  if (!/^[\da-f:.]+$/i.test(address) || !URL.canParse(`http://[${address}]`)) return undefined
  // Resolvers write one address in several ways.
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

export function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

function serviceIn(record: unknown): Required<Omit<SrvRecord, 'ttl'>> | undefined {
  if (!isObject(record) || typeof record.target !== 'string') return undefined
  const { port, priority, weight } = record
  if (!is16Bit(port) || !is16Bit(priority) || !is16Bit(weight)) return undefined
  const target = record.target.replace(/\.$/, '').toLowerCase()
  // Port 0 leads nowhere; where the service is not offered it doesn't matter.
  if (target !== '' && (port === 0 || !isHost(target))) return undefined
  return { target, port, priority, weight }
}

function is16Bit(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535
}

/** What can stand in a URL, and be asked for. */
function isHost(target: string): boolean {
  if (target.length > 253 || /[/?#@\\\s:[\]%]/.test(target)) return false
  return target.split('.').every((label) => label.length > 0 && label.length <= 63)
}
