/** @module The keys under `spring.cloud.loadbalancer`, of SCLB 5.0: how each is read and where it goes. */

import { caffeineSpec } from './caffeine.js'
import { exceptionsOf } from './exceptions.js'
import { entries, globally, type Key, to, unused } from './key.js'
import {
  anyText,
  as,
  boolean,
  duration,
  fraction,
  LONGEST_MS,
  listOf,
  oneOf,
  positiveDuration,
  text,
  whole,
} from './readers.js'
import { CHAINS } from './settings.js'
import { tableOf } from './table.js'

export const PREFIX = 'spring.cloud.loadbalancer'

const retries = whole(0, 1000)
const statuses = listOf(whole(100, 599))

/** In SCLB's spelling. Those of a map stand for every key that begins with theirs. */
export const KEYS: Readonly<Record<string, Key>> = {
  enabled: globally(unused(boolean, (on) => (on ? undefined : OFF))),
  configurations: to('chain', oneOf(...CHAINS)),
  'eager-load.clients': globally(to('eager', listOf(text))),
  zone: globally(to('zone', text)),
  'service-discovery.timeout': globally(to('discoveryTimeoutMs', positiveDuration)),
  'call-get-with-request-on-delegates': to('callGetWithRequestOnDelegates', boolean),
  hint: entries('hints', anyText),
  'hint-header-name': to('hint.header', text),

  'cache.enabled': globally(to('cache.enabled', boolean)),
  'cache.ttl': globally(to('cache.ttlMs', duration, (ms) => (ms > 0 ? undefined : TTL_0))),
  'cache.capacity': globally(unused(whole(0, LONGEST_MS), () => CAPACITY)),
  'cache.caffeine.spec': globally(
    to('cache.spec', caffeineSpec, (spec) => (spec.expiresAfterAccess ? AFTER_ACCESS : undefined)),
  ),

  'health-check.initial-delay': to('healthCheck.initialDelayMs', duration),
  'health-check.interval': to('healthCheck.intervalMs', positiveDuration),
  'health-check.path': entries('healthCheck.path', anyText),
  'health-check.port': to('healthCheck.port', whole(0, 65_535)),
  'health-check.refetch-instances': to('healthCheck.refetch', boolean),
  'health-check.refetch-instances-interval': to('healthCheck.refetchMs', duration),
  'health-check.repeat-health-check': to('healthCheck.repeat', boolean),
  'health-check.update-results-list': to(
    'healthCheck.publish',
    as(boolean, (each) => (each ? 'each' : 'round')),
  ),

  'retry.enabled': to('retry.enabled', boolean),
  'retry.avoid-previous-instance': to('retry.avoidPreviousInstance', boolean),
  'retry.max-retries-on-same-service-instance': to('retry.maxRetriesOnSameServiceInstance', retries),
  'retry.max-retries-on-next-service-instance': to('retry.maxRetriesOnNextServiceInstance', retries),
  'retry.retry-on-all-operations': to('retry.retryOnAllOperations', boolean),
  'retry.retry-on-all-exceptions': to('retry.retryOnAllExceptions', boolean),
  'retry.retryable-status-codes': to('retry.statusCodes', statuses),
  'retry.retryable-exceptions': to('retry.exceptions', as(listOf(text), exceptionsOf), ({ unknown }) =>
    unknown.length > 0 ? notKnown(unknown) : undefined,
  ),
  'retry.backoff.enabled': to('backoff.enabled', boolean),
  'retry.backoff.min-backoff': to('backoff.minMs', duration),
  'retry.backoff.max-backoff': to('backoff.maxMs', duration),
  'retry.backoff.jitter': to('backoff.jitter', fraction(0, 1)),

  'sticky-session.instance-id-cookie-name': to('stickySession.cookie', text),
  'sticky-session.add-service-instance-cookie': to('stickySession.addServiceInstanceCookie', boolean),

  'x-forwarded.enabled': to('xForwarded', boolean),

  'subset.instance-id': to('subset.instanceId', text),
  'subset.size': to('subset.size', whole(1, LONGEST_MS)),

  'stats.micrometer.enabled': globally(to('metrics.enabled', boolean)),
  'stats.include-path': to('metrics.includePath', boolean),

  'api-version.required': to('apiVersion.required', boolean),
  'api-version.default': to('apiVersion.default', text),
  'api-version.header': to('apiVersion.header', text),
  'api-version.query-parameter': to('apiVersion.query', text),
  'api-version.path-segment': to('apiVersion.pathSegment', whole(0, 1000)),
  'api-version.media-type-parameters': entries('apiVersion.mediaType', text),
  'api-version.fallback-to-available-instances': to(
    'apiVersion.fallback',
    as(boolean, (all) => (all ? 'all' : 'none')),
  ),

  'ribbon.enabled': globally(unused(boolean, () => RIBBON)),
}

export const TABLE = tableOf(KEYS)

const OFF = 'to have no load balancing, make no balancer: the other keys are translated all the same'
const TTL_0 =
  '0 is "for ever" to SCLB\'s own cache and "not at all" to Caffeine; here the list is asked for anew each time it is used'
const CAPACITY = 'nothing to do: it is the initial size of a Java map, not a limit'
const AFTER_ACCESS =
  'expireAfterAccess is not used: while there are requests, SCLB would never ask for the list again (spring-cloud-commons issue 1254)'
const RIBBON = 'nothing to do: it chose between Ribbon and Spring Cloud LoadBalancer; the key can go'

function notKnown(classes: readonly string[]): string {
  return `fetch throws nothing that ${classes.join(', ')} could stand for; give retry.exceptions a function of the error`
}
