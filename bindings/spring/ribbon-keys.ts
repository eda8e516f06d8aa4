/** @module Ribbon's keys, `<client>.ribbon.<key>` and `ribbon.<key>`: how each is read and where it goes. */

import { type Key, to, unused } from './key.js'
import { anyText, boolean, duration, listOf, text, whole } from './readers.js'
import { rule } from './ribbon-rules.js'

const retries = whole(0, 1000)

/** A key without a counterpart; nothing is said of values that come to what evenkeel does anyway. */
function instead(advice: string, ...same: string[]): Key {
  return unused(anyText, (value) => (same.includes(value) ? undefined : `not translated: ${advice}`))
}

const CONNECTIONS = 'connections belong to the transport; give createLoadBalancer a fetch that has them so'
const CHECKS = 'write healthCheck: { path, intervalMs }; the interval is in seconds here, in ms there'
const LISTS = 'write a discovery client { name, get(serviceId) } and give it to createLoadBalancer'
const FILTERS = 'write a supplier { name, filter(list, request) } and list it in suppliers'
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
  ServerListRefreshInterval: to('cache.ttlMs', duration),
  NFLoadBalancerRuleClassName: to('rule', rule, ({ advice }) => advice),
  'eager-load.enabled': to('ribbon.eagerEnabled', boolean),
  'eager-load.clients': to('eager', listOf(text)),

  NFLoadBalancerClassName: instead('there is one balancer; its parts are suppliers and a policy'),
  NFLoadBalancerPingClassName: instead(CHECKS, `${NETFLIX}DummyPing`, `${NETFLIX}NoOpPing`),
  NFLoadBalancerPingInterval: instead(CHECKS),
  NFLoadBalancerMaxTotalPingTime: instead('write healthCheck: { timeoutMs }'),
  NIWSServerListClassName: instead(LISTS, `${NETFLIX}ConfigurationBasedServerList`),
  NIWSServerListFilterClassName: instead(FILTERS),
  ServerListUpdaterClassName: instead(
    'a discovery client that pushes has watch(serviceId)',
    `${NETFLIX}PollingServerListUpdater`,
  ),
  EnableZoneAffinity: instead("add 'zone-preference' to suppliers, and give createLoadBalancer its zone", 'false'),
  EnableZoneExclusivity: instead('add { "type": "zone-preference", "strict": true } to suppliers', 'false'),
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
  ServerWeightTaskTimerInterval: instead("a later version has 'weighted-response-time'"),
  ActiveConnectionsLimit: instead("a later version has 'availability-filtering'"),
  BackoffTimeout: instead('write retry: { backoff: { minMs, maxMs } }'),
  EnablePrimeConnections: instead('write eager: true, which gets the list; connections are made on first use', 'false'),
  MaxRetriesPerServerPrimeConnection: instead(NO_NEED),
  MaxTotalTimeToPrimeConnections: instead(NO_NEED),
  MinPrimeConnectionsRatio: instead(NO_NEED),
  PrimeConnectionsURI: instead(NO_NEED),
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
