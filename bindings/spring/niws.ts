/**
 * @module Ribbon's keys outside of its namespace: `niws.loadbalancer.<client>.<key>` with `default` for all clients,
 * `niws.loadbalancer.<part>.<key>`, `ZoneAwareNIWSDiscoveryLoadBalancer.<client>.<key>`.
 */

import { nearest } from './distance.js'
import { apply, type Reading, to } from './key.js'
import { type Element, relaxed, relaxedName, spelled } from './name.js'
import type { Property } from './property.js'
import { boolean, fraction, positiveSeconds, seconds, whole } from './readers.js'
import type { Scopes } from './scopes.js'
import { type Table, tableOf } from './table.js'

const MOST = 2 ** 31 - 1

interface Prefix {
  readonly name: readonly string[]
  /** Of each client. */
  readonly client: Table
  /** Of all clients, in whole. */
  readonly all: Table
  /** Stands for all clients where a client's id is expected. */
  readonly everybody?: string
}

const PREFIXES: readonly Prefix[] = [
  {
    name: ['niws', 'loadbalancer'],
    client: tableOf({
      connectionFailureCountThreshold: to('serverStats.connectionFailureThreshold', whole(0, MOST)),
      circuitTripTimeoutFactorSeconds: to('serverStats.tripFactorMs', seconds),
      circuitTripMaxTimeoutSeconds: to('serverStats.maxTripMs', seconds),
    }),
    all: tableOf({
      'availabilityFilteringRule.activeConnectionsLimit': to('availability.allLimit', whole(-1, MOST)),
      'availabilityFilteringRule.filterCircuitTripped': to('availability.filterTripped', boolean),
      'zoneAvoidanceRule.enabled': to('zoneRule.enabled', boolean),
      'serverStats.activeRequestsCount.effectiveWindowSeconds': to('serverStats.activeExpiryMs', positiveSeconds),
    }),
    everybody: 'default',
  },
  {
    name: ['zoneawareniwsdiscoveryloadbalancer'],
    client: tableOf({
      triggeringLoadPerServerThreshold: to('zones.triggeringLoad', fraction(0, MOST)),
      // Ribbon's spelling.
      avoidZoneWithBlackoutPercetage: to('zones.avoidAboveTripped', fraction(0, 1)),
    }),
    all: tableOf({ enabled: to('zoneAware.enabled', boolean) }),
  },
]

/** Reads the property if it is one of these. */
export function readNiws(property: Property, scopes: Scopes, reading: Reading): boolean {
  const { elements } = property
  const prefix = PREFIXES.find(({ name }) => relaxedName(elements.slice(0, name.length)) === name.join('.'))
  if (prefix === undefined) return false
  const rest = elements.slice(prefix.name.length)
  const shared = prefix.all.find(rest)
  const own = rest.length > 1 ? prefix.client.find(rest.slice(-1)) : undefined
  if (shared !== undefined) apply(shared.key, property, '', scopes.all, reading)
  else if (own !== undefined) apply(own.key, property, '', scopeOf(rest.slice(0, -1), prefix, scopes), reading)
  else reading.report.warn(property, unknown(rest, prefix))
  return true
}

function scopeOf(id: readonly Element[], { everybody }: Prefix, scopes: Scopes) {
  return everybody !== undefined && id.length === 1 && relaxed(id[0]?.text ?? '') === everybody
    ? scopes.all
    : scopes.client(spelled(id))
}

function unknown(rest: readonly Element[], { client, all }: Prefix): string {
  const near =
    nearest(spelled(rest), all.names) ?? (rest.length > 1 ? nearest(spelled(rest.slice(-1)), client.names) : undefined)
  return `not read: Ribbon has no such key${near === undefined ? '' : `; did you mean ${near}?`}`
}
