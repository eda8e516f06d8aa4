/** @module Whom the slices of a service name together. */

import { DiscoveryError } from '../../errors.js'
import { messageOf } from '../message-of.js'
import type { Found } from '../registry/list-keeper.js'
import type { KubernetesDiscoveryOptions } from './options.js'
import { type ChosenPort, portOf } from './port-of.js'
import { FAMILIES, type Slice, type SliceEndpoint } from './slice.js'
import type { KeptSlice } from './slice-store.js'

export type ReadingOptions = Pick<
  KubernetesDiscoveryOptions,
  'port' | 'secure' | 'family' | 'zone' | 'hints' | 'serving' | 'labelPrefix'
>

export interface Reading {
  readonly found: readonly Found[]
  readonly unreadable: readonly string[]
  /** For `describe`: what was decided. */
  readonly remarks: Record<string, string>
}

interface Candidate extends KeptSlice {
  readonly endpoint: SliceEndpoint
}

/** Labels that say nothing which the list itself does not. */
const OWN_LABELS = new Set(['kubernetes.io/service-name', 'endpointslice.kubernetes.io/managed-by'])

/** @throws EVENKEEL_DISCOVERY, malformed, where there are endpoints and none can be read */
export function instancesOf(slices: readonly KeptSlice[], namespace: string, options: ReadingOptions): Reading {
  const all = slices.flatMap((kept) => kept.slice.endpoints.map((endpoint) => ({ ...kept, endpoint })))
  const unreadable = slices.flatMap(({ slice }) => slice.unreadable)
  if (all.length === 0 && unreadable.length > 0) refuse(unreadable)
  const { usable, remarks } = usableOf(all, options)
  const near = nearOf(usable, options)
  const read = new Map<Slice, PortReading>()
  const found = near.candidates.flatMap((candidate) => {
    const { slice } = candidate
    let reading = read.get(slice)
    if (reading === undefined) read.set(slice, (reading = readPort(slice, options)))
    return reading.port === undefined ? [] : [foundOf(candidate, reading.port, namespace, options)]
  })
  for (const { reason } of read.values()) if (reason !== undefined) unreadable.push(reason)
  if (found.length === 0 && near.candidates.length > 0) refuse(unreadable)
  return { found, unreadable, remarks: { ...remarks, ...near.remarks } }
}

function refuse(unreadable: readonly string[]): never {
  const message = `kubernetes: none of the endpoints can be read: ${unreadable.slice(0, 3).join('; ')}`
  throw new DiscoveryError(message, { failure: 'malformed' })
}

/** Of one family, and ready. While nobody is: who shuts down and still serves, as kube-proxy has it (KEP-1669). */
function usableOf(all: readonly Candidate[], { family: wanted, serving = 'fallback' }: ReadingOptions) {
  const families: readonly string[] = wanted === undefined ? FAMILIES : [wanted]
  const leaving = ({ endpoint }: Candidate) => endpoint.serving && endpoint.terminating
  for (const isUsable of [({ endpoint }: Candidate) => endpoint.ready, ...(serving === 'fallback' ? [leaving] : [])]) {
    for (const family of families) {
      const usable = all.filter((each) => each.slice.family === family && isUsable(each))
      if (usable.length === 0) continue
      const isFallback = isUsable === leaving
      return { usable, remarks: { family, ...(isFallback && { serving: 'nobody is ready, who shuts down serves' }) } }
    }
  }
  return { usable: [], remarks: {} }
}

/** By the hints, if all have some and somebody is meant for this zone: half-given hints would overload a few. */
function nearOf(usable: readonly Candidate[], { zone, hints = true }: ReadingOptions) {
  const near = usable.filter(({ endpoint }) => zone !== undefined && endpoint.forZones?.includes(zone))
  const isHinted = hints && near.length > 0 && usable.every(({ endpoint }) => endpoint.forZones !== undefined)
  return isHinted
    ? { candidates: near, remarks: { hints: `followed: ${near.length} of ${usable.length} for zone ${zone}` } }
    : { candidates: usable, remarks: {} }
}

interface PortReading {
  readonly port?: ChosenPort
  readonly reason?: string
}

function readPort(slice: Slice, { port }: ReadingOptions): PortReading {
  try {
    return { port: portOf(slice, port) }
  } catch (error) {
    return { reason: messageOf(error) }
  }
}

function foundOf(
  { slice, endpoint, rank }: Candidate,
  port: ChosenPort,
  namespace: string,
  options: ReadingOptions,
): Found {
  const { address, uid } = endpoint
  return {
    instanceId: uid ?? `${address.includes(':') ? `[${address}]` : address}:${port.number}`,
    host: address,
    port: port.number,
    secure: options.secure ?? port.secure,
    metadata: metadataOf(slice, endpoint, namespace, options),
    rank,
  }
}

function metadataOf(
  slice: Slice,
  endpoint: SliceEndpoint,
  namespace: string,
  { labelPrefix = 'label.' }: ReadingOptions,
) {
  const { zone, node, hostname, pod } = endpoint
  const metadata: Record<string, string> = {}
  for (const [name, value] of Object.entries(slice.labels)) {
    if (!OWN_LABELS.has(name)) metadata[`${labelPrefix}${name}`] = value
  }
  for (const { name, number } of slice.ports) {
    if (name !== '' && number !== undefined) metadata[`kubernetes.port.${name}`] = String(number)
  }
  metadata['kubernetes.namespace'] = namespace
  if (node !== undefined) metadata['kubernetes.node'] = node
  if (pod !== undefined) metadata['kubernetes.pod'] = pod
  if (hostname !== undefined) metadata['kubernetes.hostname'] = hostname
  if (!endpoint.ready) metadata['kubernetes.terminating'] = 'true'
  if (zone !== undefined) metadata.zone = zone
  // Who is listed takes requests.
  metadata.status = 'UP'
  return metadata
}
