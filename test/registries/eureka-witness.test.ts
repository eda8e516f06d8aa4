/** @module The fake Eureka server, driven by a public client that knows nothing of this repository. */

import { createRequire } from 'node:module'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { eurekaDiscovery } from '../../bindings/discovery/eureka/index.js'
import { entry, got, idsOf } from './eureka-world.js'
import { EurekaFake } from './fakes/eureka.js'
import { RegistryServer } from './serve.js'

/** eureka-js-client 4.5, as far as it is used. */
interface Witness {
  start(callback: (error?: Error) => void): void
  stop(callback: (error?: Error) => void): void
  renew(): void
  register(callback: (error?: Error) => void): void
  fetchRegistry(callback: (error?: Error) => void): void
  getInstancesByAppId(app: string): { instanceId: string; port: { $: number } }[]
  getInstancesByVipAddress(vip: string): { instanceId: string }[]
  once(event: string, listener: () => void): void
}

const { Eureka } = createRequire(new URL('./witnesses/package.json', import.meta.url))('eureka-js-client')

let fake: EurekaFake
let server: RegistryServer

beforeAll(async () => {
  fake = new EurekaFake()
  server = new RegistryServer(fake)
  await server.start()
})
beforeEach(() => {
  fake.forget()
  fake.log.length = 0
})
afterAll(() => server.kill())

const SILENT = { debug() {}, info() {}, warn() {}, error() {}, level() {} }

function witness(more: object = {}): Witness {
  const { hostname, port } = new URL(server.url)
  return new Eureka({
    logger: SILENT,
    shouldUseDelta: true,
    instance: {
      app: 'orders',
      instanceId: 'w1:orders:9090',
      hostName: 'w1.lan',
      ipAddr: '10.0.0.9',
      port: { $: 9090, '@enabled': 'true' },
      vipAddress: 'orders.vip',
      dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
    },
    eureka: { host: hostname, port: Number(port), servicePath: '/eureka/apps/', maxRetries: 0, ...more },
  })
}

const done = (begin: (callback: (error?: Error) => void) => void) =>
  new Promise<void>((resolve, reject) => begin((error) => (error ? reject(error) : resolve())))

it('registers, is listed to this client, heartbeats, registers again when it was forgotten, and is gone after', async () => {
  const client = witness({ fetchRegistry: false })
  await done((callback) => client.start(callback))
  const ours = eurekaDiscovery({ url: `${server.url}/eureka` })
  expect(await got(ours)).toMatchObject([{ instanceId: 'w1:orders:9090', host: 'w1.lan', port: 9090, secure: false }])
  expect(idsOf(await got(eurekaDiscovery({ url: `${server.url}/eureka`, lookup: 'vip' }), 'orders.vip'))).toHaveLength(
    1,
  )

  const beat = new Promise<void>((resolve) => client.once('heartbeat', resolve))
  client.renew()
  await beat

  fake.forget()
  const again = new Promise<void>((resolve) => client.once('registered', resolve))
  client.renew()
  await again
  expect(fake.listed('orders')).toEqual(['w1:orders:9090'])

  await done((callback) => client.stop(callback))
  expect(fake.listed('orders')).toEqual([])
})

it('reads the whole registry, and then the changes, as they are', async () => {
  fake.add('orders', entry(1))
  fake.add('orders', entry(2))
  fake.add('billing', entry(3))
  const client = witness({ registerWithEureka: false })
  await done((callback) => client.start(callback))
  const ids = (app: string) => client.getInstancesByAppId(app).map(({ instanceId }) => instanceId)
  expect(ids('orders')).toEqual(['n1:orders:8080', 'n2:orders:8080'])
  expect(client.getInstancesByVipAddress('billing')).toHaveLength(1)

  fake.remove('billing', 'n3:orders:8080')
  fake.add('orders', entry(4))
  await done((callback) => client.fetchRegistry(callback))
  expect(ids('orders')).toContain('n4:orders:8080')
  expect(client.getInstancesByAppId('billing')).toEqual([])
  expect(fake.log.map(({ path }) => path)).toEqual(['/apps/', '/apps/delta'])
  await done((callback) => client.stop(callback))
})

it('sees an instance that this client has registered', async () => {
  const registration = eurekaDiscovery({ url: `${server.url}/eureka` }).register({
    serviceId: 'orders',
    host: '10.0.0.1',
    port: 8080,
  })
  await registration.ready()
  const client = witness({ registerWithEureka: false })
  await done((callback) => client.start(callback))
  expect(client.getInstancesByAppId('orders')).toMatchObject([{ instanceId: '10.0.0.1:8080', port: { $: 8080 } }])
  await done((callback) => client.stop(callback))
  await registration.close()
})
