/** @module The fake API server, driven by Kubernetes' own client for Node: it speaks the protocol. */

import { createRequire } from 'node:module'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeKubernetes } from './fakes/kubernetes.js'
import { endpoint, pod, slice } from './kubernetes-setup.js'
import { RegistryServer } from './serve.js'

const require = createRequire(new URL('./witnesses/package.json', import.meta.url))
const { KubeConfig, DiscoveryV1Api, Watch, makeInformer } = await import(require.resolve('@kubernetes/client-node'))

const PATH = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const ORDERS = { namespace: 'default', labelSelector: 'kubernetes.io/service-name=orders' }

interface SeenSlice {
  code?: number
  metadata: { name: string; resourceVersion: string }
  endpoints?: { addresses: string[]; conditions: { ready: boolean } }[]
}

let fake: FakeKubernetes
let server: RegistryServer
let config: InstanceType<typeof KubeConfig>

beforeEach(async () => {
  fake = new FakeKubernetes({ endpointsPerSlice: 2, bookmarkMs: 20 })
  fake.tokens = ['witness']
  server = new RegistryServer(fake)
  await server.start()
  config = new KubeConfig()
  config.loadFromClusterAndUser(
    { name: 'fake', server: server.url, skipTLSVerify: true },
    { name: 'me', token: 'witness' },
  )
})

afterEach(async () => {
  fake.close()
  await server.kill()
})

const api = () => config.makeApiClient(DiscoveryV1Api)

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('the client of Kubernetes lists', () => {
  it('slices with their fields', async () => {
    fake.add('orders', pod('a', 1, { zone: 'z1' }))
    fake.add('billing', pod('b', 2))
    const { items, metadata } = await api().listNamespacedEndpointSlice(ORDERS)
    expect(metadata.resourceVersion).toBe('1002')
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      endpoints: [{ addresses: ['10.1.0.1'], zone: 'z1', targetRef: { kind: 'Pod', uid: 'a' } }],
    })
    expect((await api().listNamespacedEndpointSlice({ ...ORDERS, labelSelector: 'x in (y)' })).items).toEqual([])
  })

  it('pages, until one has grown too old: 410', async () => {
    for (let i = 1; i <= 6; i++) fake.add('orders', pod(`p${i}`, i))
    const first = await api().listNamespacedEndpointSlice({ ...ORDERS, limit: 2 })
    expect(first.metadata).toMatchObject({ remainingItemCount: 1 })
    const rest = { ...ORDERS, limit: 2, _continue: first.metadata._continue }
    expect((await api().listNamespacedEndpointSlice(rest)).items).toHaveLength(1)
    const again = await api().listNamespacedEndpointSlice({ ...ORDERS, limit: 2 })
    fake.compact()
    const old = { ...ORDERS, limit: 2, _continue: again.metadata._continue }
    await expect(api().listNamespacedEndpointSlice(old)).rejects.toMatchObject({ code: 410 })
  })

  it('nothing without its token', async () => {
    fake.tokens = ['another']
    await expect(api().listNamespacedEndpointSlice(ORDERS)).rejects.toMatchObject({ code: 401 })
  })

  it('what it has written itself', async () => {
    const body = slice('by-hand', [endpoint('a', '10.1.0.1')])
    await api().createNamespacedEndpointSlice({ namespace: 'default', body })
    await expect(api().createNamespacedEndpointSlice({ namespace: 'default', body })).rejects.toMatchObject({
      code: 409,
    })
    const name = { namespace: 'default', name: 'by-hand' }
    const read = await api().readNamespacedEndpointSlice(name)
    await api().replaceNamespacedEndpointSlice({ ...name, body: { ...read, endpoints: [] } })
    expect(fake.listed('orders')).toEqual([])
    await expect(api().replaceNamespacedEndpointSlice({ ...name, body: read })).rejects.toMatchObject({ code: 409 })
    await api().deleteNamespacedEndpointSlice(name)
    await expect(api().readNamespacedEndpointSlice(name)).rejects.toMatchObject({ code: 404 })
  })
})

describe('the client of Kubernetes watches', () => {
  /** The events of one watch, as the client reads them. */
  async function watch(query: object) {
    const seen: [type: string, object: SeenSlice][] = []
    const ended: unknown[] = []
    const stop = await new Watch(config).watch(
      PATH,
      { labelSelector: ORDERS.labelSelector, ...query },
      (type: string, object: SeenSlice) => seen.push([type, object]),
      (error: unknown) => ended.push(error),
    )
    return { seen, ended, stop, types: () => seen.map(([type]) => type).filter((type) => type !== 'BOOKMARK') }
  }

  it('from a version: what came after it, bookmarks, and the end of its time', async () => {
    fake.add('orders', pod('a', 1))
    const { metadata } = await api().listNamespacedEndpointSlice(ORDERS)
    fake.add('orders', pod('b', 2))
    fake.chunkBytes = 11
    const { resourceVersion } = metadata
    const one = await watch({ resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 1 })
    fake.add('orders', pod('c', 3))
    fake.add('billing', pod('d', 4))
    fake.remove('orders', 'c')
    await until(() => one.ended.length > 0)
    expect(one.types()).toEqual(['MODIFIED', 'ADDED', 'DELETED'])
    const last = one.seen.at(-1)
    expect(last).toMatchObject(['BOOKMARK', { metadata: { resourceVersion: '1005' } }])
  })

  it('without one: everything there is', async () => {
    fake.add('orders', pod('a', 1))
    const one = await watch({})
    await until(() => one.seen.length > 0)
    expect(one.types()).toEqual(['ADDED'])
    one.stop.abort()
    await until(() => fake.watches === 0)
  })

  it('from a version that is forgotten: 410, in the stream or before it', async () => {
    fake.compact()
    const inStream = await watch({ resourceVersion: '1000' })
    await until(() => inStream.ended.length > 0)
    expect(inStream.seen).toMatchObject([['ERROR', { code: 410, reason: 'Expired' }]])
    fake.goneAs = 'status'
    const before = await watch({ resourceVersion: '1000' })
    await until(() => before.ended.length > 0)
    expect(before.ended[0]).toMatchObject({ statusCode: 410 })
  })

  it('with its informer, over ends and compactions', async () => {
    fake.add('orders', pod('a', 1))
    const list = () => api().listNamespacedEndpointSlice(ORDERS)
    const informer = makeInformer(config, PATH, list, ORDERS.labelSelector)
    const addresses = () =>
      (informer.list() as SeenSlice[])
        .flatMap(({ endpoints = [] }) => endpoints.map((each) => each.addresses[0]))
        .sort()
    await informer.start()
    await until(() => fake.watches === 1)
    expect(addresses()).toEqual(['10.1.0.1'])
    fake.add('orders', pod('b', 2))
    fake.add('orders', pod('c', 3))
    await until(() => addresses().length === 3)
    fake.compact()
    fake.endWatches()
    await until(() => fake.watches === 1)
    fake.remove('orders', 'c')
    await until(() => addresses().length === 2)
    expect(addresses()).toEqual(['10.1.0.1', '10.1.0.2'])
    expect(fake.counts.list).toBeGreaterThan(1)
    await informer.stop()
  })
})
