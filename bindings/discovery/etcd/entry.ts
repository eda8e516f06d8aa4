/** @module From a key's value to an instance: gRPC naming, plain JSON, `host:port`, or what `parse` makes of it. */

import { isObject } from '../../config/check.js'
import type { Found } from '../registry/list-keeper.js'
import { hostAt, malformed, portAt, textAt, textsAt } from '../registry/reading.js'

/** undefined: the key is no instance. @throws EVENKEEL_DISCOVERY, malformed; what `parse` throws */
export type EntryReader = (key: string, rest: string, value: string) => Found | undefined

/** Of a value's own fields those that are metadata here. */
const SHORTHANDS = ['weight', 'zone', 'status', 'version'] as const

/** @param parse the user's, in place of the formats that are known here */
export function entryReader(parse: (key: string, value: string) => unknown = known): EntryReader {
  return (key, rest, value) => {
    const entry: unknown = parse(key, value)
    if (entry === undefined) return undefined
    const where = 'the value'
    if (typeof entry === 'string') return foundAt(addressOf(entry, where), {}, undefined, rest)
    if (!isObject(entry)) return malformed(where, entry, 'an instance or host:port')
    if ('Addr' in entry) return namingAt(entry, rest, where)
    return plainAt(entry, rest, where)
  }
}

function known(_key: string, value: string): unknown {
  if (!/^\s*[{"]/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return malformed('the value', value, 'JSON or host:port')
  }
}

/** What Go's `endpoints.Manager` writes: `{"Op":0,"Addr":"10.0.0.1:8080","Metadata":…}`; only presence counts, not Op. */
function namingAt(entry: Record<string, unknown>, rest: string, where: string): Found {
  const at = addressOf(textAt(entry.Addr, `${where}: Addr`), `${where}: Addr`)
  const { Metadata: given } = entry
  if (typeof given === 'string') return foundAt(at, given === '' ? {} : { 'etcd.metadata': given }, undefined, rest)
  const { secure, ...metadata } = textsAt(given, `${where}: Metadata`)
  return foundAt({ ...at, secure: at.secure || secure === 'true' }, metadata, undefined, rest)
}

function plainAt(entry: Record<string, unknown>, rest: string, where: string): Found {
  const { url, host, port, secure, instanceId } = entry
  const at =
    url === undefined
      ? { host: hostAt(host, `${where}: host`), port: portAt(port, `${where}: port`), secure: false }
      : addressOf(textAt(url, `${where}: url`), `${where}: url`)
  if (secure !== undefined && typeof secure !== 'boolean') malformed(`${where}: secure`, secure, 'true or false')
  if (instanceId !== undefined) textAt(instanceId, `${where}: instanceId`)
  const metadata = textsAt(entry.metadata, `${where}: metadata`)
  const shorthand = Object.fromEntries(SHORTHANDS.map((name) => [name, entry[name]]))
  const merged = { ...metadata, ...textsAt(shorthand, where) }
  return foundAt({ ...at, secure: at.secure || secure === true }, merged, instanceId as string | undefined, rest)
}

type Address = Pick<Found, 'host' | 'port' | 'secure'>

/** `host:port`, or a URL; a URL's port may be its scheme's. */
function addressOf(text: string, where: string): Address {
  const given = text.trim()
  const hasScheme = given.includes('://')
  const url = URL.canParse(hasScheme ? given : `none://${given}`)
    ? new URL(hasScheme ? given : `none://${given}`)
    : undefined
  const isAddress =
    url !== undefined && url.hostname !== '' && /^\/?$/.test(url.pathname) && url.search + url.hash === ''
  if (!isAddress || url.username + url.password !== '') return malformed(where, text, 'host:port or a URL')
  const { protocol } = url
  const ports: Record<string, string> = { 'http:': '80', 'https:': '443' }
  const port = url.port === '' ? ports[protocol] : url.port
  return {
    host: hostAt(decoded(url.hostname), where),
    port: port === undefined ? malformed(where, text, 'host:port, with a port,') : portAt(port, `${where}: port`),
    secure: protocol === 'https:',
  }
}

function foundAt(at: Address, metadata: Record<string, string>, id: string | undefined, rest: string): Found {
  const { host, port } = at
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return { instanceId: id || rest || address, host, port, secure: at.secure, metadata }
}

/** A URL of an unknown scheme has its host percent-encoded. */
function decoded(host: string): string {
  try {
    return decodeURIComponent(host)
  } catch {
    return host
  }
}
