/** @module evenkeel/dns: instances from DNS, by A, AAAA and SRV records, over the runtime's resolver or HTTPS. */

export type { DnsResolver } from './custom-resolver.js'
export { type DnsDiscovery, dnsDiscovery } from './dns-discovery.js'
export type { DnsName } from './name.js'
export type { DnsDiscoveryOptions, DnsRecordType } from './options.js'
export type { AddressRecord, DnsType, SrvRecord } from './records.js'
