/** @module Nobody is asked. */

import { object } from '../../config/check.js'
import type { Ping } from '../../types/extension.js'

const check = object({})

/**
 * Everybody is alive, and nobody is asked.
 * Use it to switch off for one service what `defaults` has. Breaks nothing; it also finds nothing.
 * @see Ribbon 2.7.18 DummyPing
 * @example healthCheck: { ping: dummyPing() }
 */
export function dummyPing(options: Record<never, never> = {}): Ping {
  check(options, 'dummyPing')
  return { name: 'dummy', asks: false, isAlive: () => true }
}
