/** @module Which name a service has. */

import { ConfigError } from '../../errors.js'
import { show } from '../../show.js'

/** A template with `{service}`, or a function. */
export type DnsName = string | ((serviceId: string) => string)

/** A label of a host name, or of a service's name, which begins with an underscore. */
const LABEL = /^[\w-]{1,63}$/
const MOST_LENGTH = 253

/**
 * The name of a service, without a trailing dot.
 * @throws EVENKEEL_CONFIG for one that no name server can have
 */
export function nameOf(given: DnsName, serviceId: string): string {
  const told = typeof given === 'function' ? given(serviceId) : given.replaceAll('{service}', serviceId)
  const name = typeof told === 'string' ? told.replace(/\.$/, '') : ''
  if (name.length > MOST_LENGTH || !name.split('.').every((label) => LABEL.test(label))) {
    const message = `dnsDiscovery.name must give a DNS name (in ASCII) for "${serviceId}", not ${show(told)}`
    throw new ConfigError(message, { option: 'dnsDiscovery.name', serviceId })
  }
  return name
}
