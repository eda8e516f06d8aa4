/** @module Consul's blocking queries, in virtual time: index rules, pace, failures, storms. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { consulDiscovery } from '../../bindings/discovery/consul/index.js'
import { answer, cluster, entry, follow } from './consul-setup.js'
import { FakeConsul } from './fakes/consul.js'
import { inProcess } from './in-process.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** A registry of which only the index matters: gives these one after the other, then waits for ever. */
function scripted(indexes: (string | undefined)[], listOf: (i: number) => unknown = () => []) {
  const setup = cluster()
  let asked = 0
  setup.fake.fault = () => {
    const i = asked++
    return i < indexes.length ? answer(listOf(i), indexes[i]) : new Promise<Response>(() => {})
  }
  const indexesAsked = () => setup.fake.requests.map(({ query }) => query.get('index'))
  return { ...setup, indexesAsked }
}

describe('blocking queries', () => {
  it('asks first without an index, then with the one that was answered and a wait', async () => {
    const setup = cluster()
    setup.fake.add('orders', entry(1))
    const watch = follow(setup)
    await advance(10)
    expect(setup.fake.requests.map(({ query }) => [query.get('index'), query.get('wait')])).toEqual([
      [null, null],
      ['11', '240000ms'],
    ])
    expect(setup.fake.catalog.waiting).toBe(1)
    await watch.stop()
    expect(setup.fake.catalog.waiting).toBe(0)
  })

  it('sees a change at once, in whatever is changed: added, removed, health, maintenance', async () => {
    const setup = cluster()
    const { fake } = setup
    const watch = follow(setup)
    const step = async (change: () => void, ids: string[]) => {
      await advance(10_000)
      change()
      await advance(1)
      expect(watch.ids).toEqual(ids)
    }
    await advance(0)
    expect(watch.lists).toEqual([[]])
    await step(() => fake.add('orders', entry(2)), ['orders-2'])
    await step(() => fake.add('orders', entry(1)), ['orders-1', 'orders-2'])
    await step(() => fake.setStatus('orders', 'orders-1', 'critical'), ['orders-2'])
    await step(() => fake.setStatus('orders', 'orders-1', 'warning'), ['orders-1', 'orders-2'])
    await step(() => fake.catalog.setNodeMaintenance(fake.catalog.nodes.get('node-1') as never, 'disks'), [])
    await step(
      () => fake.catalog.setNodeMaintenance(fake.catalog.nodes.get('node-1') as never, undefined),
      ['orders-1', 'orders-2'],
    )
    await step(() => fake.remove('orders', 'orders-2'), ['orders-1'])
    expect(watch.failures).toEqual([])
    await watch.stop()
  })

  it('says nothing when the wait ends without a change, or Consul answers for no reason', async () => {
    const setup = cluster({ waitMs: 60_000 })
    setup.fake.add('orders', entry(1))
    const watch = follow(setup)
    await advance(0)
    const [first] = watch.lists
    // The fake answers a thirty-second of the wait later, Consul up to a sixteenth.
    await advance(61_875)
    expect(watch.confirmed).toBe(1)
    await advance(5_000)
    setup.fake.catalog.wakeAll()
    await advance(0)
    expect(watch.confirmed).toBe(2)
    expect(watch.lists).toEqual([first])
    expect(watch.failures).toEqual([])
    await watch.stop()
  })

  it('keeps the object of who has not changed, and the order of ids', async () => {
    const setup = cluster()
    const { fake } = setup
    for (const n of [3, 1, 2]) fake.add('orders', entry(n))
    const watch = follow(setup)
    await advance(5_000)
    fake.add('orders', entry(2, { weight: 7 }))
    await advance(0)
    const [before, after] = watch.lists
    expect(watch.ids).toEqual(['orders-1', 'orders-2', 'orders-3'])
    expect([0, 1, 2].map((i) => before?.[i] === after?.[i])).toEqual([true, false, true])
    await watch.stop()
  })

  it('silas/node-consul#135, #24: an index that goes back is dropped: 120, 7, none', async () => {
    const { indexesAsked, ...setup } = scripted(['120', '7', '7'])
    const watch = follow(setup)
    await advance(10_000)
    expect(indexesAsked()).toEqual([null, '120', null, '7'])
    expect(watch.failures).toEqual([])
    await watch.stop()
  })

  it('silas/node-consul#135, #24: indexes are numbers of 64 bits: 100 is newer than 99, and none is rounded', async () => {
    const { indexesAsked, ...setup } = scripted(['99', '100', '18446744073709551614', '18446744073709551615'])
    const watch = follow(setup)
    await advance(10_000)
    expect(indexesAsked()).toEqual([null, '99', '100', '18446744073709551614', '18446744073709551615'])
    await watch.stop()
  })

  it('sees what changes after a snapshot was restored at a lower index', async () => {
    const setup = cluster()
    const { fake } = setup
    fake.add('orders', entry(1))
    for (let i = 0; i < 109; i++) fake.catalog.touch()
    fake.add('orders', entry(2))
    const watch = follow(setup)
    await advance(10_000)
    expect(fake.requests.at(-1)?.query.get('index')).toBe('121')
    fake.catalog.restore(7n)
    await advance(10_000)
    expect(fake.requests.slice(-2).map(({ query }) => query.get('index'))).toEqual([null, '7'])
    fake.add('orders', entry(3))
    await advance(0)
    expect(watch.ids).toEqual(['orders-1', 'orders-2', 'orders-3'])
    await watch.stop()
  })

  it.each([['0'], [undefined], ['-4'], ['many']])('an index of %s is none to wait for: 1 is', async (index) => {
    const { indexesAsked, ...setup } = scripted([index, index])
    const watch = follow(setup)
    await advance(3_000)
    expect(indexesAsked()).toEqual([null, '1', '1'])
    await watch.stop()
  })

  it('hashicorp/consul#1244, #3890: under churn Consul is asked about once a second, and a change is still seen', async () => {
    const setup = cluster()
    const { fake } = setup
    fake.isChurning = true
    fake.add('orders', entry(1))
    const watch = follow(setup)
    await advance(60_000)
    expect(fake.requests.length).toBeGreaterThan(50)
    expect(fake.requests.length).toBeLessThanOrEqual(70)
    expect(watch.lists.length).toBe(1)
    for (let n = 2; n < 12; n++) {
      await advance(737)
      fake.add('orders', entry(n))
      await advance(900)
      expect(watch.ids).toContain(`orders-${n}`)
    }
    await watch.stop()
  })

  it('a change after a quiet time is seen at once, also on an old Consul where everything wakes everybody', async () => {
    const setup = cluster()
    const { fake } = setup
    fake.catalog.indexPerService = false
    const watch = follow(setup)
    for (let i = 0; i < 20; i++) {
      await advance(100)
      fake.catalog.touch()
    }
    await advance(5_000)
    fake.add('orders', entry(1))
    await advance(0)
    expect(watch.ids).toEqual(['orders-1'])
    await watch.stop()
  })
})

describe('failures of a watch', () => {
  it('keeps the list, drops the index and asks again later each time', async () => {
    const setup = cluster()
    const { fake } = setup
    fake.add('orders', entry(1))
    const watch = follow(setup)
    await advance(20_000)
    fake.fault = () => new Response('rpc error', { status: 500 })
    fake.catalog.wakeAll()
    const asked = fake.requests.length
    await advance(120_000)
    const times = fake.requests.slice(asked).map(({ atMs, query }) => [Math.round(atMs), query.get('index')] as const)
    const gaps = times.slice(1).map(([ms], i) => ms - (times[i]?.[0] as number))
    expect(times.slice(1).every(([, index]) => index === null)).toBe(true)
    expect(gaps).toEqual([1_000, 5_000, 25_000, 30_000, 30_000])
    expect(watch.lists.length).toBe(1)
    expect(watch.failures.length).toBe(6)
    expect(watch.failures[0]).toMatchObject({ failure: 'status', status: 500 })
    fake.fault = undefined
    await advance(30_000)
    // Nothing new to hand on, but the list is as good as new.
    expect(watch.lists.length).toBe(1)
    expect(watch.confirmed).toBeGreaterThan(0)
    await watch.stop()
  })

  it('silas/node-consul#51: a connection that died without a word is given up after the wait, a sixteenth, and the time limit', async () => {
    const setup = cluster({ waitMs: 160_000, requestTimeoutMs: 3_000 })
    const { fake } = setup
    fake.add('orders', entry(1))
    const watch = follow(setup)
    fake.fault = () => (fake.requests.length === 1 ? undefined : new Promise<Response>(() => {}))
    await advance(172_990)
    expect(watch.failures).toEqual([])
    await advance(20)
    expect(watch.failures.map(({ failure }) => failure)).toEqual(['timeout'])
    fake.fault = undefined
    fake.add('orders', entry(2))
    await advance(2_000)
    expect(watch.ids).toEqual(['orders-1', 'orders-2'])
    await watch.stop()
  })

  it('goes on at another agent when one is gone, after a pause', async () => {
    const fake = new FakeConsul()
    fake.add('orders', entry(1))
    let down = ''
    const hosts: string[] = []
    const fetch = inProcess({
      async fetch(request) {
        const { host } = new URL(request.url)
        hosts.push(host)
        if (host === down) throw new TypeError('connection refused')
        return fake.fetch(request)
      },
    })
    const client = consulDiscovery({ url: ['http://a:8500', 'http://b:8500'], fetch, random: () => 0.5 })
    const watch = follow({ client })
    await advance(20_000)
    expect(hosts).toEqual(['a:8500', 'a:8500'])
    down = 'a:8500'
    fake.catalog.wakeAll()
    await advance(0)
    expect(watch.failures.map(({ failure }) => failure)).toEqual(['unreachable'])
    await advance(1_000)
    expect(hosts.slice(3)).toEqual(['a:8500', 'b:8500', 'b:8500'])
    fake.add('orders', entry(2))
    await advance(0)
    expect(watch.ids).toEqual(['orders-1', 'orders-2'])
    await watch.stop()
  })

  it('200 clients that lost their agent together come back spread out', async () => {
    const fake = new FakeConsul()
    fake.add('orders', entry(1))
    let seed = 1
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
    const watches = Array.from({ length: 200 }, () =>
      follow({ client: consulDiscovery({ fetch: inProcess(fake), random }) }),
    )
    await advance(20_000)
    let isDown = true
    fake.fault = () => (isDown ? new Response('', { status: 502 }) : undefined)
    fake.catalog.wakeAll()
    await advance(60_000)
    isDown = false
    const cameBack = fake.requests.length
    await advance(60_000)
    const perSecond = new Map<number, number>()
    for (const { atMs, query } of fake.requests.slice(cameBack)) {
      if (query.has('index')) continue
      const second = Math.floor(atMs / 1_000)
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
    }
    // 200 clients over a pause of 30 s; twice that is the peak that is allowed.
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(Math.ceil((2 * 200) / 30))
    await Promise.all(watches.map((watch) => watch.stop()))
  })
})

it('429 with Retry-After: Consul is left alone for so long', async () => {
  const setup = cluster()
  const { fake } = setup
  fake.fault = () => new Response('too many requests', { status: 429, headers: { 'retry-after': '40' } })
  const watch = follow(setup)
  await advance(0)
  expect(watch.failures).toMatchObject([{ failure: 'limited' }])
  fake.fault = undefined
  // And the usual pause after that.
  await advance(40_990)
  expect(fake.requests).toHaveLength(1)
  await advance(20)
  expect(watch.lists).toHaveLength(1)
  await watch.stop()
})

describe('stale answers', () => {
  it('maxStaleMs: what is older is asked of the leader, for a minute', async () => {
    const setup = cluster({ consistency: 'stale', maxStaleMs: 5_000 })
    const { fake, client } = setup
    fake.add('orders', entry(1))
    fake.lastContactMs = 200
    const watch = follow(setup)
    await advance(0)
    const modes = () => fake.requests.map(({ query }) => (query.has('stale') ? 'stale' : 'leader'))
    expect(modes()).toEqual(['stale', 'stale'])
    // The wait is short, so that a server that has lost its leader is found out.
    expect(fake.requests[1]?.query.get('wait')).toBe('10000ms')
    fake.lastContactMs = 5_001
    await advance(10_400)
    expect(modes()).toEqual(['stale', 'stale', 'leader', 'leader'])
    expect(client.describe('orders').consistency).toContain('for now from the leader')
    fake.lastContactMs = 0
    await advance(70_000)
    expect(modes().at(-1)).toBe('stale')
    expect(client.describe('orders').consistency).toBe('stale')
    expect(watch.failures).toEqual([])
    await watch.stop()
  })
})
