/** @module Registration at Nacos: made, kept by beats, made anew, out of service, ended in the right place. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import type { NacosDiscoveryOptions } from '../../bindings/discovery/nacos/options.js'
import { type FakeApi, FakeNacos } from './fakes/nacos.js'
import { inProcess } from './in-process.js'

const signal = new AbortController().signal
const APIS: FakeApi[] = ['v3', 'v2', 'v1']
const ORDERS = { namespace: 'public', group: 'DEFAULT_GROUP', name: 'orders' }
const INSTANCE = { serviceId: 'orders', host: '10.0.0.1', port: 80, weight: 2, metadata: { version: '3' } }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function setup(api: FakeApi, options: Partial<NacosDiscoveryOptions> = {}) {
  const fake = new FakeNacos()
  fake.apis = new Set([api])
  const client = nacosDiscovery({ url: 'http://nacos', fetch: inProcess(fake), random: () => 0, ...options })
  const listed = async (serviceId = 'orders') => (await client.get(serviceId, { signal })) as { metadata: object }[]
  return { fake, client, listed }
}

describe.each(APIS)('in %s', (api) => {
  it('tells address, weight, metadata, security and cluster; what is listed says the same', async () => {
    const { client, listed, fake } = setup(api, { cluster: 'c1', namespace: 'ns-1' })
    const registration = client.register({ ...INSTANCE, secure: true, zone: 'z1' })
    await registration.ready()
    expect(registration).toMatchObject({ state: 'registered', status: 'UP', serviceId: 'orders' })
    expect(await listed()).toMatchObject([
      {
        host: '10.0.0.1',
        port: 80,
        secure: true,
        metadata: { weight: '2', version: '3', zone: 'z1', 'nacos.cluster': 'c1', 'nacos.ephemeral': 'true' },
      },
    ])
    const scope = { namespace: 'ns-1', group: 'DEFAULT_GROUP', name: 'orders' }
    expect(fake.store.find(scope, '10.0.0.1', 80, 'c1')?.metadata).toEqual({ version: '3', zone: 'z1', secure: 'true' })
    await registration.close()
    expect(await listed()).toEqual([])
  })

  it('beats keep it, for as long as they come', async () => {
    const { client, listed, fake } = setup(api)
    const registration = client.register(INSTANCE)
    await vi.advanceTimersByTimeAsync(120_000)
    expect(await listed()).toHaveLength(1)
    expect(registration.stats()).toMatchObject({ registrations: 1, renewals: 24, failures: 0 })
    fake.fault = ({ method }) => (method === 'GET' ? undefined : new Response('', { status: 500 }))
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await listed()).toEqual([])
    expect(registration.state).toBe('failing')
    await vi.advanceTimersByTimeAsync(15_000)
    expect(fake.listed('orders')).toEqual([])
    fake.fault = undefined
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await listed()).toMatchObject([{ metadata: { weight: '2', version: '3' } }])
    await registration.close()
  })

  it('a server that forgot it has it again with the next beat', async () => {
    const { client, listed, fake } = setup(api)
    const registration = client.register(INSTANCE)
    await registration.ready()
    fake.store.clear()
    expect(await listed()).toEqual([])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await listed()).toMatchObject([{ metadata: { weight: '2', version: '3' } }])
    await registration.close()
  })

  it('OUT_OF_SERVICE is disabled: not listed, kept by beats, forgotten ones come back disabled; UP again', async () => {
    const { client, listed, fake } = setup(api)
    const registration = client.register(INSTANCE)
    await registration.ready()
    await registration.setStatus('OUT_OF_SERVICE')
    expect(await listed()).toEqual([])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(fake.store.find(ORDERS, '10.0.0.1', 80, 'DEFAULT')).toMatchObject({ enabled: false, healthy: true })
    fake.store.clear()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(fake.store.find(ORDERS, '10.0.0.1', 80, 'DEFAULT')).toMatchObject({ enabled: false })
    expect(registration.stats().registrations).toBe(2)
    await registration.setStatus('UP')
    expect(await listed()).toHaveLength(1)
    await registration.close()
  })

  it('nacos-sdk-nodejs#120, PR#56, nacos#7565: ends in the group, namespace, cluster and kind it was made in', async () => {
    for (const options of [{}, { ephemeral: false, cluster: 'c9' }, { namespace: 'ns-1', group: 'PAY' }]) {
      const { client, listed, fake } = setup(api, options)
      const here = client.register(INSTANCE)
      const there = client.register({ ...INSTANCE, serviceId: 'OTHER@@orders' })
      await Promise.all([here.ready(), there.ready()])
      await there.close()
      expect(await listed('OTHER@@orders')).toEqual([])
      expect(await listed()).toHaveLength(1)
      await here.close()
      expect(await listed()).toEqual([])
      const ends = fake.log.filter(({ method }) => method === 'DELETE').map(({ params }) => params)
      const {
        namespace,
        group = 'DEFAULT_GROUP',
        cluster = 'DEFAULT',
        ephemeral = true,
      } = options as Partial<NacosDiscoveryOptions>
      expect(ends.map((params) => params.get('groupName'))).toEqual(['OTHER', group])
      for (const params of ends) {
        expect([params.get('namespaceId') ?? undefined, params.get('clusterName')]).toEqual([namespace, cluster])
        expect(params.get('ephemeral')).toBe(String(ephemeral))
      }
    }
  })

  it('a persistent instance needs no beats', async () => {
    const { client, listed, fake } = setup(api, { ephemeral: false })
    const registration = client.register(INSTANCE)
    await registration.ready()
    const asked = fake.log.length
    await vi.advanceTimersByTimeAsync(120_000)
    expect(fake.log.length).toBe(asked)
    expect(await listed()).toMatchObject([{ metadata: { 'nacos.ephemeral': 'false' } }])
    await registration.close()
  })

  it('shutdown: out of service, time for clients to hear of it, then gone', async () => {
    const { client, listed, fake } = setup(api)
    const registration = client.register(INSTANCE)
    await registration.ready()
    const end = registration.shutdown({ propagationMs: 10_000 })
    await vi.advanceTimersByTimeAsync(9_000)
    expect(await listed()).toEqual([])
    expect(fake.store.find(ORDERS, '10.0.0.1', 80, 'DEFAULT')).toBeDefined()
    await vi.advanceTimersByTimeAsync(1_000)
    await end
    expect(fake.store.find(ORDERS, '10.0.0.1', 80, 'DEFAULT')).toBeUndefined()
  })

  it('close of the client leaves registrations alone: each has its own', async () => {
    const { client, fake } = setup(api)
    const registration = client.register(INSTANCE)
    await registration.ready()
    await client.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect([registration.state, registration.stats().failures]).toEqual(['registered', 0])
    expect(fake.listed('orders')).toHaveLength(1)
    await registration.close()
    expect(fake.listed('orders')).toEqual([])
  })
})

it('beats come as often as the server wants them, or as the metadata says', async () => {
  for (const api of APIS) {
    const { client, fake } = setup(api)
    const registration = client.register({ ...INSTANCE, metadata: { 'preserved.heart.beat.interval': '2000' } })
    await vi.advanceTimersByTimeAsync(21_000)
    expect(fake.log.length).toBeGreaterThanOrEqual(10)
    expect(registration.stats().renewals).toBe(10)
    await registration.close()
  }
})

it('after a failed beat it is registered anew: some servers take a beat of a forgotten instance for less than it was', async () => {
  const { client, fake } = setup('v1')
  const registration = client.register(INSTANCE)
  await registration.ready()
  fake.fault = () => new Response('', { status: 502 })
  await vi.advanceTimersByTimeAsync(5_000)
  fake.fault = undefined
  fake.log.length = 0
  await vi.advanceTimersByTimeAsync(2_000)
  expect(fake.log.map(({ method }) => method)).toEqual(['POST'])
  expect(registration.stats()).toMatchObject({ registrations: 2, failures: 1 })
  await registration.close()
})

it('logs in, and a token that expires is replaced on the way', async () => {
  const { client, fake, listed } = setup('v1', { username: 'u', password: 'p' })
  fake.logins.user = { username: 'u', password: 'p', ttlMs: 20_000 }
  const registration = client.register(INSTANCE)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(registration.stats()).toMatchObject({ registrations: 1, failures: 0 })
  fake.logins.forget()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await listed()).toHaveLength(1)
  await registration.close()
})

it.each([
  [{ ...INSTANCE, weight: 20_000 }, 'weight'],
  [{ serviceId: 'orders', host: '10.0.0.1' }, undefined],
])('%j is refused', (init, option) => {
  const { client } = setup('v1')
  const expected = { code: 'EVENKEEL_CONFIG', ...(option !== undefined && { option }) }
  expect(() => client.register(init)).toThrow(expect.objectContaining(expected))
})

it('an answer that is no "ok" is no registration', async () => {
  const { client, fake } = setup('v1', { api: 'v1' })
  fake.answers = () => new Response('<html>Sign in</html>')
  const errors: unknown[] = []
  const registration = client.register(INSTANCE, { failed: (error) => errors.push(error) })
  await vi.advanceTimersByTimeAsync(0)
  expect(registration.state).toBe('registering')
  expect(errors).toMatchObject([{ failure: 'malformed' }])
  fake.answers = undefined
  await registration.close()
})
