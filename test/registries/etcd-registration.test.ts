/** @module Registration with etcd: a key that goes with its lease. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Registration } from '../../bindings/index.js'
import { clientOf, elapse, listOf, settled, watching } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'

const me = { serviceId: 'orders', host: '10.0.0.1', port: 8080, weight: 3, zone: 'z1', metadata: { canary: 'yes' } }
const KEY = 'orders/10.0.0.1:8080'

let fake: FakeEtcd
let registration: Registration | undefined

beforeEach(() => {
  vi.useFakeTimers()
  fake = new FakeEtcd()
})

afterEach(async () => {
  await registration?.close().catch(() => {})
  registration = undefined
  fake.close()
  vi.useRealTimers()
})

const paths = () => fake.requests.map(({ path }) => path.replace('/v3/', ''))

test('a lease is had, and a key with it, as gRPC naming has it', async () => {
  registration = clientOf(fake).register(me)
  await registration.ready()
  expect(paths()).toEqual(['lease/grant', 'kv/put'])
  expect(fake.requests[0]?.body).toBe('{"TTL":"10"}')
  expect(JSON.parse(fake.value(KEY) ?? '')).toEqual({
    Op: 0,
    Addr: '10.0.0.1:8080',
    Metadata: { canary: 'yes', weight: '3', zone: 'z1' },
  })
  expect(await listOf(clientOf(fake))).toMatchObject([
    { instanceId: '10.0.0.1:8080', metadata: { canary: 'yes', weight: '3', zone: 'z1' } },
  ])
})

test.each(['grpc', 'json'] as const)('format %s: what was written is read the same', async (format) => {
  const client = clientOf(fake, { format, prefix: 'svc/{serviceId}/' })
  const secure = { serviceId: 'orders', instanceId: 'one', host: '::1', port: 443, secure: true, metadata: { a: 'b' } }
  registration = client.register(secure)
  await registration.ready()
  expect(fake.value('svc/orders/one')).toContain(format === 'grpc' ? '"Addr":"[::1]:443"' : '"host":"::1"')
  expect(await listOf(client)).toEqual([
    { instanceId: 'one', host: '::1', port: 443, secure: true, metadata: { a: 'b' } },
  ])
})

test('the lease is renewed three times in its life, and the key stays', async () => {
  registration = clientOf(fake).register(me)
  await registration.ready()
  await elapse(60_000)
  expect(fake.value(KEY)).toBeDefined()
  expect(registration.stats()).toMatchObject({ registrations: 1, failures: 0 })
  // Every 95 % of a third of ten seconds.
  expect(registration.stats().renewals).toBe(Math.floor(60_000 / 3_166))
  expect(paths().slice(2, 4)).toEqual(['lease/keepalive', 'kv/range'])
})

test('leaseTtlMs is rounded up to seconds', async () => {
  registration = clientOf(fake, { leaseTtlMs: 2_500 }).register(me)
  await registration.ready()
  expect(fake.requests[0]?.body).toBe('{"TTL":"3"}')
})

test('a process that dies is gone when its lease is', async () => {
  const seen = await watching(clientOf(fake))
  const dying = new FetchSwitch(fake)
  registration = clientOf(dying).register(me)
  await registration.ready()
  await settled()
  expect(seen.ids()).toEqual(['10.0.0.1:8080'])
  dying.isOff = true
  await elapse(10_000)
  expect(seen.ids()).toEqual([])
  expect(registration.state).toBe('failing')
  await seen.stop()
})

test('a lease that is gone is had anew, and the key with it', async () => {
  registration = clientOf(fake).register(me)
  await registration.ready()
  fake.expireLeases()
  expect(fake.value(KEY)).toBeUndefined()
  await elapse(3_400)
  expect(fake.value(KEY)).toBeDefined()
  expect(fake.leases).toBe(1)
  expect(registration.stats()).toMatchObject({ registrations: 2, failures: 0 })
})

test('a key that somebody deleted is put again, with the lease that is there', async () => {
  registration = clientOf(fake).register(me)
  await registration.ready()
  fake.delete(KEY)
  await elapse(3_400)
  expect(fake.value(KEY)).toBeDefined()
  expect(fake.leases).toBe(1)
  expect(paths().filter((path) => path === 'lease/grant')).toHaveLength(1)
})

test('OUT_OF_SERVICE takes the key away, for gRPC knows no status; the lease stays and is renewed', async () => {
  const seen = await watching(clientOf(fake))
  registration = clientOf(fake).register(me)
  await registration.ready()
  await registration.setStatus('OUT_OF_SERVICE')
  await settled()
  expect(seen.ids()).toEqual([])
  await elapse(60_000)
  expect(fake.leases).toBe(1)
  expect(fake.value(KEY)).toBeUndefined()
  await registration.setStatus('UP')
  await settled()
  expect(seen.ids()).toEqual(['10.0.0.1:8080'])
  expect(paths().filter((path) => path === 'lease/grant')).toHaveLength(1)
  await seen.stop()
})

test('OUT_OF_SERVICE from the beginning, and UP after the lease has gone', async () => {
  registration = clientOf(fake).register(me, { status: 'OUT_OF_SERVICE' })
  await registration.ready()
  expect(fake.value(KEY)).toBeUndefined()
  expect(fake.leases).toBe(1)
  fake.expireLeases()
  await registration.setStatus('UP')
  expect(fake.value(KEY)).toBeDefined()
  expect(fake.leases).toBe(1)
})

test('close revokes the lease, and the key goes with it; one that is gone already is no failure', async () => {
  const client = clientOf(fake)
  registration = client.register(me)
  await registration.ready()
  await registration.close()
  expect([fake.value(KEY), fake.leases]).toEqual([undefined, 0])
  expect(paths().at(-1)).toBe('lease/revoke')
  const other = client.register(me)
  await other.ready()
  fake.expireLeases()
  await other.close()
  expect(other.state).toBe('closed')
})

test('closing the client ends its watches and leaves its registrations', async () => {
  const client = clientOf(fake)
  const both = [client.register(me), client.register({ ...me, port: 8081 })]
  await Promise.all(both.map((each) => each.ready()))
  const watch = client.watch('orders', { signal: new AbortController().signal })[Symbol.asyncIterator]()
  expect((await watch.next()).value).toHaveLength(2)
  const next = watch.next()
  await elapse(0)
  await client.close?.()
  expect(await next).toEqual({ value: undefined, done: true })
  expect([fake.openStreams, fake.leases, ...both.map(({ state }) => state)]).toEqual([0, 2, 'registered', 'registered'])
  // Another balancer may share it.
  const again = client.watch('orders', { signal: AbortSignal.timeout(60_000) })[Symbol.asyncIterator]()
  expect((await again.next()).value).toHaveLength(2)
  await client.close?.()
  await again.next()
  await Promise.all(both.map((each) => each.close()))
  expect(fake.leases).toBe(0)
})

test('it is tried until the registry takes it; a lease of a failed attempt is used by the next', async () => {
  let failures = 0
  fake.fault = ({ path }) => {
    if (path === '/v3/kv/put' && ++failures <= 3) return new Response('', { status: 503 })
    return undefined
  }
  const told: unknown[] = []
  registration = clientOf(fake).register(me, { failed: (error) => told.push(error) })
  await elapse(20_000)
  expect(registration.state).toBe('registered')
  expect(told).toHaveLength(3)
  expect(paths().filter((path) => path === 'lease/grant')).toHaveLength(1)
})

test('a lease that expires between two attempts is had anew', async () => {
  fake.fault = ({ path }) => (path === '/v3/kv/put' ? new Response('', { status: 503 }) : undefined)
  registration = clientOf(fake, { leaseTtlMs: 2_000 }).register(me)
  await elapse(5_000)
  fake.expireLeases()
  fake.fault = () => undefined
  await elapse(5_000)
  expect(registration.state).toBe('registered')
  expect(fake.leases).toBe(1)
})

test('a restart at the same address: the key belongs to who came last', async () => {
  const before = clientOf(fake).register(me)
  await before.ready()
  registration = clientOf(fake).register(me)
  await registration.ready()
  await before.close()
  expect(fake.value(KEY)).toBeDefined()
  expect(fake.leases).toBe(1)
})

test('an answer without a lease is malformed', async () => {
  fake.fault = ({ path }) => (path === '/v3/lease/grant' ? Response.json({ header: {}, TTL: '10' }) : undefined)
  registration = clientOf(fake).register(me)
  await settled()
  expect(registration.stats().lastError).toMatchObject({ failure: 'malformed' })
})

test('an instance without a port can not be registered', () => {
  expect(() => clientOf(fake).register({ serviceId: 'orders', host: 'h' })).toThrow('port')
})

/** The registry, until the connection to it is cut. */
class FetchSwitch {
  isOff = false
  readonly #fake: FakeEtcd

  constructor(fake: FakeEtcd) {
    this.#fake = fake
  }

  async fetch(request: Request): Promise<Response> {
    if (this.isOff) throw new TypeError('cut')
    return this.#fake.fetch(request)
  }
}
