/** @module The names of policies and suppliers: factories in camelCase, the same in kebab-case as strings and JSON. */

import { ConfigError, show } from '../errors.js'
import { leastRequest } from '../policy/least-request.js'
import { peakEwma } from '../policy/peak-ewma.js'
import { random } from '../policy/random.js'
import { roundRobin } from '../policy/round-robin.js'
import { apiVersion } from '../supplier/api-version.js'
import { canary } from '../supplier/canary.js'
import { hint } from '../supplier/hint.js'
import { sameInstancePreference } from '../supplier/same-instance-preference.js'
import { stickySession } from '../supplier/sticky-session.js'
import { subset } from '../supplier/subset.js'
import { version } from '../supplier/version.js'
import { weighted } from '../supplier/weighted.js'
import { zonePreference } from '../supplier/zone-preference.js'
import type { Policy, Supplier } from '../types/extension.js'
import type { PolicyName, SupplierName, TypedOptions } from '../types/options.js'

type Factory<T> = (options: never) => T

const POLICIES: Record<PolicyName, Factory<Policy>> = {
  'round-robin': roundRobin,
  random,
  'least-request': leastRequest,
  'peak-ewma': peakEwma,
}

const SUPPLIERS: Record<SupplierName, Factory<Supplier>> = {
  'zone-preference': zonePreference,
  hint,
  version,
  'sticky-session': stickySession,
  'same-instance-preference': sameInstancePreference,
  'api-version': apiVersion,
  canary,
  weighted,
  subset,
}

const LATER_POLICIES = [
  'least-connections',
  'least-response-time',
  'smooth-round-robin',
  'edf',
  'stride',
  'dynamic-weight',
  'weighted-by-load',
  'adaptive',
  'prequal',
  'source-hash',
  'ring-hash',
  'maglev',
  'rendezvous',
  'jump',
  'weighted-response-time',
  'best-available',
  'availability-filtering',
  'zone-avoidance',
  'retry-rule',
]

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
