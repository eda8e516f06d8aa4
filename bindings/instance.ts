/** @module From what users write to service instances. */

import { refuse, text } from './config/check.js'
import { ConfigError } from './errors.js'
import { show } from './show.js'
import type { Fetcher, InstanceInit, ServiceInstance } from './types/instance.js'

/** Where an entry stands, told only in an error message. */
export type Place = string | { toString(): string }

/** Who made the list: the user, or a registry. */
export type ListOrigin = 'written' | 'discovered'

/** What a refresh compares before it makes a new object. */
interface Draft {
  instanceId: string
  host: string
  port: number
  secure: boolean
  scheme: string | undefined
  fetcher: Fetcher | undefined
  metadata: Readonly<Record<string, string>> | undefined
  shorthand: { weight?: number; zone?: string; hint?: string; version?: string } | undefined
}

const TEXTS = ['zone', 'hint', 'version'] as const
const FIELDS = new Set<string>([
  ...TEXTS,
  'url',
  'scheme',
  'host',
  'port',
  'secure',
  'instanceId',
  'metadata',
  'fetcher',
  'weight',
  'serviceId',
])
const SHORTHANDS = ['weight', 'zone', 'hint', 'version'] as const
const NO_METADATA: Readonly<Record<string, string>> = Object.freeze({})
export const MAX_WEIGHT = 2 ** 31 - 1

/**
 * Turns what a user or a registry wrote into a frozen instance, or gives back `known` if it says the same.
 * @param origin a registry may say more of an instance than is known here; a user who does has mistyped something
 * @param where names the place in error messages, as `services.orders.instances[2]`
 * @throws EVENKEEL_CONFIG naming the field at fault
 */
export function toInstance(
  init: InstanceInit,
  serviceId: string,
  where: Place,
  origin: ListOrigin = 'written',
  known: (instanceId: string) => ServiceInstance | undefined = () => undefined,
): ServiceInstance {
  const draft = read(init, where, origin)
  if (origin === 'written' && draft.shorthand !== undefined) checkFields(draft.shorthand, where)
  const old = known(draft.instanceId)
  if (old !== undefined && saysTheSame(old, draft)) return old
  return Object.freeze({
    instanceId: draft.instanceId,
    serviceId,
    host: draft.host,
    port: draft.port,
    secure: draft.secure,
    ...(draft.scheme !== undefined && { scheme: draft.scheme }),
    metadata: mergedMetadata(draft),
    ...(draft.fetcher !== undefined && { fetcher: draft.fetcher }),
  })
}

/** Two objects of one identity, whatever their metadata says. */
export function isSameInstance(a: ServiceInstance, b: ServiceInstance): boolean {
  return a.instanceId === b.instanceId && a.host === b.host && a.port === b.port
}

/** A place within a place, spelled out only if asked for. */
function within(where: Place, field: string): Place {
  return { toString: () => `${where}.${field}` }
}

function read(init: InstanceInit, where: Place, origin: ListOrigin): Draft {
  if (typeof init === 'string' || init instanceof URL) return { ...address(init, where), ...NOTHING_ELSE }
  if (typeof init !== 'object' || init === null) {
    throw new ConfigError(`${where} must be a URL or an object with url, host or fetcher, not ${show(init)}`, {
      option: `${where}`,
    })
  }
  const { metadata, fetcher } = init
  const at = init.url !== undefined ? address(init.url, within(where, 'url')) : hostAndPort(init, where)
  const twice = init.url === undefined ? undefined : ADDRESS_PARTS.find((part) => init[part] !== undefined)
  if (twice !== undefined) {
    const message = `${where} has a url and also ${twice}: the url says it all`
    throw new ConfigError(message, { option: `${where}.${twice}` })
  }
  const instanceId = init.instanceId ?? at.instanceId
  if (typeof instanceId !== 'string' || instanceId === '') {
    throw new ConfigError(
      `${where}.instanceId must be a non-empty string${fetcher ? ' for an instance that is only a fetcher' : ''}, not ${show(instanceId)}`,
      { option: `${where}.instanceId` },
    )
  }
  if (fetcher !== undefined && typeof fetcher?.fetch !== 'function') {
    throw new ConfigError(`${where}.fetcher must have a fetch function`, { option: `${where}.fetcher` })
  }
  if (init.secure !== undefined && typeof init.secure !== 'boolean') {
    throw new ConfigError(`${where}.secure must be true or false, not ${show(init.secure)}`, {
      option: `${where}.secure`,
    })
  }
  if (init.scheme !== undefined && !/^[a-z][a-z0-9+.-]*$/.test(init.scheme)) {
    refuse(`${where}.scheme`, init.scheme, "a scheme such as 'https', in lower case and without a colon")
  }
  if (init.weight !== undefined) checkWeight(init.weight, within(where, 'weight'))
  for (const key of TEXTS) {
    if (init[key] !== undefined && !(typeof init[key] === 'string' && init[key] !== ''))
      text(init[key], `${where}.${key}`)
  }
  return {
    instanceId,
    host: at.host,
    port: at.port,
    secure: init.secure ?? (at.secure || isSecure(init.scheme)),
    scheme: init.scheme ?? at.scheme,
    fetcher,
    metadata: metadata === undefined ? undefined : checkMetadata(metadata, within(where, 'metadata'), origin),
    shorthand: init,
  }
}

/** What a url says already. */
const ADDRESS_PARTS = ['host', 'port', 'secure', 'scheme'] as const

const NOTHING_ELSE = { fetcher: undefined, metadata: undefined, shorthand: undefined }

type Address = Pick<Draft, 'instanceId' | 'host' | 'port' | 'secure' | 'scheme'>

function address(given: string | URL, where: Place): Address {
  if (typeof given !== 'string' && !(given instanceof URL)) refuse(`${where}`, given, 'a URL')
  let url: URL
  try {
    url = typeof given === 'string' ? new URL(given.includes('://') ? given : `http://${given}`) : given
  } catch (cause) {
    throw new ConfigError(`${where} is not a URL: ${show(given)}`, { option: `${where}`, cause })
  }
  if (url.hostname === '') throw new ConfigError(`${where} has no host: ${show(String(given))}`, { option: `${where}` })
  if ((url.pathname !== '/' && url.pathname !== '') || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new ConfigError(`${where} must be scheme, host and port alone; ${show(String(given))} has more`, {
      option: `${where}`,
    })
  }
  const scheme = url.protocol.slice(0, -1)
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === '' ? defaultPort(scheme) : Number(url.port)
  return { instanceId: idOf(host, port), host, port, secure: isSecure(scheme), scheme }
}

function hostAndPort(init: Exclude<InstanceInit, string | URL>, where: Place): Address {
  const { host = '', port = -1 } = init
  if (typeof host !== 'string' || (host === '' && init.fetcher === undefined)) {
    throw new ConfigError(`${where} needs a url, a host or a fetcher`, { option: `${where}` })
  }
  if (/[/?#@\\\s]/.test(host)) {
    throw new ConfigError(`${where}.host must be a host name or address alone, not ${show(host)}`, {
      option: `${where}.host`,
    })
  }
  if (!Number.isInteger(port) || port < -1 || port > 65535) {
    throw new ConfigError(
      `${where}.port must be a whole number from 0 to 65535, or -1 for the scheme's default, not ${show(port)}`,
      { option: `${where}.port` },
    )
  }
  const bare = host.startsWith('[') ? host.slice(1, -1) : host
  return { instanceId: host === '' ? '' : idOf(bare, port), host: bare, port, secure: false, scheme: undefined }
}

function checkFields(init: object, where: Place): void {
  for (const key in init) {
    if (FIELDS.has(key)) continue
    const message = `${where} has no field "${key}"; accepted: ${[...FIELDS].join(', ')}`
    throw new ConfigError(message, { option: `${where}.${key}` })
  }
}

const DEFAULT_PORTS: Record<string, number> = { http: 80, ws: 80, https: 443, wss: 443 }

function defaultPort(scheme: string): number {
  return Object.hasOwn(DEFAULT_PORTS, scheme) ? (DEFAULT_PORTS[scheme] as number) : -1
}

function isSecure(scheme: string | undefined): boolean {
  return scheme === 'https' || scheme === 'wss'
}

function idOf(host: string, port: number): string {
  return port < 0 ? host : `${host}:${port}`
}

/** @throws EVENKEEL_CONFIG unless 0 ≤ weight ≤ 2^31 − 1 */
export function checkWeight(weight: unknown, where: Place): number {
  if (typeof weight !== 'number' || !(weight >= 0) || weight > MAX_WEIGHT) {
    throw new ConfigError(`${where} must be a number from 0 (drained) to ${MAX_WEIGHT}, not ${show(weight)}`, {
      option: `${where}`,
    })
  }
  return weight
}

/** Registries say numbers and booleans too: they count as what they are written as. */
function checkMetadata(metadata: unknown, where: Place, origin: ListOrigin): Readonly<Record<string, string>> {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw new ConfigError(`${where} must be an object of strings, not ${show(metadata)}`, { option: `${where}` })
  }
  let texts = metadata as Record<string, string>
  for (const key in metadata) {
    const value = (metadata as Record<string, unknown>)[key]
    if (typeof value === 'string') continue
    if (origin === 'written' || (typeof value !== 'number' && typeof value !== 'boolean')) {
      throw new ConfigError(`${where}.${key} must be a string, not ${show(value)}`, { option: `${where}.${key}` })
    }
    if (texts === metadata) texts = { ...texts }
    texts[key] = String(value)
  }
  return texts
}

function mergedMetadata(draft: Draft): Readonly<Record<string, string>> {
  const merged: Record<string, string> = { ...draft.metadata }
  for (const key of SHORTHANDS) {
    const value = draft.shorthand?.[key]
    if (value !== undefined) merged[key] = String(value)
  }
  return Object.keys(merged).length === 0 ? NO_METADATA : Object.freeze(merged)
}

function saysTheSame(old: ServiceInstance, draft: Draft): boolean {
  if (old.host !== draft.host || old.port !== draft.port || old.secure !== draft.secure) return false
  if (old.scheme !== draft.scheme || old.fetcher !== draft.fetcher) return false
  return hasMetadata(old, draft.metadata, draft.shorthand)
}

/** True if the metadata and its shorthands come to what the instance has. */
function hasMetadata(old: ServiceInstance, metadata: Draft['metadata'], shorthand: Draft['shorthand']): boolean {
  let left = 0
  for (const _ in old.metadata) left++
  if (shorthand !== undefined) {
    for (const key of SHORTHANDS) {
      const value = shorthand[key]
      if (value === undefined) continue
      if (old.metadata[key] !== (typeof value === 'string' ? value : String(value))) return false
      left--
    }
  }
  for (const key in metadata) {
    if (shorthand?.[key as 'zone'] !== undefined && (SHORTHANDS as readonly string[]).includes(key)) continue
    if (old.metadata[key] !== metadata[key]) return false
    left--
  }
  return left === 0
}

/**
 * True if an object says what `old` says, so that nothing has to be read, made or looked up. A shortcut for lists
 * that hardly change: false means only that it has to be read.
 * @param sameUrl the object's url, without scheme or secure beside it, is what `old` was made from
 * @param derivedId the id of `old` comes from its address
 */
export function restates(
  init: Exclude<InstanceInit, string | URL>,
  old: ServiceInstance,
  origin: ListOrigin,
  sameUrl: boolean,
  derivedId: boolean,
): boolean {
  if (init.instanceId === undefined ? !derivedId : init.instanceId !== old.instanceId) return false
  if (init.url === undefined) {
    if (init.host !== old.host || (init.port ?? -1) !== old.port) return false
    if ((init.secure ?? isSecure(init.scheme)) !== old.secure || init.scheme !== old.scheme) return false
  } else if (!sameUrl || ADDRESS_PARTS.some((part) => init[part] !== undefined)) {
    return false
  }
  if (init.metadata !== undefined && (typeof init.metadata !== 'object' || Array.isArray(init.metadata))) return false
  if (init.fetcher !== old.fetcher || typeof init.weight === 'string') return false
  if (origin === 'written') {
    for (const key in init) if (!FIELDS.has(key)) return false
  }
  return hasMetadata(old, init.metadata, init)
}
