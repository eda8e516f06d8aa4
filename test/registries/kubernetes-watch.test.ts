/** @module The watch, in virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer } from '../../bindings/index.js'
import { endpoint, follow, idsOf, pod, setup, slice } from './kubernetes-setup.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

describe('a watch', () => {
  it('lists, then watches from there with bookmarks', async () => {
    const { fake, client } = setup({ limit: 7, labelSelector: 'tier=gold' })
    fake.add('orders', pod('a', 1, { metadata: { tier: 'gold' } }))
    fake.add('orders', pod('b', 2))
    const heard = follow(client)
    await pass(0)
    expect(heard.lists.map(idsOf)).toEqual([['a']])
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
    const labelSelector = 'kubernetes.io/service-name=orders,tier=gold'
    expect(fake.requests).toMatchObject([
      { path, query: { labelSelector, limit: '7' } },
      { path, query: { labelSelector, watch: 'true', resourceVersion: '1002', allowWatchBookmarks: 'true' } },
    ])
    expect(Number(fake.requests[1]?.query.timeoutSeconds)).toBe(285)
    heard.stop()
    await pass(0)
    expect(fake.watches).toBe(0)
  })

  it('grpc/grpc-node#1663, #2455: new pods are used within a second, pods that go are not', async () => {
    const { fake, client } = setup()
    fake.add('orders', pod('a', 1))
    const lb = createLoadBalancer({ services: { orders: { discovery: client } } })
    const service = lb.service('orders')
    await service.choose()
    await pass(70_000)
    fake.add('orders', pod('b', 2))
    await pass(100)
    expect(service.instances().map(({ instanceId }) => instanceId)).toEqual(['a', 'b'])
    const picked = new Set(Array.from({ length: 10 }, () => service.pick()?.instance.instanceId))
    expect([...picked].sort()).toEqual(['a', 'b'])
    fake.remove('orders', 'a')
    await pass(100)
    expect(service.instances().map(({ instanceId }) => instanceId)).toEqual(['b'])
    await lb.close()
  })

  it('takes what comes together as one list, within 50 ms', async () => {
    const { fake, client } = setup({}, { endpointsPerSlice: 1 })
    const heard = follow(client)
    await pass(0)
    for (let i = 1; i <= 100; i++) fake.add('orders', pod(`p${i}`, i))
    await pass(49)
    expect(heard.lists).toHaveLength(1)
    await pass(1)
    expect(heard.lists.map((list) => list.length)).toEqual([0, 100])
    heard.stop()
  })

  it('reads lines that come in pieces', async () => {
    const { fake, client } = setup()
    fake.chunkBytes = 7
    const heard = follow(client)
    await pass(0)
    fake.add('orders', pod('a', 1, { metadata: { team: 'größer' } }))
    await pass(50)
    expect(heard.lists.at(-1)?.[0]?.metadata?.['label.team']).toBe('größer')
    heard.stop()
  })

  it('goes on from the last version when the server ends it: no list anew, and nothing missed', async () => {
    const { fake, client } = setup({}, { opaque: true })
    fake.add('orders', pod('a', 1))
    const heard = follow(client)
    await pass(284_990)
    // The bookmark of the end says so.
    fake.history.advance()
    const now = fake.history.textOf(fake.history.version)
    await pass(20)
    expect(fake.counts).toEqual({ list: 1, watch: 2 })
    expect(fake.requests.at(-1)?.query.resourceVersion).toBe(now)
    fake.add('orders', pod('b', 2))
    await pass(50)
    expect(idsOf(heard.lists.at(-1))).toEqual(['a', 'b'])
    expect(heard.failures).toEqual([])
    heard.stop()
  })

  it('says at each bookmark that the list is as it was', async () => {
    const { fake, client } = setup()
    fake.add('orders', pod('a', 1))
    const heard = follow(client)
    await pass(180_100)
    expect(heard.confirmed).toBe(3)
    expect(heard.lists).toHaveLength(1)
    heard.stop()
  })

  it('confirms what changes nothing of the list; entries that stay are the same objects', async () => {
    const { fake, client } = setup()
    fake.put(slice('s', [endpoint('a', '10.1.0.1')]))
    const heard = follow(client)
    await pass(0)
    fake.put(slice('s', [endpoint('a', '10.1.0.1')]))
    await pass(50)
    expect([heard.lists.length, heard.confirmed]).toEqual([1, 1])
    fake.put(slice('s', [endpoint('a', '10.1.0.1'), endpoint('b', '10.1.0.2')]))
    await pass(50)
    expect(heard.lists[1]?.[0]).toBe(heard.lists[0]?.[0])
    heard.stop()
  })

  it('ignores events that it does not know', async () => {
    const { fake, client } = setup()
    const heard = follow(client)
    await pass(0)
    fake.say({ type: 'RENAMED', object: null })
    fake.add('orders', pod('a', 1))
    await pass(50)
    expect(idsOf(heard.lists.at(-1))).toEqual(['a'])
    expect(heard.failures).toEqual([])
    heard.stop()
  })

  it('forgets a slice that its labels have taken out of the service', async () => {
    const { fake, client } = setup()
    fake.put(slice('s', [endpoint('a', '10.1.0.1')]))
    const heard = follow(client)
    await pass(0)
    fake.put(slice('s', [endpoint('a', '10.1.0.1')], { labels: { 'kubernetes.io/service-name': 'other' } }))
    await pass(50)
    expect(heard.lists.at(-1)).toEqual([])
    heard.stop()
  })

  it('is one of its own in another namespace', async () => {
    const { fake, client } = setup()
    fake.add('orders.shop', pod('a', 1))
    fake.add('orders', pod('b', 2))
    const heard = follow(client, 'orders.shop')
    await pass(50)
    expect(heard.lists.map(idsOf)).toEqual([['a']])
    expect(client.describe('orders.shop').namespace).toBe('shop')
    heard.stop()
  })
})

describe('a watch that can not go on', () => {
  for (const goneAs of ['event', 'status'] as const) {
    it(`kubernetes-client/javascript#392: 410 as ${goneAs} makes it list anew, without a failure`, async () => {
      const { fake, client } = setup()
      fake.goneAs = goneAs
      fake.bookmarks = false
      fake.add('orders', pod('a', 1))
      const heard = follow(client)
      await pass(284_000)
      fake.compact()
      fake.stall()
      fake.add('orders', pod('b', 2))
      fake.unstall()
      fake.endWatches()
      await pass(1_000)
      expect(idsOf(heard.lists.at(-1))).toEqual(['a', 'b'])
      expect(heard.failures).toEqual([])
      expect(fake.counts.list).toBe(2)
      heard.stop()
    })
  }

  it('kubernetes-client/javascript#364: silence, though the connection is open, ends it after its time', async () => {
    const { fake, client } = setup({ watchTimeoutMs: 60_000 })
    fake.add('orders', pod('a', 1))
    const heard = follow(client)
    await pass(1_000)
    fake.stall()
    fake.add('orders', pod('b', 2))
    fake.unstall()
    await pass(60_000)
    expect(heard.lists).toHaveLength(1)
    await pass(10_000)
    expect(heard.failures).toMatchObject([{ failure: 'timeout' }])
    expect(idsOf(heard.lists.at(-1))).toEqual(['a', 'b'])
    expect(fake.watches).toBe(1)
    heard.stop()
  })

  it('kubernetes-client/javascript#1933: 410 at once, again and again, is no hot loop', async () => {
    const { fake, client } = setup()
    fake.add('orders', pod('a', 1))
    const gone = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }
    fake.fault = ({ url }) => (url.includes('watch=true') ? new Response(`${JSON.stringify(gone)}\n`) : undefined)
    const heard = follow(client)
    await pass(10_000)
    // After 0.8, 1.6, 3.2, 6.4 s.
    expect(fake.counts.list).toBeLessThanOrEqual(5)
    await pass(290_000)
    expect(fake.counts.list).toBeLessThanOrEqual(15)
    expect(heard.failures.at(-1)).toMatchObject({ status: 410 })
    expect(heard.lists.every((list) => idsOf(list)?.join() === 'a')).toBe(true)
    heard.stop()
  })

  it('ended at once, again and again: no hot loop either', async () => {
    const { fake, client } = setup()
    fake.fault = ({ url }) => (url.includes('watch=true') ? new Response('') : undefined)
    const heard = follow(client)
    await pass(300_000)
    expect(fake.counts.list).toBeLessThanOrEqual(15)
    heard.stop()
  })

  it('tells no secret that an ERROR has, not the beginning of one either', async () => {
    const token = 'a-token-that-nobody-may-see'
    const { fake, client } = setup({ token })
    const heard = follow(client)
    await pass(1_000)
    fake.say({ type: 'ERROR', object: { code: 500, message: `${'x'.repeat(190)}${token}` } })
    await pass(200)
    expect((heard.failures[0] as Error).message).toMatch(/: x{190}…$/)
    heard.stop()
  })

  it('closing the client ends its watches; another balancer that shares it begins anew', async () => {
    const { fake, client } = setup()
    fake.add('orders', pod('a', 1))
    const watch = client.watch('orders', { signal: new AbortController().signal })[Symbol.asyncIterator]()
    expect((await watch.next()).value).toHaveLength(1)
    const next = watch.next()
    await pass(100)
    expect(fake.watches).toBe(1)
    await client.close()
    expect(await next).toEqual({ value: undefined, done: true })
    await pass(0)
    expect(fake.watches).toBe(0)
    const heard = follow(client)
    await pass(100)
    expect(heard.lists).toHaveLength(1)
    heard.stop()
  })

  it('a Retry-After is waited for', async () => {
    const { fake, client } = setup()
    fake.fault = () => new Response('', { status: 429, headers: { 'retry-after': '20' } })
    const heard = follow(client)
    await pass(20_000)
    expect(heard.failures).toMatchObject([{ failure: 'limited', retryAfterMs: 20_000 }])
    fake.fault = () => undefined
    await pass(1_000)
    expect(heard.lists).toHaveLength(1)
    heard.stop()
  })

  it('waits at first 0.8 s again after a watch that lived', async () => {
    const { fake, client } = setup()
    const heard = follow(client)
    for (const [i, upMs] of [
      [1, 5_000],
      [2, 20_000],
      [3, 20_000],
    ] as const) {
      await pass(upMs)
      fake.say({ type: 'ERROR', object: { code: 500, message: 'etcdserver: leader changed' } })
      await pass(700)
      expect(heard.failures).toHaveLength(i)
      expect(fake.counts.list).toBe(i)
      await pass(200)
      expect(fake.counts.list).toBe(i + 1)
    }
    heard.stop()
  })

  it('ended early by a server that goes: goes on at another within 0.8 s', async () => {
    const { fake, client } = setup()
    const heard = follow(client)
    await pass(20_000)
    fake.endWatches()
    await pass(399)
    expect(fake.watches).toBe(0)
    await pass(2)
    expect([fake.watches, fake.counts.list]).toEqual([1, 1])
    fake.cutWatches()
    await pass(801)
    expect(heard.failures).toHaveLength(1)
    heard.stop()
  })

  it('cut after it has lived: goes on from there, which is no failure', async () => {
    const { fake, client } = setup()
    const heard = follow(client)
    await pass(20_000)
    fake.cutWatches()
    fake.add('orders', pod('a', 1))
    await pass(1_000)
    expect(idsOf(heard.lists.at(-1))).toEqual(['a'])
    expect([heard.failures.length, fake.counts.list]).toEqual([0, 1])
    heard.stop()
  })

  it('keeps the list while the API is away, tells so, and is back by itself', async () => {
    const { fake, client } = setup()
    fake.add('orders', pod('a', 1))
    const lb = createLoadBalancer({ services: { orders: { discovery: client } } })
    const service = lb.service('orders')
    await service.choose()
    fake.down()
    await pass(120_000)
    expect(service.pick()?.instance.instanceId).toBe('a')
    const { layers, notes } = await service.explain()
    expect(layers[0]?.reason).toContain('ECONNREFUSED')
    expect(notes).toContain('discovery failed: the last good list is served')
    fake.up()
    fake.add('orders', pod('b', 2))
    await pass(45_000)
    expect(service.instances()).toHaveLength(2)
    expect((await service.explain()).layers[0]?.reason).toBeUndefined()
    await lb.close()
  })

  it('does not believe half an answer: what is malformed leaves the list', async () => {
    for (const line of [
      { type: 'MODIFIED', object: { metadata: {} } },
      { type: 'MODIFIED' },
      { kind: 'Status' },
      7,
      { type: 'MODIFIED', object: { ...slice('s', 'many'), metadata: { name: 's', resourceVersion: '1' } } },
    ]) {
      const { fake, client } = setup()
      fake.add('orders', pod('a', 1))
      const heard = follow(client)
      await pass(0)
      fake.say(line)
      await pass(50)
      expect(heard.failures).toMatchObject([{ failure: 'malformed' }])
      expect(heard.lists.map(idsOf)).toEqual([['a']])
      await pass(1_000)
      expect(heard.lists.map(idsOf)).toEqual([['a'], ['a']])
      heard.stop()
    }
  })

  it('takes a change before an error in the same piece', async () => {
    const { fake, client } = setup()
    const heard = follow(client)
    await pass(0)
    fake.add('orders', pod('a', 1))
    fake.say({ type: 'ERROR', object: { code: 500 } })
    await pass(50)
    expect(heard.lists.map(idsOf)).toEqual([[], ['a']])
    expect(heard.failures).toMatchObject([{ failure: 'status', status: 500 }])
    heard.stop()
  })
})

describe('many clients', () => {
  it('come back after an outage at no more than twice their rate', async () => {
    const { fake } = setup()
    const random = seeded(7)
    const clients = 200
    const heard = Array.from({ length: clients }, () => {
      const { client } = setup({ fetch: (input, init) => fake.fetch(new Request(input, init)), random })
      return follow(client)
    })
    await pass(20_000)
    fake.down()
    await pass(60_000)
    fake.up()
    const lists: number[] = []
    for (let seconds = 0; seconds < 50; seconds++) {
      const before = fake.counts.list
      await pass(1_000)
      lists.push(fake.counts.list - before)
    }
    // On average over any five seconds: one alone may be busier by chance.
    const peak = Math.max(...lists.map((_, i) => lists.slice(i, i + 5).reduce((sum, each) => sum + each, 0) / 5))
    expect(fake.watches).toBe(clients)
    // The interval is what the backoff has reached: 30 s.
    expect(peak).toBeLessThanOrEqual((2 * clients) / 30)
    for (const each of heard) each.stop()
    await pass(0)
  })

  it('whose server goes, come back over 0.8 s', async () => {
    const { fake } = setup()
    const random = seeded(8)
    const clients = 200
    const heard = Array.from({ length: clients }, () => {
      const { client } = setup({ fetch: (input, init) => fake.fetch(new Request(input, init)), random })
      return follow(client)
    })
    await pass(20_000)
    fake.endWatches()
    const came: number[] = []
    for (let tenths = 0; tenths < 8; tenths++) {
      const before = fake.counts.watch
      await pass(100)
      came.push(fake.counts.watch - before)
    }
    expect(fake.watches).toBe(clients)
    expect(Math.max(...came)).toBeLessThanOrEqual((2 * clients) / 8)
    for (const each of heard) each.stop()
    await pass(0)
  })
})

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
