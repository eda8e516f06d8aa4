/** @module evenkeel/nacos: services of a Nacos server, and registration there. */

export type { NacosApi } from './api.js'
export { type NacosDiscovery, nacosDiscovery } from './client.js'
export type { NacosDiscoveryOptions } from './options.js'
