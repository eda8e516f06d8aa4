/** @module Lists in a map, as SCLB's SimpleDiscoveryClient has them in its properties. */

import { isObject } from '../config/check.js'
import { ConfigError } from '../errors.js'
import { show } from '../show.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'

export interface SimpleDiscoveryOptions {
  /** Among several clients; see `DiscoveryClient.order`. Default 0. */
  order?: number
}

/**
 * A discovery client that reads `lists` at every call, so that what the map says then counts. Service ids are exact
 * keys; one that is missing has no instances. Good beside a registry, for what is not registered; a service whose
 * list changes only now and then is better off with `instances` and `update`.
 * @throws EVENKEEL_CONFIG for what is no object
 * @example
 * const lb = createLoadBalancer({ discovery: [consul, simpleDiscovery({ billing: ['http://10.0.0.9:8080'] })] })
 */
export function simpleDiscovery(
  lists: Readonly<Record<string, readonly InstanceInit[]>>,
  options: SimpleDiscoveryOptions = {},
): DiscoveryClient {
  if (!isObject(lists)) {
    throw new ConfigError(`simpleDiscovery takes an object of lists, not ${show(lists)}`, { option: 'discovery' })
  }
  const { order = 0 } = options
  return {
    name: 'simple',
    order,
    get: (serviceId) => (Object.hasOwn(lists, serviceId) ? (lists[serviceId] ?? []) : []),
    services: async () => Object.keys(lists),
  }
}
