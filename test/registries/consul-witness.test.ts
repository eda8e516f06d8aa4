/** @module The fake Consul, driven by the public client `consul`, which has nothing to do with this repository. */

import { once } from 'node:events'
import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entry } from './consul-setup.js'
import { FakeConsul } from './fakes/consul.js'
import { RegistryServer } from './serve.js'

const require = createRequire(new URL('./witnesses/package.json', import.meta.url))
const Consul = require('consul')

interface HealthEntry {
  Node: { Node: string; Address: string }
  Service: { ID: string; Address: string; Port: number; Meta: Record<string, string>; Weights: object }
  Checks: { CheckID: string; Status: string; Output: string }[]
}

describe('the npm client `consul` with the fake', () => {
  let fake: FakeConsul
  let server: RegistryServer
  // biome-ignore lint/suspicious/noExplicitAny: the witness is loaded by hand, without its types
  let consul: any

  beforeEach(async () => {
    fake = new FakeConsul()
    server = new RegistryServer(fake)
    await server.start()
    consul = new Consul({ host: '127.0.0.1', port: new URL(server.url).port })
  })
  afterEach(async () => {
    consul.destroy()
    fake.close()
    await server.kill()
  })

  const health = (options: object = {}): Promise<HealthEntry[]> =>
    consul.health.service({ service: 'orders', ...options })
  const idsOf = (entries: HealthEntry[]) => entries.map(({ Service: { ID } }) => ID)

  it('registers with a TTL check, passes, warns and fails it, and deregisters', async () => {
    await consul.agent.service.register({
      name: 'orders',
      id: 'orders-1',
      address: '10.0.0.1',
      port: 8080,
      tags: ['v2'],
      meta: { zone: 'z1' },
      check: { ttl: '10s', deregistercriticalserviceafter: '2m' },
    })
    expect(await health()).toMatchObject([
      {
        Node: { Node: 'node-1', Address: '10.1.0.1' },
        Service: { ID: 'orders-1', Address: '10.0.0.1', Port: 8080, Meta: { zone: 'z1' } },
        Checks: [
          { CheckID: 'serfHealth', Status: 'passing' },
          { CheckID: 'service:orders-1', Status: 'critical' },
        ],
      },
    ])
    expect(await health({ passing: true })).toEqual([])
    await consul.agent.check.pass({ id: 'service:orders-1', note: 'well' })
    expect(idsOf(await health({ passing: true }))).toEqual(['orders-1'])
    await consul.agent.check.warn('service:orders-1')
    expect(await health({ passing: true })).toEqual([])
    await consul.agent.check.fail('service:orders-1')
    expect(fake.listed('orders')).toEqual([])
    expect(Object.keys(await consul.agent.service.list())).toEqual(['orders-1'])
    expect(await consul.catalog.service.list()).toEqual({ consul: [], orders: ['v2'] })
    await consul.agent.service.deregister('orders-1')
    expect(await health()).toEqual([])
  })

  it('puts a service and a node into maintenance, and back', async () => {
    fake.add('orders', entry(1))
    const statuses = async () => (await health())[0]?.Checks.map(({ CheckID, Status }) => `${CheckID} ${Status}`)
    await consul.agent.service.maintenance({ id: 'orders-1', enable: true, reason: 'disks' })
    expect(await statuses()).toContain('_service_maintenance:orders-1 critical')
    await consul.agent.service.maintenance({ id: 'orders-1', enable: false })
    await consul.agent.maintenance(true)
    expect(await statuses()).toContain('_node_maintenance critical')
    await consul.agent.maintenance(false)
    expect(await statuses()).toEqual(['serfHealth passing', 'service:orders-1 passing'])
  })

  it('is refused as Consul refuses: unknown checks and services, tokens, parameters', async () => {
    const statusOf = (asked: Promise<unknown>) =>
      asked.then(
        () => 200,
        (error: { response?: { statusCode: number }; statusCode?: number }) =>
          error.statusCode ?? error.response?.statusCode,
      )
    expect(await statusOf(consul.agent.check.pass('service:nobody'))).toBe(404)
    expect(await statusOf(consul.agent.service.deregister('nobody'))).toBe(404)
    expect(await statusOf(health({ wait: '10' }))).toBe(400)
    expect(await statusOf(health({ filter: 'nonsense' }))).toBe(400)
    expect(await statusOf(health({ dc: 'elsewhere' }))).toBe(500)
    fake.rights = { reader: { read: ['orders'] } }
    fake.add('orders', entry(1))
    expect(await statusOf(health({ token: 'unknown' }))).toBe(403)
    expect(await statusOf(health({ token: 'reader' }))).toBe(200)
    expect(await health()).toEqual([])
  })

  it('its watch sees each change, waits while there is none, and survives an index that goes back', async () => {
    fake.add('orders', entry(1))
    const watch = consul.watch({
      method: consul.health.service,
      options: { service: 'orders', wait: '60s' },
      backofffactor: 1,
    })
    const next = async () => idsOf((await once(watch, 'change'))[0] as HealthEntry[])
    expect(await next()).toEqual(['orders-1'])
    const second = next()
    while (fake.catalog.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    fake.add('orders', entry(2))
    expect(await second).toEqual(['orders-1', 'orders-2'])
    while (fake.catalog.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    const reset = next()
    fake.catalog.restore(7n)
    expect(await reset).toEqual(['orders-1', 'orders-2'])
    const again = next()
    expect(await again).toEqual(['orders-1', 'orders-2'])
    while (fake.catalog.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    const third = next()
    fake.remove('orders', 'orders-1')
    expect(await third).toEqual(['orders-2'])
    watch.end()
  })
})
