/** Ribbon's keys, `<client>.ribbon.<key>` and `ribbon.<key>`. */

import { describe, expect, it } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { fromSpring } from '../../bindings/spring/index.js'
import { RIBBON_KEYS } from '../../bindings/spring/ribbon-keys.js'
import type { ServiceOptions } from '../../bindings/types/options.js'

const RULES = 'com.netflix.loadbalancer'

describe('comes to options that are accepted', () => {
  const [SERVERS, UPDATER] = [
    's.ribbon.listOfServers=a:80',
    `s.ribbon.ServerListUpdaterClassName=com.netflix.loadbalancer.PollingServerListUpdater`,
  ]

  it('the sum of the longest times', () => {
    const { options } = fromSpring(`${SERVERS}\ns.ribbon.ConnectTimeout=2000\ns.ribbon.ReadTimeout=2147483647`)
    expect(options.services?.s).toMatchObject({ attemptTimeoutMs: 2 ** 31 - 1 })
    createLoadBalancer(options).close()
  })

  it.each([
    `${UPDATER}\ns.ribbon.ServerListRefreshInterval=0`,
    'niws.loadbalancer.serverStats.activeRequestsCount.effectiveWindowSeconds=0',
  ])('a time of 0 is refused where it can be none: %s', (lines) => {
    expect(() => fromSpring(`${SERVERS}\n${lines}`)).toThrow(/1 ms or more|1 or more/)
  })

  it('a time limit of 0 is none, with a warning', () => {
    const { options, warnings } = fromSpring(`${SERVERS}\ns.ribbon.ConnectTimeout=0\ns.ribbon.ReadTimeout=500`)
    expect(options.services?.s).not.toHaveProperty('attemptTimeoutMs')
    expect(warnings).toMatchObject([{ key: 's.ribbon.ConnectTimeout', message: expect.stringMatching(/no limit/) }])
    const own = fromSpring(`${SERVERS}\nribbon.ReadTimeout=500\ns.ribbon.ReadTimeout=0`).options
    expect(own).toMatchObject({
      defaults: { attemptTimeoutMs: 1_500 },
      services: { s: { attemptTimeoutMs: 2 ** 31 - 1 } },
    })
  })
})

describe('is translated', () => {
  it.each<[string, ServiceOptions]>([
    ['MaxAutoRetries=1', { retry: { maxRetriesOnSameServiceInstance: 1 } }],
    ['MaxAutoRetriesNextServer=2', { retry: { maxRetriesOnNextServiceInstance: 2 } }],
    ['OkToRetryOnAllOperations=true', { retry: { retryOnAllOperations: true } }],
    ['retryableStatusCodes=502,503', { retry: { statusCodes: [502, 503] } }],
    ['ReadTimeout=3000', { attemptTimeoutMs: 4_000 }],
    ['ConnectTimeout=500', { attemptTimeoutMs: 1_500 }],
    ['ServerListRefreshInterval=10000', { cache: { ttlMs: 10_000 } }],
    [`NFLoadBalancerRuleClassName=${RULES}.RoundRobinRule`, { policy: 'round-robin' }],
    [`NFLoadBalancerRuleClassName=${RULES}.RandomRule`, { policy: 'random' }],
    [`NFLoadBalancerRuleClassName=${RULES}.WeightedResponseTimeRule`, { policy: 'weighted-response-time' }],
    [`NFLoadBalancerRuleClassName=${RULES}.ResponseTimeWeightedRule`, { policy: 'weighted-response-time' }],
    [`NFLoadBalancerRuleClassName=${RULES}.BestAvailableRule`, { policy: 'best-available' }],
    [`NFLoadBalancerRuleClassName=${RULES}.AvailabilityFilteringRule`, { policy: 'availability-filtering' }],
    [`NFLoadBalancerRuleClassName=${RULES}.ZoneAvoidanceRule`, { policy: 'zone-avoidance' }],
    [`NFLoadBalancerRuleClassName=${RULES}.RetryRule`, { policy: 'retry-rule' }],
    [`NFLoadBalancerClassName=${RULES}.ZoneAwareLoadBalancer`, { policy: 'zone-aware' }],
    [`NFLoadBalancerPingClassName=${RULES}.PingUrl`, { healthCheck: { ping: 'url', intervalMs: 30_000 } }],
    [`NFLoadBalancerPingClassName=${RULES}.PingConstant`, { healthCheck: { ping: 'constant', intervalMs: 30_000 } }],
    [
      'NFLoadBalancerPingClassName=com.netflix.niws.loadbalancer.NIWSDiscoveryPing',
      { healthCheck: { ping: 'registry', intervalMs: 30_000 } },
    ],
    [`ServerListUpdaterClassName=${RULES}.PollingServerListUpdater`, { polling: {} }],
    [`NIWSServerListFilterClassName=${RULES}.ServerListSubsetFilter`, { suppliers: ['server-list-subset'] }],
    [
      'NIWSServerListFilterClassName=org.springframework.cloud.netflix.ribbon.ZonePreferenceServerListFilter',
      { suppliers: ['zone-preference'] },
    ],
    ['EnablePrimeConnections=true', { prime: {} }],
  ])('%s', (line, expected) => {
    expect(fromSpring(`orders.ribbon.${line}`)).toEqual({ options: { services: { orders: expected } }, warnings: [] })
    expect(fromSpring(`ribbon.${line}`)).toEqual({ options: { defaults: expected }, warnings: [] })
  })

  it.each<[string, object[]]>([
    [
      'a:8080, b:8081',
      [
        { host: 'a', port: 8080 },
        { host: 'b', port: 8081 },
      ],
    ],
    ['a', [{ host: 'a', port: 80 }]],
    ['http://a:81/path', [{ host: 'a', port: 81 }]],
    ['https://a', [{ host: 'a', port: 443, secure: true }]],
    ['a:8443', [{ host: 'a', port: 8443, secure: true }]],
    ['[::1]:80', [{ host: '[::1]', port: 80 }]],
  ])('listOfServers=%s', (servers, instances) => {
    const { options } = fromSpring(`my.orders.ribbon.listOfServers=${servers}\nmy.orders.ribbon.eureka.enabled=false`)
    expect(options.services).toEqual({ 'my.orders': { instances } })
  })

  it('IsSecure over the port', () => {
    const { options } = fromSpring('a.ribbon.listOfServers=h:8443\na.ribbon.IsSecure=false\nribbon.IsSecure=true')
    expect(options.services).toEqual({ a: { instances: [{ host: 'h', port: 8443 }] } })
  })

  it('eager-load, if enabled', () => {
    const text = 'ribbon.eager-load.clients=a,b\n'
    expect(fromSpring(text).options).toEqual({})
    expect(fromSpring(`${text}ribbon.eager-load.enabled=true`).options.services).toEqual({
      a: { eager: true },
      b: { eager: true },
    })
  })
})

/** Ribbon's classes, by their simple names. */
const RULE = `NFLoadBalancerRuleClassName=${RULES}`
const FILTER = `NIWSServerListFilterClassName=${RULES}`

describe('keys that belong together', () => {
  it.each<[what: string, lines: string[], expected: object]>([
    [
      'a ping and its times, in seconds',
      [
        `NFLoadBalancerPingClassName=${RULES}.PingUrl`,
        'NFLoadBalancerPingInterval=5',
        'NFLoadBalancerMaxTotalPingTime=2',
      ],
      { healthCheck: { ping: 'url', intervalMs: 5_000, timeoutMs: 2_000 } },
    ],
    [
      'a polling updater and its interval, in ms',
      [`ServerListUpdaterClassName=${RULES}.PollingServerListUpdater`, 'ServerListRefreshInterval=10000'],
      { polling: { intervalMs: 10_000 } },
    ],
    [
      'priming',
      [
        'EnablePrimeConnections=true',
        'MaxRetriesPerServerPrimeConnection=4',
        'MaxTotalTimeToPrimeConnections=5000',
        'MinPrimeConnectionsRatio=0.5',
        'PrimeConnectionsURI=/warm',
      ],
      { prime: { attempts: 5, totalMs: 5_000, minShare: 0.5, path: '/warm' } },
    ],
    [
      'availability filtering and its limit',
      [`${RULE}.AvailabilityFilteringRule`, 'ActiveConnectionsLimit=100'],
      { policy: { type: 'availability-filtering', activeLimit: 100 } },
    ],
    [
      'a limit of −1, which is none',
      [`${RULE}.AvailabilityFilteringRule`, 'ActiveConnectionsLimit=-1'],
      { policy: 'availability-filtering' },
    ],
    [
      'weights and how often they are worked out',
      [`${RULE}.WeightedResponseTimeRule`, 'ServerWeightTaskTimerInterval=5000'],
      { policy: { type: 'weighted-response-time', updateMs: 5_000 } },
    ],
    [
      'the zone-aware balancer around a rule',
      [`NFLoadBalancerClassName=${RULES}.ZoneAwareLoadBalancer`, `${RULE}.RoundRobinRule`],
      { policy: { type: 'zone-aware', policy: 'round-robin' } },
    ],
    [
      'the zone-aware balancer around a rule with options',
      [
        `${RULE}.AvailabilityFilteringRule`,
        'ActiveConnectionsLimit=9',
        `NFLoadBalancerClassName=${RULES}.ZoneAwareLoadBalancer`,
      ],
      { policy: { type: 'zone-aware', policy: { type: 'availability-filtering', activeLimit: 9 } } },
    ],
    [
      'a balancer that is not zone-aware',
      [`NFLoadBalancerClassName=${RULES}.BaseLoadBalancer`, `${RULE}.RandomRule`],
      { policy: 'random' },
    ],
    [
      "zone affinity with Spring's own filter",
      ['EnableZoneAffinity=true'],
      { suppliers: [{ type: 'zone-affinity', prefer: true }] },
    ],
    [
      "zone affinity with Ribbon's filter",
      ['EnableZoneAffinity=true', `${FILTER}.ZoneAffinityServerListFilter`],
      { suppliers: ['zone-affinity'] },
    ],
    [
      'zone affinity and when it is given up',
      [
        'EnableZoneAffinity=true',
        `${FILTER}.ZoneAffinityServerListFilter`,
        'zoneAffinity.maxLoadPerServer=1.5',
        'zoneAffinity.maxBlackOutServesrPercentage=0.5',
        'zoneAffinity.minAvailableServers=1',
      ],
      { suppliers: [{ type: 'zone-affinity', maxLoadPerServer: 1.5, maxBlackOutShare: 0.5, minAvailable: 1 }] },
    ],
    [
      'zone exclusivity, which nothing gives up',
      ['EnableZoneAffinity=true', 'EnableZoneExclusivity=true'],
      { suppliers: [{ type: 'zone-affinity', exclusive: true }] },
    ],
    [
      'a subset of the zone',
      [
        `${FILTER}.ServerListSubsetFilter`,
        'EnableZoneAffinity=true',
        'ServerListSubsetFilter.size=5',
        'ServerListSubsetFilter.forceEliminatePercent=0.2',
        'ServerListSubsetFilter.eliminationFailureThresold=3',
        'ServerListSubsetFilter.eliminationConnectionThresold=4',
      ],
      {
        suppliers: [
          'zone-affinity',
          {
            type: 'server-list-subset',
            size: 5,
            forceEliminatePercent: 0.2,
            failureThreshold: 3,
            connectionThreshold: 4,
          },
        ],
      },
    ],
  ])('%s', (_, lines, expected) => {
    const zone = 'spring.cloud.loadbalancer.zone=z1'
    const own = [zone, ...lines.map((line) => `orders.ribbon.${line}`)].join('\n')
    expect(fromSpring(own)).toEqual({ options: { zone: 'z1', services: { orders: expected } }, warnings: [] })
    const all = [zone, ...lines.map((line) => `ribbon.${line}`)].join('\n')
    expect(fromSpring(all)).toEqual({ options: { zone: 'z1', defaults: expected }, warnings: [] })
  })

  it('of a client undo what is said of all', () => {
    const { options } = fromSpring(
      [
        'ribbon.EnablePrimeConnections=true',
        `ribbon.NFLoadBalancerPingClassName=${RULES}.PingUrl`,
        'orders.ribbon.EnablePrimeConnections=false',
        `orders.ribbon.NFLoadBalancerPingClassName=${RULES}.DummyPing`,
      ].join('\n'),
    )
    expect(options).toEqual({
      defaults: { prime: {}, healthCheck: { ping: 'url', intervalMs: 30_000 } },
      services: { orders: { prime: false, healthCheck: false } },
    })
  })

  it('without the one that they belong to have no effect, which is told', () => {
    const lines = [
      'NFLoadBalancerPingInterval=5',
      'ActiveConnectionsLimit=5',
      'ServerWeightTaskTimerInterval=5',
      'MinPrimeConnectionsRatio=1',
      'zoneAffinity.minAvailableServers=1',
      'ServerListSubsetFilter.size=5',
    ]
    const { options, warnings } = fromSpring(lines.map((line) => `ribbon.${line}`).join('\n'))
    expect(options).toEqual({})
    expect(warnings.map(({ message }) => message)).toEqual(lines.map(() => expect.stringMatching(/^no effect: /)))
    expect(warnings[1]?.message).toContain("policy 'availability-filtering'")
  })

  it('say that the zone is missing', () => {
    const { warnings } = fromSpring('orders.ribbon.EnableZoneAffinity=true')
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining('its zone') })])
  })
})

describe('niws.loadbalancer and ZoneAwareNIWSDiscoveryLoadBalancer', () => {
  const niws = 'niws.loadbalancer'

  it('have the breaker, of a client and of all', () => {
    const { options, warnings } = fromSpring(
      [
        `${niws}.default.connectionFailureCountThreshold=5`,
        `${niws}.default.circuitTripMaxTimeoutSeconds=60`,
        `${niws}.my.orders.connectionFailureCountThreshold=2`,
        `${niws}.my.orders.circuitTripTimeoutFactorSeconds=1`,
        `${niws}.serverStats.activeRequestsCount.effectiveWindowSeconds=300`,
      ].join('\n'),
    )
    expect(options).toEqual({
      defaults: { serverStats: { connectionFailureThreshold: 5, maxTripMs: 60_000, activeExpiryMs: 300_000 } },
      services: { 'my.orders': { serverStats: { connectionFailureThreshold: 2, tripFactorMs: 1_000 } } },
    })
    expect(warnings).toEqual([])
  })

  it("have the availability rule's limit, which a client's own replaces", () => {
    const { options, warnings } = fromSpring(
      [
        `${niws}.availabilityFilteringRule.activeConnectionsLimit=50`,
        `${niws}.availabilityFilteringRule.filterCircuitTripped=false`,
        `ribbon.${RULE}.AvailabilityFilteringRule`,
        'orders.ribbon.ActiveConnectionsLimit=7',
      ].join('\n'),
    )
    expect(options).toEqual({
      defaults: { policy: { type: 'availability-filtering', activeLimit: 50, filterTripped: false } },
      services: { orders: { policy: { type: 'availability-filtering', activeLimit: 7, filterTripped: false } } },
    })
    expect(warnings).toEqual([])
  })

  const zones = [
    'ZoneAwareNIWSDiscoveryLoadBalancer.orders.triggeringLoadPerServerThreshold=0.5',
    'ZoneAwareNIWSDiscoveryLoadBalancer.orders.avoidZoneWithBlackoutPercetage=0.9',
  ]
  const limits = { triggeringLoad: 0.5, avoidAboveTripped: 0.9 }
  const zoneAware = `orders.ribbon.NFLoadBalancerClassName=${RULES}.ZoneAwareLoadBalancer`
  const avoidance = `orders.ribbon.${RULE}.ZoneAvoidanceRule`

  it.each<[string, string[], object]>([
    ['zone avoidance', [avoidance], { type: 'zone-avoidance', ...limits }],
    ['the balancer', [zoneAware], { type: 'zone-aware', ...limits }],
    ['both', [zoneAware, avoidance], { type: 'zone-aware', policy: { type: 'zone-avoidance', ...limits }, ...limits }],
  ])('have the limits of zones, for %s', (_, lines, policy) => {
    const { options, warnings } = fromSpring([...zones, ...lines].join('\n'))
    expect(options).toEqual({ services: { orders: { policy } } })
    expect(warnings).toEqual([])
  })

  it('switch the avoidance of zones off', () => {
    const rule = fromSpring(`${niws}.zoneAvoidanceRule.enabled=false\n${avoidance}`)
    expect(rule.options.services).toEqual({ orders: { policy: 'availability-filtering' } })
    const balancer = fromSpring(
      `ZoneAwareNIWSDiscoveryLoadBalancer.enabled=false\n${zoneAware}\norders.ribbon.${RULE}.RandomRule`,
    )
    expect(balancer.options.services).toEqual({ orders: { policy: 'random' } })
    expect([...rule.warnings, ...balancer.warnings]).toEqual([])
  })

  it('without what reads them have no effect, which is told', () => {
    const lines = [...zones.slice(0, 1), `${niws}.zoneAvoidanceRule.enabled=false`]
    expect(fromSpring(lines.join('\n')).warnings.map(({ message }) => message)).toEqual(
      lines.map(() => expect.stringMatching(/^no effect: ZoneAvoidanceRule/)),
    )
  })

  it('that are none are told so', () => {
    const { options, warnings } = fromSpring(
      `${niws}.orders.connectionFailureThreshold=3\n${niws}.zoneAvoidanceRule.enable=true\n${niws}.nothing=1`,
    )
    expect(options).toEqual({})
    expect(warnings.map(({ message }) => message)).toEqual([
      'not read: Ribbon has no such key; did you mean connectionFailureCountThreshold?',
      'not read: Ribbon has no such key; did you mean zoneAvoidanceRule.enabled?',
      'not read: Ribbon has no such key',
    ])
  })
})

describe("SCLB's keys", () => {
  const sclb = 'spring.cloud.loadbalancer'

  it('have the health check in place of a ping', () => {
    const { options, warnings } = fromSpring(
      `${sclb}.configurations=health-check\nribbon.NFLoadBalancerPingClassName=${RULES}.PingUrl`,
    )
    expect(options).toEqual({ defaults: { preset: 'health-check' } })
    expect(warnings[0]?.message).toContain('configurations: health-check')
  })

  it('win over those of Ribbon', () => {
    const { options } = fromSpring(
      `${sclb}.cache.ttl=5s\norders.ribbon.ServerListRefreshInterval=10000\norders.ribbon.MaxAutoRetries=1`,
    )
    expect(options).toEqual({
      defaults: { cache: { ttlMs: 5_000 } },
      services: { orders: { retry: { maxRetriesOnSameServiceInstance: 1 } } },
    })
  })
})

describe('a rule', () => {
  it.each([
    ['com.alibaba.cloud.nacos.ribbon.NacosRule', "policy: 'random'"],
    ['com.example.CanaryRule', 'write com.example.CanaryRule as a policy'],
  ])('%s is not translated, and the warning says what to do', (rule, advice) => {
    const key = 'orders.ribbon.NFLoadBalancerRuleClassName'
    const { options, warnings } = fromSpring(`${key}=${rule}`)
    expect(options).toEqual({})
    expect(warnings).toEqual([{ key, value: rule, line: 1, message: expect.stringContaining(advice) }])
  })

  it('of a client undoes that of all', () => {
    const { options } = fromSpring(
      `ribbon.NFLoadBalancerRuleClassName=${RULES}.RandomRule\na.ribbon.NFLoadBalancerRuleClassName=com.example.Own`,
    )
    expect(options).toEqual({ defaults: { policy: 'random' }, services: { a: { policy: 'round-robin' } } })
  })
})

describe('a class of your own', () => {
  it.each([
    ['NFLoadBalancerPingClassName', /write com\.example\.Own as a ping/],
    ['NIWSServerListFilterClassName', /write a supplier/],
    ['ServerListUpdaterClassName', /watch\(serviceId\)/],
    ['NFLoadBalancerClassName', /suppliers and a policy/],
  ])('as %s is not translated, and the warning says what to do', (key, advice) => {
    const { options, warnings } = fromSpring(`ribbon.${key}=com.example.Own`)
    expect(options).toEqual({})
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringMatching(advice) })])
  })

  it('as a rule within the zone-aware balancer is not', () => {
    const { options, warnings } = fromSpring(
      `ribbon.${RULE.replace(RULES, 'com.example')}.Own\nribbon.NFLoadBalancerClassName=${RULES}.ZoneAwareLoadBalancer`,
    )
    expect(options).toEqual({})
    expect(warnings[1]?.message).toContain('zoneAware({ policy })')
  })
})

describe('without a counterpart', () => {
  const advised = Object.entries(RIBBON_KEYS).filter(([, { slot }]) => slot === undefined)

  it.each(advised)('%s has advice', (name) => {
    const { options, warnings } = fromSpring(`ribbon.${name}=something`)
    expect(options).toEqual({})
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringMatching(/^not translated: ./) })])
  })

  it.each([
    'NFLoadBalancerPingClassName=com.netflix.loadbalancer.DummyPing',
    `NFLoadBalancerPingClassName=${RULES}.NoOpPing`,
    `NFLoadBalancerClassName=${RULES}.DynamicServerListLoadBalancer`,
    'EnableZoneAffinity=false',
    'EnablePrimeConnections=false',
    'eureka.enabled=false',
  ])('%s needs none', (line) => {
    expect(fromSpring(`ribbon.${line}`)).toEqual({ options: {}, warnings: [] })
  })

  it('and unknown to Ribbon, it is told so', () => {
    const { warnings } = fromSpring('ribbon.MaxAutoRetrys=1')
    expect(warnings[0]?.message).toBe('not read: Ribbon has no such key; did you mean MaxAutoRetries?')
  })
})
