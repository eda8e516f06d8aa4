/** @module What the keys of a service begin with, and which service a key belongs to. */

import { type Check, refuse } from '../../config/check.js'
import { ConfigError } from '../../errors.js'
import { show } from '../../show.js'

export type EtcdPrefix = string | ((serviceId: string) => string)

/** Stands for the service's name; the dollar sign is for those who are used to it. */
const PLACE = /\$?\{serviceId\}/
const DEFAULT_PREFIX = '{serviceId}/'

export const checkPrefix: Check = (value, where) => {
  if (typeof value === 'function') return
  const hasPlace = typeof value === 'string' && value.split(PLACE).length === 2
  if (!hasPlace) refuse(where, value, 'a text with {serviceId} in it once, or a function')
}

/** @throws EVENKEEL_CONFIG from what it returns, where a function answers what is no prefix */
export function prefixOf(prefix: EtcdPrefix = DEFAULT_PREFIX): (serviceId: string) => string {
  if (typeof prefix === 'string') {
    const [root, end] = partsOf(prefix)
    return (serviceId) => root + serviceId + end
  }
  return (serviceId) => {
    const answer: unknown = prefix(serviceId)
    if (typeof answer === 'string' && answer !== '') return answer
    const message = `etcdDiscovery.prefix must answer a non-empty string, not ${show(answer)} for "${serviceId}"`
    throw new ConfigError(message, { option: 'etcdDiscovery.prefix' })
  }
}

export interface ServiceKeys {
  /** What the keys of all services begin with. */
  readonly root: string
  serviceOf(key: string): string | undefined
}

/** How services are told by their keys; undefined where the prefix does not say how a name ends. */
export function serviceKeys(prefix: EtcdPrefix = DEFAULT_PREFIX): ServiceKeys | undefined {
  if (typeof prefix !== 'string') return undefined
  const [root, end] = partsOf(prefix)
  if (end === '') return undefined
  return {
    root,
    serviceOf(key) {
      const endsAt = key.startsWith(root) ? key.indexOf(end, root.length) : -1
      return endsAt > root.length ? key.slice(root.length, endsAt) : undefined
    },
  }
}

function partsOf(prefix: string): [root: string, end: string] {
  const [root = '', end = ''] = prefix.split(PLACE)
  return [root, end]
}
