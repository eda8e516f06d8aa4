/** @module What dnsDiscovery takes. */

import { boolean, type Check, duration, isObject, number, object, oneOf, refuse, text } from '../../config/check.js'
import { msOf } from '../../config/duration.js'
import { ConfigError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import { registryAddress } from '../registry/registry-address.js'
import { type RegistryTransportOptions, TRANSPORT_CHECKS } from '../registry/transport-options.js'
import type { DnsResolver } from './custom-resolver.js'
import type { DnsName } from './name.js'
import { serverAddress } from './server-address.js'

/** Which records hold the instances. */
export type DnsRecordType = 'A' | 'AAAA' | 'A+AAAA' | 'SRV'

export interface DnsDiscoveryOptions extends RegistryTransportOptions {
  /**
   * The full name of a service: a template such as `'_http._tcp.{service}.lan'`, or a function of the service id. No
   * search domains are tried. Default: the service id itself.
   */
  name?: DnsName
  /** Default: SRV for names that begin with an underscore, else A. */
  record?: DnsRecordType
  /** Of every instance. Needed for address records, which have none; refused with SRV records, which bring their own. */
  port?: number
  /** Whether instances are spoken to over TLS. Default: those on port 443. */
  secure?: boolean
  /** SRV: 'lowest' (default): only the targets that are to be tried first; 'all': every one, told apart by metadata `priority`. */
  priorities?: 'lowest' | 'all'
  /**
   * SRV: asks for the targets' addresses (true: A) and lists these. A target without one is left out, and where none
   * of a priority has any the next priority is listed. Default false: targets are listed by their names.
   */
  resolveTargets?: boolean | 'A' | 'AAAA' | 'A+AAAA'
  /** A name is asked for at most this often, whoever asks. 1 000 or more; default 5 000. */
  minTtlMs?: number
  /** A name is asked for at least this often, however long its TTL. Default 30 000. */
  maxTtlMs?: number
  /** How often where no TTL is told: SRV on Node, Bun and Workers. Default 30 000. */
  srvIntervalMs?: number
  /**
   * 'system' (default): node:dns on Node, Bun and Workers with nodejs_compat; on Deno its name servers, over UDP
   * where the permissions allow it.
   * `{ doh: url }`: DNS over HTTPS in JSON; needed in browsers and on edge runtimes. Or a function.
   */
  resolver?: 'system' | { doh: string | URL } | DnsResolver
  /** Name servers to ask instead of the system's: `'10.0.0.2'`, `'127.0.0.1:5353'`, `'[::1]:53'`. */
  servers?: readonly string[]
}

const PORT = { least: 1, most: 65_535, whole: true }
const LEAST_MS = 1_000
const where = 'dnsDiscovery'

const name: Check = (value, at) => {
  if (typeof value !== 'function') text(value, at)
}

const resolver: Check = (value, at) => {
  if (value === 'system' || typeof value === 'function') return
  // A URL may have credentials: it is not shown here.
  if (!isObject(value) || value.doh === undefined) {
    throw new ConfigError(`${at} must be 'system', { doh: url } or a function`, { option: at })
  }
  const odd = Object.keys(value).find((key) => key !== 'doh')
  if (odd !== undefined)
    throw new ConfigError(`${at} has no option "${odd}"; accepted: doh`, { option: `${at}.${odd}` })
  registryAddress(value.doh as string, `${at}.doh`)
}

const servers: Check = (value, at) => {
  if (!Array.isArray(value) || value.length === 0) refuse(at, value, 'a list of addresses')
  for (const [i, each] of value.entries()) {
    if (serverAddress(each) === undefined) refuse(`${at}[${i}]`, each, "an address such as '127.0.0.1:5353'")
  }
}

const resolveTargets: Check = (value, at) => {
  if (typeof value !== 'boolean') oneOf('A', 'AAAA', 'A+AAAA')(value, at)
}

const check = object({
  ...TRANSPORT_CHECKS,
  name,
  record: oneOf('A', 'AAAA', 'A+AAAA', 'SRV'),
  port: number(PORT),
  secure: boolean,
  priorities: oneOf('lowest', 'all'),
  resolveTargets,
  minTtlMs: duration(LEAST_MS),
  maxTtlMs: duration(LEAST_MS),
  srvIntervalMs: duration(LEAST_MS),
  resolver,
  servers,
})

/** Options that nothing but DNS over HTTPS heeds. */
const OF_HTTP = ['fetch', 'init', 'headers', 'maxAnswerBytes'] as const

/** Those that only names with SRV records heed, or all but these: what does nothing is a mistake. */
function checkUse(options: DnsDiscoveryOptions, record: DnsRecordType): void {
  const idle = (record === 'SRV' ? (['port'] as const) : OF_SRV).find((option) => options[option] !== undefined)
  if (idle === undefined) return
  const option = `${where}.${idle}`
  const message = record === 'SRV' ? `${option}: SRV records bring their own` : `${option} goes with SRV records only`
  throw new ConfigError(`${message}, and ${record} records are asked for`, { option })
}

const OF_SRV = ['priorities', 'resolveTargets'] as const

export interface DnsSettings {
  readonly name: DnsName
  readonly record: DnsRecordType | undefined
  readonly port: number | undefined
  readonly secure: boolean | undefined
  readonly priorities: 'lowest' | 'all'
  readonly targetRecord: 'A' | 'AAAA' | 'A+AAAA' | undefined
  readonly minTtlMs: number
  readonly maxTtlMs: number
  readonly untoldMs: number
  readonly limitMs: number
  readonly random: () => number
  readonly clock: () => number
}

/** @throws EVENKEEL_CONFIG naming the option */
export function settingsOf(options: DnsDiscoveryOptions): DnsSettings {
  check(options, where)
  const minTtlMs = msOf(options.minTtlMs) ?? 5_000
  const maxTtlMs = msOf(options.maxTtlMs) ?? Math.max(30_000, minTtlMs)
  if (minTtlMs > maxTtlMs) refuse(`${where}.maxTtlMs`, options.maxTtlMs, `minTtlMs (${minTtlMs}) or more`)
  const { name = '{service}', resolver, servers, resolveTargets: targets = false } = options
  if (servers !== undefined && resolver !== undefined && resolver !== 'system') {
    throw new ConfigError(`${where}.servers go with resolver: 'system' only`, { option: `${where}.servers` })
  }
  const isDoh = isObject(resolver) && typeof resolver !== 'function'
  const idle = isDoh ? undefined : OF_HTTP.find((option) => options[option] !== undefined)
  if (idle !== undefined) {
    const option = `${where}.${idle}`
    throw new ConfigError(`${option} goes with resolver: { doh: url } only: nothing else is asked over HTTP`, {
      option,
    })
  }
  const settings = {
    name,
    record: options.record,
    port: options.port,
    secure: options.secure,
    priorities: options.priorities ?? 'lowest',
    targetRecord: targets === true ? 'A' : targets === false ? undefined : targets,
    minTtlMs,
    maxTtlMs,
    untoldMs: Math.max(msOf(options.srvIntervalMs) ?? 30_000, minTtlMs),
    limitMs: msOf(options.requestTimeoutMs) ?? 5_000,
    random: options.random ?? Math.random,
    clock: options.clock ?? defaultClock(),
  } satisfies DnsSettings
  // Of a function the names are not known yet.
  const record = typeof name === 'string' ? recordFor(name, settings) : options.record
  if (record !== undefined) checkUse(options, record)
  return settings
}

/** What a name is asked for. @throws EVENKEEL_CONFIG for address records without a port */
export function recordFor(name: string, { record, port }: Pick<DnsSettings, 'record' | 'port'>): DnsRecordType {
  const type = record ?? (name.startsWith('_') ? 'SRV' : 'A')
  if (type !== 'SRV' && port === undefined) {
    const option = `${where}.port`
    throw new ConfigError(`${option} must be given: ${type} records have no port (SRV records have)`, { option })
  }
  return type
}
