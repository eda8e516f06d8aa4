/** @module The common cases on the registries of this repository, over HTTP. */

import { consulDiscovery } from '../../bindings/discovery/consul/index.js'
import { dnsDiscovery } from '../../bindings/discovery/dns/index.js'
import { etcdDiscovery } from '../../bindings/discovery/etcd/index.js'
import { eurekaDiscovery } from '../../bindings/discovery/eureka/index.js'
import { kubernetesDiscovery } from '../../bindings/discovery/kubernetes/index.js'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import { registryCases } from './cases.js'
import { FakeConsul } from './fakes/consul.js'
import { FakeDoh } from './fakes/doh.js'
import { FakeEtcd } from './fakes/etcd.js'
import { EurekaFake } from './fakes/eureka.js'
import { FakeKubernetes } from './fakes/kubernetes.js'
import { FakeNacos } from './fakes/nacos.js'
import { renewing } from './renewing.js'
import { type FakeSetup, fakeTestRegistry } from './test-registry.js'

const requestTimeoutMs = 1_000
const INTERVAL_MS = 500
/** A registry that is too slow is asked after up to ten intervals. */
const EUREKA_PAUSES = { minMs: INTERVAL_MS, maxMs: 10 * INTERVAL_MS, growth: 2 }
const NACOS_PAUSES = { minMs: INTERVAL_MS, maxMs: 4 * INTERVAL_MS, growth: 2 }
const DNS_TTL_MS = 1_000
const DNS_PAUSES = { minMs: 2 * DNS_TTL_MS, maxMs: 4 * DNS_TTL_MS, growth: 2 }

const SETUPS: readonly (FakeSetup & { registers: boolean; lacks?: { weight?: boolean; zone?: boolean } })[] = [
  {
    name: 'eureka',
    boundMs: INTERVAL_MS,
    pauses: EUREKA_PAUSES,
    fake: () => new EurekaFake({ evictionMs: 1_000 }),
    remembers: false,
    registers: true,
    client: (url) =>
      renewing(eurekaDiscovery({ url: `${url}/eureka`, registryFetchIntervalMs: INTERVAL_MS, requestTimeoutMs }), {
        renewalIntervalMs: 1_000,
        leaseDurationMs: 3_000,
      }),
  },
  {
    name: 'consul',
    boundMs: 1_000,
    fake: () => new FakeConsul(),
    remembers: true,
    registers: true,
    client: (url) => consulDiscovery({ url, waitMs: 2_000, requestTimeoutMs, registration: { ttlMs: 3_000 } }),
  },
  {
    name: 'nacos',
    boundMs: INTERVAL_MS,
    pauses: NACOS_PAUSES,
    fake: () => new FakeNacos(),
    remembers: false,
    registers: true,
    client: (url) => nacosDiscovery({ url, pollMs: INTERVAL_MS, requestTimeoutMs }),
  },
  {
    name: 'dns over HTTPS',
    // The TTL and a tenth of it.
    boundMs: 1.1 * DNS_TTL_MS,
    pauses: DNS_PAUSES,
    fake: () => new FakeDoh({ ttl: DNS_TTL_MS / 1_000 }),
    remembers: true,
    registers: false,
    lacks: { zone: true },
    client: (url) =>
      dnsDiscovery({
        name: '_http._tcp.{service}.lan',
        resolver: { doh: `${url}/dns-query` },
        minTtlMs: DNS_TTL_MS,
        maxTtlMs: DNS_TTL_MS,
        requestTimeoutMs,
      }),
  },
  {
    name: 'kubernetes',
    boundMs: 1_000,
    fake: () => new FakeKubernetes(),
    remembers: true,
    registers: false,
    lacks: { weight: true },
    client: (url) => kubernetesDiscovery({ url, watchTimeoutMs: 1_000, requestTimeoutMs }),
  },
  {
    name: 'etcd',
    boundMs: 1_000,
    fake: () => new FakeEtcd(),
    remembers: true,
    registers: true,
    client: (url) => etcdDiscovery({ url, requestTimeoutMs, checkIntervalMs: 1_000, leaseTtlMs: 3_000 }),
  },
]

for (const { registers, lacks = {}, ...setup } of SETUPS) {
  registryCases(setup.name, () => fakeTestRegistry(setup), { registers, lacks })
}
