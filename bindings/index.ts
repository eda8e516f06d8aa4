/** @module evenkeel: client-side load balancing. */

export { createLoadBalancer } from './balancer.js'
export { attemptsOf } from './client/attempts.js'
export { isCircuitTripping, type RetryHandlerOptions, retryHandler } from './client/retry-handlers.js'
export { type CompositeOptions, compositeDiscovery } from './discovery/composite.js'
export { type DiscoveryFromOptions, discoveryFrom } from './discovery/discovery-from.js'
export { type SimpleDiscoveryOptions, simpleDiscovery } from './discovery/simple-discovery.js'
export {
  ClosedError,
  ConfigError,
  DiscoveryError,
  type DiscoveryFailure,
  type ErrorCode,
  EvenkeelError,
  NoAddressError,
  NoInstanceError,
  TimeoutError,
  UnknownServiceError,
  WasmError,
} from './errors.js'
export { type ConstantPingOptions, constantPing } from './health/pings/constant.js'
export { dummyPing } from './health/pings/dummy.js'
export { type RegistryPingOptions, registryPing } from './health/pings/registry.js'
export { type UrlPingOptions, urlPing } from './health/pings/url.js'
export { type AvailabilityFilteringOptions, availabilityFiltering } from './policy/availability-filtering.js'
export { bestAvailable } from './policy/best-available.js'
export { type DynamicWeightOptions, dynamicWeight } from './policy/dynamic-weight.js'
export { type EdfOptions, edf } from './policy/edf.js'
export { type FilteringOptions, filtering, type PredicateFunction, type PredicateView } from './policy/filtering.js'
export { type JumpOptions, jump } from './policy/jump.js'
export { leastConnections } from './policy/least-connections.js'
export { type LeastRequestOptions, leastRequest } from './policy/least-request.js'
export { type LeastResponseTimeOptions, leastResponseTime } from './policy/least-response-time.js'
export { type MaglevOptions, maglev } from './policy/maglev.js'
export { type PeakEwmaOptions, peakEwma } from './policy/peak-ewma.js'
export { random } from './policy/random.js'
export { type RelativeWeightOptions, relativeWeight } from './policy/relative-weight.js'
export { type RendezvousOptions, rendezvous } from './policy/rendezvous.js'
export type { KeySource } from './policy/request-key.js'
export { type RetryRuleOptions, retryRule } from './policy/retry-rule.js'
export { type RingHashOptions, type RingOptions, ringHash } from './policy/ring-hash.js'
export { type RoundRobinOptions, roundRobin } from './policy/round-robin.js'
export { type SmoothRoundRobinOptions, smoothRoundRobin } from './policy/smooth-round-robin.js'
export { type SourceHashOptions, sourceHash } from './policy/source-hash.js'
export { type StrideOptions, stride } from './policy/stride.js'
export { type WeightedResponseTimeOptions, weightedResponseTime } from './policy/weighted-response-time.js'
export { type ZoneAvoidanceOptions, zoneAvoidance } from './policy/zone-avoidance.js'
export { type ZoneAwareOptions, zoneAware } from './policy/zone-aware.js'
export { isConnectionError } from './runtime/connection-errors.js'
export { type ApertureOptions, aperture } from './supplier/aperture.js'
export { type ApiVersionOptions, apiVersion } from './supplier/api-version.js'
export { type CanaryOptions, canary } from './supplier/canary.js'
export type { Fallback } from './supplier/fallback.js'
export { type HintOptions, hint } from './supplier/hint.js'
export { type RendezvousSubsetOptions, rendezvousSubset } from './supplier/rendezvous-subset.js'
export { sameInstancePreference } from './supplier/same-instance-preference.js'
export { type ServerListSubsetOptions, serverListSubset } from './supplier/server-list-subset.js'
export { type SetCookieOptions, type StickySessionOptions, stickySession } from './supplier/sticky-session.js'
export { type SubsetOptions, subset } from './supplier/subset.js'
export { type VersionOptions, version } from './supplier/version.js'
export type { VersionPlaces } from './supplier/version-places.js'
export { type WeightedOptions, weighted } from './supplier/weighted.js'
export { type ZoneAffinityOptions, zoneAffinity } from './supplier/zone-affinity.js'
export { type ZonePreferenceOptions, zonePreference } from './supplier/zone-preference.js'
export type * from './types/answers.js'
export type * from './types/balancer.js'
export type * from './types/extension.js'
export type * from './types/instance.js'
export type * from './types/options.js'
export type * from './types/registration.js'
export type * from './types/request.js'
