/** @module What a Eureka client can be told, and what holds where it is not. */

import { array, boolean, type Check, duration, isObject, object, oneOf, refuse, text } from '../../config/check.js'
import { msOf } from '../../config/duration.js'
import { ConfigError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import { type RegistryAddress, registryAddress } from '../registry/registry-address.js'
import { type RegistryTransportOptions, TRANSPORT_CHECKS } from '../registry/transport-options.js'

/** One server or several, in the order of preference. */
export type EurekaUrls = string | URL | readonly (string | URL)[]

export interface EurekaDiscoveryOptions extends RegistryTransportOptions {
  /**
   * The base of the protocol: `http://host:8761/eureka` of a Spring server, `…/eureka/v2` of Netflix's. Of several the
   * first is asked, and the next ones when it fails. By zone, `{ 'zone-a': …, 'zone-b': … }`: those of `zone` come
   * first, then the others as they stand. Credentials in it are sent as a header.
   */
  url: EurekaUrls | Readonly<Record<string, EurekaUrls>>
  /**
   * What a service id names: 'app', an application, in any case; 'vip', a VIP address, of which an instance may have
   * several; 'svip', a secure one. VIP addresses are compared in any case with `scope` 'registry', and exactly with
   * 'service', where the server compares them. Default 'app'.
   */
  lookup?: 'app' | 'vip' | 'svip'
  /**
   * 'registry': one download of everything and then the changes, for all services of this client together, as Java's
   * client does it; 'service': each service by a question of its own, where the registry is large and few services of
   * it are called. Default 'registry'.
   */
  scope?: 'registry' | 'service'
  /** Further regions whose instances the server adds, with `scope` 'registry'. Default: none. */
  regions?: readonly string[]
  /** From one question to the next; the time that a change may take to arrive. Default 30 000. */
  registryFetchIntervalMs?: number
  /** Whether changes are asked for, in place of everything each time. Default true. */
  delta?: boolean
  /** `ipAddr` as the host, in place of `hostName`. Default false. */
  preferIp?: boolean
  /**
   * true: https where the instance has its secure port enabled; false: http where it has its plain port enabled. The
   * other port where that one is not. Default true.
   */
  preferSecure?: boolean
  /** false: instances of any status are listed, with the status in their metadata, for `registryPing`. Default true. */
  onlyUp?: boolean
  /** This client's own zone: its servers come first, and it is the zone of instances that name none. Default: none. */
  zone?: string
}

export interface EurekaSettings {
  readonly addresses: readonly RegistryAddress[]
  readonly lookup: 'app' | 'vip' | 'svip'
  readonly scope: 'registry' | 'service'
  readonly regions: readonly string[]
  readonly intervalMs: number
  readonly delta: boolean
  readonly preferIp: boolean
  readonly preferSecure: boolean
  readonly onlyUp: boolean
  readonly zone: string | undefined
  readonly transport: RegistryTransportOptions
  readonly random: () => number
  readonly clock: () => number
}

const NAME = 'eurekaDiscovery'

/** What is in it is checked as it is read, by what never shows a password. */
const urls: Check = (value, where) => {
  const given = typeof value === 'string' || value instanceof URL || Array.isArray(value) || isObject(value)
  if (!given) refuse(where, value, 'a URL, an array of URLs, or an object of them by zone')
}

const check = object({
  ...TRANSPORT_CHECKS,
  url: urls,
  lookup: oneOf('app', 'vip', 'svip'),
  scope: oneOf('registry', 'service'),
  regions: array((each) => typeof each === 'string' && each !== '', 'names of regions'),
  registryFetchIntervalMs: duration(1),
  delta: boolean,
  preferIp: boolean,
  preferSecure: boolean,
  onlyUp: boolean,
  zone: text,
} satisfies Record<keyof EurekaDiscoveryOptions, Check>)

/** @throws EVENKEEL_CONFIG naming the option */
export function settingsOf(options: EurekaDiscoveryOptions): EurekaSettings {
  check(options, NAME)
  const { lookup = 'app', scope = 'registry', regions = [], delta = true, onlyUp = true } = options
  if (scope === 'service' && regions.length > 0) {
    const message = `${NAME}.regions needs scope 'registry': asked for one service, servers leave other regions out`
    throw new ConfigError(message, { option: `${NAME}.regions` })
  }
  const { preferIp = false, preferSecure = true, random = Math.random, clock = defaultClock(), zone } = options
  return {
    addresses: addressesOf(options.url, zone),
    lookup,
    scope,
    regions,
    intervalMs: msOf(options.registryFetchIntervalMs) ?? 30_000,
    delta,
    preferIp,
    preferSecure,
    onlyUp,
    zone,
    transport: options,
    random,
    clock,
  }
}

function addressesOf(url: EurekaDiscoveryOptions['url'], zone: string | undefined): readonly RegistryAddress[] {
  const option = `${NAME}.url`
  const addresses = isByZone(url)
    ? Object.keys(url)
        .toSorted((a, b) => Number(b === zone) - Number(a === zone))
        .flatMap((name) => listed(url[name] as EurekaUrls, `${option}.${name}`))
    : listed(url, option)
  if (addresses.length === 0) refuse(option, url, 'the URL of at least one server')
  return addresses
}

function listed(given: EurekaUrls, option: string): RegistryAddress[] {
  if (!Array.isArray(given)) return [registryAddress(given as string | URL, option)]
  return given.map((each, i) => registryAddress(each, `${option}[${i}]`))
}

function isByZone(url: EurekaDiscoveryOptions['url']): url is Readonly<Record<string, EurekaUrls>> {
  return isObject(url) && !(url instanceof URL)
}
