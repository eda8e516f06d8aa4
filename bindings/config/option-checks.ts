/** @module The options of a balancer, a service and a call, each with its check. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { compositeOf } from '../discovery/composite.js'
import { discoveryFrom } from '../discovery/discovery-from.js'
import type { DiscoveryClient, DiscoveryFunction, Ping, RetryHandler } from '../types/extension.js'
import type {
  CallOverrides,
  HealthCheckOptions,
  LoadBalancerOptions,
  MetricsOptions,
  PollingOptions,
  PrimeOptions,
  RetryOptions,
  ServerStatsOptions,
  ServiceOptions,
} from '../types/options.js'
import {
  anything,
  array,
  boolean,
  type Check,
  duration,
  func,
  isObject,
  map,
  number,
  object,
  oneOf,
  orBoolean,
  orFalse,
  ROOT,
  refuse,
  text,
} from './check.js'
import { msOf } from './duration.js'
import { pingOf, retryHandlerOf } from './names.js'

const isText = (value: unknown) => typeof value === 'string'
const MOMENTS = ['onStart', 'onStartRequest', 'onComplete']
const isObserver = (value: unknown) =>
  isObject(value) &&
  MOMENTS.every((name) => value[name] === undefined || typeof value[name] === 'function') &&
  MOMENTS.some((name) => value[name] !== undefined)
const retries = number({ least: 0, most: 1000, whole: true })
const pathText: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a path, with a query if need be')
}
const protectedFor = object({ protectMs: duration() })
const emptyList: Check = (value, where) => {
  if (value === 'trust') return
  if (!isObject(value) || value.protectMs === undefined) refuse(where, value, "'trust' or { protectMs }")
  protectedFor(value, where)
}
const hintText: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a string')
}
const requestKey: Check = (value, where) => {
  if (typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value)) return
  refuse(where, value, 'a string, a finite number or a bigint')
}
const backoffTimes = object({ minMs: duration(), maxMs: duration(), jitter: number({ least: 0, most: 1 }) })
const backoff: Check = (value, where) => {
  backoffTimes(value, where)
  const { minMs, maxMs } = value as { minMs?: number | string; maxMs?: number | string }
  const [least = 0, most = Number.POSITIVE_INFINITY] = [msOf(minMs), msOf(maxMs)]
  if (least > most) refuse(`${where}.maxMs`, maxMs, `minMs or more, which is ${least} ms`)
}
const isStatus = (value: unknown) => Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599
const finite: Check = (value, where) => {
  if (!Number.isFinite(value)) refuse(where, value, 'a finite number')
}
const compiled: Check = (value, where) => {
  if (!(value instanceof WebAssembly.Module)) refuse(where, value, 'a WebAssembly.Module')
}
const discovery: Check = (value, where) => {
  discoveryOf(value, where)
}

const RETRY = {
  maxRetriesOnSameServiceInstance: retries,
  maxRetriesOnNextServiceInstance: retries,
  retryOnAllOperations: boolean,
  methods: array(isText, 'HTTP methods'),
  statusCodes: array(isStatus, 'HTTP statuses'),
  exceptions: func('a function of an error'),
  backoff: orFalse(backoff),
  handler: (value, where) => {
    retryHandlerOf(value as RetryHandler, where)
  },
  avoidPreviousInstance: boolean,
} satisfies Record<keyof RetryOptions, Check>

/** By map: an option that decides by itself what the others would. */
export const DECIDERS: Readonly<Record<string, { readonly option: string; readonly decided: readonly string[] }>> = {
  retry: { option: 'handler', decided: ['retryOnAllOperations', 'methods', 'statusCodes', 'exceptions'] },
  healthCheck: { option: 'ping', decided: ['path', 'port', 'accept'] },
}

/** An object with these options, of which none is decided twice. */
function decidedOnce(name: keyof typeof DECIDERS, options: Readonly<Record<string, Check>>): Check {
  const check = object(options)
  const { option, decided } = DECIDERS[name] as (typeof DECIDERS)[string]
  return (value, where) => {
    check(value, where)
    const given = value as Record<string, unknown>
    const twice = decided.find((each) => given[each] !== undefined)
    if (given[option] === undefined || twice === undefined) return
    refuse(`${where}.${twice}`, given[twice], `left out beside ${option}, which decides it`)
  }
}

const retry = decidedOnce('retry', RETRY)

const forEver = duration(0, Number.POSITIVE_INFINITY)

const HEALTH_CHECK = {
  path: pathText,
  port: number({ least: 0, most: 65_535, whole: true }),
  intervalMs: duration(1),
  timeoutMs: duration(1),
  initialDelayMs: duration(),
  refetchMs: duration(1, Number.POSITIVE_INFINITY),
  repeat: boolean,
  publish: oneOf('round', 'each'),
  maxConcurrent: number({ least: 1, most: 10_000, whole: true }),
  allUnhealthy: oneOf('none', 'all'),
  accept: func('a function of a response'),
  ping: (value, where) => {
    pingOf(value as Ping, where)
  },
} satisfies Record<keyof HealthCheckOptions, Check>

const POLLING = {
  initialDelayMs: duration(),
  intervalMs: duration(1),
} satisfies Record<keyof PollingOptions, Check>

const PRIME = {
  path: pathText,
  attempts: number({ least: 1, most: 1000, whole: true }),
  pauseMs: duration(),
  timeoutMs: duration(1),
  totalMs: duration(1),
  minShare: number({ least: 0, most: 1 }),
} satisfies Record<keyof PrimeOptions, Check>

const METRICS = {
  includePath: boolean,
  tags: func('a function that returns tags'),
  maxSeries: number({ least: 1, most: 100_000, whole: true }),
} satisfies Record<keyof MetricsOptions, Check>

const percentiles = object({ samples: number({ least: 1, most: 1_000_000, whole: true }), periodMs: duration(1) })

const SERVER_STATS = {
  connectionFailureThreshold: number({ least: 0, most: 2 ** 31 - 1, whole: true }),
  tripFactorMs: duration(),
  maxTripMs: duration(),
  activeExpiryMs: duration(1),
  failureWindowMs: duration(1),
  requestWindowMs: duration(1),
  percentiles: orBoolean(percentiles),
  trips: func('a function of an outcome'),
} satisfies Record<keyof ServerStatsOptions, Check>

const SERVICE = {
  instances: array(undefined, 'instances'),
  discovery,
  discoveryTimeoutMs: duration(1),
  preset: text,
  cache: orFalse(object({ ttlMs: duration(), staleMs: forEver })),
  polling: orFalse(object(POLLING)),
  healthCheck: orFalse(decidedOnce('healthCheck', HEALTH_CHECK)),
  prime: orFalse(object(PRIME)),
  suppliers: array(undefined, 'suppliers'),
  policy: anything,
  eager: boolean,
  emptyList,
  noInstance: oneOf('throw', 'response'),
  noInstanceStatus: number({ least: 400, most: 599, whole: true }),
  retry: orFalse(retry),
  attemptTimeoutMs: duration(1),
  timeoutMs: duration(1),
  release: oneOf('headers', 'body'),
  leaseTimeoutMs: duration(1),
  xForwarded: boolean,
  hints: map(hintText),
  trace: object({ sample: number({ least: 0, most: 1 }), keep: number({ least: 1, most: 100_000, whole: true }) }),
  callGetWithRequestOnDelegates: boolean,
  metrics: orFalse(object(METRICS)),
  serverStats: orBoolean(object(SERVER_STATS)),
} satisfies Record<keyof ServiceOptions, Check>

const DEFAULTS: Record<string, Check> = {
  ...SERVICE,
  instances: (value, where) => refuse(where, value, 'given to a service, not to all of them'),
}

const BALANCER = {
  services: map(() => {}),
  defaults: object(DEFAULTS),
  discovery,
  discoveryMode: oneOf('first', 'merge'),
  zone: text,
  instanceId: text,
  compat: anything,
  fetch: func('a fetch function'),
  lifecycle: array(isObserver, 'objects with onStart, onStartRequest or onComplete'),
  transformers: array((value) => typeof value === 'function', 'functions of a request, an instance and the original'),
  unknownService: oneOf('error', 'passthrough'),
  clock: func('a function that returns milliseconds'),
  seed: finite,
  module: compiled,
} satisfies Record<keyof LoadBalancerOptions, Check>

const OVERRIDES = {
  key: requestKey,
  hint: hintText,
  attributes: map(() => {}),
  retry: orFalse(retry),
  timeoutMs: duration(1),
  waitUntil: func('a function of a promise'),
} satisfies Record<keyof CallOverrides, Check>

/** @throws EVENKEEL_CONFIG naming the option, what it was, and what is accepted */
export function checkBalancerOptions(options: LoadBalancerOptions): void {
  object(BALANCER)(options, ROOT)
}

/** @throws EVENKEEL_CONFIG naming the option under `where` */
export function checkServiceOptions(options: ServiceOptions, where: string): void {
  object(SERVICE)(options, where)
}

/** @throws EVENKEEL_CONFIG naming the override at fault */
export function checkOverrides(overrides: CallOverrides): void {
  object(OVERRIDES)(overrides, 'with')
}

/** The one discovery client that was given, or one that asks all of them. */
export function discoveryOf(
  given: unknown,
  where: string,
  mode: 'first' | 'merge' = 'first',
  quirks: Quirks = NO_QUIRKS,
): DiscoveryClient {
  if (!Array.isArray(given)) return clientOf(given, where)
  if (given.length === 0) refuse(where, given, 'a discovery client, or several')
  const clients = given.map((client, i) => clientOf(client, `${where}[${i}]`))
  return clients.length === 1 ? (clients[0] as DiscoveryClient) : compositeOf(clients, mode, quirks)
}

function clientOf(given: unknown, where: string): DiscoveryClient {
  if (typeof given === 'function') return discoveryFrom(given as DiscoveryFunction)
  const isClient =
    isObject(given) &&
    typeof given.name === 'string' &&
    (typeof given.get === 'function' || typeof given.watch === 'function')
  if (!isClient) refuse(where, given, 'a function, or an object with a name and a get or watch function')
  if (given.order !== undefined) finite(given.order, `${where}.order`)
  return given as unknown as DiscoveryClient
}
