/** @module etcd with authentication: tokens are had, renewed and never told. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RegistryHttp } from '../../bindings/discovery/registry/registry-http.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { clientOf, elapse, listOf, settled, watching } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'

const PASSWORD = 'pässword "1"'
const credentials = { username: 'root', password: PASSWORD }

let fake: FakeEtcd

beforeEach(() => {
  vi.useFakeTimers()
  fake = new FakeEtcd()
  fake.addUser('root', PASSWORD)
  fake.put('orders/a', '10.0.0.1:80')
})

afterEach(() => {
  fake.close()
  vi.useRealTimers()
})

const paths = () => fake.requests.map(({ path }) => path.replace('/v3/', ''))

test('a token is asked for once and sent with each question, without "Bearer"', async () => {
  const client = clientOf(fake, credentials)
  expect(await listOf(client)).toHaveLength(1)
  expect(await listOf(client)).toHaveLength(1)
  expect(paths()).toEqual(['auth/authenticate', 'kv/range', 'kv/range'])
  expect(fake.requests.map(({ authorization }) => authorization)).toEqual([null, 'token-of-root.1', 'token-of-root.1'])
})

test('nacos#2762, of etcd: a token that has expired is renewed within the question', async () => {
  const client = clientOf(fake, credentials)
  await listOf(client)
  await elapse(fake.tokenTtlMs)
  expect(await listOf(client)).toHaveLength(1)
  expect(paths()).toEqual(['auth/authenticate', 'kv/range', 'kv/range', 'auth/authenticate', 'kv/range'])
})

test('a token of old users is renewed too', async () => {
  const client = clientOf(fake, credentials)
  await listOf(client)
  let isOld = true
  fake.fault = ({ path }) => {
    if (!isOld || !path.endsWith('range')) return undefined
    isOld = false
    const message = 'etcdserver: revision of auth store is old'
    return Response.json({ error: message, message, code: 3 }, { status: 400 })
  }
  expect(await listOf(client)).toHaveLength(1)
})

test('it is renewed once a question, not for ever', async () => {
  const client = clientOf(fake, credentials)
  fake.fault = ({ path }) => {
    if (path.endsWith('range')) fake.forgetTokens()
    return undefined
  }
  await expect(listOf(client)).rejects.toMatchObject({ failure: 'denied', status: 401 })
  expect(paths()).toEqual(['auth/authenticate', 'kv/range', 'auth/authenticate', 'kv/range'])
})

test('where authentication is off no token is sent; when it is put on one is had', async () => {
  fake.authOff()
  const client = clientOf(fake, credentials)
  expect(await listOf(client)).toHaveLength(1)
  expect(await listOf(client)).toHaveLength(1)
  expect(fake.requests.every(({ authorization }) => authorization === null)).toBe(true)
  expect(paths()).toEqual(['auth/authenticate', 'kv/range', 'kv/range'])
  fake.addUser('root', PASSWORD)
  expect(await listOf(client)).toHaveLength(1)
})

test('who has no user, the wrong password or no permission is denied', async () => {
  fake.addUser('low', 'low', false)
  for (const [options, status, said] of [
    [{}, 400, 'user name is empty'],
    [{ username: 'root', password: 'wrong' }, 400, 'authentication failed'],
    [{ username: 'low', password: 'low' }, 403, 'permission denied'],
  ] as const) {
    const error = { code: 'EVENKEEL_DISCOVERY', failure: 'denied', status, message: expect.stringContaining(said) }
    await expect(listOf(clientOf(fake, options))).rejects.toMatchObject(error)
  }
})

test('a watch has the token, outlives its end, and has a new one after a refusal', async () => {
  const seen = await watching(clientOf(fake, credentials))
  expect(fake.requests.at(-1)).toMatchObject({ path: '/v3/watch', authorization: 'token-of-root.1' })
  await elapse(2 * fake.tokenTtlMs)
  expect([seen.failures.length, seen.lists.length]).toEqual([0, 1])
  // Between the range and the watch.
  fake.fault = ({ path }) => {
    if (path === '/v3/watch') fake.forgetTokens()
    fake.fault = path === '/v3/watch' ? () => undefined : fake.fault
    return undefined
  }
  fake.endWatches()
  await elapse(1_000)
  // The range renews it: no failure.
  expect([fake.openStreams, seen.failures]).toEqual([1, []])
  expect(fake.requests.at(-1)).toMatchObject({ path: '/v3/watch', authorization: 'token-of-root.2' })
  await seen.stop()
})

test('tokens that have been replaced do not add up, though several were had at once', async () => {
  const hide = vi.spyOn(RegistryHttp.prototype, 'hide')
  const unhide = vi.spyOn(RegistryHttp.prototype, 'unhide')
  const client = clientOf(fake, credentials)
  hide.mockClear()
  for (let i = 0; i < 20; i++) {
    fake.forgetTokens()
    await Promise.all([listOf(client), listOf(client), listOf(client)])
  }
  const hidden = new Set(hide.mock.calls.map(([token]) => token))
  expect(hidden.size).toBeGreaterThan(20)
  for (const [token] of unhide.mock.calls) hidden.delete(token)
  expect(hidden.size).toBeLessThanOrEqual(4)
  vi.restoreAllMocks()
})

test('neither password nor token is told by errors, explain or what is sent elsewhere', async () => {
  const told = [PASSWORD, JSON.stringify(PASSWORD).slice(1, -1), 'token-of-root']
  fake.fault = ({ body, authorization }) => {
    // A proxy that tells all it was sent.
    return authorization === null ? undefined : new Response(`refused ${authorization} ${body}`, { status: 502 })
  }
  const client = clientOf(fake, credentials)
  const lb = createLoadBalancer({ services: { orders: { discovery: client } } })
  const errors: unknown[] = []
  lb.service('orders').on('discoveryError', ({ error }) => errors.push(error))
  lb.service('orders').pick()
  await settled()
  fake.fault = ({ body }) => new Response(`refused ${body}`, { status: 502 })
  fake.forgetTokens()
  const other = clientOf(fake, credentials)
  await listOf(other).catch((error) => errors.push(error))
  expect(errors.length).toBeGreaterThan(1)
  const all = [
    ...errors.map((error) => `${error} ${(error as Error).stack}`),
    JSON.stringify(await lb.service('orders').explain()),
    JSON.stringify(client.describe('orders')),
  ]
  for (const secret of told) for (const text of all) expect(text).not.toContain(secret)
  expect(all.join()).toContain('refused …')
  await lb.close()
})

test('tokens that were renewed are not all kept', async () => {
  const client = clientOf(fake, credentials)
  for (let i = 0; i < 50; i++) {
    fake.forgetTokens()
    await listOf(client)
  }
  fake.fault = () => new Response('token-of-root.1; token-of-root.50', { status: 500 })
  // Only the live one is a secret.
  await expect(listOf(client)).rejects.toThrow('token-of-root.1; …')
})
