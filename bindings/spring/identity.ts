/** @module Who this client is: its zone, and its name among its fellows. */

import { type Lookup, resolvePlaceholders } from './placeholders.js'

/** What a client of Eureka tells of itself is its zone to SCLB too. */
export function zoneIn(lookup: Lookup): string | undefined {
  return valueIn(lookup, ['eureka.instance.metadata-map.zone'])
}

/**
 * For subsets, as SCLB makes it: the platform's id; else host name, application and its instance id or port, joined by
 * colons.
 * @see Spring Cloud Commons, IdUtils.getDefaultInstanceId
 */
export function instanceIdIn(lookup: Lookup): string | undefined {
  const parts = [
    ['spring.cloud.client.hostname', 'HOSTNAME'],
    ['spring.application.name'],
    ['spring.application.instance_id', 'server.port'],
  ].flatMap((names) => valueIn(lookup, names) ?? [])
  return valueIn(lookup, ['vcap.application.instance_id']) ?? (parts.length > 0 ? parts.join(':') : undefined)
}

/** Of the first name that has one. */
function valueIn(lookup: Lookup, names: readonly string[]): string | undefined {
  for (const name of names) {
    const { text, missing } = resolvePlaceholders(lookup(name)?.trim() ?? '', lookup)
    if (text !== '' && missing.length === 0) return text
  }
  return undefined
}
