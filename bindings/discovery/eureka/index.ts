/** @module evenkeel/eureka: instances from Eureka servers, and registration there. */

export { type EurekaDiscovery, eurekaDiscovery } from './discovery.js'
export type { EurekaDiscoveryOptions, EurekaUrls } from './options.js'
export type { EurekaRegistrationOptions } from './registration.js'
