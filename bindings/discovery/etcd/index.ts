/** @module The entry `evenkeel/etcd`. */

export { type EtcdDiscovery, etcdDiscovery } from './etcd-discovery.js'
export type { EtcdDiscoveryOptions, EtcdInstance } from './options.js'
