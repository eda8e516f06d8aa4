/** @module evenkeel: client-side load balancing. */

export { createLoadBalancer } from './balancer.js'
export { attemptsOf } from './client/attempts.js'
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
export type { Fallback } from './supplier/attribute.js'
export { type HintOptions, hint } from './supplier/hint.js'
export { type SubsetOptions, subset } from './supplier/subset.js'
export { type WeightedOptions, weighted } from './supplier/weighted.js'
export { type ZonePreferenceOptions, zonePreference } from './supplier/zone-preference.js'
export type * from './types/answers.js'
export type * from './types/balancer.js'
export type * from './types/extension.js'
export type * from './types/instance.js'
export type * from './types/options.js'
export type * from './types/request.js'
