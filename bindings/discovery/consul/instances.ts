/** @module From an answer of `/v1/health/service` to instances. */

import { isObject } from '../../config/check.js'
import { DiscoveryError } from '../../errors.js'
import { MAX_WEIGHT } from '../../instance.js'
import { messageOf } from '../message-of.js'
import type { Found } from '../registry/list-keeper.js'
import { malformed, objectAt, portAt, textAt, textsAt } from '../registry/reading.js'
import { type ConsulStatus, STATUS_WORDS, worstOf } from './health.js'
import type { ConsulDiscoveryOptions } from './options.js'

export type ReadingOptions = Pick<ConsulDiscoveryOptions, 'health' | 'zoneFrom' | 'secure' | 'defaultPort'>

export interface Instances {
  readonly found: readonly Found[]
  readonly unreadable: readonly string[]
  /** How many are not listed for what their checks say. */
  readonly unhealthy: number
}

interface Entry {
  readonly found: Found
  readonly status: ConsulStatus
  readonly node: string
}

/** @throws EVENKEEL_DISCOVERY, malformed, where there are entries and none can be read */
export function readInstances(entries: readonly unknown[], options: ReadingOptions): Instances {
  const unreadable: string[] = []
  const read: Entry[] = []
  let firstError: unknown
  for (const [i, entry] of entries.entries()) {
    try {
      read.push(readEntry(entry, `[${i}]`, options))
    } catch (error) {
      firstError ??= error
      unreadable.push(messageOf(error))
    }
  }
  if (read.length === 0 && unreadable.length > 0) {
    const message = `none of the ${unreadable.length} instances that Consul listed can be read: ${unreadable[0]}`
    throw new DiscoveryError(message, { failure: 'malformed', cause: firstError })
  }
  const named = withOwnIds(read)
  const listed = named.filter(({ status }) => isListed(status, options.health ?? 'warning'))
  return { found: listed.map(({ found }) => found), unreadable, unhealthy: named.length - listed.length }
}

function isListed(status: ConsulStatus, health: 'passing' | 'warning' | 'any'): boolean {
  return health === 'any' || status === 'passing' || (status === 'warning' && health === 'warning')
}

function readEntry(value: unknown, where: string, options: ReadingOptions): Entry {
  const entry = objectAt(value, where)
  const service = objectAt(entry.Service, `${where}.Service`)
  const node = isObject(entry.Node) ? entry.Node : {}
  const instanceId = textAt(service.ID, `${where}.Service.ID`)
  if (instanceId === '') malformed(`${where}.Service.ID`, instanceId, 'a non-empty text')
  const at = `${where} "${instanceId}"`
  const status = worstOf(entry.Checks, `${at}: Checks`)
  const tags = Array.isArray(service.Tags) ? service.Tags.filter((tag) => typeof tag === 'string') : []
  const meta = { ...tagged(tags), ...textsAt(service.Meta, `${at}: Service.Meta`) }
  const nodeName = textOr(node.Node)
  const zone = zoneOf(service, node, meta, options.zoneFrom ?? 'service')
  const datacenter = textOr(node.Datacenter)
  return {
    status,
    node: nodeName,
    found: {
      instanceId,
      host: hostOf(service, node, at),
      port: portOf(service, at, options.defaultPort),
      secure: options.secure ?? isSecure(meta),
      metadata: {
        ...meta,
        ...(zone !== '' && { zone }),
        weight: weightOf(service.Weights, meta.weight, status),
        status: STATUS_WORDS[status],
        'consul.status': status,
        ...(nodeName !== '' && { 'consul.node': nodeName }),
        ...(datacenter !== '' && { 'consul.datacenter': datacenter }),
        ...(tags.length > 0 && { 'consul.tags': tags.join(',') }),
      },
      // Of two entries for one address, the healthier.
      rank: status === 'passing' ? 2 : status === 'warning' ? 1 : 0,
    },
  }
}

/** A service's id is its own on its node only: where others have it too, each is told apart by its node. */
function withOwnIds(entries: readonly Entry[]): readonly Entry[] {
  const addresses = new Map<string, string>()
  const shared = new Set<string>()
  for (const { found } of entries) {
    const address = `${found.host}:${found.port}`
    const other = addresses.get(found.instanceId)
    if (other === undefined) addresses.set(found.instanceId, address)
    else if (other !== address) shared.add(found.instanceId)
  }
  if (shared.size === 0) return entries
  return entries.map((entry) => {
    const { found, node } = entry
    if (!shared.has(found.instanceId) || node === '') return entry
    return { ...entry, found: { ...found, instanceId: `${node}/${found.instanceId}` } }
  })
}

/** Before services had a Meta, what is in it now stood in tags like `zone=a`. */
function tagged(tags: readonly string[]): Record<string, string> {
  const metadata: Record<string, string> = {}
  for (const tag of tags) {
    const end = tag.indexOf('=')
    if (end > 0) metadata[tag.slice(0, end)] = tag.slice(end + 1)
  }
  return metadata
}

function hostOf(service: Record<string, unknown>, node: Record<string, unknown>, at: string): string {
  const host = textOr(service.Address) || textOr(node.Address) || textOr(node.Node)
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  return bare === '' || /[/?#@\\\s]/.test(bare)
    ? malformed(`${at}: Service.Address or Node.Address`, host, 'a host')
    : bare
}

function portOf(service: Record<string, unknown>, at: string, defaultPort: number | undefined): number {
  const { Port: port } = service
  if (defaultPort !== undefined && (port === 0 || port === null || port === undefined)) return defaultPort
  return portAt(port, `${at}: Service.Port`)
}

function isSecure({ secure, scheme }: Record<string, string>): boolean {
  return secure === undefined ? scheme === 'https' || scheme === 'wss' : secure.toLowerCase() === 'true'
}

function zoneOf(
  service: Record<string, unknown>,
  node: Record<string, unknown>,
  meta: Record<string, string>,
  from: NonNullable<ReadingOptions['zoneFrom']>,
): string {
  if (from === 'datacenter') return textOr(node.Datacenter)
  if (from === 'locality') return textOr(memberOf(service.Locality, 'Zone')) || textOr(memberOf(node.Locality, 'Zone'))
  if (from === 'service') return meta.zone ?? ''
  if (from === 'node') return textOr(memberOf(node.Meta, 'zone'))
  if ('service' in from) return meta[from.service] ?? ''
  return textOr(memberOf(node.Meta, from.node))
}

/**
 * Consul has 1 and 1 where nobody gave weights, which says nothing: the metadata's own `weight` counts then. Nobody can
 * register `Passing: 0`, so that is also how an instance without traffic is registered.
 */
function weightOf(weights: unknown, own: string | undefined, status: ConsulStatus): string {
  const passing = memberOf(weights, 'Passing')
  const warning = memberOf(weights, 'Warning')
  const isDefault = (passing ?? 1) === 1 && (warning ?? 1) === 1
  if (isDefault && own !== undefined && own.trim() !== '' && isWeight(Number(own))) return String(Number(own))
  const weight = status === 'passing' ? passing : warning
  return String(isWeight(weight) ? weight : 1)
}

const isWeight = (value: unknown) => typeof value === 'number' && value >= 0 && value <= MAX_WEIGHT

function memberOf(value: unknown, key: string): unknown {
  return isObject(value) ? value[key] : undefined
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
