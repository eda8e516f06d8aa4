/** @module Options, read once: checked, overlaid on the defaults, every value with where it came from. */

import type { Quirks } from '../compat/quirks.js'
import { ConfigError } from '../errors.js'
import { RIBBON_PERCENTILES, RIBBON_STATS, type ServerStatsSettings } from '../policy/server-stats.js'
import { type Stickiness, stickyOf } from '../supplier/sticky-session.js'
import { type Weighing, weighingOf } from '../supplier/weighted.js'
import type { DiscoveryClient, Ping, Policy, RetryHandler, Supplier } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'
import type {
  HealthCheckOptions,
  LoadBalancerOptions,
  MetricsOptions,
  PollingOptions,
  PrimeOptions,
  RetryOptions,
  ServerStatsOptions,
  ServiceOptions,
} from '../types/options.js'
import { isObject } from './check.js'
import { msOf } from './duration.js'
import { pingOf, policyOf, retryHandlerOf, supplierOf } from './names.js'
import { checkServiceOptions, DECIDERS, discoveryOf } from './option-checks.js'
import { presetOf } from './presets.js'

export type Origin = 'default' | 'balancer' | 'service'
export type Provenance = Record<string, { value: unknown; from: Origin }>

export interface RetrySettings {
  readonly sameInstance: number
  readonly nextInstance: number
  readonly allOperations: boolean
  readonly methods: readonly string[]
  readonly statusCodes: readonly number[]
  readonly exceptions: ((error: unknown) => boolean) | undefined
  /** Decides in place of all of these. */
  readonly handler: RetryHandler | undefined
  readonly backoff: { readonly minMs: number; readonly maxMs: number; readonly jitter: number } | undefined
  readonly avoidPrevious: boolean
}

export interface HealthSettings {
  readonly path: string
  readonly port: number | undefined
  readonly intervalMs: number
  readonly timeoutMs: number
  readonly initialDelayMs: number
  readonly repeat: boolean
  readonly publish: 'round' | 'each'
  readonly maxConcurrent: number
  readonly allUnhealthy: 'none' | 'all'
  readonly accept: (response: Response) => boolean | Promise<boolean>
  /** Instead of a GET. */
  readonly ping: Ping | undefined
}

export type PollingSettings = Readonly<Required<PollingOptions>>

export type PrimeSettings = Readonly<Required<PrimeOptions>>

/** How old an asked list may be: fresh for `ttlMs`, then served for `staleMs` while one call refreshes it. */
export interface Freshness {
  readonly ttlMs: number
  readonly staleMs: number
}

export interface ServiceSettings {
  readonly instances: readonly InstanceInit[] | undefined
  readonly discovery: DiscoveryClient | undefined
  readonly discoveryTimeoutMs: number
  readonly freshness: Freshness
  /** The list is kept by a cache, not by health checks that ask for it anew. */
  readonly cached: boolean
  /** How long a registry's sudden "none" is not believed; 0: it is. */
  readonly protectMs: number
  readonly health: HealthSettings | undefined
  readonly polling: PollingSettings | undefined
  readonly prime: PrimeSettings | undefined
  readonly suppliers: readonly Supplier[]
  /** What is inside of certain suppliers sees the request. */
  readonly passesRequest: boolean
  /** Of the one supplier that attaches weights, if there is one. */
  readonly weighing: Weighing | undefined
  /** What a sticky supplier asks of requests and responses; the innermost one's. */
  readonly sticky: Stickiness | undefined
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
  readonly xForwarded: boolean
  readonly metrics: MetricsOptions | undefined
  /** Undefined: as Ribbon's, and only where a policy or supplier goes by them. */
  readonly serverStats: ServerStatsSettings | undefined
  /** Every how many picks one is remembered (0: none), and how many of them. */
  readonly trace: { readonly every: number; readonly keep: number }
  readonly quirks: Quirks
  readonly provenance: Provenance
}

const NO_RETRY: RetrySettings = {
  sameInstance: 0,
  nextInstance: 0,
  allOperations: false,
  methods: [],
  statusCodes: [],
  exceptions: undefined,
  handler: undefined,
  backoff: undefined,
  avoidPrevious: true,
}

const DEFAULTS = {
  cache: { ttlMs: 35_000 },
  suppliers: [] as readonly Supplier[],
  policy: 'round-robin',
  eager: false,
  emptyList: 'trust',
  polling: false,
  healthCheck: false,
  prime: false,
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
  discoveryTimeoutMs: 30_000,
  callGetWithRequestOnDelegates: true,
  metrics: false,
  serverStats: false,
} satisfies ServiceOptions

/** Options with the defaults underneath. */
type Effective = ServiceOptions & Required<Pick<ServiceOptions, keyof typeof DEFAULTS>>

/** Merged with the balancer's, key by key. */
const MAPS = ['cache', 'polling', 'healthCheck', 'prime', 'retry', 'hints', 'trace', 'metrics', 'serverStats']

/** The effective settings of one service. `where` is the path of its options in error messages. */
export function settingsOf(
  serviceId: string,
  own: ServiceOptions | readonly InstanceInit[],
  where: string,
  balancer: Pick<LoadBalancerOptions, 'defaults' | 'discovery' | 'discoveryMode'>,
  quirks: Quirks,
): ServiceSettings {
  const service: ServiceOptions = Array.isArray(own) ? { instances: own } : (own as ServiceOptions)
  checkServiceOptions(service, where)
  const { value, provenance } = overlay(service, balancer, where, quirks)
  if (service.instances !== undefined && service.discovery !== undefined) {
    throw new ConfigError(`${where} has instances and discovery: give one or the other`, { option: where, serviceId })
  }
  const discovery =
    value.discovery === undefined
      ? undefined
      : discoveryOf(value.discovery, `${where}.discovery`, balancer.discoveryMode, quirks)
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
  const health =
    value.healthCheck === false ? undefined : healthSettings(value.healthCheck, `${where}.healthCheck`, quirks)
  const settings: Omit<ServiceSettings, 'provenance'> = {
    instances: service.instances,
    discovery,
    discoveryTimeoutMs: msOf(value.discoveryTimeoutMs) as number,
    freshness: freshnessOf(value, quirks),
    cached: health === undefined && value.cache !== false,
    protectMs: value.emptyList === 'trust' ? 0 : (msOf(value.emptyList.protectMs) as number),
    health,
    polling: value.polling === false ? undefined : pollingSettings(value.polling),
    prime: value.prime === false ? undefined : primeSettings(value.prime),
    suppliers,
    passesRequest: value.callGetWithRequestOnDelegates,
    weighing: weighings[0],
    sticky: suppliers.map(stickyOf).find((each) => each !== undefined),
    policy: policyOf(value.policy, `${where}.policy`),
    eager: value.eager,
    noInstance: value.noInstance,
    noInstanceStatus: value.noInstanceStatus,
    retry: retrySettings(value.retry, quirks),
    attemptTimeoutMs: msOf(value.attemptTimeoutMs),
    timeoutMs: msOf(value.timeoutMs),
    release: value.release,
    leaseTimeoutMs: msOf(value.leaseTimeoutMs),
    hint: hintFor(serviceId, value.hints) ?? (quirks.has('hint-default') ? 'default' : undefined),
    xForwarded: value.xForwarded,
    metrics: value.metrics === false ? undefined : value.metrics,
    serverStats: isObject(value.serverStats) ? serverStatsSettings(value.serverStats) : undefined,
    trace: { every: value.trace?.sample ? Math.round(1 / value.trace.sample) : 0, keep: value.trace?.keep ?? 100 },
    quirks,
  }
  return { ...settings, provenance: effective(provenance, settings) }
}

/** What was given and what came of it: durations in ms, every default of a group, nothing that is not in use. */
function effective(given: Provenance, settings: Omit<ServiceSettings, 'provenance'>): Provenance {
  const { freshness, cached, health, discovery, retry } = settings
  const values: Record<string, unknown> = {
    ...settings,
    cache: discovery !== undefined && cached && freshness,
    healthCheck: health === undefined ? false : healthInUse(health, freshness.ttlMs),
    polling: settings.polling ?? false,
    prime: settings.prime ?? false,
    retry: retry !== NO_RETRY && {
      ...(given.retry?.value as RetryOptions),
      ...(retry.handler === undefined
        ? { retryOnAllOperations: retry.allOperations, methods: retry.methods, statusCodes: retry.statusCodes }
        : { handler: retry.handler.name }),
      backoff: retry.backoff ?? false,
    },
    suppliers: settings.suppliers.map(({ name }) => name),
    policy: settings.policy.name,
    callGetWithRequestOnDelegates: settings.passesRequest,
    emptyList: settings.protectMs === 0 ? 'trust' : { protectMs: settings.protectMs },
    metrics: settings.metrics ?? false,
    serverStats:
      settings.serverStats !== undefined &&
      defined({ ...settings.serverStats, percentiles: settings.serverStats.percentiles ?? false }),
  }
  const entries = Object.entries(given).map(([name, { value, from }]) => {
    const read = name in values && !UNREAD.has(name)
    return [name, { value: read ? values[name] : value, from }]
  })
  return Object.fromEntries(entries)
}

function healthInUse({ ping, path, port, accept, ...rest }: HealthSettings, refetchMs: number): object {
  return { ...(ping === undefined ? { path, port, accept } : { ping: ping.name }), ...rest, refetchMs }
}

/** Options that are told as they were given. */
const UNREAD = new Set(['instances', 'discovery', 'hints', 'preset', 'trace'])

/** As in SCLB, whatever the case of the id; the one written as the service is comes first. */
function hintFor(serviceId: string, hints: Readonly<Record<string, string>> = {}): string | undefined {
  const named = (name: string) => (Object.hasOwn(hints, name) ? hints[name] : undefined)
  const near = Object.keys(hints).find((name) => name.toLowerCase() === serviceId.toLowerCase())
  return named(serviceId) ?? (near === undefined ? undefined : hints[near]) ?? named('default')
}

function freshnessOf({ cache, healthCheck, polling }: Effective, quirks: Quirks): Freshness {
  // Where no timer lives between requests, those that find the list an interval old ask.
  if (polling !== false) return { ttlMs: pollingSettings(polling).intervalMs, staleMs: Number.POSITIVE_INFINITY }
  if (healthCheck !== false) {
    const { refetchMs = quirks.has('health-list-once') ? Number.POSITIVE_INFINITY : REFETCH_MS } = healthCheck
    const ttlMs = msOf(refetchMs) as number
    return { ttlMs, staleMs: ttlMs }
  }
  if (cache === false) return { ttlMs: 0, staleMs: 0 }
  const ttlMs = msOf(cache.ttlMs) ?? DEFAULTS.cache.ttlMs
  return { ttlMs, staleMs: msOf(cache.staleMs) ?? (quirks.has('cache-no-stale') ? 0 : ttlMs) }
}

/** SCLB's `health-check.refetch-instances-interval`. */
const REFETCH_MS = 25_000

function healthSettings(health: HealthCheckOptions, where: string, quirks: Quirks): HealthSettings {
  const intervalMs = msOf(health.intervalMs) ?? 25_000
  // Ribbon's waits for each as long as it takes.
  const isSerial = health.ping !== undefined && quirks.has('ribbon-ping-serial')
  return {
    path: health.path ?? '/actuator/health',
    port: health.port,
    intervalMs,
    timeoutMs: msOf(health.timeoutMs) ?? (isSerial ? Number.POSITIVE_INFINITY : intervalMs),
    initialDelayMs: msOf(health.initialDelayMs) ?? 0,
    repeat: health.repeat ?? true,
    publish: health.publish ?? (quirks.has('health-publish-each') ? 'each' : 'round'),
    maxConcurrent: health.maxConcurrent ?? (isSerial ? 1 : 64),
    allUnhealthy: health.allUnhealthy ?? 'none',
    accept: health.accept ?? ((response) => response.status === 200),
    ping: health.ping === undefined ? undefined : pingOf(health.ping, `${where}.ping`),
  }
}

/** Ribbon's PollingServerListUpdater. */
function pollingSettings({ initialDelayMs, intervalMs }: PollingOptions): PollingSettings {
  return { initialDelayMs: msOf(initialDelayMs) ?? 1_000, intervalMs: msOf(intervalMs) ?? 30_000 }
}

/** Ribbon's PrimeConnections. */
function primeSettings(prime: PrimeOptions): PrimeSettings {
  return {
    path: prime.path ?? '/',
    attempts: prime.attempts ?? 10,
    pauseMs: msOf(prime.pauseMs) ?? 100,
    timeoutMs: msOf(prime.timeoutMs) ?? 2_000,
    totalMs: msOf(prime.totalMs) ?? 30_000,
    minShare: prime.minShare ?? 1,
  }
}

function serverStatsSettings(given: ServerStatsOptions): ServerStatsSettings {
  const { connectionFailureThreshold, percentiles = false, trips } = given
  const times = ['tripFactorMs', 'maxTripMs', 'activeExpiryMs', 'failureWindowMs', 'requestWindowMs'] as const
  const { samples, periodMs } = percentiles === true || percentiles === false ? {} : percentiles
  return {
    ...RIBBON_STATS,
    ...defined({ connectionFailureThreshold, trips }),
    ...defined(Object.fromEntries(times.map((name) => [name, msOf(given[name])]))),
    percentiles:
      percentiles === false ? undefined : { ...RIBBON_PERCENTILES, ...defined({ samples, periodMs: msOf(periodMs) }) },
  }
}

/** Retry options of one call, over the service's; over the defaults where the service has none. */
export function overrideRetry(base: RetrySettings, own: RetryOptions | false, quirks: Quirks): RetrySettings {
  if (own === false) return NO_RETRY
  const under = base === NO_RETRY ? retrySettings({}, quirks) : base
  const given = definedSettings(own)
  const isDecided = DECIDERS.retry?.decided.some((option) => own[option as keyof RetryOptions] !== undefined)
  return { ...under, ...(isDecided && { handler: undefined }), ...given }
}

/**
 * Scalars of the service replace the balancer's, maps are merged, lists replaced; what decides for other options takes
 * their place, and the other way round. A preset, the service's or else the
 * balancer's, lies beneath both; what is listed where it is named, or by the service, comes after its suppliers.
 */
function overlay(
  service: ServiceOptions,
  balancer: Pick<LoadBalancerOptions, 'defaults' | 'discovery'>,
  where: string,
  quirks: Quirks,
): { value: Effective; provenance: Provenance } {
  const provenance: Provenance = {}
  const value: Record<string, unknown> = {}
  const add = (from: Origin, layer: object) => {
    for (const [key, said] of Object.entries(layer)) {
      if (said === undefined) continue
      const given = said === true && MAPS.includes(key) ? {} : said
      value[key] = MAPS.includes(key) && isObject(given) ? merged(key, asMap(value[key]), defined(given)) : given
      provenance[key] = { value: value[key], from }
    }
  }
  const { defaults = {}, discovery } = balancer
  const from = service.preset === undefined ? 'balancer' : 'service'
  const name = service.preset ?? defaults.preset
  const place = from === 'service' ? `${where}.preset` : 'defaults.preset'
  const preset = name === undefined ? undefined : presetOf(name, place, quirks.has('preset-unknown-empty'))
  add('default', { ...DEFAULTS, retry: defaultRetry(quirks) })
  if (preset !== undefined) add(from, preset)
  add('balancer', { ...(discovery !== undefined && { discovery }), ...defaults })
  add('service', service)
  if (preset !== undefined) {
    const listed = service.suppliers ?? (from === 'balancer' ? defaults.suppliers : undefined)
    add(service.suppliers === undefined ? from : 'service', {
      suppliers: [...(preset.suppliers ?? []), ...(listed ?? [])],
    })
  }
  if (service.instances !== undefined) {
    delete value.discovery
    delete provenance.discovery
  }
  return { value: value as unknown as Effective, provenance }
}

/** The outer map over the inner, of which nothing is left that the outer one decides another way. */
function merged(key: string, inner: object, outer: object): object {
  const { option = '', decided = [] } = DECIDERS[key] ?? {}
  const gone = option in outer ? decided : decided.some((name) => name in outer) ? [option] : []
  return { ...Object.fromEntries(Object.entries(inner).filter(([name]) => !gone.includes(name))), ...outer }
}

function defaultRetry(quirks: Quirks): RetryOptions {
  return {
    ...DEFAULTS.retry,
    ...(quirks.has('retry-get-only') && { methods: ['GET'] }),
    ...(quirks.has('ribbon-next-may-repeat') && { avoidPreviousInstance: false }),
  }
}

function asMap(value: unknown): object {
  return isObject(value) ? value : {}
}

/** What is undefined was not given. */
function defined(map: object): object {
  return Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined))
}

function retrySettings(retry: RetryOptions | false, quirks: Quirks): RetrySettings {
  if (retry === false) return NO_RETRY
  return { ...NO_RETRY, ...definedSettings(defaultRetry(quirks)), ...definedSettings(retry) }
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
    handler: retry.handler === undefined ? undefined : retryHandlerOf(retry.handler, 'retry.handler'),
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
