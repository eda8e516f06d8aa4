/** @module Instances from Consul, and registration with its agents. */

export { type ConsulDiscovery, consulDiscovery } from './consul-discovery.js'
export type { ConsulDiscoveryOptions, ConsulRegistrationOptions, ConsulZone } from './options.js'
