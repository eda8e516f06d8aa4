/** @module Ribbon's pings, polling, priming and breaker as options. */

import type { HealthCheckOptions, PollingOptions, PrimeOptions } from '../types/options.js'
import type { Report } from './report.js'
import type { Settings } from './settings.js'

const PING_INTERVAL_MS = 30_000

/** Undefined: everybody counts as alive. */
export function pingOptions(settings: Settings, report: Report): HealthCheckOptions | undefined {
  const { values, from } = settings.group('pings')
  const ping = settings.get('ping')?.name
  if (ping !== undefined) {
    report.use(from)
    return { ping, intervalMs: PING_INTERVAL_MS, ...values }
  }
  report.idle(from, 'no effect: nobody is pinged unless NFLoadBalancerPingClassName says how')
  return undefined
}

export function pollingOptions(settings: Settings): PollingOptions | undefined {
  if (settings.get('updater')?.name === undefined) return undefined
  const intervalMs = settings.get('ribbon.refreshMs')
  return intervalMs === undefined ? {} : { intervalMs }
}

export function primeOptions(settings: Settings, report: Report): PrimeOptions | undefined {
  const { values, from } = settings.group('prime')
  const { enabled, ...prime } = values
  if (enabled === true) {
    report.use(from)
    return prime
  }
  const idle = from.filter((property) => property !== settings.from('prime.enabled'))
  report.idle(idle, 'no effect: nothing is primed until EnablePrimeConnections is true')
  return undefined
}

/** What the breaker of each instance goes by. */
export function serverStatsOptions(settings: Settings): { serverStats?: object } {
  const { values, from } = settings.group('serverStats')
  return from.length === 0 ? {} : { serverStats: values }
}
