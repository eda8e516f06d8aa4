/** @module The public client of Nacos for Node drives the fake: it speaks the protocol of v1. */

import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import { FakeNacos } from './fakes/nacos.js'
import { RegistryServer } from './serve.js'

interface Host {
  ip: string
  port: number
  weight: number
  healthy: boolean
  enabled: boolean
  metadata: Record<string, string>
  clusterName: string
}

/** What is used of it. */
interface Witness {
  ready(): Promise<void>
  registerInstance(service: string, instance: object, group?: string): Promise<void>
  deregisterInstance(service: string, instance: object, group?: string): Promise<string>
  getAllInstances(service: string, group?: string, clusters?: string, subscribe?: boolean): Promise<Host[]>
  selectInstances(
    service: string,
    group?: string,
    clusters?: string,
    healthy?: boolean,
    subscribe?: boolean,
  ): Promise<Host[]>
  subscribe(service: string, listener: (hosts: Host[]) => void): void
  getServerStatus(): Promise<string>
  close(): Promise<void>
  _serverProxy: {
    getServiceList(page: number, size: number, group: string): Promise<{ count: number; data: string[] }>
  }
}

const require = createRequire(new URL('./witnesses/package.json', import.meta.url))
const { NacosNamingClient } = require('nacos') as { NacosNamingClient: new (options: object) => Witness }

const silent = { info() {}, warn() {}, error() {}, debug() {} }
const signal = new AbortController().signal
let fake: FakeNacos
let server: RegistryServer
const witnesses: Witness[] = []

beforeEach(async () => {
  fake = new FakeNacos()
  fake.cacheMillis = 100
  server = new RegistryServer(fake)
  await server.start()
})

afterEach(async () => {
  for (const witness of witnesses.splice(0)) await witness.close()
  fake.close()
  await server.kill()
})

async function witness(options: object = {}): Promise<Witness> {
  const made = new NacosNamingClient({
    logger: silent,
    serverList: server.url.replace('http://', ''),
    namespace: 'public',
    ...options,
  })
  witnesses.push(made)
  await made.ready()
  return made
}

const INSTANCE = { ip: '10.0.0.1', port: 80, weight: 3, clusterName: 'c1', metadata: { version: '2' } }

it('its registrations are in our lists, its beats keep them, and it ends them', async () => {
  const theirs = await witness()
  const ours = nacosDiscovery({ url: server.url })
  await theirs.registerInstance('orders', INSTANCE)
  expect(await ours.get('orders', { signal })).toMatchObject([
    { host: '10.0.0.1', port: 80, metadata: { weight: '3', version: '2', 'nacos.cluster': 'c1' } },
  ])
  await theirs.registerInstance('orders', { ip: '10.0.0.2', port: 80 }, 'PAY')
  expect(await ours.get('PAY@@orders', { signal })).toHaveLength(1)
  expect(await ours.services({ signal })).toEqual(['orders'])
  await theirs.deregisterInstance('orders', INSTANCE)
  expect(await ours.get('orders', { signal })).toEqual([])
})

it('our registrations are in its lists, in every API, and change there', async () => {
  const theirs = await witness()
  for (const api of ['v1', 'v2', 'v3'] as const) {
    const ours = nacosDiscovery({ url: server.url, api, cluster: 'c1' })
    const registration = ours.register({ serviceId: api, host: '10.0.0.1', port: 80, weight: 2, metadata: { a: 'b' } })
    await registration.ready()
    // It takes no list of nobody for one.
    fake.put(api, { instanceId: 'other', host: '10.0.0.9', port: 80 }, { cluster: 'c1' })
    const seen = async () => {
      const hosts = await theirs.selectInstances(api, 'DEFAULT_GROUP', 'c1', true, false)
      return hosts.filter(({ ip }) => ip === '10.0.0.1')
    }
    expect(await seen()).toMatchObject([{ port: 80, weight: 2, clusterName: 'c1', metadata: { a: 'b' } }])
    await registration.setStatus('OUT_OF_SERVICE')
    expect(await seen()).toEqual([])
    await registration.setStatus('UP')
    expect(await seen()).toHaveLength(1)
    await registration.close()
    expect(await seen()).toEqual([])
  }
})

it('it hears of changes by its own polling, and reads names and state', async () => {
  const theirs = await witness()
  fake.put('orders', { instanceId: 'a', host: '10.0.0.1', port: 80 })
  const lists: string[][] = []
  const heard = new Promise<void>((resolve) => {
    theirs.subscribe('orders', (hosts) => {
      lists.push(hosts.map(({ ip }) => ip))
      if (hosts.length === 2) resolve()
    })
  })
  while (lists.length === 0) await new Promise((resolve) => setImmediate(resolve))
  fake.put('orders', { instanceId: 'b', host: '10.0.0.2', port: 80 })
  await heard
  expect(lists.at(-1)).toEqual(['10.0.0.1', '10.0.0.2'])
  expect(await theirs.getServerStatus()).toBe('UP')
  expect(await theirs._serverProxy.getServiceList(1, 10, 'DEFAULT_GROUP')).toEqual({ count: 1, data: ['orders'] })
})

it('it is let in with a user and kept out without', async () => {
  fake.logins.user = { username: 'app', password: 'secret', ttlMs: 60_000 }
  const known = await witness({ username: 'app', password: 'secret' })
  await known.registerInstance('orders', INSTANCE)
  expect(fake.listed('orders')).toHaveLength(1)
  const unknown = await witness()
  await expect(unknown.registerInstance('orders', { ...INSTANCE, ephemeral: false })).rejects.toThrow(/tried/)
})
