/** @module One instance as Eureka's JSON has it, with all that older servers write differently. */

import { isObject } from '../../config/check.js'
import { messageOf } from '../message-of.js'
import type { Found } from '../registry/list-keeper.js'
import { malformed, portAt, textsAt } from '../registry/reading.js'
import type { EurekaSettings } from './options.js'

/** What is kept of an instance. */
export interface Entry {
  /** `APP/id`: an id is one application's. */
  readonly key: string
  /** Counts in the hash, readable or not. */
  readonly status: string
  /** Service ids that name it, in upper case. */
  readonly names: readonly string[]
  /** Undefined: it can't be read. */
  readonly found: Found | undefined
  readonly unreadable: string | undefined
}

export type EntrySettings = Pick<EurekaSettings, 'lookup' | 'preferIp' | 'preferSecure' | 'zone'>

const STATUSES = new Set(['UP', 'DOWN', 'STARTING', 'OUT_OF_SERVICE', 'UNKNOWN'])

/** InstanceInfo of Netflix: what counts where the element is missing. */
const DEFAULT_PORT = 7001
const DEFAULT_SECURE_PORT = 7002

/** @param app in upper case */
export function entryOf(raw: Record<string, unknown>, app: string, settings: EntrySettings): Entry {
  const id = idOf(raw)
  const status = statusOf(raw.status)
  const names = settings.lookup === 'app' ? [app] : vipsOf(raw, settings.lookup).map((vip) => vip.toUpperCase())
  const key = `${app}/${id}`
  try {
    return { key, status, names, found: foundOf(raw, id, status, settings), unreadable: undefined }
  } catch (error) {
    return { key, status, names, found: undefined, unreadable: `"${key}": ${messageOf(error)}` }
  }
}

/** The VIP addresses of an instance, as they are written. */
export function vipsOf(raw: Record<string, unknown>, lookup: EurekaSettings['lookup']): string[] {
  const given = lookup === 'svip' ? raw.secureVipAddress : raw.vipAddress
  if (typeof given !== 'string') return []
  return given.split(',').flatMap((each) => each.trim() || [])
}

export function saysTheSame(a: Entry, b: Entry): boolean {
  if (a.status !== b.status || a.unreadable !== b.unreadable || a.names.length !== b.names.length) return false
  if (!a.names.every((name, i) => name === b.names[i])) return false
  const [one, other] = [a.found, b.found]
  if (one === undefined || other === undefined) return one === other
  if (one.host !== other.host || one.port !== other.port || one.secure !== other.secure) return false
  if (one.rank !== other.rank) return false
  const keys = Object.keys(one.metadata)
  if (keys.length !== Object.keys(other.metadata).length) return false
  return keys.every((key) => one.metadata[key] === other.metadata[key])
}

function foundOf(raw: Record<string, unknown>, id: string, status: string, settings: EntrySettings): Found {
  const { preferIp, zone: ownZone } = settings
  const [first, second] = preferIp ? [raw.ipAddr, raw.hostName] : [raw.hostName, raw.ipAddr]
  const host = (textOf(first) || textOf(second)).replace(/^\[(.*)\]$/, '$1')
  if (host === '' || /[/?#@\\\s]/.test(host)) malformed(preferIp ? 'ipAddr' : 'hostName', first, 'a host')
  const { '@class': _, ...metadata } = textsAt(raw.metadata, 'metadata')
  const zone = metadata.zone || textOf(amazon(raw)['availability-zone']) || ownZone
  const overridden = textOf(raw.overriddenStatus) || textOf(raw.overriddenstatus)
  return {
    instanceId: id || host,
    host,
    ...portOf(raw, settings.preferSecure),
    metadata: {
      ...metadata,
      ...(zone !== undefined && { zone }),
      ...(overridden !== '' && overridden !== 'UNKNOWN' && { 'eureka.overriddenStatus': overridden }),
      status,
    },
    rank: rankOf(raw, status),
  }
}

/** A port that is not said to be disabled is not thereby enabled: only the plain one is, where it is missing. */
function portOf(raw: Record<string, unknown>, preferSecure: boolean): { port: number; secure: boolean } {
  const isEnabled = { plain: enabled(raw.port, true), secure: enabled(raw.securePort, false) }
  const secure = isEnabled.secure && (preferSecure || !isEnabled.plain)
  const port = secure
    ? numberOf(raw.securePort, 'securePort', DEFAULT_SECURE_PORT)
    : numberOf(raw.port, 'port', DEFAULT_PORT)
  return { port, secure }
}

function enabled(port: unknown, missing: boolean): boolean {
  if (!isObject(port)) return missing
  const flag = port['@enabled'] ?? missing
  return flag === true || flag === 'true'
}

/** `{ "$": 8080 }`, or with a text; some servers write the number alone. */
function numberOf(port: unknown, where: string, missing: number): number {
  if (port === undefined || port === null) return missing
  return portAt(isObject(port) ? port.$ : port, where)
}

/** InstanceInfo.getId: the id, or that of the machine at Amazon, or the host. */
function idOf(raw: Record<string, unknown>): string {
  return textOf(raw.instanceId) || textOf(amazon(raw)['instance-id']) || textOf(raw.hostName) || textOf(raw.ipAddr)
}

function amazon({ dataCenterInfo }: Record<string, unknown>): Record<string, unknown> {
  return isObject(dataCenterInfo) && isObject(dataCenterInfo.metadata) ? dataCenterInfo.metadata : {}
}

function statusOf(given: unknown): string {
  const status = textOf(given).toUpperCase()
  return STATUSES.has(status) ? status : 'UNKNOWN'
}

/** Of two at one address who is UP counts, and then who was registered later: the other has not expired yet. */
function rankOf({ lastDirtyTimestamp }: Record<string, unknown>, status: string): number {
  const at = Number(lastDirtyTimestamp)
  return (status === 'UP' ? 2 ** 50 : 0) + (Number.isFinite(at) ? at : 0)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}
