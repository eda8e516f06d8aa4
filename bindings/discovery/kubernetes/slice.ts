/** @module One EndpointSlice of discovery.k8s.io/v1, read. */

import { messageOf } from '../message-of.js'
import { arrayAt, malformed, objectAt, portAt, textAt, textsAt } from '../registry/reading.js'

export const FAMILIES = ['IPv4', 'IPv6', 'FQDN'] as const

export interface SlicePort {
  /** Empty for the only one of a service. */
  readonly name: string
  /** Undefined: any. */
  readonly number: number | undefined
  readonly protocol: string
  readonly appProtocol: string
}

export interface SliceEndpoint {
  readonly address: string
  readonly ready: boolean
  readonly serving: boolean
  readonly terminating: boolean
  readonly zone: string | undefined
  /** Undefined: it has no hints. */
  readonly forZones: readonly string[] | undefined
  readonly node: string | undefined
  readonly hostname: string | undefined
  readonly pod: string | undefined
  readonly uid: string | undefined
}

export interface Slice {
  readonly name: string
  readonly resourceVersion: string
  /** Of slices that came in one answer the later one is newer. */
  readonly changedAtMs: number
  readonly family: string
  readonly labels: Readonly<Record<string, string>>
  readonly ports: readonly SlicePort[]
  readonly endpoints: readonly SliceEndpoint[]
  /** Endpoints that could not be read, with the reason. */
  readonly unreadable: readonly string[]
}

/** What is read of an object's metadata whatever else it has. @throws EVENKEEL_DISCOVERY, malformed */
export function metadataOf(object: unknown, where: string) {
  const metadata = objectAt(objectAt(object, where).metadata, `${where}.metadata`)
  return { metadata, resourceVersion: textAt(metadata.resourceVersion, `${where}.metadata.resourceVersion`) }
}

/** @throws EVENKEEL_DISCOVERY, malformed, for what is no slice; a bad endpoint is only named */
export function readSlice(object: unknown, where: string): Slice {
  const { metadata, resourceVersion } = metadataOf(object, where)
  const { addressType, endpoints, ports } = object as Record<string, unknown>
  const name = textAt(metadata.name, `${where}.metadata.name`)
  const family = textAt(addressType, `slice ${name}: addressType`)
  if (!FAMILIES.some((each) => each === family)) malformed(`slice ${name}: addressType`, family, FAMILIES.join(' or '))
  const read: SliceEndpoint[] = []
  const unreadable: string[] = []
  for (const [i, endpoint] of arrayOrNone(endpoints, `slice ${name}: endpoints`).entries()) {
    try {
      read.push(readEndpoint(endpoint, `slice ${name}: endpoints[${i}]`))
    } catch (error) {
      unreadable.push(messageOf(error))
    }
  }
  return {
    name,
    resourceVersion,
    changedAtMs: changedAt(metadata),
    family,
    labels: textsAt(metadata.labels, `slice ${name}: labels`),
    ports: arrayOrNone(ports, `slice ${name}: ports`).map((port, i) => readPort(port, `slice ${name}: ports[${i}]`)),
    endpoints: read,
    unreadable,
  }
}

function readPort(value: unknown, where: string): SlicePort {
  const { name, port, protocol, appProtocol } = objectAt(value, where)
  return {
    name: optional(name, `${where}.name`) ?? '',
    number: port === undefined || port === null ? undefined : portAt(port, `${where}.port`),
    protocol: optional(protocol, `${where}.protocol`) ?? 'TCP',
    appProtocol: optional(appProtocol, `${where}.appProtocol`) ?? '',
  }
}

function readEndpoint(value: unknown, where: string): SliceEndpoint {
  const endpoint = objectAt(value, where)
  // They are interchangeable by definition.
  const [address] = arrayAt(endpoint.addresses, `${where}.addresses`)
  if (typeof address !== 'string' || !/^[\w.:-]+$/.test(address)) malformed(`${where}.addresses[0]`, address, 'a host')
  const conditions = objectAt(endpoint.conditions ?? {}, `${where}.conditions`)
  const ready = flag(conditions.ready, `${where}.conditions.ready`) ?? true
  const target = objectAt(endpoint.targetRef ?? {}, `${where}.targetRef`)
  return {
    address,
    ready,
    serving: flag(conditions.serving, `${where}.conditions.serving`) ?? ready,
    terminating: flag(conditions.terminating, `${where}.conditions.terminating`) ?? false,
    zone: optional(endpoint.zone, `${where}.zone`) ?? oldTopology(endpoint, where)['topology.kubernetes.io/zone'],
    forZones: hintsOf(endpoint.hints, `${where}.hints`),
    node: optional(endpoint.nodeName, `${where}.nodeName`) ?? oldTopology(endpoint, where)['kubernetes.io/hostname'],
    hostname: optional(endpoint.hostname, `${where}.hostname`),
    pod: target.kind === 'Pod' ? optional(target.name, `${where}.targetRef.name`) : undefined,
    uid: optional(target.uid, `${where}.targetRef.uid`),
  }
}

/** Of v1beta1, and what v1 keeps of it. */
function oldTopology({ topology, deprecatedTopology }: Record<string, unknown>, where: string) {
  return textsAt(deprecatedTopology ?? topology, `${where}.topology`)
}

function hintsOf(value: unknown, where: string): readonly string[] | undefined {
  const { forZones } = objectAt(value ?? {}, where)
  const zones = arrayOrNone(forZones, `${where}.forZones`).map((zone, i) => {
    return textAt(objectAt(zone, `${where}.forZones[${i}]`).name, `${where}.forZones[${i}].name`)
  })
  return zones.length === 0 ? undefined : zones
}

/** When the pods changed whose change the slice tells; else when it was made. */
function changedAt({ annotations, creationTimestamp }: Record<string, unknown>): number {
  const trigger = (annotations as Record<string, unknown> | null | undefined)?.[
    'endpoints.kubernetes.io/last-change-trigger-time'
  ]
  return Date.parse(String(trigger ?? creationTimestamp)) || 0
}

/** Go writes an empty list as null. */
function arrayOrNone(value: unknown, where: string): readonly unknown[] {
  return value === undefined || value === null ? [] : arrayAt(value, where)
}

/** Undefined where it is missing, null or empty. */
function optional(value: unknown, where: string): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : textAt(value, where)
}

function flag(value: unknown, where: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'boolean' ? value : malformed(where, value, 'true or false')
}
