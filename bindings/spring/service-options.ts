/** @module Settings as the options of one service, or of all. */

import type { ServiceOptions } from '../types/options.js'
import { chainOptions } from './chain.js'
import type { Property } from './property.js'
import { LONGEST_MS } from './readers.js'
import type { Report } from './report.js'
import { retryOptions } from './retry.js'
import { pollingOptions, primeOptions, serverStatsOptions } from './ribbon-options.js'
import { ribbonPolicy } from './ribbon-policy.js'
import type { Settings } from './settings.js'

/** @param serviceId undefined: all services */
export function serviceOptions(settings: Settings, serviceId: string | undefined, report: Report): ServiceOptions {
  return given({
    ...chainOptions(settings, serviceId, report),
    policy: ribbonPolicy(settings, report),
    hints: hintsFor(settings.get('hints'), serviceId),
    cache: cacheOptions(settings, report),
    polling: pollingOptions(settings),
    prime: primeOptions(settings, report),
    ...serverStatsOptions(settings),
    retry: retryOptions(settings, report),
    attemptTimeoutMs: attemptTimeoutMs(settings, report),
    discoveryTimeoutMs: settings.get('discoveryTimeoutMs'),
    callGetWithRequestOnDelegates: settings.get('callGetWithRequestOnDelegates'),
    xForwarded: settings.get('xForwarded'),
    metrics: metricsOptions(settings, report),
  })
}

/**
 * In Spring's map an id is one in any case, and the last to be said counts. Here `default` and the service's own are
 * as they are looked up.
 */
function hintsFor(hints: ServiceOptions['hints'], serviceId: string | undefined): ServiceOptions['hints'] {
  if (hints === undefined) return undefined
  const last = new Map(Object.entries(hints).map(([id, hint]) => [id.toLowerCase(), { id, hint }]))
  const found: Record<string, string> = {}
  for (const [lower, { id, hint }] of last) {
    found[lower === 'default' ? lower : id] = hint
    if (lower === serviceId?.toLowerCase()) found[serviceId as string] = hint
  }
  return found
}

/** Caffeine's specification replaces all that is said beside it. */
function cacheOptions(settings: Settings, report: Report): ServiceOptions['cache'] {
  if (settings.get('cache.enabled') === false) return false
  // Ribbon's updater by name polls; without one the interval is the age that a list may have.
  const slot =
    settings.get('cache.ttlMs') === undefined && !settings.get('updater')?.name ? 'ribbon.refreshMs' : 'cache.ttlMs'
  const ttl = settings.from(slot)
  const spec = settings.get('cache.spec')
  const from = settings.from('cache.spec')
  if (from !== undefined && spec?.expireAfterWriteMs !== undefined) {
    if (ttl !== undefined) report.warn(ttl, `not used: ${from.key} replaces it`)
    return { ttlMs: spec.expireAfterWriteMs }
  }
  if (from !== undefined) {
    report.warn(
      from,
      `has no expireAfterWrite, so SCLB keeps a list for ever; here ${ttl?.key ?? 'the default of 35 s'} holds`,
    )
  }
  const ttlMs = settings.get(slot)
  return ttlMs === undefined ? undefined : { ttlMs }
}

/** Ribbon's limits for connecting and for waiting, each 1 s unless given, are one here. In Java 0 is no limit. */
function attemptTimeoutMs(settings: Settings, report: Report): number | undefined {
  const endless = TIMEOUTS.filter((slot) => settings.get(slot) === 0)
  for (const slot of endless) report.warn(settings.from(slot) as Property, NO_LIMIT)
  if (endless.length > 0) return undefined
  const connect = settings.get('ribbon.connectTimeoutMs')
  const read = settings.get('ribbon.readTimeoutMs')
  return connect === undefined && read === undefined
    ? undefined
    : Math.min((connect ?? 1000) + (read ?? 1000), LONGEST_MS)
}

const TIMEOUTS = ['ribbon.connectTimeoutMs', 'ribbon.readTimeoutMs'] as const
const NO_LIMIT = 'no limit in Java, so an attempt may take as long as it likes; write attemptTimeoutMs'

function metricsOptions(settings: Settings, report: Report): ServiceOptions['metrics'] {
  const { enabled, includePath } = settings.group('metrics').values
  const path = settings.from('metrics.includePath')
  const from = path === undefined ? [] : [path]
  if (enabled === true) {
    report.use(from)
    return includePath === undefined ? {} : { includePath: includePath as boolean }
  }
  report.idle(from, 'no effect: there are no meters until stats.micrometer.enabled is true')
  return enabled === false ? false : undefined
}

/** Without the options that have no value. */
function given(options: { [K in keyof ServiceOptions]: ServiceOptions[K] | undefined }): ServiceOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ServiceOptions
}
