/** @module Which servers may be chosen by their breaker and their requests in flight: Ribbon's AvailabilityPredicate. */

import { boolean, number } from '../config/check.js'

export interface AvailabilityOptions {
  /** An instance with this many requests in flight gets no more. Default 2 147 483 647: no limit. */
  activeLimit?: number
  /** Leave out those whose breaker is open. Default true. */
  filterTripped?: boolean
}

export const AVAILABILITY = {
  activeLimit: number({ least: 1, most: 2 ** 31 - 1, whole: true }),
  filterTripped: boolean,
}

/** As the core takes them. */
export function availabilityOf({ activeLimit = 2 ** 31 - 1, filterTripped = true }: AvailabilityOptions): {
  limit: number
  tripped: number
} {
  return { limit: activeLimit, tripped: filterTripped ? 1 : 0 }
}
