/** Every key under spring.cloud.loadbalancer: what it comes to, for all clients and for one. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createLoadBalancer, EvenkeelError, TimeoutError } from '../../bindings/index.js'
import { fromSpring } from '../../bindings/spring/index.js'
import { KEYS } from '../../bindings/spring/keys.js'
import type { LoadBalancerOptions, ServiceOptions } from '../../bindings/types/options.js'

const PREFIX = 'spring.cloud.loadbalancer'

/** Properties without their prefix, as `.properties` text. */
function text(properties: Record<string, string>, prefix = PREFIX): string {
  return Object.entries(properties)
    .map(([key, value]) => `${prefix}.${key}=${value}\n`)
    .join('')
}

type Case = [properties: Record<string, string>, options: ServiceOptions]

const backoff = { 'retry.backoff.enabled': 'true' }
const health = { configurations: 'health-check' }
const sticky = { configurations: 'request-based-sticky-session' }
const api = { configurations: 'api-version', 'api-version.header': 'X-Version' }
const apiVersion = (options: object): ServiceOptions => ({
  suppliers: [{ type: 'api-version', header: 'X-Version', ...options }],
})
const healthCheck = (options: object): ServiceOptions => ({ preset: 'health-check', healthCheck: options })

/** Said of all clients or of one, the same. */
const ANYWHERE: Case[] = [
  [{ configurations: 'default' }, { preset: 'default' }],
  [{ configurations: 'Zone-Preference' }, { preset: 'zone-preference' }],
  [{ configurations: 'health-check' }, { preset: 'health-check' }],
  [{ configurations: 'request-based-sticky-session' }, { preset: 'request-based-sticky-session' }],
  [{ configurations: 'same-instance-preference' }, { preset: 'same-instance-preference' }],
  [{ configurations: 'weighted' }, { preset: 'weighted' }],
  [{ configurations: 'subset' }, { preset: 'subset' }],
  [{ configurations: 'api-version' }, { preset: 'api-version' }],
  [{ 'call-get-with-request-on-delegates': 'false' }, { callGetWithRequestOnDelegates: false }],
  [
    { 'hint.default': 'v1', 'hint.Stock': 'v2' },
    { hints: { default: 'v1', Stock: 'v2' }, suppliers: ['hint'] },
  ],
  [{ 'hint-header-name': 'X-Hint' }, { suppliers: [{ type: 'hint', header: 'X-Hint' }] }],
  [
    { configurations: 'weighted', 'hint.default': 'a' },
    { preset: 'weighted', hints: { default: 'a' }, suppliers: ['hint'] },
  ],
  [{ ...health, 'health-check.initial-delay': '1s' }, healthCheck({ initialDelayMs: 1_000 })],
  [{ ...health, 'health-check.interval': '10s' }, healthCheck({ intervalMs: 10_000 })],
  [{ ...health, 'health-check.path.default': '/up' }, healthCheck({ path: '/up' })],
  [{ ...health, 'health-check.path.default': '' }, healthCheck({ path: '/' })],
  [{ ...health, 'health-check.port': '8081' }, healthCheck({ port: 8081 })],
  [{ ...health, 'health-check.refetch-instances': 'true' }, healthCheck({ refetchMs: 25_000 })],
  [{ ...health, 'health-check.refetch-instances': 'false' }, healthCheck({ refetchMs: Number.POSITIVE_INFINITY })],
  [{ ...health, 'health-check.refetch-instances-interval': '5s' }, healthCheck({ refetchMs: 5_000 })],
  [{ ...health, 'health-check.repeat-health-check': 'false' }, healthCheck({ repeat: false })],
  [{ ...health, 'health-check.update-results-list': 'true' }, healthCheck({ publish: 'each' })],
  [{ ...health, 'health-check.update-results-list': 'false' }, healthCheck({ publish: 'round' })],
  [{ 'retry.enabled': 'false' }, { retry: false }],
  [{ 'retry.enabled': 'true' }, {}],
  [{ 'retry.avoid-previous-instance': 'false' }, { retry: { avoidPreviousInstance: false } }],
  [{ 'retry.max-retries-on-same-service-instance': '2' }, { retry: { maxRetriesOnSameServiceInstance: 2 } }],
  [{ 'retry.max-retries-on-next-service-instance': '3' }, { retry: { maxRetriesOnNextServiceInstance: 3 } }],
  [{ 'retry.retry-on-all-operations': 'true' }, { retry: { retryOnAllOperations: true } }],
  [{ 'retry.retry-on-all-exceptions': 'true' }, { retry: { exceptions: expect.any(Function) } }],
  [{ 'retry.retryable-status-codes': '500, 503' }, { retry: { statusCodes: [500, 503] } }],
  [
    { 'retry.retryable-status-codes[0]': '502', 'retry.retryable-status-codes[1]': '504' },
    { retry: { statusCodes: [502, 504] } },
  ],
  [{ 'retry.retryable-exceptions': 'java.io.IOException' }, { retry: { exceptions: expect.any(Function) } }],
  [backoff, { retry: { backoff: {} } }],
  [{ 'retry.backoff.enabled': 'false' }, { retry: { backoff: false } }],
  [{ ...backoff, 'retry.backoff.min-backoff': '10ms' }, { retry: { backoff: { minMs: 10 } } }],
  [{ ...backoff, 'retry.backoff.max-backoff': '1m' }, { retry: { backoff: { maxMs: 60_000 } } }],
  [{ ...backoff, 'retry.backoff.max-backoff': '9223372036854775807' }, { retry: { backoff: { maxMs: 2 ** 31 - 1 } } }],
  [{ ...backoff, 'retry.backoff.jitter': '0.25' }, { retry: { backoff: { jitter: 0.25 } } }],
  [
    { ...sticky, 'sticky-session.instance-id-cookie-name': 'sid' },
    { suppliers: [{ type: 'sticky-session', cookie: 'sid' }] },
  ],
  [
    { ...sticky, 'sticky-session.add-service-instance-cookie': 'true' },
    { suppliers: [{ type: 'sticky-session', addServiceInstanceCookie: true }] },
  ],
  [{ 'x-forwarded.enabled': 'true' }, { xForwarded: true }],
  [
    { configurations: 'subset', 'subset.instance-id': 'web-7', 'subset.size': '20' },
    { suppliers: [{ type: 'subset', instanceId: 'web-7', size: 20 }] },
  ],
  [api, apiVersion({})],
  [{ ...api, 'api-version.required': 'true' }, apiVersion({ required: true })],
  [{ ...api, 'api-version.default': '1.0' }, apiVersion({ default: '1.0' })],
  [{ ...api, 'api-version.query-parameter': 'v' }, apiVersion({ query: 'v' })],
  [{ ...api, 'api-version.path-segment': '1' }, apiVersion({ pathSegment: 1 })],
  [
    { ...api, 'api-version.media-type-parameters[application/json]': 'version' },
    apiVersion({ mediaType: { 'application/json': 'version' } }),
  ],
  [{ ...api, 'api-version.fallback-to-available-instances': 'true' }, apiVersion({ fallback: 'all' })],
  [{ ...api, 'api-version.fallback-to-available-instances': 'false' }, apiVersion({ fallback: 'none' })],
]

/** Said of all clients only. */
const GLOBAL: [properties: Record<string, string>, options: LoadBalancerOptions][] = [
  [{ enabled: 'true' }, {}],
  [{ zone: 'shanghai' }, { zone: 'shanghai' }],
  [{ 'eager-load.clients': 'orders, stock' }, { services: { orders: { eager: true }, stock: { eager: true } } }],
  [{ 'service-discovery.timeout': '5s' }, { defaults: { discoveryTimeoutMs: 5_000 } }],
  [{ 'cache.enabled': 'false' }, { defaults: { cache: false } }],
  [{ 'cache.enabled': 'true' }, {}],
  [{ 'cache.ttl': '10s' }, { defaults: { cache: { ttlMs: 10_000 } } }],
  [{ 'cache.capacity': '256' }, {}],
  [{ 'cache.caffeine.spec': 'initialCapacity=9,expireAfterWrite=30s' }, { defaults: { cache: { ttlMs: 30_000 } } }],
  [{ 'stats.micrometer.enabled': 'true' }, { defaults: { metrics: {} } }],
  [{ 'stats.micrometer.enabled': 'false' }, { defaults: { metrics: false } }],
  [
    { 'stats.micrometer.enabled': 'true', 'stats.include-path': 'false' },
    { defaults: { metrics: { includePath: false } } },
  ],
  [{ 'ribbon.enabled': 'false' }, {}],
]

/** Nothing but what says that SCLB's hint filter comes from Java code, and that a subset needs a name. */
const unexpected = (warnings: ReturnType<typeof fromSpring>['warnings']) =>
  warnings.filter(({ message }) => !/withHints|instanceId/.test(message))

describe('a key of all clients', () => {
  it.each(ANYWHERE)('%o', (properties, defaults) => {
    const { options, warnings } = fromSpring(text(properties))
    expect(options).toEqual(Object.keys(defaults).length > 0 ? { defaults } : {})
    expect(unexpected(warnings)).toEqual([])
  })

  it.each(GLOBAL)('%o', (properties, expected) => {
    expect(fromSpring(text(properties)).options).toEqual(expected)
  })
})

describe('a key of one client', () => {
  it.each(ANYWHERE)('%o', (properties, own) => {
    const { options, warnings } = fromSpring(text(properties, `${PREFIX}.clients.orders`))
    expect(options).toEqual(Object.keys(own).length > 0 ? { services: { orders: own } } : {})
    expect(unexpected(warnings)).toEqual([])
  })

  it.each(Object.entries(KEYS).filter(([, { global }]) => global))('%s is read for all clients only', (name) => {
    const { options, warnings } = fromSpring(`${PREFIX}.clients.orders.${name}=x`)
    expect(options).toEqual({})
    expect(warnings[0]?.message).toContain(`${PREFIX}.${name} only`)
  })
})

describe('createLoadBalancer accepts it', () => {
  const needsMore = (properties: object) => JSON.stringify(properties) === '{"configurations":"api-version"}'

  it.each(ANYWHERE.filter(([properties]) => !needsMore(properties)))('%o', async (properties) => {
    const { options } = fromSpring(`spring.application.name=web\n${text(properties)}`)
    const lb = createLoadBalancer({ ...options, discovery: { name: 'none', get: () => [] } })
    expect(lb.service('orders').serviceId).toBe('orders')
    await lb.close()
  })
})

it('is tested for every key, and documented', () => {
  const tested = [...ANYWHERE, ...GLOBAL].flatMap(([properties]) => Object.keys(properties))
  const page = readFileSync(new URL('../../docs/spring.md', import.meta.url), 'utf8')
  for (const name of Object.keys(KEYS)) {
    expect(tested.some((key) => key === name || key.startsWith(`${name}.`) || key.startsWith(`${name}[`))).toBe(true)
    expect(page).toContain(`\`${name}`)
  }
})

describe('a client over all', () => {
  const both = (all: Record<string, string>, own: Record<string, string>) =>
    fromSpring(text(all) + text(own, `${PREFIX}.clients.orders`)).options

  it('keeps what it does not say itself, entry by entry', () => {
    const options = both(
      { ...health, 'health-check.initial-delay': '1s', 'health-check.path.default': '/up' },
      { 'health-check.interval': '30s', 'health-check.path.orders': '/orders/up' },
    )
    expect(options).toEqual({
      defaults: { preset: 'health-check', healthCheck: { initialDelayMs: 1_000, path: '/up' } },
      services: { orders: { healthCheck: { intervalMs: 30_000, path: '/orders/up' } } },
    })
  })

  it('says nothing twice', () => {
    expect(both({ 'retry.retryable-status-codes': '503' }, { 'retry.retryable-status-codes': '503' })).toEqual({
      defaults: { retry: { statusCodes: [503] } },
    })
  })

  it('undoes health checks, and a chain', () => {
    expect(both(health, { configurations: 'weighted' }).services).toEqual({
      orders: { preset: 'weighted', healthCheck: false },
    })
    expect(both({ configurations: 'weighted' }, { configurations: 'default' }).services).toEqual({
      orders: { preset: 'default' },
    })
  })

  it('keeps its chain where it adds a hint', () => {
    expect(both({ configurations: 'weighted' }, { 'hint.default': 'v2' }).services).toEqual({
      orders: { preset: 'weighted', suppliers: ['hint'], hints: { default: 'v2' } },
    })
  })

  it('switches retries off, but not on', () => {
    expect(both({}, { 'retry.enabled': 'false' })).toEqual({ services: { orders: { retry: false } } })
    const own = { 'retry.enabled': 'true', 'retry.retry-on-all-operations': 'true' }
    const gated = fromSpring(text({ 'retry.enabled': 'false' }) + text(own, `${PREFIX}.clients.orders`))
    expect(gated.options).toStrictEqual({ defaults: { retry: false } })
    expect(gated.warnings).toEqual([
      expect.objectContaining({ key: `${PREFIX}.clients.orders.retry.enabled`, value: 'true', line: 2 }),
    ])
  })

  it('has the health path of its id, in any case, before that of all', () => {
    const options = both({ ...health, 'health-check.path.Orders': '/own' }, { 'health-check.path.default': '/up' })
    expect(options.services).toEqual({
      orders: { healthCheck: { path: '/own' } },
      Orders: { healthCheck: { path: '/own' } },
    })
  })

  it('gives a service with a health path of its own a section', () => {
    expect(fromSpring(text({ ...health, 'health-check.path.stock': '/stock/up' })).options).toEqual({
      defaults: { preset: 'health-check' },
      services: { stock: { healthCheck: { path: '/stock/up' } } },
    })
  })
})

describe('retryable-exceptions', () => {
  const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })
  const late = new TimeoutError('took longer than 5 ms')

  function test(classes: string) {
    const { retry } = fromSpring(text({ 'retry.retryable-exceptions': classes })).options.defaults ?? {}
    return retry ? retry.exceptions : undefined
  }

  it.each([
    ['java.io.IOException', true, true, false],
    ['java.net.ConnectException', true, false, false],
    ['java.net.SocketTimeoutException', false, true, false],
    ['java.util.concurrent.TimeoutException', false, true, false],
    ['java.net.ConnectException, java.util.concurrent.TimeoutException', true, true, false],
    ['java.lang.Exception', true, true, true],
    ['com.example.OwnException', false, false, false],
  ])('%s', (classes, onRefused, onLate, onOther) => {
    const exceptions = test(classes)
    expect([refused, late, new Error('other')].map((error) => exceptions?.(error))).toEqual([
      onRefused,
      onLate,
      onOther,
    ])
  })

  it('names the classes that nothing stands for', () => {
    const { warnings } = fromSpring(text({ 'retry.retryable-exceptions': 'java.io.IOException,com.example.Own' }))
    expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining('com.example.Own') })])
    expect(warnings[0]?.message).not.toContain('IOException')
  })
})

describe('a value that Spring could not read', () => {
  it.each([
    ['enabled', 'maybe', /true or false/],
    ['configurations', 'fancy', /zone-preference/],
    ['cache.ttl', 'soon', /35s, 500ms, 1m, PT5S/],
    ['cache.ttl', '-5s', /0 ms or more/],
    ['cache.ttl', '5 parsecs', /duration/],
    ['cache.caffeine.spec', 'expireAfter=5s', /expireAfterWrite/],
    ['health-check.port', '99999', /from 0 to 65535/],
    ['health-check.interval', '0', /1 ms or more/],
    ['retry.max-retries-on-next-service-instance', 'two', /whole number/],
    ['retry.retryable-status-codes', '500,often', /whole number from 100 to 599/],
    ['retry.backoff.jitter', '2', /from 0 to 1/],
    ['subset.size', '0', /from 1/],
  ])('%s = %s', (key, value, accepted) => {
    const read = () => fromSpring(`a=b\n${text({ [key]: value })}`)
    expect(read).toThrow(EvenkeelError)
    expect(read).toThrow(accepted)
    expect(read).toThrow(`${PREFIX}.${key} (line 2)`)
    expect(read).toThrow(JSON.stringify(value))
    expect(read).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: `${PREFIX}.${key}` }))
  })
})

it.each([
  ['35s', 35_000],
  ['500ms', 500],
  ['1m', 60_000],
  ['2H', 7_200_000],
  ['+7', 7],
  ['250', 250],
  ['PT5S', 5_000],
  ['pt1m30s', 90_000],
  ['P1DT1S', 86_401_000],
  ['5000us', 5],
])('reads the duration %s', (written, ttlMs) => {
  expect(fromSpring(text({ 'cache.ttl': written })).options.defaults?.cache).toEqual({ ttlMs })
})

it.each(['true', 'on', 'YES', '1'])('reads %s as true', (written) => {
  expect(fromSpring(text({ 'x-forwarded.enabled': written })).options.defaults?.xForwarded).toBe(true)
})

it.each(['false', 'off', 'No', '0'])('reads %s as false', (written) => {
  expect(fromSpring(text({ 'x-forwarded.enabled': written })).options.defaults?.xForwarded).toBe(false)
})
