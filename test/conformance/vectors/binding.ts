/** @module Spring Boot's binding of LoadBalancerClientsProperties, and what `fromSpring` reads in the same files. */

import { expect } from 'chai'
import type { HealthCheckOptions, MetricsOptions, RetryOptions, ServiceOptions, TypedOptions } from 'evenkeel'
import { fromSpring } from 'evenkeel/spring'
import file from '../../vectors/sclb-binding.json'
import { replayed } from './replay.js'
import type { Vector } from './without-counterpart.js'

interface BindingVector extends Vector {
  format?: 'properties' | 'yaml' | 'env'
  text?: string
  client?: string
  values?: Record<string, unknown>
  error?: string
}

/** Where an option stands for a property; what follows a chain is read only where the file has that chain. */
interface Row {
  chain?: string
  value(options: Read): unknown
}

interface Read {
  service: ServiceOptions
  retry: RetryOptions
  health: HealthCheckOptions
  supplier(type: string): Record<string, unknown>
}

const retry = (name: keyof RetryOptions): Row => ({ value: (read) => read.retry[name] })
const backoff = (name: 'minMs' | 'maxMs' | 'jitter'): Row => ({
  value: ({ retry }) => (retry.backoff ? retry.backoff[name] : undefined),
})
const health = (value: (options: HealthCheckOptions) => unknown): Row => ({
  chain: 'health-check',
  value: (read) => value(read.health),
})
const supplier = (chain: string, type: string, name: string): Row => ({
  chain,
  value: (read) => read.supplier(type)[name],
})
const sticky = (name: string) => supplier('request-based-sticky-session', 'sticky-session', name)
const apiVersion = (name: string) => supplier('api-version', 'api-version', name)

/** In Spring's map a key is the same in any case. */
function inLowerCase(map: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key.toLowerCase(), value]))
}

const ROWS: Readonly<Record<string, Row>> = {
  hint: { value: ({ service }) => service.hints && inLowerCase(service.hints) },
  hintHeaderName: { value: (read) => read.supplier('hint').header },
  callGetWithRequestOnDelegates: { value: ({ service }) => service.callGetWithRequestOnDelegates },
  'XForwarded.enabled': { value: ({ service }) => service.xForwarded },
  'cache.ttl': { value: ({ service: { cache } }) => (cache ? cache.ttlMs : undefined) },
  'healthCheck.initialDelay': health((options) => options.initialDelayMs),
  'healthCheck.interval': health((options) => options.intervalMs),
  'healthCheck.port': health((options) => options.port),
  'healthCheck.refetchInstances': health(({ refetchMs }) => refetchMs && refetchMs !== Number.POSITIVE_INFINITY),
  'healthCheck.repeatHealthCheck': health((options) => options.repeat),
  'healthCheck.updateResultsList': health(({ publish }) => publish && publish === 'each'),
  'retry.enabled': { value: ({ service }) => (service.retry === false ? false : undefined) },
  'retry.maxRetriesOnSameServiceInstance': retry('maxRetriesOnSameServiceInstance'),
  'retry.maxRetriesOnNextServiceInstance': retry('maxRetriesOnNextServiceInstance'),
  'retry.retryOnAllOperations': retry('retryOnAllOperations'),
  'retry.retryableStatusCodes': retry('statusCodes'),
  'retry.backoff.enabled': { value: ({ retry }) => (retry.backoff ? true : undefined) },
  'retry.backoff.minBackoff': backoff('minMs'),
  'retry.backoff.jitter': backoff('jitter'),
  'stickySession.instanceIdCookieName': sticky('cookie'),
  'stickySession.addServiceInstanceCookie': sticky('addServiceInstanceCookie'),
  'subset.instanceId': supplier('subset', 'subset', 'instanceId'),
  'subset.size': supplier('subset', 'subset', 'size'),
  'apiVersion.header': apiVersion('header'),
  'apiVersion.queryParameter': apiVersion('query'),
  'apiVersion.pathSegment': apiVersion('pathSegment'),
  'apiVersion.mediaTypeParameters': apiVersion('mediaType'),
  'apiVersion.defaultVersion': apiVersion('default'),
  'apiVersion.required': apiVersion('required'),
  'apiVersion.fallbackToAvailableInstances': {
    chain: 'api-version',
    value: (read) => {
      const { fallback } = read.supplier('api-version')
      return fallback && fallback === 'all'
    },
  },
  'stats.includePath': {
    value: ({ service }) => (service.metrics ? (service.metrics as MetricsOptions).includePath : undefined),
  },
}

const CHAINS = [undefined, ...new Set(Object.values(ROWS).flatMap(({ chain }) => chain ?? []))]

/** The file, with all that makes its keys have an effect. */
function withChain({ text = '', format }: BindingVector, chain: string | undefined): string {
  const more = {
    'stats.micrometer.enabled': 'true',
    'retry.backoff.enabled': 'true',
    ...(chain !== undefined && { configurations: chain }),
  }
  const lines = Object.entries(more).map(([key, value]) =>
    format === 'yaml' ? `spring.cloud.loadbalancer.${key}: "${value}"` : `spring.cloud.loadbalancer.${key}=${value}`,
  )
  return format === 'yaml' ? `${lines.join('\n')}\n---\n${text}` : `${lines.join('\n')}\n${text}`
}

function read(vector: BindingVector, chain: string | undefined): Read {
  const { options } = fromSpring(withChain(vector, chain), { format: vector.format === 'yaml' ? 'yaml' : 'properties' })
  const { defaults = {}, services = {} } = options
  const own = (services[vector.client ?? ''] ?? {}) as ServiceOptions
  const service: ServiceOptions = { ...defaults, ...own }
  for (const map of ['retry', 'healthCheck', 'hints', 'cache', 'metrics'] as const) {
    if (own[map] && defaults[map]) Object.assign(service, { [map]: { ...defaults[map], ...own[map] } })
  }
  return {
    service,
    retry: service.retry || {},
    health: service.healthCheck || {},
    supplier: (type) =>
      (service.suppliers?.find((one) => (one as TypedOptions).type === type) as TypedOptions | undefined) ?? {},
  }
}

const DEFAULTS = (file.vectors as BindingVector[]).find(({ id }) => id === 'binding/defaults-001')?.values ?? {}

export const cases = replayed<BindingVector>(file, (vector) => {
  const { error, values = {} } = vector
  if (error !== undefined) {
    expect(() => CHAINS.map((chain) => read(vector, chain)))
      .to.throw()
      .with.property('option', error)
    return
  }
  const expected: Record<string, unknown> = {}
  const actual: Record<string, unknown> = {}
  for (const chain of CHAINS) {
    const options = read(vector, chain)
    for (const [name, row] of Object.entries(ROWS)) {
      if (row.chain !== chain) continue
      const value = values[name] ?? DEFAULTS[name]
      expected[name] = name === 'hint' ? inLowerCase(value as object) : value
      actual[name] = row.value(options) ?? DEFAULTS[name]
    }
  }
  // It is switched on for the other keys of its group.
  expected['retry.backoff.enabled'] = true
  expect(actual).to.deep.equal(expected)
})
