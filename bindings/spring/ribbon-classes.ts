/** @module Ribbon's keys that name a class: what stands for it here, or what to do instead. */

import type { Reader } from './readers.js'

export interface ClassChoice {
  /** What stands for it. Without this and without advice there is nothing to do. */
  readonly name?: string
  readonly advice?: string
}

const NETFLIX = 'com.netflix.loadbalancer.'

/** @param classes by simple name those of Ribbon's own package, by their whole name others */
export function classOf(
  what: string,
  classes: Readonly<Record<string, ClassChoice>>,
  others: (name: string) => string,
): Reader<ClassChoice> {
  return {
    accepts: `the name of a ${what} class`,
    read: (name) => {
      const own = name.startsWith(NETFLIX) ? name.slice(NETFLIX.length) : name
      return Object.hasOwn(classes, own) ? classes[own] : { advice: others(name) }
    },
  }
}

const NO_OTHER = 'not translated: '

export const rule = classOf(
  'rule',
  {
    RoundRobinRule: { name: 'round-robin' },
    RandomRule: { name: 'random' },
    WeightedResponseTimeRule: { name: 'weighted-response-time' },
    ResponseTimeWeightedRule: { name: 'weighted-response-time' },
    BestAvailableRule: { name: 'best-available' },
    AvailabilityFilteringRule: { name: 'availability-filtering' },
    ZoneAvoidanceRule: { name: 'zone-avoidance' },
    RetryRule: { name: 'retry-rule' },
    'com.alibaba.cloud.nacos.ribbon.NacosRule': {
      advice: "use policy: 'random' with suppliers: ['zone-preference', 'weighted'], and metadata zone and weight",
    },
  },
  (name) => `write ${name} as a policy { name, pick(candidates, context) }; what it filters, as a supplier`,
)

export const ping = classOf(
  'ping',
  {
    DummyPing: {},
    NoOpPing: {},
    PingConstant: { name: 'constant' },
    PingUrl: { name: 'url' },
    'com.netflix.niws.loadbalancer.NIWSDiscoveryPing': { name: 'registry' },
  },
  (name) => `${NO_OTHER}write ${name} as a ping { name, isAlive(instance, { signal, fetch }) } for healthCheck`,
)

export const updater = classOf(
  'server list updater',
  { PollingServerListUpdater: { name: 'polling' } },
  () => `${NO_OTHER}a discovery client that pushes has watch(serviceId)`,
)

export const filter = classOf(
  'server list filter',
  {
    ZoneAffinityServerListFilter: { name: 'zone-affinity' },
    'org.springframework.cloud.netflix.ribbon.ZonePreferenceServerListFilter': { name: 'zone-preference' },
    ServerListSubsetFilter: { name: 'server-list-subset' },
  },
  () => `${NO_OTHER}write a supplier { name, filter(list, request) } and list it in suppliers`,
)

export const balancer = classOf(
  'load balancer',
  {
    ZoneAwareLoadBalancer: { name: 'zone-aware' },
    DynamicServerListLoadBalancer: {},
    BaseLoadBalancer: {},
  },
  () => `${NO_OTHER}there is one balancer; its parts are suppliers and a policy`,
)
