/** The configuration files of three articles on Ribbon and Spring Cloud LoadBalancer: what they come to here. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { fromSpring } from '../../bindings/spring/index.js'
import type { LoadBalancerOptions } from '../../bindings/types/options.js'

const folder = new URL('../fixtures/spring/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

interface Expected {
  options: LoadBalancerOptions
  /** Line, key without what all have in common, and a word of the message. */
  warnings: readonly [line: number, key: string, message: RegExp][]
}

const retries = (same: number, next: number) => ({
  maxRetriesOnSameServiceInstance: same,
  maxRetriesOnNextServiceInstance: next,
})

/** What Spring's own filter makes of EnableZoneAffinity. */
const AFFINITY = { type: 'zone-affinity', prefer: true }

const EXPECTED: Record<string, Expected> = {
  'cache-retry-health-check.yml': {
    // Health checks take "configurations: health-check", which the file does not have.
    options: { defaults: { cache: { ttlMs: 5_000 }, retry: false } },
    warnings: [
      [7, 'spring.cloud.loadbalancer.cache.capacity', /not a limit/],
      [
        14,
        'spring.cloud.loadbalancer.clients.inventory-service.health-check.path.default',
        /configurations: health-check.*add healthCheck: \{"path":"\/actuator\/health\/readiness","intervalMs":10000\}/,
      ],
    ],
  },
  'eureka-canary-new.yml': { options: {}, warnings: [[4, 'eureka.instance.metadata-map.version', /discovery/]] },
  'eureka-canary-stable.yml': { options: {}, warnings: [[4, 'eureka.instance.metadata-map.version', /discovery/]] },
  'eureka-regions.yml': {
    options: { zone: 'beijing-zone-a', defaults: { suppliers: [AFFINITY] } },
    warnings: [
      [4, 'eureka.instance.metadata-map.zone', /discovery/],
      [17, 'ribbon.ZoneAwareNIWSServerListClassName', /no such key/],
    ],
  },
  'feign-connections.yml': { options: {}, warnings: [] },
  'logging.yml': { options: {}, warnings: [] },
  'ribbon-connections.yml': {
    options: { defaults: { cache: { ttlMs: 30_000 }, retry: retries(0, 1), attemptTimeoutMs: 2_500 } },
    warnings: [
      [12, 'ribbon.MaxTotalConnections', /transport/],
      [13, 'ribbon.MaxConnectionsPerHost', /transport/],
    ],
  },
  'ribbon-custom-rule.yml': {
    options: {},
    warnings: [[3, 'user-service.ribbon.NFLoadBalancerRuleClassName', /write com\.example\.CustomRule as a policy/]],
  },
  'ribbon-disabled.yml': { options: {}, warnings: [[5, 'spring.cloud.loadbalancer.ribbon.enabled', /can go/]] },
  'ribbon-ping.yml': {
    options: { defaults: { healthCheck: { ping: 'url', intervalMs: 30_000 } } },
    warnings: [],
  },
  'ribbon-refresh.yml': {
    options: { defaults: { cache: { ttlMs: 10_000 } } },
    warnings: [[6, 'eureka.client.registry-fetch-interval-seconds', /discovery/]],
  },
  'ribbon-retry.yml': {
    options: { defaults: { retry: { ...retries(1, 2), retryOnAllOperations: false }, attemptTimeoutMs: 4_000 } },
    warnings: [],
  },
  'ribbon-retry-by-service.yml': {
    options: {
      defaults: { retry: { ...retries(1, 2), retryOnAllOperations: false }, attemptTimeoutMs: 4_000 },
      services: {
        'user-service': { policy: 'weighted-response-time', retry: retries(2, 3), attemptTimeoutMs: 7_000 },
        'order-service': { policy: 'availability-filtering', retry: retries(0, 1) },
      },
    },
    warnings: [
      [7, 'ribbon.EnableCircuitBreaker', /outlierDetection/],
      [8, 'ribbon.CircuitBreakerRequestVolumeThreshold', /outlierDetection/],
      [9, 'ribbon.CircuitBreakerSleepWindowInMilliseconds', /outlierDetection/],
    ],
  },
  'ribbon-timeouts-hystrix.yml': {
    options: { defaults: { retry: { ...retries(0, 1), retryOnAllOperations: false }, attemptTimeoutMs: 4_000 } },
    warnings: [],
  },
  'ribbon-zone-affinity.yml': {
    options: { zone: 'beijing-zone-a', defaults: { suppliers: [AFFINITY] } },
    warnings: [[4, 'eureka.instance.metadata-map.zone', /discovery/]],
  },
  'ribbon-zone-avoidance.yml': {
    options: { zone: 'beijing-zone-a', defaults: { suppliers: [AFFINITY], policy: 'zone-avoidance' } },
    warnings: [[4, 'eureka.instance.metadata-map.zone', /discovery/]],
  },
}

it('has an expectation for every file', () => {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(EXPECTED).sort())
})

describe.each(Object.entries(EXPECTED))('%s', (name, { options, warnings }) => {
  const translated = fromSpring(read(name))

  it('gives these options', () => {
    expect(translated.options).toEqual(options)
  })

  it('warns of these keys', () => {
    expect(translated.warnings.map(({ line, key }) => [line, key])).toEqual(warnings.map(([line, key]) => [line, key]))
    for (const [i, [, , message]] of warnings.entries()) expect(translated.warnings[i]?.message).toMatch(message)
  })

  it('is accepted by createLoadBalancer', async () => {
    const lb = createLoadBalancer({ ...translated.options, discovery: { name: 'none', get: () => [] } })
    for (const id of [...Object.keys(options.services ?? {}), 'another']) expect(lb.service(id).serviceId).toBe(id)
    await lb.close()
  })
})
