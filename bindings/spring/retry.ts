/** @module SCLB's `retry.*` and Ribbon's keys of the same meaning as retry options. */

import type { RetryOptions } from '../types/options.js'
import { isAnything } from './exceptions.js'
import type { Report } from './report.js'
import type { Settings } from './settings.js'

export function retryOptions(settings: Settings, report: Report): RetryOptions | false | undefined {
  if (settings.get('retry.enabled') === false) return false
  const { enabled: _, exceptions, retryOnAllExceptions, ...same } = settings.group('retry').values
  const test = retryOnAllExceptions ? isAnything : settings.get('retry.exceptions')?.test
  const backoff = backoffOptions(settings, report)
  const retry: RetryOptions = {
    ...same,
    ...(test !== undefined && { exceptions: test }),
    ...(backoff !== undefined && { backoff }),
  }
  return Object.keys(retry).length > 0 ? retry : undefined
}

/** Off unless switched on, whatever else is said of it. */
function backoffOptions(settings: Settings, report: Report): RetryOptions['backoff'] {
  const { values, from } = settings.group('backoff')
  const { enabled, ...backoff } = values
  if (enabled === true) {
    report.use(from)
    return backoff
  }
  const idle = from.filter((property) => property !== settings.from('backoff.enabled'))
  report.idle(idle, 'no effect: there is no backoff until retry.backoff.enabled is true')
  return enabled === false ? false : undefined
}
