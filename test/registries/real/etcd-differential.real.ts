/** @module The same questions to the fake etcd and to a real one: what both answer is the same. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FakeEtcd } from '../fakes/etcd.js'
import { inProcess } from '../in-process.js'
import { EtcdServer } from './etcd-server.js'

type Ask = (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>

let server: EtcdServer
let fake: FakeEtcd

const base64 = (text: string) => Buffer.from(text).toString('base64')
const orders = { key: base64('orders/'), range_end: base64('orders0') }

beforeAll(async () => {
  server = await EtcdServer.make('--auth-token', 'simple')
  await server.start()
  fake = new FakeEtcd()
})

afterAll(async () => {
  fake.close()
  await server.dispose()
})

const asking: Record<'fake' | 'real', Ask> = {
  real: (path, body, headers) => server.ask(path, body, headers),
  fake: (path, body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return inProcess(fake)(`http://fake${path}`, { method: 'POST', body: text, headers })
  },
}

/** What is each server's own: ids of the cluster, of leases it chose, and tokens. Go's words for bad JSON are its own too. */
function normalised(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((each) => normalised(each, name))
  if (typeof value !== 'object' || value === null) {
    if (/^(cluster_id|member_id|raft_term|token)$/.test(name)) return `some ${name}`
    if (/^(ID|lease)$/.test(name) && String(value).length > 10) return 'some lease'
    return value
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, normalised(each, key)]))
}

async function same(path: string, body: unknown, tokens: { real?: string; fake?: string } = {}) {
  const [real, fake] = await Promise.all(
    (['real', 'fake'] as const).map(async (which) => {
      const token = tokens[which]
      const answer = await asking[which](path, body, token === undefined ? {} : { authorization: token })
      const text = await answer.text()
      return { status: answer.status, text, said: text.startsWith('{') ? JSON.parse(text) : text.trim() }
    }),
  )
  if (real === undefined || fake === undefined) throw new Error('both answer')
  expect({ status: fake.status, said: normalised(fake.said) }).toEqual({
    status: real.status,
    said: normalised(real.said),
  })
  return { real: real.said, fake: fake.said, status: real.status }
}

/** The first messages of a watch while `work` is done to both. */
async function sameWatch(body: unknown, lines: number, work: () => Promise<unknown> = async () => {}, tokens = {}) {
  const tokenOf: { real?: string; fake?: string } = tokens
  const reading = (['real', 'fake'] as const).map(async (which) => {
    const token = tokenOf[which]
    const answer = await asking[which]('/v3/watch', body, token === undefined ? {} : { authorization: token })
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = ''
    return async (count: number) => {
      while (text.split('\n').length <= count) {
        const { value, done } = await reader.read()
        if (done) break
        text += decoder.decode(value, { stream: true })
      }
      if (count === lines) await reader.cancel()
      return text
        .trim()
        .split('\n')
        .map((line) => normalised(JSON.parse(line)))
    }
  })
  const streams = await Promise.all(reading)
  await Promise.all(streams.map((read) => read(1)))
  await work()
  const [real, fake] = await Promise.all(streams.map((read) => read(lines)))
  expect(fake).toEqual(real)
  expect(fake).toHaveLength(lines)
  return fake
}

const put = (key: string, value: string, more = {}) =>
  same('/v3/kv/put', { key: base64(key), value: base64(value), ...more })

describe('the fake etcd and a real one answer the same', () => {
  test('ranges of nothing, puts, and ranges of what was put', async () => {
    await same('/v3/kv/range', orders)
    await put('orders/a', '10.0.0.1:80')
    await put('orders/b', '')
    await put('orders/a', '10.0.0.2:80', { prev_kv: true })
    await put('orders2/c', 'other')
    await put('ordérs/ü', 'bytes')
    for (const more of [
      {},
      { keys_only: true },
      { count_only: true },
      { limit: '1' },
      { min_mod_revision: '4' },
      { min_mod_revision: 4, limit: 1, keys_only: true },
      { max_mod_revision: '3' },
      { revision: '3' },
      { revision: 99 },
      { serializable: true },
    ]) {
      await same('/v3/kv/range', { ...orders, ...more })
    }
    await same('/v3/kv/range', { key: base64('orders/a') })
    await same('/v3/kv/range', { key: base64('orders/none') })
    await same('/v3/kv/range', { key: base64('orders/b'), range_end: 'AA==' })
    await same('/v3/kv/range', { key: 'AA==', range_end: 'AA==', keys_only: true })
    await same('/v3beta/kv/range', orders)
  })

  test('deletions', async () => {
    await same('/v3/kv/deleterange', { key: base64('orders/none') })
    await same('/v3/kv/deleterange', { key: base64('orders/b') })
    await put('orders/c', '1')
    await same('/v3/kv/deleterange', { ...orders, prev_kv: true })
    await same('/v3/kv/range', orders)
  })

  test('what is refused', async () => {
    await same('/v3/kv/put', { value: base64('x') })
    await same('/v3/kv/range', {})
    await same('/v3/kv/put', { key: '***' })
    await put('orders/l', 'x', { lease: '123' })
    await same('/v3/lease/revoke', { ID: '123' })
    await same('/v3/nothing', {})
    await same('/v3/auth/authenticate', { name: 'root', password: 'x' })
    const { status } = await same('/v3/kv/range', orders, { real: 'no-token', fake: 'no-token' })
    expect(status).toBe(401)
  })

  test('leases: granted, kept alive, used, revoked with all their keys in one revision', async () => {
    await same('/v3/lease/grant', { TTL: '60' })
    await same('/v3/lease/grant', { TTL: 60, ID: '77' })
    await same('/v3/lease/grant', { TTL: 60, ID: '77' })
    await same('/v3/lease/grant', { TTL: '0', ID: '78' })
    await same('/v3/lease/keepalive', { ID: '77' })
    await same('/v3/lease/keepalive', { ID: '79' })
    await put('orders/l2', '1', { lease: '77' })
    await put('orders/l1', '1', { lease: '77' })
    await put('orders/l3', '1', { lease: '77' })
    await put('orders/l3', '2')
    await same('/v3/kv/range', orders)
    await same('/v3/lease/timetolive', { ID: '79' })
    await same('/v3/lease/revoke', { ID: '77' })
    await same('/v3/kv/range', orders)
    await same('/v3/kv/lease/revoke', { ID: '77' })
  })

  test('a lease that is not kept alive ends, and its keys with it', async () => {
    await same('/v3/lease/grant', { TTL: '2', ID: '91' })
    await sameWatch({ create_request: orders }, 3, async () => {
      await put('orders/expires', '1', { lease: '91' })
    })
    await same('/v3/lease/keepalive', { ID: '91' })
    await same('/v3/kv/range', orders)
  })

  test('watches: created, puts and deletions as they come', async () => {
    await sameWatch({ create_request: { ...orders, progress_notify: true, fragment: true } }, 4, async () => {
      await put('orders/w', '1')
      await put('payments/w', '1')
      await put('orders/w', '2')
      await same('/v3/kv/deleterange', orders)
    })
    await sameWatch({ create_request: { ...orders, prev_kv: true, filters: ['NOPUT'] } }, 2, async () => {
      await put('orders/w', '1')
      await same('/v3/kv/deleterange', orders)
    })
  })

  test('watches from a revision: the past in one message, the future not before it comes', async () => {
    await sameWatch({ create_request: { ...orders, start_revision: '2' } }, 2)
    await sameWatch({ create_request: { ...orders, start_revision: '9999' } }, 1)
  })

  test('several requests in one watch', async () => {
    const requests = [
      { create_request: orders },
      { progress_request: {} },
      { create_request: { key: base64('other') } },
      { cancel_request: { watch_id: '1' } },
    ]
    await sameWatch(requests.map((each) => JSON.stringify(each)).join(''), 4)
  })

  test('compaction: of ranges, and of watches', async () => {
    const { real } = await same('/v3/kv/range', orders)
    const revision = Number(real.header.revision)
    await same('/v3/kv/compaction', { revision: `${revision - 1}` })
    await same('/v3/kv/compaction', { revision: `${revision - 1}` })
    await same('/v3/kv/compaction', { revision: `${revision + 9}` })
    for (const at of [revision - 2, revision - 1, revision])
      await same('/v3/kv/range', { ...orders, revision: `${at}` })
    await sameWatch({ create_request: { ...orders, start_revision: '2' } }, 2)
    await sameWatch({ create_request: { ...orders, start_revision: `${revision - 2}` } }, 2)
    await sameWatch({ create_request: { ...orders, start_revision: `${revision - 1}` } }, 2)
  })

  test('authentication: none, a wrong one, a token, one without permission, and off again', async () => {
    for (const [path, body] of [
      ['/v3/auth/user/add', { name: 'root', password: 'pässword' }],
      ['/v3/auth/role/add', { name: 'root' }],
      ['/v3/auth/user/grant', { user: 'root', role: 'root' }],
      ['/v3/auth/user/add', { name: 'low', password: 'low' }],
      ['/v3/auth/enable', {}],
    ] as const) {
      expect((await server.ask(path, body)).status).toBe(200)
    }
    fake.addUser('root', 'pässword')
    fake.addUser('low', 'low', false)
    await same('/v3/kv/range', orders)
    await same('/v3/auth/authenticate', { name: 'root', password: 'wrong' })
    await same('/v3/auth/authenticate', { name: 'nobody', password: 'wrong' })
    await same('/v3/kv/range', orders, { real: 'wrong', fake: 'wrong' })
    await sameWatch({ create_request: orders }, 1)
    await sameWatch({ create_request: orders }, 1, undefined, { real: 'wrong', fake: 'wrong' })
    const root = await same('/v3/auth/authenticate', { name: 'root', password: 'pässword' })
    const tokens = { real: root.real.token, fake: root.fake.token }
    await same('/v3/kv/range', orders, tokens)
    await sameWatch({ create_request: orders }, 1, undefined, tokens)
    await same('/v3/kv/range', orders, { real: `Bearer ${tokens.real}`, fake: `Bearer ${tokens.fake}` })
    const low = await same('/v3/auth/authenticate', { name: 'low', password: 'low' })
    await same('/v3/kv/range', orders, { real: low.real.token, fake: low.fake.token })
    await sameWatch({ create_request: orders }, 1, undefined, { real: low.real.token, fake: low.fake.token })
    expect((await server.ask('/v3/auth/disable', {}, { authorization: tokens.real })).status).toBe(200)
    fake.authOff()
    await same('/v3/kv/range', orders)
  })
})
