/** @module From instances of a registry to the list of a service. */

import { DiscoveryError } from '../../errors.js'
import type { InstanceInit } from '../../types/instance.js'
import type { Found, ListKeeper } from '../registry/list-keeper.js'
import type { Entry } from './entry.js'

/** @throws EVENKEEL_DISCOVERY, malformed, if there are some and none can be read: that is not "nobody" */
export function listOf(entries: Iterable<Entry>, onlyUp: boolean, keeper: ListKeeper): readonly InstanceInit[] {
  const found: Found[] = []
  const unreadable: string[] = []
  for (const entry of entries) {
    if (onlyUp && entry.status !== 'UP') continue
    if (entry.found !== undefined) found.push(entry.found)
    else unreadable.push(entry.unreadable as string)
  }
  if (found.length === 0 && unreadable.length > 0) {
    throw new DiscoveryError(`eureka: no instance can be read: ${unreadable[0]}`, { failure: 'malformed' })
  }
  return keeper.keep(found, unreadable)
}
