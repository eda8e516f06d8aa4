/** @module An instance is alive if its registry says so. */

import { func, object } from '../../config/check.js'
import type { Ping } from '../../types/extension.js'
import type { ServiceInstance } from '../../types/instance.js'

export interface RegistryPingOptions {
  /** Default: metadata `status`. Undefined or null: unknown, which counts as alive. */
  status?: (instance: ServiceInstance) => string | undefined | null
}

const check = object({ status: func('a function of an instance') })

/**
 * Alive is whose registry status is UP, in any case; who has none is alive too. Nothing is sent.
 * Use it where the registry lists instances that are starting or out of service. Breaks where it is late to notice
 * that an instance has died: `urlPing` asks the instance itself.
 * @throws EVENKEEL_CONFIG naming the option
 * @see Ribbon 2.7.18 NIWSDiscoveryPing
 * @example healthCheck: { ping: registryPing({ status: ({ metadata }) => metadata['nacos.status'] }) }
 */
export function registryPing(options: RegistryPingOptions = {}): Ping {
  check(options, 'registryPing')
  const { status: statusOf = ({ metadata }: ServiceInstance) => metadata.status } = options
  return {
    name: 'registry',
    isAlive(instance) {
      const status = statusOf(instance)
      return { alive: (status ?? 'UP').toUpperCase() === 'UP', reason: `registry status ${status}` }
    },
  }
}
