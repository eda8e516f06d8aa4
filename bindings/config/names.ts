/**
 * @module The names of policies, suppliers, pings and retry handlers, as strings and JSON: policies and suppliers are
 * named as their factories, in kebab-case; pings as theirs without `Ping`; retry handlers by their kind.
 */

import { retryHandler } from '../client/retry-handlers.js'
import { ConfigError } from '../errors.js'
import { constantPing } from '../health/pings/constant.js'
import { dummyPing } from '../health/pings/dummy.js'
import { registryPing } from '../health/pings/registry.js'
import { urlPing } from '../health/pings/url.js'
import { availabilityFiltering } from '../policy/availability-filtering.js'
import { bestAvailable } from '../policy/best-available.js'
import { dynamicWeight } from '../policy/dynamic-weight.js'
import { edf } from '../policy/edf.js'
import { filtering } from '../policy/filtering.js'
import { jump } from '../policy/jump.js'
import { leastConnections } from '../policy/least-connections.js'
import { leastRequest } from '../policy/least-request.js'
import { leastResponseTime } from '../policy/least-response-time.js'
import { maglev } from '../policy/maglev.js'
import { peakEwma } from '../policy/peak-ewma.js'
import { random } from '../policy/random.js'
import { relativeWeight } from '../policy/relative-weight.js'
import { rendezvous } from '../policy/rendezvous.js'
import { retryRule } from '../policy/retry-rule.js'
import { ringHash } from '../policy/ring-hash.js'
import { roundRobin } from '../policy/round-robin.js'
import { smoothRoundRobin } from '../policy/smooth-round-robin.js'
import { sourceHash } from '../policy/source-hash.js'
import { stride } from '../policy/stride.js'
import { weightedResponseTime } from '../policy/weighted-response-time.js'
import { zoneAvoidance } from '../policy/zone-avoidance.js'
import { zoneAware } from '../policy/zone-aware.js'
import { show } from '../show.js'
import { aperture } from '../supplier/aperture.js'
import { apiVersion } from '../supplier/api-version.js'
import { canary } from '../supplier/canary.js'
import { hint } from '../supplier/hint.js'
import { rendezvousSubset } from '../supplier/rendezvous-subset.js'
import { sameInstancePreference } from '../supplier/same-instance-preference.js'
import { serverListSubset } from '../supplier/server-list-subset.js'
import { stickySession } from '../supplier/sticky-session.js'
import { subset } from '../supplier/subset.js'
import { version } from '../supplier/version.js'
import { weighted } from '../supplier/weighted.js'
import { zoneAffinity } from '../supplier/zone-affinity.js'
import { zonePreference } from '../supplier/zone-preference.js'
import type { Ping, Policy, RetryHandler, Supplier } from '../types/extension.js'
import type { PingName, PolicyName, RetryHandlerName, SupplierName, TypedOptions } from '../types/options.js'

type Factory<T> = (options: never) => T

const POLICIES: Record<PolicyName, Factory<Policy>> = {
  'round-robin': roundRobin,
  'smooth-round-robin': smoothRoundRobin,
  edf,
  stride,
  random,
  'least-request': leastRequest,
  'least-connections': leastConnections,
  'least-response-time': leastResponseTime,
  'peak-ewma': peakEwma,
  'dynamic-weight': dynamicWeight,
  'relative-weight': relativeWeight,
  'source-hash': sourceHash,
  'ring-hash': ringHash,
  maglev,
  rendezvous,
  jump,
  'weighted-response-time': weightedResponseTime,
  'best-available': bestAvailable,
  'availability-filtering': availabilityFiltering,
  'zone-avoidance': zoneAvoidance,
  'zone-aware': zoneAware,
  'retry-rule': retryRule,
  filtering,
}

export const POLICY_NAMES: readonly string[] = Object.keys(POLICIES)

const SUPPLIERS: Record<SupplierName, Factory<Supplier>> = {
  'zone-preference': zonePreference,
  'zone-affinity': zoneAffinity,
  hint,
  version,
  'sticky-session': stickySession,
  'same-instance-preference': sameInstancePreference,
  'api-version': apiVersion,
  canary,
  weighted,
  subset,
  'rendezvous-subset': rendezvousSubset,
  aperture,
  'server-list-subset': serverListSubset,
}

const PINGS: Record<PingName, Factory<Ping>> = {
  dummy: dummyPing,
  constant: constantPing,
  url: urlPing,
  registry: registryPing,
}

const RETRY_HANDLERS: Record<RetryHandlerName, Factory<RetryHandler>> = {
  default: (options: object) => retryHandler({ ...options, kind: 'default' }),
  'http-client': (options: object) => retryHandler({ ...options, kind: 'http-client' }),
  netty: (options: object) => retryHandler({ ...options, kind: 'netty' }),
  'rest-client': (options: object) => retryHandler({ ...options, kind: 'rest-client' }),
}

/** Names that the contract has and that are still to come. */
export const LATER_POLICIES = ['weighted-by-load', 'adaptive', 'prequal']

/** @throws EVENKEEL_CONFIG for a name or shape that is no policy */
export function policyOf(given: Policy | string | TypedOptions, where: string): Policy {
  return resolve(
    given,
    where,
    'policy',
    POLICIES,
    LATER_POLICIES,
    (value): value is Policy => 'pick' in value && typeof value.pick === 'function',
  )
}

/** @throws EVENKEEL_CONFIG for a name or shape that is no supplier */
export function supplierOf(given: Supplier | string | TypedOptions, where: string): Supplier {
  return resolve(
    given,
    where,
    'supplier',
    SUPPLIERS,
    [],
    (value): value is Supplier => 'filter' in value && typeof value.filter === 'function',
  )
}

/** @throws EVENKEEL_CONFIG for a name or shape that is no ping */
export function pingOf(given: Ping | string | TypedOptions, where: string): Ping {
  const isOwn = (value: object) => 'isAlive' in value && typeof value.isAlive === 'function'
  return resolve(given, where, 'ping', PINGS, [], isOwn)
}

/** @throws EVENKEEL_CONFIG for a name or shape that is no retry handler */
export function retryHandlerOf(given: RetryHandler | string | TypedOptions, where: string): RetryHandler {
  const isOwn = (value: object) =>
    'retriable' in value &&
    typeof value.retriable === 'function' &&
    'trips' in value &&
    typeof value.trips === 'function'
  return resolve(given, where, 'retry handler', RETRY_HANDLERS, [], isOwn)
}

function resolve<T extends { name: string }>(
  given: unknown,
  where: string,
  kind: string,
  factories: Record<string, Factory<T>>,
  later: readonly string[],
  isOwn: (value: object) => boolean,
): T {
  if (typeof given === 'object' && given !== null && isOwn(given)) {
    if (typeof (given as T).name === 'string' && (given as T).name !== '') return given as T
    throw new ConfigError(`${where} needs a name`, { option: `${where}.name` })
  }
  const typed = typeof given === 'object' && given !== null ? (given as TypedOptions) : undefined
  const name = typed === undefined ? given : typed.type
  if (typeof name !== 'string') {
    throw new ConfigError(`${where} must be a ${kind}, its name, or { type: name }, not ${show(given)}`, {
      option: where,
    })
  }
  const factory = Object.hasOwn(factories, name) ? factories[name] : undefined
  if (factory === undefined) {
    if (later.includes(name))
      throw new ConfigError(`${where}: ${kind} "${name}" is not supported yet`, { option: where })
    throw new ConfigError(`${where}: there is no ${kind} ${show(name)}; known: ${Object.keys(factories).join(', ')}`, {
      option: where,
    })
  }
  const { type: _, ...options } = typed ?? { type: name }
  try {
    return factory(options as never)
  } catch (error) {
    throw error instanceof ConfigError ? placed(error, where) : error
  }
}

/** The factory's complaint, with the place in the options where its name stands. */
function placed(error: ConfigError, where: string): ConfigError {
  const option = error.option === undefined ? where : where + error.option.replace(/^\w+/, '')
  return new ConfigError(`${where}: ${error.message}`, { option })
}
