/** @module Options, read once: checked, overlaid on the defaults, every value with where it came from. */

import { ConfigError } from '../errors.js'
import { type Weighing, weighingOf } from '../supplier/weighted.js'
import type { DiscoveryClient, Policy, Supplier } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import type { LoadBalancerOptions, RetryOptions, ServiceOptions } from '../types/options.js'
import { isObject } from './check.js'
import { msOf } from './duration.js'
import { policyOf, supplierOf } from './names.js'
import { checkServiceOptions, discoveryOf } from './option-checks.js'

export type Origin = 'default' | 'balancer' | 'service'
export type Provenance = Record<string, { value: unknown; from: Origin }>

export interface RetrySettings {
  readonly sameInstance: number
  readonly nextInstance: number
  readonly allOperations: boolean
  readonly methods: readonly string[]
  readonly statusCodes: readonly number[]
  readonly exceptions: ((error: unknown) => boolean) | undefined
  readonly backoff: { readonly minMs: number; readonly maxMs: number; readonly jitter: number } | undefined
  readonly avoidPrevious: boolean
}

export interface ServiceSettings {
  readonly instances: readonly InstanceInit[] | undefined
  readonly discovery: DiscoveryClient | undefined
  readonly cache: { readonly ttlMs: number; readonly staleMs: number } | undefined
  readonly suppliers: readonly Supplier[]
  /** Of the one supplier that attaches weights, if there is one. */
  readonly weighing: Weighing | undefined
  readonly policy: Policy
  readonly eager: boolean
  readonly noInstance: 'throw' | 'response'
  readonly noInstanceStatus: number
  readonly retry: RetrySettings
  readonly attemptTimeoutMs: number | undefined
  readonly timeoutMs: number | undefined
  readonly release: 'headers' | 'body'
  readonly leaseTimeoutMs: number | undefined
  readonly hint: string | undefined
  readonly provenance: Provenance
}

const NO_RETRY: RetrySettings = {
  sameInstance: 0,
  nextInstance: 0,
  allOperations: false,
  methods: [],
  statusCodes: [],
  exceptions: undefined,
  backoff: undefined,
  avoidPrevious: true,
}

const DEFAULTS = {
  cache: { ttlMs: 35_000 },
  suppliers: [] as readonly Supplier[],
  policy: 'round-robin',
  eager: false,
  emptyList: 'trust',
  healthCheck: false,
  noInstance: 'throw',
  noInstanceStatus: 503,
  retry: {
    maxRetriesOnSameServiceInstance: 0,
    maxRetriesOnNextServiceInstance: 1,
    retryOnAllOperations: false,
    methods: ['GET', 'HEAD', 'OPTIONS'],
    statusCodes: [],
    backoff: false,
    avoidPreviousInstance: true,
  },
  release: 'headers',
  xForwarded: false,
} satisfies ServiceOptions

/** Options with the defaults underneath. */
type Effective = ServiceOptions & Required<Pick<ServiceOptions, keyof typeof DEFAULTS>>

/** Merged with the balancer's, key by key. */
const MAPS = ['cache', 'healthCheck', 'retry', 'hints', 'trace']

/** The effective settings of one service. `where` is the path of its options in error messages. */
export function settingsOf(
  serviceId: string,
  own: ServiceOptions | readonly InstanceInit[],
  where: string,
  balancer: Pick<LoadBalancerOptions, 'defaults' | 'discovery'>,
): ServiceSettings {
  const service: ServiceOptions = Array.isArray(own) ? { instances: own } : (own as ServiceOptions)
  checkServiceOptions(service, where)
  const { value, provenance } = overlay(service, balancer)
  if (service.instances !== undefined && service.discovery !== undefined) {
    throw new ConfigError(`${where} has instances and discovery: give one or the other`, { option: where, serviceId })
  }
  const discovery = value.discovery === undefined ? undefined : discoveryOf(value.discovery, `${where}.discovery`)
  if (discovery === undefined && service.instances === undefined) {
    throw new ConfigError(`${where} needs instances or discovery`, { option: where, serviceId })
  }
  const suppliers = value.suppliers.map((given, i) => supplierOf(given, `${where}.suppliers[${i}]`))
  const weighings = suppliers.map(weighingOf).filter((each) => each !== undefined)
  if (weighings.length > 1) {
    throw new ConfigError(
      `${where}.suppliers: a service has one weight per instance, so "weighted" can be listed once`,
      { option: `${where}.suppliers`, serviceId },
    )
  }
  const ttlMs = value.cache === false ? 0 : (msOf(value.cache?.ttlMs) ?? DEFAULTS.cache.ttlMs)
  return {
    instances: service.instances,
    discovery,
    cache: value.cache === false ? undefined : { ttlMs, staleMs: msOf(value.cache?.staleMs) ?? ttlMs },
    suppliers,
    weighing: weighings[0],
    policy: policyOf(value.policy, `${where}.policy`),
    eager: value.eager,
    noInstance: value.noInstance,
    noInstanceStatus: value.noInstanceStatus,
    retry: retrySettings(value.retry),
    attemptTimeoutMs: msOf(value.attemptTimeoutMs),
    timeoutMs: msOf(value.timeoutMs),
    release: value.release,
    leaseTimeoutMs: msOf(value.leaseTimeoutMs),
    hint: value.hints?.[serviceId] ?? value.hints?.default,
    provenance,
  }
}

/** Retry options of one call, over the service's; over the defaults where the service has none. */
export function overrideRetry(base: RetrySettings, own: RetryOptions | false): RetrySettings {
  if (own === false) return NO_RETRY
  return { ...(base === NO_RETRY ? retrySettings({}) : base), ...definedSettings(own) }
}

/** Scalars of the service replace the balancer's, maps are merged, lists replaced. */
function overlay(
  service: ServiceOptions,
  balancer: Pick<LoadBalancerOptions, 'defaults' | 'discovery'>,
): { value: Effective; provenance: Provenance } {
  const provenance: Provenance = {}
  const value: Record<string, unknown> = {}
  const layers: [Origin, object][] = [
    ['default', DEFAULTS],
    ['balancer', { ...(balancer.discovery !== undefined && { discovery: balancer.discovery }), ...balancer.defaults }],
    ['service', service],
  ]
  for (const [from, layer] of layers) {
    for (const [key, given] of Object.entries(layer)) {
      if (given === undefined) continue
      value[key] = MAPS.includes(key) && isObject(given) && isObject(value[key]) ? { ...value[key], ...given } : given
      provenance[key] = { value: value[key], from }
    }
  }
  if (service.instances !== undefined) {
    delete value.discovery
    delete provenance.discovery
  }
  return { value: value as unknown as Effective, provenance }
}

function retrySettings(retry: RetryOptions | false): RetrySettings {
  if (retry === false) return NO_RETRY
  return { ...NO_RETRY, ...definedSettings(DEFAULTS.retry), ...definedSettings(retry) }
}

function definedSettings(retry: RetryOptions): Partial<RetrySettings> {
  const { backoff } = retry
  const given: { -readonly [K in keyof RetrySettings]?: RetrySettings[K] | undefined } = {
    sameInstance: retry.maxRetriesOnSameServiceInstance,
    nextInstance: retry.maxRetriesOnNextServiceInstance,
    allOperations: retry.retryOnAllOperations,
    methods: retry.methods?.map((method) => method.toUpperCase()),
    statusCodes: retry.statusCodes,
    exceptions: retry.exceptions,
    avoidPrevious: retry.avoidPreviousInstance,
  }
  const settings = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as Partial<RetrySettings>
  if (backoff === undefined) return settings
  // SCLB's: 5 ms doubled each time, half of it jitter.
  return {
    ...settings,
    backoff:
      backoff === false
        ? undefined
        : { minMs: msOf(backoff.minMs) ?? 5, maxMs: msOf(backoff.maxMs) ?? 2 ** 31 - 1, jitter: backoff.jitter ?? 0.5 },
  }
}
