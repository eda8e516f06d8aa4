/** @module The balancer that the comparison looks at: one service over the backends. */

import { createLoadBalancer, type LoadBalancer, type ServiceOptions } from 'evenkeel'
import type { Backend } from './backends.js'

export const SERVICE = 'inventory'
export const RESOURCE = `http://${SERVICE}/stock/42`
/** The zone this client says it is in. */
export const ZONE = 'shanghai'
/** Fixed, so that two runs look alike. */
const SEED = 1

export function inventoryOver(backends: readonly Backend[], options: ServiceOptions): LoadBalancer {
  const instances = backends.map(({ url, plan: { instanceId, zone, hint, weight } }) => ({
    url,
    instanceId,
    zone,
    ...(hint !== undefined && { hint }),
    ...(weight !== undefined && { weight }),
  }))
  return createLoadBalancer({ zone: ZONE, seed: SEED, services: { [SERVICE]: { ...options, instances } } })
}
