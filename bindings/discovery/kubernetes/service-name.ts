/** @module Which service a service id means. */

import { ConfigError } from '../../errors.js'
import { show } from '../../show.js'
import { NAME } from './options.js'

export interface ServiceName {
  readonly service: string
  /** Undefined: the client's own. */
  readonly namespace: string | undefined
}

/**
 * Reads `orders`, `orders.shop`, and the names that the cluster's DNS has for it: `orders.shop.svc.cluster.local`.
 * @throws EVENKEEL_CONFIG for what no service can be called: a typing error must not look like an empty service
 */
export function serviceName(serviceId: string): ServiceName {
  const [service = '', namespace, svc = 'svc'] = serviceId.split('.')
  if (NAME.test(service) && (namespace === undefined || NAME.test(namespace)) && svc === 'svc') {
    return { service, namespace }
  }
  const accepted = "a Kubernetes service in lower case, as 'orders' or 'orders.shop' with its namespace"
  throw new ConfigError(`a service id must name ${accepted}, not ${show(serviceId)}`, { option: 'serviceId' })
}
