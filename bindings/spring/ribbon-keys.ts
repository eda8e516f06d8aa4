/** @module Ribbon's keys, `<client>.ribbon.<key>` and `ribbon.<key>`: how each is read and where it goes. */

import { type Key, to, unused } from './key.js'
import {
  anyText,
  as,
  boolean,
  duration,
  fraction,
  listOf,
  positiveDuration,
  positiveSeconds,
  text,
  whole,
} from './readers.js'
import { balancer, type ClassChoice, filter, ping, rule, updater } from './ribbon-classes.js'

const retries = whole(0, 1000)
const MOST = 2 ** 31 - 1
const adviceOf = ({ advice }: ClassChoice) => advice

/** A key without a counterpart; nothing is said of values that come to what evenkeel does anyway. */
function instead(advice: string, ...same: string[]): Key {
  return unused(anyText, (value) => (same.includes(value) ? undefined : `not translated: ${advice}`))
}

const CONNECTIONS = 'connections belong to the transport; give createLoadBalancer a fetch that has them so'
const LISTS =
  "give createLoadBalancer a discovery client: eurekaDiscovery of 'evenkeel/eureka', or your own { name, get(serviceId) }"
const BREAKER = 'a later version has outlierDetection; policy "peak-ewma" avoids instances that fail'
const NO_NEED = 'there is nothing like it, and no need'
const NETFLIX = 'com.netflix.loadbalancer.'

/** Spelled as Ribbon does. */
export const RIBBON_KEYS: Readonly<Record<string, Key>> = {
  listOfServers: to('ribbon.servers', listOf(text)),
  IsSecure: to('ribbon.secure', boolean),
  MaxAutoRetries: to('retry.maxRetriesOnSameServiceInstance', retries),
  MaxAutoRetriesNextServer: to('retry.maxRetriesOnNextServiceInstance', retries),
  OkToRetryOnAllOperations: to('retry.retryOnAllOperations', boolean),
  retryableStatusCodes: to('retry.statusCodes', listOf(whole(100, 599))),
  ConnectTimeout: to('ribbon.connectTimeoutMs', duration),
  ReadTimeout: to('ribbon.readTimeoutMs', duration),
  ServerListRefreshInterval: to('ribbon.refreshMs', positiveDuration),
  ServerListUpdaterClassName: to('updater', updater, adviceOf),
  NFLoadBalancerClassName: to('balancer', balancer, adviceOf),
  NFLoadBalancerRuleClassName: to('rule', rule, adviceOf),
  ActiveConnectionsLimit: to('availability.activeLimit', whole(-1, MOST)),
  ServerWeightTaskTimerInterval: to('weights.updateMs', positiveDuration),
  NFLoadBalancerPingClassName: to('ping', ping, adviceOf),
  NFLoadBalancerPingInterval: to('pings.intervalMs', positiveSeconds),
  NFLoadBalancerMaxTotalPingTime: to('pings.timeoutMs', positiveSeconds),
  NIWSServerListFilterClassName: to('filter', filter, adviceOf),
  EnableZoneAffinity: to('zoneFilter.affinity', boolean),
  EnableZoneExclusivity: to('zoneFilter.exclusive', boolean),
  'zoneAffinity.maxLoadPerServer': to('affinity.maxLoadPerServer', fraction(0, MOST)),
  // These three are Ribbon's own spellings.
  'zoneAffinity.maxBlackOutServesrPercentage': to('affinity.maxBlackOutShare', fraction(0, 1)),
  'ServerListSubsetFilter.eliminationFailureThresold': to('serverListSubset.failureThreshold', whole(0, MOST)),
  'ServerListSubsetFilter.eliminationConnectionThresold': to('serverListSubset.connectionThreshold', whole(0, MOST)),
  'zoneAffinity.minAvailableServers': to('affinity.minAvailable', whole(0, MOST)),
  'ServerListSubsetFilter.size': to('serverListSubset.size', whole(1, MOST)),
  'ServerListSubsetFilter.forceEliminatePercent': to('serverListSubset.forceEliminatePercent', fraction(0, 1)),
  EnablePrimeConnections: to('prime.enabled', boolean),
  MaxRetriesPerServerPrimeConnection: to(
    'prime.attempts',
    as(whole(0, 999), (retries) => retries + 1),
  ),
  MaxTotalTimeToPrimeConnections: to('prime.totalMs', positiveDuration),
  MinPrimeConnectionsRatio: to('prime.minShare', fraction(0, 1)),
  PrimeConnectionsURI: to('prime.path', text),
  'eager-load.enabled': to('ribbon.eagerEnabled', boolean),
  'eager-load.clients': to('eager', listOf(text)),

  NIWSServerListClassName: instead(LISTS, `${NETFLIX}ConfigurationBasedServerList`),
  DeploymentContextBasedVipAddresses: instead('the URL names the service: http://<service id>/…'),
  ForceClientPortConfiguration: instead('have the discovery client return that port'),
  Port: instead('have the discovery client return that port'),
  SecurePort: instead('have the discovery client return that port'),
  'secure-ports': instead('have the discovery client return secure: true'),
  UseIPAddrForServer: instead('have the discovery client return addresses as hosts'),
  PrioritizeVipAddressBasedServers: instead(NO_NEED),
  TargetRegion: instead('have the discovery client ask that region'),
  'eureka.enabled': instead(LISTS, 'false'),
  InitializeNFLoadBalancer: instead(NO_NEED, 'true'),
  BackoffTimeout: instead('write retry: { backoff: { minMs, maxMs } }'),
  PrimeConnectionsClassName: instead('priming sends GET; write what else must be warm as a ping for healthCheck'),
  RulePredicateClasses: instead('what a predicate filters is a supplier { name, filter(list, request) }'),
  FollowRedirects: instead('write redirect: "follow" or "manual" in the init of fetch'),
  GZipPayload: instead(CONNECTIONS),
  EnableGZIPContentEncodingFilter: instead(CONNECTIONS),
  IsClientAuthRequired: instead(CONNECTIONS, 'false'),
  MaxConnectionsPerHost: instead(CONNECTIONS),
  MaxTotalConnections: instead(CONNECTIONS),
  MaxHttpConnectionsPerHost: instead(CONNECTIONS),
  MaxTotalHttpConnections: instead(CONNECTIONS),
  EnableConnectionPool: instead(CONNECTIONS),
  ConnIdleEvictTimeMilliSeconds: instead(CONNECTIONS),
  ConnectionCleanerRepeatInterval: instead(CONNECTIONS),
  ConnectionManagerTimeout: instead(CONNECTIONS),
  ConnectionPoolCleanerTaskEnabled: instead(CONNECTIONS),
  PoolMinThreads: instead(CONNECTIONS),
  PoolMaxThreads: instead(CONNECTIONS),
  PoolKeepAliveTime: instead(CONNECTIONS),
  PoolKeepAliveTimeUnits: instead(CONNECTIONS),
  StaleCheckingEnabled: instead(CONNECTIONS),
  Linger: instead(CONNECTIONS),
  SendBufferSize: instead(CONNECTIONS),
  ReceiveBufferSize: instead(CONNECTIONS),
  'http.client.enabled': instead(CONNECTIONS),
  'okhttp.enabled': instead(CONNECTIONS),
  'restclient.enabled': instead(CONNECTIONS),

  // Hystrix's, often written beside Ribbon's.
  EnableCircuitBreaker: instead(BREAKER, 'false'),
  CircuitBreakerRequestVolumeThreshold: instead(BREAKER),
  CircuitBreakerErrorThresholdPercentage: instead(BREAKER),
  CircuitBreakerSleepWindowInMilliseconds: instead(BREAKER),
}
