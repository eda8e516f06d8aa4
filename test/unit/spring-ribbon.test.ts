/** Ribbon's keys, `<client>.ribbon.<key>` and `ribbon.<key>`. */

import { describe, expect, it } from 'vitest'
import { fromSpring } from '../../bindings/spring/index.js'
import { RIBBON_KEYS } from '../../bindings/spring/ribbon-keys.js'
import type { ServiceOptions } from '../../bindings/types/options.js'

const RULES = 'com.netflix.loadbalancer'

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

describe("SCLB's keys", () => {
  const sclb = 'spring.cloud.loadbalancer'

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
    [`${RULES}.WeightedResponseTimeRule`, "'weighted-response-time'"],
    [`${RULES}.BestAvailableRule`, "'best-available'"],
    [`${RULES}.AvailabilityFilteringRule`, "'availability-filtering'"],
    [`${RULES}.ZoneAvoidanceRule`, "'zone-avoidance'"],
    [`${RULES}.RetryRule`, "'retry-rule'"],
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

describe('without a counterpart', () => {
  const advised = Object.entries(RIBBON_KEYS).filter(([, { slot }]) => slot === undefined)

  it.each(advised)('%s has advice', (name) => {
    const { options, warnings } = fromSpring(`ribbon.${name}=something`)
    expect(options).toEqual({})
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringMatching(/^not translated: ./) })])
  })

  it.each([
    'NFLoadBalancerPingClassName=com.netflix.loadbalancer.DummyPing',
    'EnableZoneAffinity=false',
    'eureka.enabled=false',
  ])('%s needs none', (line) => {
    expect(fromSpring(`ribbon.${line}`)).toEqual({ options: {}, warnings: [] })
  })

  it('and unknown to Ribbon, it is told so', () => {
    const { warnings } = fromSpring('ribbon.MaxAutoRetrys=1')
    expect(warnings[0]?.message).toBe('not read: Ribbon has no such key; did you mean MaxAutoRetries?')
  })
})
