/** @module A service that tells Eureka of itself. In virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EurekaRegistrationOptions } from '../../bindings/discovery/eureka/index.js'
import type { Registration } from '../../bindings/index.js'
import { got, type World, watching, world } from './eureka-world.js'

const RENEWAL_MS = 30_000
const ID = '10.0.0.1:8080'

const open: Registration[] = []
beforeEach(() => void vi.useFakeTimers())
afterEach(async () => {
  for (const each of open.splice(0)) await each.close().catch(() => {})
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

function registered(made: World, options: EurekaRegistrationOptions = {}, more: object = {}): Registration {
  const registration = made.client.register({ serviceId: 'orders', host: '10.0.0.1', port: 8080, ...more }, options)
  open.push(registration)
  return registration
}

describe('a registration', () => {
  it('says who and where the instance is, and is listed', async () => {
    const made = world()
    const registration = registered(made, {}, { zone: 'z1', weight: 3, metadata: { version: '2' } })
    await registration.ready()
    expect(made.asked()).toEqual(['POST /apps/ORDERS'])
    const now = String(Date.now())
    expect(made.fake.instance('orders', ID)).toEqual({
      instanceId: ID,
      hostName: '10.0.0.1',
      app: 'ORDERS',
      ipAddr: '10.0.0.1',
      status: 'UP',
      overriddenStatus: 'UNKNOWN',
      port: { $: 8080, '@enabled': 'true' },
      securePort: { $: 443, '@enabled': 'false' },
      countryId: 1,
      dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
      leaseInfo: { renewalIntervalInSecs: 30, durationInSecs: 90 },
      metadata: { zone: 'z1', weight: '3', version: '2' },
      vipAddress: 'orders',
      secureVipAddress: 'orders',
      homePageUrl: 'http://10.0.0.1:8080/',
      isCoordinatingDiscoveryServer: 'false',
      lastUpdatedTimestamp: now,
      lastDirtyTimestamp: now,
      actionType: 'ADDED',
    })
    expect(await got(made.client)).toMatchObject([{ instanceId: ID, port: 8080, secure: false }])
  })

  it('of https has the secure port, and URLs from paths', async () => {
    const made = world()
    const pages = { healthCheckUrl: '/health', statusPageUrl: 'http://status/x', homePageUrl: '/home' }
    const names = { ipAddr: '10.9.9.9', vipAddress: 'a,b', secureVipAddress: 'c' }
    const lease = { renewalIntervalMs: 5_000, leaseDurationMs: 15_000 }
    await registered(
      made,
      { ...pages, ...names, ...lease },
      { host: 'fd00::1', secure: true, instanceId: 'n 1/x' },
    ).ready()
    expect(made.fake.instance('orders', 'n 1/x')).toMatchObject({
      ...names,
      port: { '@enabled': 'false' },
      securePort: { $: 8080, '@enabled': 'true' },
      secureHealthCheckUrl: 'https://[fd00::1]:8080/health',
      statusPageUrl: 'http://status/x',
      homePageUrl: 'https://[fd00::1]:8080/home',
      leaseInfo: { renewalIntervalInSecs: 5, durationInSecs: 15 },
    })
    expect(await got(made.client)).toMatchObject([{ port: 8080, secure: true }])
    made.asked()
    await pass(5_000)
    expect(made.asked()[0]).toMatch(/^PUT \/apps\/ORDERS\/n%201%2Fx\?status=UP&lastDirtyTimestamp=\d+$/)
  })

  it('is renewed by heartbeats with the status and the time it was made', async () => {
    const made = world()
    const dirtyAt = Date.now()
    const registration = registered(made)
    await registration.ready()
    made.asked()
    await pass(3 * RENEWAL_MS)
    expect(made.asked()).toEqual(Array(3).fill(`PUT /apps/ORDERS/${ID}?status=UP&lastDirtyTimestamp=${dirtyAt}`))
    expect(registration.stats()).toMatchObject({ registrations: 1, renewals: 3, failures: 0 })
  })

  it('jquatier/eureka-js-client#47: a heartbeat that is answered 404 registers again, and heartbeats go on', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    made.fake.forget()
    made.asked()
    await pass(2 * RENEWAL_MS)
    expect(made.asked().map((each) => each.split('?')[0])).toEqual([
      `PUT /apps/ORDERS/${ID}`,
      'POST /apps/ORDERS',
      `PUT /apps/ORDERS/${ID}`,
    ])
    expect(registration.stats()).toMatchObject({ registrations: 2, renewals: 1 })
    expect(made.fake.listed('orders')).toEqual([ID])
  })

  it('does not expire while it is renewed, and does so at the end of its lease otherwise', async () => {
    const made = world({}, { evictionMs: 60_000 })
    const registration = registered(made)
    await registration.ready()
    await pass(600_000)
    expect(made.fake.listed('orders')).toEqual([ID])
    expect(registration.stats().registrations).toBe(1)
    made.fake.fault = () => {
      throw new Error('gone')
    }
    await pass(180_000)
    expect(made.fake.listed('orders')).toEqual([ID])
    await pass(90_000)
    expect(made.fake.listed('orders')).toEqual([])
  })

  it('is tried again until a server takes it, and each failure is told', async () => {
    const made = world()
    const errors: unknown[] = []
    made.fake.fault = () => new Response('no', { status: 500 })
    const registration = registered(made, { failed: (error) => errors.push(error) })
    await pass(5_000)
    expect(registration.state).toBe('registering')
    expect(errors.length).toBeGreaterThan(1)
    expect(errors[0]).toMatchObject({ failure: 'status', status: 500 })
    made.fake.fault = undefined
    await pass(RENEWAL_MS)
    expect(registration.state).toBe('registered')
  })

  it('is taken by another server when the first is gone', async () => {
    const made = world({ url: ['http://a.test/eureka', 'http://b.test/eureka'] })
    made.fake.fault = ({ url }) => (url.includes('a.test') ? new Response(null, { status: 503 }) : undefined)
    await registered(made).ready()
    expect(made.fake.listed('orders')).toEqual([ID])
  })

  it('ends with close: the instance is gone at once', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    made.asked()
    await registration.close()
    expect(made.asked()).toEqual([`DELETE /apps/ORDERS/${ID}`])
    expect(made.fake.listed('orders')).toEqual([])
    await pass(10 * RENEWAL_MS)
    expect(made.asked()).toEqual([])
  })

  it('of an instance that the server has forgotten ends too', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    made.fake.forget()
    await registration.close()
    expect(registration.state).toBe('closed')
  })

  it('stays when the client that made it is closed', async () => {
    const made = world()
    await registered(made).ready()
    await made.client.close()
    await pass(RENEWAL_MS)
    expect(made.asked().at(-1)).toContain('PUT')
  })
})

describe('a status', () => {
  it('is an override that heartbeats and registering again leave as it is', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    made.asked()
    await registration.setStatus('OUT_OF_SERVICE')
    expect(made.asked()[0]).toMatch(/^PUT \/apps\/ORDERS\/10\.0\.0\.1:8080\/status\?value=OUT_OF_SERVICE&lastDirty/)
    expect(made.fake.listed('orders')).toEqual([])
    await pass(3 * RENEWAL_MS)
    expect(made.fake.instance('orders', ID)).toMatchObject({ status: 'OUT_OF_SERVICE' })
    expect(made.asked().every((each) => each.includes('?status=OUT_OF_SERVICE&'))).toBe(true)
    made.fake.forget()
    await pass(RENEWAL_MS)
    expect(made.fake.instance('orders', ID)).toMatchObject({ status: 'OUT_OF_SERVICE' })
  })

  it('UP takes back whatever override there is, and leaves none', async () => {
    for (const status of ['UP', 'OUT_OF_SERVICE'] as const) {
      const made = world()
      const registration = registered(made, { status })
      await registration.ready()
      await registration.setStatus('OUT_OF_SERVICE')
      expect(made.fake.listed('orders')).toEqual([])
      await registration.setStatus('UP')
      expect(made.fake.instance('orders', ID)).toMatchObject({ status: 'UP', overriddenStatus: 'UNKNOWN' })
      await pass(2 * RENEWAL_MS)
      expect(made.fake.listed('orders')).toEqual([ID])
      expect(registration.stats().registrations).toBe(1)
    }
  })

  it('OUT_OF_SERVICE from the start holds where the server knows the instance as UP from before', async () => {
    const made = world()
    made.fake.add('orders', { instanceId: ID, host: '10.0.0.1', port: 8080 })
    await pass(1)
    await registered(made, { status: 'OUT_OF_SERVICE' }).ready()
    expect(made.fake.listed('orders')).toEqual([])
    expect(made.fake.instance('orders', ID)).toMatchObject({ overriddenStatus: 'OUT_OF_SERVICE' })
  })

  it('that an operator has overridden holds while the instance says UP', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    made.fake.override('orders', ID, 'OUT_OF_SERVICE')
    await pass(3 * RENEWAL_MS)
    expect(made.fake.listed('orders')).toEqual([])
    // Removed without a new status: the server asks for a registration.
    made.fake.removeOverride('orders', ID, 'UNKNOWN')
    await pass(RENEWAL_MS)
    expect(made.fake.listed('orders')).toEqual([ID])
    expect(registration.stats().registrations).toBe(2)
  })

  it('of a forgotten instance registers it with that status', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    made.fake.forget()
    await registration.setStatus('OUT_OF_SERVICE')
    expect(made.fake.instance('orders', ID)).toMatchObject({ status: 'OUT_OF_SERVICE' })
  })

  it('OUT_OF_SERVICE reaches a client after one interval: shutdown is graceful', async () => {
    const made = world()
    const registration = registered(made)
    await registration.ready()
    const orders = watching(made.client)
    await pass(1)
    expect(orders.ids()).toEqual([ID])
    let inFlight = 1
    const ended = registration.shutdown({ propagationMs: 35_000, inFlight: () => inFlight })
    await pass(30_000)
    expect(orders.ids()).toEqual([])
    await pass(10_000)
    expect(made.fake.instance('orders', ID)).toBeDefined()
    inFlight = 0
    await pass(50)
    await ended
    expect(made.fake.instance('orders', ID)).toBeUndefined()
    orders.stop()
  })
})

it.each([
  [{ serviceId: '' }, {}, /serviceId/],
  [{ port: -1 }, {}, /port/],
  [{}, { renewalIntervalMs: 0 }, /register\.renewalIntervalMs/],
  [{}, { vipAddress: '' }, /register\.vipAddress/],
  [{}, { status: 'DOWN' }, /register\.status/],
  [{}, { lease: 1 }, /has no option "lease"/],
])('%j with %j is refused by name', (more, options, message) => {
  const { client } = world()
  const register = () => client.register({ serviceId: 'orders', host: 'a', port: 80, ...more }, options as never)
  expect(register).toThrow(message)
  expect(register).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG' }))
})

it('is newer than before though the clock was set back: the server would keep the older state', async () => {
  const made = world()
  const registration = registered(made)
  await registration.ready()
  const before = Number(made.fake.instance('orders', ID)?.lastDirtyTimestamp)
  made.fake.forget()
  vi.setSystemTime(Date.now() - 3_600_000)
  await pass(RENEWAL_MS)
  expect(registration.stats().registrations).toBe(2)
  expect(Number(made.fake.instance('orders', ID)?.lastDirtyTimestamp)).toBeGreaterThan(before)
})

it('a lease that ends between heartbeats is refused', () => {
  const made = world()
  const refused = (options: EurekaRegistrationOptions) => () => registered(made, options)
  expect(refused({ leaseDurationMs: 30_000 })).toThrow(
    /leaseDurationMs must be longer than renewalIntervalMs \(30000\)/,
  )
  expect(refused({ renewalIntervalMs: 90_000 })).toThrow(/leaseDurationMs/)
  expect(made.asked()).toEqual([])
})

it('a server that does not know what it has just registered is a failure', async () => {
  const made = world()
  made.fake.fault = ({ method }) => new Response(null, { status: method === 'POST' ? 204 : 404 })
  const registration = registered(made, { status: 'OUT_OF_SERVICE' })
  await pass(1)
  expect(registration.stats().lastError).toMatchObject({ failure: 'status', status: 404 })
})
