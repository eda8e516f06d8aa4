/** @module evenkeel: client-side load balancing. */

export { createLoadBalancer } from './balancer.js'
export { attemptsOf } from './client/attempts.js'
export { type CompositeOptions, compositeDiscovery } from './discovery/composite.js'
export { type DiscoveryFromOptions, discoveryFrom } from './discovery/discovery-from.js'
export { type SimpleDiscoveryOptions, simpleDiscovery } from './discovery/simple-discovery.js'
export {
  ClosedError,
  ConfigError,
  DiscoveryError,
  type ErrorCode,
  EvenkeelError,
  NoAddressError,
  NoInstanceError,
  TimeoutError,
  UnknownServiceError,
  WasmError,
} from './errors.js'
export { type LeastRequestOptions, leastRequest } from './policy/least-request.js'
export { type PeakEwmaOptions, peakEwma } from './policy/peak-ewma.js'
export { random } from './policy/random.js'
export { type RoundRobinOptions, roundRobin } from './policy/round-robin.js'
export { isConnectionError } from './runtime/connection-errors.js'
export { type ApiVersionOptions, apiVersion } from './supplier/api-version.js'
export { type CanaryOptions, canary } from './supplier/canary.js'
export type { Fallback } from './supplier/fallback.js'
export { type HintOptions, hint } from './supplier/hint.js'
export { sameInstancePreference } from './supplier/same-instance-preference.js'
export { type SetCookieOptions, type StickySessionOptions, stickySession } from './supplier/sticky-session.js'
export { type SubsetOptions, subset } from './supplier/subset.js'
export { type VersionOptions, version } from './supplier/version.js'
export type { VersionPlaces } from './supplier/version-places.js'
export { type WeightedOptions, weighted } from './supplier/weighted.js'
export { type ZonePreferenceOptions, zonePreference } from './supplier/zone-preference.js'
export type * from './types/answers.js'
export type * from './types/balancer.js'
export type * from './types/extension.js'
export type * from './types/instance.js'
export type * from './types/options.js'
export type * from './types/request.js'
