/** @module Checks of the options of a balancer, a service and a call: one error that names the option at fault. */

import { ConfigError, show } from '../errors.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { CallOverrides, LoadBalancerOptions, RetryOptions, ServiceOptions } from '../types/options.js'
import { checkOptions, optionalBoolean, optionalNumber } from './check.js'

const MS = { least: 0, most: 2 ** 31 - 1, unit: 'ms' } as const
const COUNT = { least: 0, most: 1000, whole: true } as const

const SERVICE_OPTIONS = [
  'instances',
  'discovery',
  'preset',
  'cache',
  'healthCheck',
  'suppliers',
  'policy',
  'eager',
  'emptyList',
  'noInstance',
  'noInstanceStatus',
  'retry',
  'attemptTimeoutMs',
  'timeoutMs',
  'release',
  'leaseTimeoutMs',
  'xForwarded',
  'hints',
  'trace',
]
const BALANCER_OPTIONS = [
  'services',
  'defaults',
  'discovery',
  'discoveryMode',
  'zone',
  'compat',
  'fetch',
  'lifecycle',
  'transformers',
  'unknownService',
  'clock',
  'seed',
  'module',
]
const RETRY_OPTIONS = [
  'maxRetriesOnSameServiceInstance',
  'maxRetriesOnNextServiceInstance',
  'retryOnAllOperations',
  'methods',
  'statusCodes',
  'exceptions',
  'backoff',
  'avoidPreviousInstance',
]

/** @throws EVENKEEL_CONFIG naming the option, what it was, and what is accepted */
export function checkBalancerOptions(options: LoadBalancerOptions): void {
  checkOptions('createLoadBalancer', options, BALANCER_OPTIONS)
  const { services, zone, unknownService, clock, seed, module, fetch } = options
  if (services !== undefined) checkMap(services, 'services')
  if (zone !== undefined && (typeof zone !== 'string' || zone === '')) fail('zone', zone, 'a non-empty string')
  oneOf('unknownService', unknownService, ['error', 'passthrough'])
  if (clock !== undefined && typeof clock !== 'function') fail('clock', clock, 'a function that returns milliseconds')
  if (fetch !== undefined && typeof fetch !== 'function') fail('fetch', fetch, 'a fetch function')
  if (seed !== undefined && !Number.isFinite(seed)) fail('seed', seed, 'a finite number')
  if (module !== undefined && !(module instanceof WebAssembly.Module)) fail('module', module, 'a WebAssembly.Module')
  if (options.compat !== undefined) notYet('compat')
  if (options.lifecycle !== undefined && options.lifecycle.length > 0) notYet('lifecycle')
  if (options.transformers !== undefined && options.transformers.length > 0) notYet('transformers')
  if (options.discoveryMode !== undefined && options.discoveryMode !== 'first') {
    oneOf('discoveryMode', options.discoveryMode, ['first', 'merge'])
    notYet(`discoveryMode 'merge'`)
  }
  if (options.discovery !== undefined) discoveryOf(options.discovery, 'discovery')
  if (options.defaults !== undefined) {
    if (options.defaults.instances !== undefined)
      fail('defaults.instances', options.defaults.instances, 'given to a service, not to all of them')
    checkServiceOptions(options.defaults, 'defaults')
  }
}

/** @throws EVENKEEL_CONFIG naming the override at fault */
export function checkOverrides(overrides: CallOverrides): void {
  checkOptions('with', overrides, ['key', 'hint', 'attributes', 'retry', 'timeoutMs', 'waitUntil'])
  optionalNumber('with.timeoutMs', overrides.timeoutMs, { ...MS, least: 1 })
  if (overrides.retry !== undefined) checkRetry(overrides.retry, 'with.retry')
  if (overrides.waitUntil !== undefined && typeof overrides.waitUntil !== 'function')
    fail('with.waitUntil', overrides.waitUntil, 'a function of a promise')
}

/** @throws EVENKEEL_CONFIG naming the option under `where` */
export function checkServiceOptions(options: ServiceOptions, where: string): void {
  checkOptions(where, options, SERVICE_OPTIONS)
  if (options.instances !== undefined && !Array.isArray(options.instances))
    fail(`${where}.instances`, options.instances, 'an array of instances')
  if (options.suppliers !== undefined && !Array.isArray(options.suppliers))
    fail(`${where}.suppliers`, options.suppliers, 'an array of suppliers')
  if (options.cache !== undefined && options.cache !== false) {
    checkOptions(`${where}.cache`, options.cache, ['ttlMs', 'staleMs'])
    optionalNumber(`${where}.cache.ttlMs`, options.cache.ttlMs, MS)
    optionalNumber(`${where}.cache.staleMs`, options.cache.staleMs, { least: 0, unit: 'ms' })
  }
  optionalBoolean(`${where}.eager`, options.eager)
  oneOf(`${where}.noInstance`, options.noInstance, ['throw', 'response'])
  optionalNumber(`${where}.noInstanceStatus`, options.noInstanceStatus, { least: 400, most: 599, whole: true })
  optionalNumber(`${where}.attemptTimeoutMs`, options.attemptTimeoutMs, { ...MS, least: 1 })
  optionalNumber(`${where}.timeoutMs`, options.timeoutMs, { ...MS, least: 1 })
  optionalNumber(`${where}.leaseTimeoutMs`, options.leaseTimeoutMs, { ...MS, least: 1 })
  oneOf(`${where}.release`, options.release, ['headers', 'body'])
  if (options.retry !== undefined) checkRetry(options.retry, `${where}.retry`)
  if (options.hints !== undefined) {
    checkMap(options.hints, `${where}.hints`)
    for (const [id, hint] of Object.entries(options.hints)) {
      if (typeof hint !== 'string') fail(`${where}.hints.${id}`, hint, 'a string')
    }
  }
  if (options.preset !== undefined) notYet(`${where}.preset`)
  if (options.healthCheck !== undefined && options.healthCheck !== false) notYet(`${where}.healthCheck`)
  if (options.emptyList !== undefined && options.emptyList !== 'trust') notYet(`${where}.emptyList other than 'trust'`)
  if (options.xForwarded !== undefined && options.xForwarded !== false) notYet(`${where}.xForwarded`)
  if (options.trace !== undefined) notYet(`${where}.trace`)
}

function checkRetry(retry: RetryOptions | false, where: string): void {
  if (retry === false) return
  checkOptions(where, retry, RETRY_OPTIONS)
  optionalNumber(`${where}.maxRetriesOnSameServiceInstance`, retry.maxRetriesOnSameServiceInstance, COUNT)
  optionalNumber(`${where}.maxRetriesOnNextServiceInstance`, retry.maxRetriesOnNextServiceInstance, COUNT)
  optionalBoolean(`${where}.retryOnAllOperations`, retry.retryOnAllOperations)
  optionalBoolean(`${where}.avoidPreviousInstance`, retry.avoidPreviousInstance)
  if (
    retry.methods !== undefined &&
    !(Array.isArray(retry.methods) && retry.methods.every((method) => typeof method === 'string'))
  ) {
    fail(`${where}.methods`, retry.methods, 'an array of HTTP methods')
  }
  if (
    retry.statusCodes !== undefined &&
    !(Array.isArray(retry.statusCodes) && retry.statusCodes.every(Number.isInteger))
  ) {
    fail(`${where}.statusCodes`, retry.statusCodes, 'an array of HTTP statuses')
  }
  if (retry.exceptions !== undefined && typeof retry.exceptions !== 'function')
    fail(`${where}.exceptions`, retry.exceptions, 'a function of an error')
  if (retry.backoff !== undefined && retry.backoff !== false) {
    checkOptions(`${where}.backoff`, retry.backoff, ['minMs', 'maxMs', 'jitter'])
    optionalNumber(`${where}.backoff.minMs`, retry.backoff.minMs, MS)
    optionalNumber(`${where}.backoff.maxMs`, retry.backoff.maxMs, MS)
    optionalNumber(`${where}.backoff.jitter`, retry.backoff.jitter, { least: 0, most: 1 })
  }
}

/** The one discovery client that was given, if any. */
export function discoveryOf(given: ServiceOptions['discovery'], where: string): DiscoveryClient | undefined {
  if (given === undefined) return undefined
  const clients = Array.isArray(given) ? (given as readonly DiscoveryClient[]) : [given as DiscoveryClient]
  if (clients.length !== 1) {
    if (clients.length === 0) fail(where, given, 'a discovery client')
    notYet(`${where} with more than one client`)
  }
  const [client] = clients as [DiscoveryClient]
  if (
    typeof client !== 'object' ||
    client === null ||
    typeof client.name !== 'string' ||
    (typeof client.get !== 'function' && typeof client.watch !== 'function')
  ) {
    fail(where, client, 'an object with a name and a get or watch function')
  }
  return client
}

function checkMap(value: unknown, where: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(where, value, 'an object')
}

function oneOf(where: string, value: unknown, accepted: readonly string[]): void {
  if (value !== undefined && !accepted.includes(value as string)) {
    fail(where, value, accepted.map((word) => `'${word}'`).join(' or '))
  }
}

function fail(where: string, value: unknown, accepted: string): never {
  throw new ConfigError(`${where} must be ${accepted}, not ${show(value)}`, { option: where })
}

function notYet(what: string): never {
  throw new ConfigError(`${what} is not supported yet`, { option: what.split(' ')[0] as string })
}
