/** @module The services that a file names, each with its instances and its own options. */

import { ConfigError } from '../index.js'
import type { InstanceInit } from '../types/instance.js'
import type { ServiceOptions } from '../types/options.js'
import { difference } from './difference.js'
import { addressOf } from './instances.js'
import type { Report } from './report.js'
import type { Scopes } from './scopes.js'
import { serviceOptions } from './service-options.js'
import type { Settings } from './settings.js'
import type { Listed } from './simple-discovery.js'

/** What was read, by where it stood. */
export interface Found {
  readonly sclb: Scopes
  readonly ribbon: Scopes
  readonly listed: Listed
}

interface Translated {
  readonly defaults: ServiceOptions
  readonly services: Record<string, ServiceOptions>
}

/** What the file says of the client itself. */
interface Self {
  /** Its name, for `subset`. */
  readonly instanceId: string | undefined
  /** For zone affinity. */
  readonly zone: string | undefined
}

export function translateServices(found: Found, { instanceId, zone }: Self, report: Report): Translated {
  const { sclb, ribbon } = found
  const all = sclb.all.over(ribbon.all)
  if (instanceId === undefined) needName(all, report)
  if (zone === undefined) needZone(all, report)
  const defaults = serviceOptions(all, undefined, report)
  const eager = eagerIn(found)
  const services: Record<string, ServiceOptions> = {}
  for (const id of new Set([...sclb.ids, ...ribbon.ids, ...found.listed.keys(), ...eager, ...pathsIn(all)])) {
    const settings = sclb.effective(id).over(ribbon.effective(id))
    keepGate(settings, sclb.all, report)
    if (instanceId === undefined) needName(settings, report)
    if (zone === undefined) needZone(settings, report)
    const instances = instancesOf(id, settings, found)
    const service: ServiceOptions = {
      ...(instances !== undefined && { instances }),
      ...difference(serviceOptions(settings, id, report), defaults),
      ...(eager.includes(id) && { eager: true }),
    }
    if (Object.keys(service).length > 0) services[id] = service
  }
  return { defaults, services }
}

/** A subset can't be worked out for a client without a name; SCLB fails there with a NullPointerException. */
function needName(settings: Settings, report: Report): void {
  const from = settings.from('chain')
  if (from === undefined || settings.get('chain') !== 'subset' || settings.get('subset.instanceId') !== undefined)
    return
  report.warn(
    from,
    'a subset needs a name of this client, and the file has none: give createLoadBalancer an instanceId, such as ' +
      'the host or pod name',
  )
}

/** Without its own zone a client keeps to none. */
function needZone(settings: Settings, report: Report): void {
  for (const slot of ['zoneFilter.affinity', 'zoneFilter.exclusive'] as const) {
    const from = settings.from(slot)
    if (from === undefined || !settings.get(slot)) continue
    report.warn(from, 'the file does not say in which zone this client is: give createLoadBalancer its zone')
  }
}

function eagerIn({ sclb, ribbon }: Found): readonly string[] {
  const ribbons = ribbon.all.get('ribbon.eagerEnabled') ? (ribbon.all.get('eager') ?? []) : []
  return [...(sclb.all.get('eager') ?? []), ...ribbons]
}

/** Services whose health is checked at a path of their own. */
function pathsIn(all: Settings): readonly string[] {
  if (all.get('chain') !== 'health-check') return []
  return Object.keys(all.get('healthCheck.path') ?? {}).filter((id) => id.toLowerCase() !== 'default')
}

/** `retry.enabled: false` for all is a gate: a client may switch retries off, but not on. */
function keepGate(settings: Settings, all: Settings, report: Report): void {
  const from = settings.from('retry.enabled')
  if (all.get('retry.enabled') !== false || settings.get('retry.enabled') === false || from === undefined) return
  report.warn(from, 'not used: SCLB retries for no client while retry.enabled is false for all of them')
  settings.set('retry.enabled', false, from)
}

function instancesOf(id: string, settings: Settings, { listed }: Found): readonly InstanceInit[] | undefined {
  const entries = listed.get(id)
  if (entries === undefined) return ribbonServers(settings)
  return [...entries]
    .sort(([a], [b]) => a - b)
    .map(([, { instance, first }]) => {
      if (instance.host !== undefined) return instance
      const entry = first.key.slice(0, first.key.lastIndexOf(']') + 1)
      throw new ConfigError(`${first.key} (line ${first.line}): ${entry} needs a uri or a host`, { option: first.key })
    })
}

/** Ports that Spring takes for TLS unless IsSecure says otherwise. */
const SECURE_PORTS = [443, 8443]

function ribbonServers(settings: Settings): readonly InstanceInit[] | undefined {
  const servers = settings.get('ribbon.servers')
  const { key } = settings.from('ribbon.servers') ?? {}
  return servers?.map((server) => {
    const address = addressOf(server)
    if (address === undefined) {
      throw new ConfigError(`${key} must be a list of host:port, not ${JSON.stringify(server)}`, { option: `${key}` })
    }
    const { host, port = address.secure ? 443 : 80 } = address
    const secure = settings.get('ribbon.secure') ?? (address.secure || SECURE_PORTS.includes(port))
    return { host, port, ...(secure && { secure }) }
  })
}
