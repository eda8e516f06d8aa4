/** @module What Consul's checks say of an instance, together. */

import { isObject } from '../../config/check.js'
import { arrayAt } from '../registry/reading.js'

export type ConsulStatus = 'passing' | 'warning' | 'critical' | 'maintenance'

const NODE_MAINTENANCE = '_node_maintenance'
const SERVICE_MAINTENANCE = '_service_maintenance:'

/** From the best to the worst. */
const RANKS: readonly ConsulStatus[] = ['passing', 'warning', 'critical', 'maintenance']

/** The worst of the checks of the instance and of its node; without any it passes. A word that is unknown is critical. */
export function worstOf(checks: unknown, where: string): ConsulStatus {
  if (checks === undefined || checks === null) return 'passing'
  let worst = 0
  for (const check of arrayAt(checks, where)) {
    const rank = RANKS.indexOf(statusOf(check))
    if (rank > worst) worst = rank
  }
  return RANKS[worst] as ConsulStatus
}

function statusOf(check: unknown): ConsulStatus {
  if (!isObject(check)) return 'critical'
  const { CheckID: id, Status: status } = check
  if (typeof id === 'string' && (id === NODE_MAINTENANCE || id.startsWith(SERVICE_MAINTENANCE))) return 'maintenance'
  return status === 'passing' || status === 'warning' ? status : 'critical'
}

/** In the words of the standard's metadata `status`. */
export const STATUS_WORDS: Readonly<Record<ConsulStatus, string>> = {
  passing: 'UP',
  warning: 'UP',
  critical: 'DOWN',
  maintenance: 'OUT_OF_SERVICE',
}
