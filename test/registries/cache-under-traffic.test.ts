/** @module A list that is asked for and cached, while it is used all the time. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { clientOf, elapse } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'

const TTL_MS = 35_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

async function used() {
  const fake = new FakeEtcd()
  const client = clientOf(fake)
  const get = client.get.bind(client)
  const lb = createLoadBalancer({
    services: { orders: { discovery: { name: 'etcd, asked', get }, cache: { ttlMs: TTL_MS, staleMs: TTL_MS } } },
    clock: () => performance.now(),
  })
  fake.add('orders', { instanceId: 'a', host: '10.0.0.1', port: 80 })
  const service = lb.service('orders')
  await Promise.all([service.choose(), elapse(0)])
  const second = async () => {
    await elapse(1_000)
    const lease = service.pick()
    lease?.done()
    await elapse(0)
    return lease?.instance.instanceId
  }
  return { fake, service, second, close: () => lb.close() }
}

it('spring-cloud-commons#1254: a list is asked for again when it is 35 s old, though it is used every second', async () => {
  const { fake, service, second, close } = await used()
  expect(fake.requests.length).toBe(1)
  fake.add('orders', { instanceId: 'b', host: '10.0.0.2', port: 80 })
  for (let seconds = 1; seconds < 35; seconds++) await second()
  expect([fake.requests.length, service.instances().length]).toEqual([1, 1])
  await second()
  expect([fake.requests.length, service.instances().length]).toEqual([2, 2])
  for (let seconds = 0; seconds < 34; seconds++) await second()
  expect(fake.requests.length).toBe(2)
  await second()
  expect(fake.requests.length).toBe(3)
  await close()
})

it('spring-cloud-commons#1215: the last list is served as long as the registry is down', async () => {
  const { fake, service, second, close } = await used()
  fake.fault = () => new Response('', { status: 503 })
  for (let seconds = 1; seconds <= 600; seconds++) expect(await second()).toBe('a')
  expect(service.stats().discoveryErrors).toBeGreaterThan(5)
  expect(service.stats().listAgeMs).toBeGreaterThanOrEqual(600_000)
  fake.fault = () => undefined
  fake.add('orders', { instanceId: 'b', host: '10.0.0.2', port: 80 })
  // The longest pause: one and a half times 30 s.
  for (let seconds = 0; seconds < 46; seconds++) await second()
  expect(service.instances().length).toBe(2)
  await close()
})
