/** @module Registration with Consul's agents, in virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ConsulDiscoveryOptions, consulDiscovery } from '../../bindings/discovery/consul/index.js'
import type { RegistrationInit } from '../../bindings/index.js'
import { cluster, errorOf, follow } from './consul-setup.js'
import { FakeConsul } from './fakes/consul.js'
import { inProcess } from './in-process.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms)

const init: RegistrationInit = {
  serviceId: 'orders',
  instanceId: 'orders-1',
  host: '10.0.0.1',
  port: 8443,
  secure: true,
  zone: 'z1',
  weight: 7,
  metadata: { version: '3' },
}

function setup(options: ConsulDiscoveryOptions = {}) {
  const { fake, client } = cluster(options)
  const failures: unknown[] = []
  const register = (more: object = {}, status: 'UP' | 'OUT_OF_SERVICE' = 'UP') =>
    client.register({ ...init, ...more }, { status, failed: (error) => failures.push(error) })
  const done = () => fake.requests.map(({ method, path }) => `${method} ${path.replace('/v1/agent/', '')}`)
  const statusOf = (checkId: string) => fake.catalog.checkAt('node-1', checkId)?.check.status
  return { fake, client, failures, register, done, statusOf }
}

const PASS = 'PUT check/pass/service:orders-1'
const REGISTER = 'PUT service/register'
const MAINTENANCE = 'PUT service/maintenance/orders-1'
const MAINTENANCE_CHECK = '_service_maintenance:orders-1'

describe('registration with Consul', () => {
  it('registers at once, with address, metadata, weight and a TTL check, and is read as it was registered', async () => {
    const { fake, client, register, done } = setup({ registration: { tags: ['v3'] } })
    const registration = register()
    await registration.ready()
    expect(registration.state).toBe('registered')
    expect(done()).toEqual([REGISTER, MAINTENANCE])
    expect(fake.requests[0]?.query.get('replace-existing-checks')).toBe('true')
    expect(fake.catalog.checkAt('node-1', 'service:orders-1')?.check).toMatchObject({
      status: 'passing',
      ttlMs: 30_000,
      deregisterAfterMs: 600_000,
    })
    const { signal } = new AbortController()
    expect(await client.get('orders', { signal })).toMatchObject([
      {
        instanceId: 'orders-1',
        host: '10.0.0.1',
        port: 8443,
        secure: true,
        metadata: { zone: 'z1', weight: '7', version: '3', status: 'UP', 'consul.tags': 'v3' },
      },
    ])
    await registration.close()
  })

  it.each([[0], [0.5], [1], [1.5], [65_535], [65_536]])(
    'a weight of %d is read as it was registered',
    async (weight) => {
      const { client, register } = setup()
      const registration = register({ weight })
      await registration.ready()
      const { signal } = new AbortController()
      expect(await client.get('orders', { signal })).toMatchObject([{ metadata: { weight: String(weight) } }])
      await registration.close()
    },
  )

  it('is renewed at a third of its TTL, and so never expires', async () => {
    const { fake, register, done, statusOf } = setup()
    const registration = register()
    await advance(600_000)
    expect(registration.stats()).toMatchObject({ registrations: 1, failures: 0 })
    expect(
      done()
        .slice(2)
        .every((each) => each === PASS),
    ).toBe(true)
    // Up to a tenth earlier than each 10 s, so that many don't stay in step.
    expect(registration.stats().renewals).toBeGreaterThanOrEqual(60)
    expect(registration.stats().renewals).toBeLessThanOrEqual(67)
    expect(statusOf('service:orders-1')).toBe('passing')
    expect(fake.listed('orders')).toEqual(['orders-1'])
    await registration.close()
  })

  it.each([[false], [true]])('is made anew where the agent has forgotten it (an old agent: %s)', async (isOld) => {
    const { fake, register } = setup()
    fake.isOld = isOld
    const registration = register()
    await registration.ready()
    fake.remove('orders', 'orders-1')
    await advance(10_000)
    expect(fake.listed('orders')).toEqual(['orders-1'])
    expect(registration.stats()).toMatchObject({ registrations: 2, failures: 0 })
    await registration.close()
  })

  it('an instance that died is critical after its TTL, and deregistered later; one that lives again passes', async () => {
    const { fake, register } = setup({ registration: { ttlMs: 15_000, deregisterAfterMs: 60_000 } })
    const registration = register()
    await registration.ready()
    fake.fault = () => new Response('', { status: 503 })
    await advance(16_000)
    expect(fake.listed('orders')).toEqual([])
    expect(fake.catalog.of('orders').length).toBe(1)
    expect(registration.state).toBe('failing')
    fake.fault = undefined
    await advance(15_000)
    expect(fake.listed('orders')).toEqual(['orders-1'])
    fake.fault = () => new Response('', { status: 503 })
    await advance(76_000)
    expect(fake.catalog.of('orders')).toEqual([])
    await registration.close().catch(() => {})
  })

  it('OUT_OF_SERVICE is maintenance mode: nobody lists it, it is renewed, and not deregistered for being critical', async () => {
    const { fake, client, register, done, statusOf } = setup({ registration: { deregisterAfterMs: 60_000 } })
    const watch = follow({ client })
    const registration = register()
    await registration.ready()
    await advance(0)
    expect(watch.ids).toEqual(['orders-1'])
    await registration.setStatus('OUT_OF_SERVICE')
    expect(statusOf(MAINTENANCE_CHECK)).toBe('critical')
    await advance(1_000)
    expect(watch.ids).toEqual([])
    await advance(300_000)
    expect(statusOf('service:orders-1')).toBe('passing')
    expect(fake.catalog.of('orders').length).toBe(1)
    await registration.setStatus('UP')
    await advance(1_000)
    expect(watch.ids).toEqual(['orders-1'])
    expect(done().filter((each) => each === REGISTER).length).toBe(1)
    await registration.close()
    await advance(1_000)
    expect(watch.ids).toEqual([])
    await watch.stop()
  })

  it('one that begins OUT_OF_SERVICE is never seen before it is UP', async () => {
    const { fake, client, register } = setup()
    const watch = follow({ client })
    fake.fault = ({ url }) => (url.includes('/maintenance/') ? new Response('', { status: 500 }) : undefined)
    const registration = register({}, 'OUT_OF_SERVICE')
    await advance(10_000)
    expect(fake.catalog.of('orders').length).toBe(1)
    expect(fake.listed('orders')).toEqual([])
    fake.fault = undefined
    await advance(30_000)
    expect(watch.lists).toEqual([[]])
    expect(fake.catalog.of('orders').length).toBe(1)
    await registration.setStatus('UP')
    await advance(11_000)
    expect(watch.ids).toEqual(['orders-1'])
    await registration.close()
    await watch.stop()
  })

  it('what is registered UP is not left in the maintenance mode of who had its id before', async () => {
    const { fake, register } = setup()
    const first = register({}, 'OUT_OF_SERVICE')
    await first.ready()
    const second = register()
    await second.ready()
    expect(fake.listed('orders')).toEqual(['orders-1'])
    await Promise.all([first.close(), second.close()])
  })

  it('an operator who puts it into maintenance is not overruled by renewals', async () => {
    const { fake, client, register } = setup()
    const registration = register()
    await registration.ready()
    await inProcess(fake)('http://a/v1/agent/service/maintenance/orders-1?enable=true', { method: 'PUT' })
    await advance(60_000)
    const { signal } = new AbortController()
    expect(await client.get('orders', { signal })).toEqual([])
    await registration.close()
  })

  it('close deregisters; of one that the agent has forgotten too', async () => {
    const { fake, register, failures } = setup()
    const one = register()
    await one.ready()
    await one.close()
    expect(fake.catalog.of('orders')).toEqual([])
    const other = register()
    await other.ready()
    fake.remove('orders', 'orders-1')
    await other.close()
    expect(failures).toEqual([])
  })

  it('close of the client leaves registrations alone; close that is refused says so', async () => {
    const { fake, client, register } = setup()
    const registration = register()
    await registration.ready()
    await client.close()
    await advance(60_000)
    expect(fake.listed('orders')).toEqual(['orders-1'])
    fake.rights = {}
    expect(await errorOf(registration.close())).toMatchObject({ failure: 'denied', status: 403 })
  })

  it('shutdown: out of service, the time for it to be heard of, then gone', async () => {
    const { fake, client, register, statusOf } = setup()
    const watch = follow({ client })
    const registration = register()
    await registration.ready()
    const end = registration.shutdown({ propagationMs: 2_000 })
    await advance(1_000)
    expect(statusOf(MAINTENANCE_CHECK)).toBe('critical')
    expect(watch.ids).toEqual([])
    await advance(1_000)
    await end
    expect(fake.catalog.of('orders')).toEqual([])
    await watch.stop()
  })

  it('tries on while the agent is away or refuses, and tells of each failure', async () => {
    const { fake, register, failures } = setup({ token: 'writer' })
    fake.rights = { writer: { write: ['billing'] } }
    const registration = register()
    await advance(5_000)
    expect(registration.state).toBe('registering')
    expect(failures.length).toBeGreaterThan(1)
    expect(failures[0]).toMatchObject({ failure: 'denied', status: 403 })
    fake.rights = { writer: { write: ['orders'] } }
    await advance(10_000)
    expect(registration.state).toBe('registered')
    await registration.close()
  })

  it('of several agents the next is taken when the first is gone; the end is told to both', async () => {
    const fakes = { a: new FakeConsul({ node: 'a' }), b: new FakeConsul({ node: 'b' }) }
    let down = ''
    const fetch = inProcess({
      async fetch(request) {
        const { hostname } = new URL(request.url)
        if (hostname === down) throw new TypeError('connection refused')
        return fakes[hostname as 'a'].fetch(request)
      },
    })
    const client = consulDiscovery({ url: ['http://a:8500', 'http://b:8500'], fetch, random: () => 0.5 })
    const registration = client.register(init)
    await registration.ready()
    expect(fakes.a.listed('orders')).toEqual(['orders-1'])
    down = 'a'
    await advance(10_000)
    expect(fakes.b.listed('orders')).toEqual(['orders-1'])
    down = ''
    await registration.close()
    expect([fakes.a.catalog.of('orders'), fakes.b.catalog.of('orders')]).toEqual([[], []])
  })

  it('out of service holds for an agent that had it before: that one would say for its TTL that it passes', async () => {
    const fakes = { a: new FakeConsul({ node: 'a' }), b: new FakeConsul({ node: 'b' }) }
    let down = ''
    const fetch = inProcess({
      async fetch(request) {
        const { hostname } = new URL(request.url)
        if (hostname === down) throw new TypeError('connection refused')
        return fakes[hostname as 'a'].fetch(request)
      },
    })
    const client = consulDiscovery({ url: ['http://a:8500', 'http://b:8500'], fetch, random: () => 0.5 })
    const registration = client.register(init)
    await advance(5_000)
    down = 'a'
    await advance(5_000)
    expect([fakes.a.listed('orders'), fakes.b.listed('orders')]).toEqual([['orders-1'], ['orders-1']])
    down = ''
    await registration.setStatus('OUT_OF_SERVICE')
    expect([fakes.a.listed('orders'), fakes.b.listed('orders')]).toEqual([[], []])
    expect(fakes.b.catalog.of('orders')).toHaveLength(1)
    await registration.close()
  })

  it.each([
    [{ metadata: { 'api.version': '2' } }, 'metadata.api.version'],
    [{ metadata: { 'consul-x': '2' } }, 'metadata.consul-x'],
    [{ metadata: { long: 'x'.repeat(513) } }, 'metadata.long'],
    [{ metadata: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, ''])) }, 'metadata.k64'],
  ])('metadata that Consul does not take is refused at once', (more, option) => {
    const { register, fake } = setup()
    let error: unknown
    try {
      register({ zone: undefined, ...more })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option })
    expect(fake.requests).toEqual([])
  })
})
