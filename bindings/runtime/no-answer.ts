/** @module Which errors mean that an instance did not answer at all. */

import { TimeoutError } from '../errors.js'
import { isConnectionError } from './connection-errors.js'

/** The connection failed, or the time was over. */
export function isWithoutAnswer(error: unknown): boolean {
  return error instanceof TimeoutError || isConnectionError(error)
}
