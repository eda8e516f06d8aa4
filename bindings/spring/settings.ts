/** @module What the keys of a file come to, before it is made into options: one slot for each thing that can be said. */

import type { CaffeineSpec } from './caffeine.js'
import type { Exceptions } from './exceptions.js'
import type { Property } from './property.js'
import type { ClassChoice } from './ribbon-classes.js'

export const CHAINS = [
  'default',
  'zone-preference',
  'health-check',
  'request-based-sticky-session',
  'same-instance-preference',
  'weighted',
  'subset',
  'api-version',
] as const

/** SCLB's `configurations`. */
export type Chain = (typeof CHAINS)[number]

type Texts = Readonly<Record<string, string>>

/** The part before the dot is the group that the options' code asks for as a whole. */
export interface Slots {
  zone: string
  eager: readonly string[]
  chain: Chain
  hints: Texts
  rule: ClassChoice
  balancer: ClassChoice
  filter: ClassChoice
  ping: ClassChoice
  updater: ClassChoice
  xForwarded: boolean
  discoveryTimeoutMs: number
  callGetWithRequestOnDelegates: boolean
  'hint.header': string
  'cache.enabled': boolean
  'cache.ttlMs': number
  'cache.spec': CaffeineSpec
  'healthCheck.initialDelayMs': number
  'healthCheck.intervalMs': number
  'healthCheck.path': Texts
  'healthCheck.port': number
  'healthCheck.publish': 'round' | 'each'
  'healthCheck.refetch': boolean
  'healthCheck.refetchMs': number
  'healthCheck.repeat': boolean
  'retry.enabled': boolean
  'retry.avoidPreviousInstance': boolean
  'retry.exceptions': Exceptions
  'retry.maxRetriesOnNextServiceInstance': number
  'retry.maxRetriesOnSameServiceInstance': number
  'retry.retryOnAllExceptions': boolean
  'retry.retryOnAllOperations': boolean
  'retry.statusCodes': readonly number[]
  'backoff.enabled': boolean
  'backoff.jitter': number
  'backoff.maxMs': number
  'backoff.minMs': number
  'stickySession.addServiceInstanceCookie': boolean
  'stickySession.cookie': string
  'subset.instanceId': string
  'subset.size': number
  'apiVersion.default': string
  'apiVersion.fallback': 'all' | 'none'
  'apiVersion.header': string
  'apiVersion.mediaType': Texts
  'apiVersion.pathSegment': number
  'apiVersion.query': string
  'apiVersion.required': boolean
  'affinity.maxBlackOutShare': number
  'affinity.maxLoadPerServer': number
  'affinity.minAvailable': number
  'availability.activeLimit': number
  'availability.allLimit': number
  'availability.filterTripped': boolean
  'pings.intervalMs': number
  'pings.timeoutMs': number
  'prime.attempts': number
  'prime.enabled': boolean
  'prime.minShare': number
  'prime.path': string
  'prime.totalMs': number
  'serverListSubset.connectionThreshold': number
  'serverListSubset.failureThreshold': number
  'serverListSubset.forceEliminatePercent': number
  'serverListSubset.size': number
  'serverStats.activeExpiryMs': number
  'serverStats.connectionFailureThreshold': number
  'serverStats.maxTripMs': number
  'serverStats.tripFactorMs': number
  'weights.updateMs': number
  'zoneAware.enabled': boolean
  'zoneFilter.affinity': boolean
  'zoneFilter.exclusive': boolean
  'zoneRule.enabled': boolean
  'zones.avoidAboveTripped': number
  'zones.triggeringLoad': number
  'metrics.enabled': boolean
  'metrics.includePath': boolean
  'ribbon.connectTimeoutMs': number
  'ribbon.eagerEnabled': boolean
  'ribbon.refreshMs': number
  'ribbon.readTimeoutMs': number
  'ribbon.secure': boolean
  'ribbon.servers': readonly string[]
}

export type Slot = keyof Slots

interface Setting {
  readonly value: unknown
  readonly from: Property
}

/** The settings of all clients together, or of one. */
export class Settings {
  readonly #settings = new Map<Slot, Setting>()

  get<S extends Slot>(slot: S): Slots[S] | undefined {
    return this.#settings.get(slot)?.value as Slots[S] | undefined
  }

  /** The property that set the slot. */
  from(slot: Slot): Property | undefined {
    return this.#settings.get(slot)?.from
  }

  set(slot: Slot, value: unknown, from: Property): void {
    this.#settings.set(slot, { value, from })
  }

  /** One entry of a slot that is a map. */
  put(slot: Slot, key: string, value: unknown, from: Property): void {
    this.#settings.set(slot, { value: { ...(this.#settings.get(slot)?.value as object), [key]: value }, from })
  }

  delete(slot: Slot): void {
    this.#settings.delete(slot)
  }

  /** What is set in a group, by the names after the dot, with the properties that set it. */
  group(name: string): { values: Record<string, unknown>; from: readonly Property[] } {
    const values: Record<string, unknown> = {}
    const from: Property[] = []
    for (const [slot, setting] of this.#settings) {
      if (!slot.startsWith(`${name}.`)) continue
      values[slot.slice(name.length + 1)] = setting.value
      from.push(setting.from)
    }
    return { values, from }
  }

  /** These over others: maps are merged, all else is replaced. */
  over(base: Settings): Settings {
    const merged = new Settings()
    for (const [slot, { value, from }] of base.#settings) merged.set(slot, value, from)
    for (const [slot, { value, from }] of this.#settings) {
      const below = MAPS.has(slot) ? (base.get(slot) as Texts | undefined) : undefined
      merged.set(slot, below === undefined ? value : { ...below, ...(value as Texts) }, from)
    }
    return merged
  }
}

const MAPS: ReadonlySet<Slot> = new Set(['hints', 'healthCheck.path', 'apiVersion.mediaType'])
