/** A retry handler and a ping decide for other options: the outer layer says which of them holds. */

import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type HealthCheckOptions, type RetryOptions } from '../../bindings/index.js'

function retryOf(inner: RetryOptions, outer: RetryOptions, compat?: ['retry-get-only']) {
  const lb = createLoadBalancer({
    ...(compat && { compat }),
    defaults: { retry: inner },
    services: { s: { instances: [], retry: outer } },
  })
  return lb.service('s').options().retry?.value
}

describe('a retry handler', () => {
  it('of the service replaces what it decides in the defaults', () => {
    const value = retryOf({ statusCodes: [502], maxRetriesOnNextServiceInstance: 3 }, { handler: 'rest-client' })
    expect(value).toEqual({
      maxRetriesOnSameServiceInstance: 0,
      maxRetriesOnNextServiceInstance: 3,
      avoidPreviousInstance: true,
      backoff: false,
      handler: 'rest-client',
    })
  })

  it.each<RetryOptions>([
    { statusCodes: [502] },
    { methods: ['PUT'] },
    { retryOnAllOperations: true },
    { exceptions: () => true },
  ])('of the defaults goes where the service has %j', (outer) => {
    expect(retryOf({ handler: 'rest-client' }, outer)).toMatchObject({
      methods: ['GET', 'HEAD', 'OPTIONS'],
      statusCodes: [],
      retryOnAllOperations: false,
      ...outer,
    })
    expect(retryOf({ handler: 'rest-client' }, outer)).not.toHaveProperty('handler')
  })

  it('stays where the service has what it does not decide', () => {
    const value = retryOf({ handler: 'rest-client' }, { maxRetriesOnNextServiceInstance: 2 })
    expect(value).toMatchObject({ handler: 'rest-client', maxRetriesOnNextServiceInstance: 2 })
  })

  it('that goes leaves the defaults that compat has', () => {
    expect(retryOf({ handler: 'netty' }, { statusCodes: [502] }, ['retry-get-only'])).toMatchObject({
      methods: ['GET'],
    })
  })

  it('of a service goes in a call that has what it decides', async () => {
    let sent = 0
    const lb = createLoadBalancer({
      fetch: async () => new Response('', { status: ++sent > 0 ? 502 : 200 }),
      services: { s: { instances: ['http://a', 'http://b'], retry: { handler: 'rest-client' } } },
    })
    await lb.with({ retry: { statusCodes: [502] } }).fetch('http://s/')
    expect(sent).toBe(2)
    await lb.with({ retry: { statusCodes: [502] } }).fetch('http://s/', { method: 'POST' })
    expect(sent).toBe(3)
  })
})

function healthOf(inner: HealthCheckOptions, outer: HealthCheckOptions) {
  const lb = createLoadBalancer({
    defaults: { healthCheck: inner },
    services: { s: { instances: ['http://a'], healthCheck: outer } },
  })
  return lb.service('s')
}

describe('a ping', () => {
  it.each<HealthCheckOptions>([{ path: '/x' }, { port: 81 }, { accept: () => true }])(
    'of the service replaces %j of the defaults',
    async (inner) => {
      const service = healthOf({ ...inner, intervalMs: 7 }, { ping: 'dummy' })
      const value = service.options().healthCheck?.value
      expect(value).toMatchObject({ ping: 'dummy', intervalMs: 7 })
      for (const option of ['path', 'port', 'accept']) expect(value).not.toHaveProperty(option)
      expect(service.pick()?.instance.host).toBe('a')
    },
  )

  it('of the defaults goes where the service has a path', () => {
    const value = healthOf({ ping: 'dummy' }, { path: '/x' }).options().healthCheck?.value
    expect(value).toMatchObject({ path: '/x' })
    expect(value).not.toHaveProperty('ping')
  })
})
