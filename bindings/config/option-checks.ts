/** @module The options of a balancer, a service and a call, each with its check. */

import { ConfigError } from '../errors.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { CallOverrides, LoadBalancerOptions, RetryOptions, ServiceOptions } from '../types/options.js'
import {
  anything,
  array,
  boolean,
  type Check,
  duration,
  func,
  isObject,
  later,
  map,
  number,
  object,
  oneOf,
  orFalse,
  ROOT,
  refuse,
  text,
} from './check.js'

const isText = (value: unknown) => typeof value === 'string'
const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0
const retries = number({ least: 0, most: 1000, whole: true })
const hintText: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a string')
}
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
  statusCodes: array(Number.isInteger, 'HTTP statuses'),
  exceptions: func('a function of an error'),
  backoff: orFalse(object({ minMs: duration(), maxMs: duration(), jitter: number({ least: 0, most: 1 }) })),
  avoidPreviousInstance: boolean,
} satisfies Record<keyof RetryOptions, Check>

const SERVICE = {
  instances: array(undefined, 'instances'),
  discovery,
  preset: later(text),
  cache: orFalse(object({ ttlMs: duration(), staleMs: duration(0, Number.POSITIVE_INFINITY) })),
  healthCheck: orFalse(later(map(() => {}))),
  suppliers: array(undefined, 'suppliers'),
  policy: anything,
  eager: boolean,
  emptyList: later(anything, (value) => value === 'trust'),
  noInstance: oneOf('throw', 'response'),
  noInstanceStatus: number({ least: 400, most: 599, whole: true }),
  retry: orFalse(object(RETRY)),
  attemptTimeoutMs: duration(1),
  timeoutMs: duration(1),
  release: oneOf('headers', 'body'),
  leaseTimeoutMs: duration(1),
  xForwarded: later(boolean, (value) => value === false),
  hints: map(hintText),
  trace: later(map(() => {})),
} satisfies Record<keyof ServiceOptions, Check>

const DEFAULTS: Record<string, Check> = {
  ...SERVICE,
  instances: (value, where) => refuse(where, value, 'given to a service, not to all of them'),
}

const BALANCER = {
  services: map(() => {}),
  defaults: object(DEFAULTS),
  discovery,
  discoveryMode: later(oneOf('first', 'merge'), (value) => value === 'first'),
  zone: text,
  compat: later(anything),
  fetch: func('a fetch function'),
  lifecycle: later(array(undefined, 'observers'), isEmpty),
  transformers: later(array(undefined, 'functions'), isEmpty),
  unknownService: oneOf('error', 'passthrough'),
  clock: func('a function that returns milliseconds'),
  seed: finite,
  module: compiled,
} satisfies Record<keyof LoadBalancerOptions, Check>

const OVERRIDES = {
  key: anything,
  hint: hintText,
  attributes: map(() => {}),
  retry: orFalse(object(RETRY)),
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

/** The one discovery client that was given. */
export function discoveryOf(given: unknown, where: string): DiscoveryClient {
  const clients: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (clients.length > 1) {
    throw new ConfigError(`${where}: more than one client is not supported yet`, { option: where })
  }
  const [client] = clients
  const isClient =
    isObject(client) &&
    typeof client.name === 'string' &&
    (typeof client.get === 'function' || typeof client.watch === 'function')
  if (!isClient) refuse(where, client, 'an object with a name and a get or watch function')
  return client as unknown as DiscoveryClient
}
