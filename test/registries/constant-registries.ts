/** @module Constant answers of each registry, in two versions, and the clients that read them. */

import { consulDiscovery } from '../../bindings/discovery/consul/index.js'
import { dnsDiscovery } from '../../bindings/discovery/dns/index.js'
import { etcdDiscovery } from '../../bindings/discovery/etcd/index.js'
import { eurekaDiscovery } from '../../bindings/discovery/eureka/index.js'
import { kubernetesDiscovery } from '../../bindings/discovery/kubernetes/index.js'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import type { DiscoveryClient, FetchLike } from '../../bindings/index.js'
import { bytesOf, ConstantRegistry, lineOf } from './constant-registry.js'

export const INSTANCES = 5
const EACH = Array.from({ length: INSTANCES }, (_, i) => i)

export interface Settings {
  readonly random: () => number
  readonly clock: () => number
  readonly fetch: FetchLike
}

export interface ConstantSetup {
  readonly registry: ConstantRegistry
  /** Clients ask again after this, in ms; undefined: they are told. */
  readonly intervalMs: number | undefined
  /** The other version counts from now on; who waits is told. */
  change(): void
  client(settings: Settings): DiscoveryClient
}

export type SetupName = 'eureka' | 'nacos' | 'dns' | 'consul' | 'kubernetes' | 'etcd'

/** What changes from one version to the other: the port of the first instance. */
const portOf = (i: number, version: number) => (i === 0 ? 8_000 + (version % 2) : 80)

export const CONSTANT_SETUPS: Readonly<Record<SetupName, () => ConstantSetup>> = {
  eureka() {
    const applications = [0, 1].map((version) => ({
      name: 'ORDERS',
      instance: EACH.map((i) => ({
        instanceId: `i${i}`,
        hostName: `10.0.0.${i}`,
        ipAddr: `10.0.0.${i}`,
        status: 'UP',
        actionType: 'MODIFIED',
        port: { $: portOf(i, version), '@enabled': 'true' },
        metadata: { zone: 'a' },
      })),
    }))
    const all = applications.map((application, version) => ({
      versions__delta: String(version),
      apps__hashcode: `UP_${INSTANCES}_`,
      application: [application],
    }))
    const bodies = all.map((each) => bytesOf({ applications: each }))
    const ofOne = applications.map((application) => bytesOf({ application }))
    return polled(
      30_000,
      bodies,
      (settings) => eurekaDiscovery({ url: 'http://eureka/eureka', ...settings }),
      (url, version) => (url.pathname.endsWith('/apps/ORDERS') ? ofOne[version] : undefined),
    )
  },
  nacos() {
    const bodies = [0, 1].map((version) =>
      bytesOf({
        code: 0,
        data: EACH.map((i) => ({ ip: `10.0.0.${i}`, port: portOf(i, version), metadata: { zone: 'a' } })),
      }),
    )
    let logins = 0
    // Each time another token.
    const login = () => bytesOf({ accessToken: `${++logins}`.padEnd(200, 'x'), tokenTtl: 60 })
    return polled(
      10_000,
      bodies,
      (settings) => nacosDiscovery({ url: 'http://nacos', pollMs: 10_000, ...settings }),
      (url) => (url.pathname.endsWith('/login') ? login() : undefined),
    )
  },
  dns() {
    const bodies = [0, 1].map((version) =>
      bytesOf({
        Status: 0,
        Answer: EACH.map((i) => ({
          name: '_http._tcp.orders.lan',
          type: 33,
          TTL: 30,
          data: `0 1 ${portOf(i, version)} n${i}.lan.`,
        })),
      }),
    )
    return polled(30_000, bodies, (settings) =>
      dnsDiscovery({ name: '_http._tcp.{service}.lan', resolver: { doh: 'http://dns/dns-query' }, ...settings }),
    )
  },
  consul() {
    let version = 0
    const bodies = [0, 1].map((each) =>
      bytesOf(
        EACH.map((i) => ({
          Node: { Node: 'n1' },
          Service: { ID: `i${i}`, Service: 'orders', Address: `10.0.0.${i}`, Port: portOf(i, each) },
          Checks: [{ CheckID: 'a', Status: 'passing' }],
        })),
      ),
    )
    // Of two indexes there is always a newer one, and one that is the same as the client's.
    const headers = new Headers()
    const answer = () => ({ body: bodies[version % 2] as Uint8Array, headers })
    headers.set('x-consul-index', '100')
    const registry = new ConstantRegistry((url) => {
      if (!url.searchParams.has('index')) return answer()
      return { waitsFor: answer }
    })
    return {
      registry,
      intervalMs: undefined,
      change() {
        version++
        headers.set('x-consul-index', String(100 + version))
        registry.tell()
      },
      client: (settings) => consulDiscovery({ url: 'http://consul:8500', ...settings }),
    }
  },
  kubernetes() {
    const metadata = (version: number) => ({
      name: 's0',
      labels: { 'kubernetes.io/service-name': 'orders' },
      resourceVersion: String(version),
    })
    const slice = (version: number) => ({
      kind: 'EndpointSlice',
      apiVersion: 'discovery.k8s.io/v1',
      metadata: metadata(100 + version),
      addressType: 'IPv4',
      ports: [{ name: 'http', port: portOf(0, version), protocol: 'TCP' }],
      endpoints: EACH.map((i) => ({
        addresses: [`10.0.0.${i}`],
        conditions: { ready: true },
        targetRef: { kind: 'Pod', name: `p${i}`, uid: `p${i}` },
      })),
    })
    const list = bytesOf({ metadata: { resourceVersion: '100' }, items: [slice(0)] })
    let version = 0
    const registry = new ConstantRegistry((url) =>
      url.searchParams.get('watch') === 'true' ? { streams: new Uint8Array() } : { body: list },
    )
    return {
      registry,
      intervalMs: undefined,
      change: () => registry.send(lineOf({ type: 'MODIFIED', object: slice(++version) })),
      client: (settings) => kubernetesDiscovery({ url: 'http://kubernetes:8001', ...settings }),
    }
  },
  etcd() {
    const keyValue = (i: number, version: number, revision: number) => ({
      key: btoa(`orders/i${i}`),
      value: btoa(JSON.stringify({ Op: 0, Addr: `10.0.0.${i}:${portOf(i, version)}` })),
      create_revision: '1',
      mod_revision: String(revision),
      version: '1',
    })
    let version = 0
    const header = () => ({ revision: String(100 + version) })
    const count = String(INSTANCES)
    const all = bytesOf({ header: header(), kvs: EACH.map((i) => keyValue(i, 0, 100)), count })
    const created = lineOf({ result: { header: header(), created: true } })
    const registry = new ConstantRegistry((url, { body }) => {
      if (url.pathname.endsWith('/watch')) return { streams: created }
      if (!String(body).includes('min_mod_revision')) return { body: all }
      return { body: bytesOf({ header: header(), count }) }
    })
    return {
      registry,
      intervalMs: undefined,
      change() {
        version++
        const events = [{ kv: keyValue(0, version, 100 + version) }]
        registry.send(lineOf({ result: { header: header(), events } }))
      },
      client: (settings) => etcdDiscovery({ url: 'http://etcd:2379', ...settings }),
    }
  },
}

function polled(
  intervalMs: number,
  bodies: readonly Uint8Array[],
  client: ConstantSetup['client'],
  other: (url: URL, version: number) => Uint8Array | undefined = () => undefined,
): ConstantSetup {
  let version = 0
  const registry = new ConstantRegistry((url) => ({
    body: other(url, version % 2) ?? (bodies[version % 2] as Uint8Array),
  }))
  return {
    registry,
    intervalMs,
    change() {
      version++
    },
    client,
  }
}
