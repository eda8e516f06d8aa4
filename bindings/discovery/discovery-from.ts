/** @module A plain function as a discovery client. */

import { ConfigError } from '../errors.js'
import { show } from '../show.js'
import type { DiscoveryClient, DiscoveryFunction } from '../types/extension.js'

export interface DiscoveryFromOptions {
  /** For messages and `explain`. Default: the function's own name, or `custom`. */
  name?: string
  /** Among several clients; see `DiscoveryClient.order`. */
  order?: number
}

/** What an engine calls a function that was written in place, as `{ discovery: async () => … }`. */
const NO_NAMES = new Set(['', 'discovery'])

/**
 * Makes a discovery client of a function that returns a list, a promise of one, or an async iterable of lists. Of an
 * iterable every list comes into force as it is pushed; when it ends, the function is called again after the cache's
 * time. (On Workers, and among several clients, only its first list is taken.)
 * @throws EVENKEEL_CONFIG for what is no function
 * @example
 * const inventory = discoveryFrom(async (serviceId, { signal }) => {
 *   const response = await fetch(`http://registry/${serviceId}`, { signal })
 *   return response.json()
 * }, { name: 'registry' })
 */
export function discoveryFrom(list: DiscoveryFunction, options: DiscoveryFromOptions = {}): DiscoveryClient {
  if (typeof list !== 'function') {
    throw new ConfigError(`discoveryFrom takes a function, not ${show(list)}`, { option: 'discovery' })
  }
  const { name = NO_NAMES.has(list.name) ? 'custom' : list.name, order } = options
  return {
    name,
    ...(order !== undefined && { order }),
    // Which of its kinds of answer a function gives is seen when it is asked: whoever asks looks.
    get: list as Required<DiscoveryClient>['get'],
  }
}
