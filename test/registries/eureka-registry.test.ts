/** @module The shared copy of a Eureka registry: full answers, changes, hashes, pace. In virtual time. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { entryOf } from '../../bindings/discovery/eureka/entry.js'
import { type EurekaDiscoveryOptions, eurekaDiscovery } from '../../bindings/discovery/eureka/index.js'
import { RegistryIndex } from '../../bindings/discovery/eureka/registry-index.js'
import { createLoadBalancer, type FetchLike } from '../../bindings/index.js'
import { entry, got, type Watched, type World, watching, world } from './eureka-world.js'
import { EurekaFake, type EurekaFakeOptions } from './fakes/eureka.js'
import { inProcess } from './in-process.js'

const INTERVAL_MS = 30_000
const FULL = 'GET /apps/'
const DELTA = 'GET /apps/delta'

const stops: (() => void)[] = []
beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
const round = () => pass(INTERVAL_MS)

function watch(client: World['client'], serviceId = 'orders'): Watched {
  const watched = watching(client, serviceId)
  stops.push(watched.stop)
  return watched
}

/** Watched, with the first answer taken. */
async function started(
  options: Partial<EurekaDiscoveryOptions> = {},
  fakeOptions: EurekaFakeOptions = {},
): Promise<World & { orders: Watched }> {
  const made = world(options, fakeOptions)
  made.fake.add('orders', entry(1))
  made.fake.add('orders', entry(2))
  made.fake.add('billing', entry(3))
  const orders = watch(made.client)
  await pass(1)
  expect(made.asked()).toEqual([FULL])
  expect(orders.ids()).toEqual(['n1:orders:8080', 'n2:orders:8080'])
  return { ...made, orders }
}

describe('changes', () => {
  it('are asked for after one full answer: added, modified and deleted ones come through', async () => {
    const { fake, orders, asked } = await started()
    fake.add('orders', entry(4))
    fake.remove('orders', 'n1:orders:8080')
    fake.register({ ...fake.instance('orders', 'n2:orders:8080'), metadata: { weight: '9' } })
    await round()
    expect(asked()).toEqual([DELTA])
    expect(orders.lists).toHaveLength(2)
    expect(orders.ids()).toEqual(['n2:orders:8080', 'n4:orders:8080'])
    expect(orders.lists[1]?.[0]?.metadata).toMatchObject({ weight: '9' })
  })

  it('come again for three minutes and change nothing: the list is confirmed', async () => {
    const { fake, orders, asked } = await started()
    fake.add('orders', entry(4))
    fake.remove('orders', 'n1:orders:8080')
    await round()
    expect(orders.lists).toHaveLength(2)
    for (let i = 0; i < 4; i++) await round()
    expect(orders.lists).toHaveLength(2)
    expect(orders.confirmed).toBe(4)
    expect(asked()).toEqual(Array(5).fill(DELTA))
  })

  it('of one service leave the lists of others untouched, and unchanged instances are the same objects', async () => {
    const { fake, client, orders } = await started()
    const billing = watch(client, 'billing')
    await pass(1)
    fake.add('orders', entry(4))
    await round()
    expect(billing.lists).toHaveLength(1)
    expect(orders.lists[1]?.[0]).toBe(orders.lists[0]?.[0])
  })

  it('of status take an instance off the list and bring it back', async () => {
    const { fake, orders } = await started()
    fake.override('orders', 'n1:orders:8080', 'OUT_OF_SERVICE')
    await round()
    expect(orders.ids()).toEqual(['n2:orders:8080'])
    fake.removeOverride('orders', 'n1:orders:8080', 'UP')
    await round()
    expect(orders.ids()).toEqual(['n1:orders:8080', 'n2:orders:8080'])
  })

  it('that end a service leave a list of nobody, and it comes back when it does', async () => {
    const { fake, orders, asked } = await started()
    for (const n of [1, 2]) fake.remove('orders', `n${n}:orders:8080`)
    await round()
    expect(orders.lists.at(-1)).toEqual([])
    fake.add('orders', entry(5))
    await round()
    expect(orders.ids()).toEqual(['n5:orders:8080'])
    expect(asked()).toEqual([DELTA, DELTA])
  })

  it('of an unknown kind count as the state they tell', async () => {
    const { fake, orders } = await started()
    fake.writes = (info) => ({ ...info, actionType: info.actionType === 'DELETED' ? 'DELETED' : 'SOMETHING' })
    fake.add('orders', entry(4))
    await round()
    expect(orders.ids()).toContain('n4:orders:8080')
  })

  it('are not asked for with delta false', async () => {
    const { asked } = await started({ delta: false })
    await round()
    await round()
    expect(asked()).toEqual([FULL, FULL])
  })

  it('that may have been missed are not relied on: after longer than the server tells them, all is asked for', async () => {
    const { fake, orders, asked } = await started()
    fake.fault = () => {
      throw new Error('gone')
    }
    await pass(200_000)
    // One went, one came: their hash says nothing.
    fake.remove('orders', 'n1:orders:8080')
    fake.add('orders', entry(4))
    await pass(200_000)
    fake.fault = undefined
    asked()
    await pass(3 * 1.5 * INTERVAL_MS)
    expect(asked()[0]).toBe(FULL)
    expect(orders.ids()).toEqual(['n2:orders:8080', 'n4:orders:8080'])
  })

  it('that the server does not tell (403, 404) are not asked for again for five minutes', async () => {
    for (const status of [403, 404]) {
      const { fake, orders, asked } = await started()
      fake.fault = ({ url }) => (url.endsWith('/delta') ? new Response(null, { status }) : undefined)
      fake.add('orders', entry(4))
      await round()
      expect(asked()).toEqual([DELTA, FULL])
      expect(orders.ids()).toContain('n4:orders:8080')
      expect(orders.failures).toEqual([])
      for (let i = 0; i < 9; i++) await round()
      expect(asked()).toEqual(Array(9).fill(FULL))
      await round()
      expect(asked()[0]).toBe(DELTA)
    }
  })

  it('are those of all regions that were named', async () => {
    const { fake, client, asked } = world({ regions: ['eu', 'us'] })
    fake.add('orders', entry(1))
    watch(client)
    await pass(1)
    await round()
    expect(asked()).toEqual([`${FULL}?regions=eu%2Cus`, `${DELTA}?regions=eu%2Cus`])
  })
})

describe('the hash', () => {
  it('Netflix/eureka#1528: a change that was lost is found by it, and exactly one full answer mends it', async () => {
    const { fake, client, orders, asked } = await started()
    expect(client.describe('orders').hash).toBe('UP_3_')
    fake.add('orders', entry(4))
    // The server forgets to tell it.
    fake.fault = async (request) => {
      if (!request.url.endsWith('/delta')) return undefined
      fake.fault = undefined
      const { applications } = await (await fake.fetch(request)).json()
      return Response.json({ applications: { ...applications, application: [] } })
    }
    await round()
    expect(asked().at(-1)).toBe(FULL)
    expect(orders.ids()).toEqual(['n1:orders:8080', 'n2:orders:8080', 'n4:orders:8080'])
    expect(client.describe('orders').hash).toBe('UP_4_')
    for (let i = 0; i < 5; i++) await round()
    expect(asked()).toEqual(Array(5).fill(DELTA))
  })

  it('counts instances of any status, and those that cannot be read', async () => {
    const { fake, client, asked } = await started()
    fake.add('orders', entry(4, { port: 70_000 }))
    fake.override('orders', 'n1:orders:8080', 'OUT_OF_SERVICE')
    fake.register({ ...fake.instance('orders', 'n2:orders:8080'), status: 'DOWN' })
    fake.register({ ...fake.instance('billing', 'n3:orders:8080'), status: 'STARTING' })
    await round()
    expect(client.describe('orders').hash).toBe('DOWN_1_OUT_OF_SERVICE_1_STARTING_1_UP_1_')
    expect(asked()).toEqual([DELTA])
  })

  it('Netflix/eureka#1120: a server that counts wrongly for ever is not asked for everything each time', async () => {
    const { fake, client, orders, asked } = await started()
    fake.miscount = (hash) => hash.replace('UP_', 'UP_1')
    const full: number[] = []
    for (let i = 1; i <= 120; i++) {
      await round()
      if (asked().includes(FULL)) full.push(i)
    }
    // At once, after 2 rounds, 4, 8, 16, and then after 20.
    expect(full).toEqual([1, 3, 7, 15, 31, 51, 71, 91, 111])
    expect(client.describe('orders').mismatch).toBe('the server counts UP_13_')
    // What changes comes through all the same.
    fake.add('orders', entry(4))
    await round()
    expect(orders.ids()).toContain('n4:orders:8080')
    // Once it counts well, a loss is mended at once again.
    fake.miscount = (hash) => hash
    await round()
    expect(client.describe('orders')).not.toHaveProperty('mismatch')
    fake.miscount = (hash) => hash.replace('UP_', 'UP_1')
    asked()
    await round()
    expect(asked()).toEqual([DELTA, FULL])
  })

  it('that a server does not say is not missed', async () => {
    const { fake, asked, orders } = await started()
    fake.fault = async (request) => {
      fake.fault = undefined
      const { applications } = await (await fake.fetch(request)).json()
      const { apps__hashcode: _, ...rest } = applications
      return Response.json({ applications: rest })
    }
    fake.add('orders', entry(4))
    await round()
    expect(asked()).not.toContain(FULL)
    expect(orders.ids()).toContain('n4:orders:8080')
  })

  it('differs and the full answer fails: changes are in force, the failure is told', async () => {
    const { fake, orders } = await started()
    fake.miscount = () => 'UP_99_'
    fake.fault = ({ url }) => (url.endsWith('/apps/') ? new Response(null, { status: 500 }) : undefined)
    fake.add('orders', entry(4))
    await round()
    expect(orders.ids()).toContain('n4:orders:8080')
    expect(orders.failures).toMatchObject([{ failure: 'status', status: 500 }])
    expect(orders.confirmed).toBe(0)
    // What is known to be wrong is neither confirmed nor left so: each round tries for the full answer.
    await pass(10 * INTERVAL_MS)
    expect([orders.confirmed, orders.failures.length]).toEqual([0, 8])
    fake.fault = undefined
    await pass(3 * INTERVAL_MS)
    expect(orders.confirmed).toBeGreaterThan(0)
  })

  it('differs and the full answer fails: the failure is told after the list, which it would else be forgotten for', async () => {
    const { fake, client } = await started()
    const seen: string[] = []
    const stop = new AbortController()
    stops.push(() => stop.abort())
    const take = async () => {
      for await (const list of client.watch('orders', { signal: stop.signal, failed: () => seen.push('failed') }))
        seen.push(String(list.length))
    }
    void take()
    await pass(1)
    fake.miscount = () => 'UP_99_'
    fake.fault = ({ url }) => (url.endsWith('/apps/') ? new Response(null, { status: 500 }) : undefined)
    fake.add('orders', entry(4))
    await round()
    expect(seen).toEqual(['2', '3', 'failed'])
  })

  it('says nothing of another server: from that one everything is asked for', async () => {
    const [one, other] = [new EurekaFake(), new EurekaFake()]
    // As many on either side, and not the same: the servers could not tell each other for a while.
    for (const n of [1, 2]) one.add('orders', entry(n))
    for (const n of [1, 3]) other.add('orders', entry(n))
    await pass(300_000)
    let isDown = false
    const send: FetchLike = (input, init) => {
      const isFirst = new URL(String(input)).host.startsWith('one')
      if (isFirst && isDown) throw new TypeError('connection refused')
      return inProcess(isFirst ? one : other)(input, init)
    }
    const client = eurekaDiscovery({ url: ['http://one/eureka', 'http://other/eureka'], fetch: send, random: () => 0 })
    const orders = watch(client)
    await pass(1)
    expect(orders.ids()).toEqual(['n1:orders:8080', 'n2:orders:8080'])
    isDown = true
    await round()
    expect(orders.ids()).toEqual(['n1:orders:8080', 'n3:orders:8080'])
    await round()
    expect(other.log.map(({ path }) => path)).toEqual(['/apps/delta', '/apps/', '/apps/delta'])
  })
})

describe('one copy', () => {
  it('serves all services, each from its first watch on', async () => {
    const { client, asked } = await started()
    const billing = watch(client, 'billing')
    const nobody = watch(client, 'nobody')
    await pass(1)
    expect(billing.ids()).toEqual(['n3:orders:8080'])
    expect(nobody.lists).toEqual([[]])
    expect(asked()).toEqual([])
    await round()
    expect(asked()).toEqual([DELTA])
    expect([billing.confirmed, nobody.confirmed]).toEqual([1, 1])
  })

  it('is kept up as long as anybody watches, and begun anew after that', async () => {
    const { client, orders, asked } = await started()
    const billing = watch(client, 'billing')
    await pass(1)
    orders.stop()
    await round()
    expect(asked()).toEqual([DELTA])
    billing.stop()
    await pass(10 * INTERVAL_MS)
    expect(asked()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    watch(client)
    await pass(1)
    expect(asked()).toEqual([FULL])
  })

  it('that is closed ends its watches and asks nothing, until a balancer that shares it does', async () => {
    const { client, asked } = await started()
    await client.close()
    await pass(10 * INTERVAL_MS)
    expect(asked()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    const late = client.watch('orders', { signal: new AbortController().signal })
    expect(await late[Symbol.asyncIterator]().next()).toMatchObject({ done: false })
    expect(asked()).toEqual([FULL])
    await client.close()
  })

  it('tells its failures to all who watch, also to who comes later, and keeps the lists', async () => {
    const { fake, client, orders } = await started()
    const billing = watch(client, 'billing')
    fake.ready = false
    fake.deltaEnabled = false
    await round()
    expect(orders.failures).toMatchObject([{ failure: 'denied', status: 403 }])
    expect(billing.failures).toEqual(orders.failures)
    const late = watch(client, 'billing')
    await pass(1)
    expect(late.failures).toEqual(orders.failures)
    expect(late.ids()).toEqual(['n3:orders:8080'])
    expect(orders.lists).toHaveLength(1)
    fake.ready = true
    await round()
    expect(orders.confirmed).toBe(1)
  })

  it('does not say "nobody" of a service that is first asked for while the registry is down', async () => {
    const { fake, client } = await started()
    fake.fault = () => new Response(null, { status: 503 })
    await round()
    const [late, unknown] = [watch(client, 'billing'), watch(client, 'new-one')]
    // Also while a question is under way, and after further rounds.
    await pass(5 * INTERVAL_MS)
    expect(late.ids()).toEqual(['n3:orders:8080'])
    expect(unknown.lists).toEqual([])
    expect(unknown.failures[0]).toMatchObject({ status: 503 })
    fake.fault = undefined
    fake.add('new-one', entry(7))
    await pass(3 * INTERVAL_MS)
    expect(unknown.lists.map((list) => list.length)).toEqual([1])
  })

  it('of a machine that slept is made anew, though its clock stood still', async () => {
    const { fake, orders, asked } = await started({ clock: () => 5 })
    fake.remove('orders', 'n1:orders:8080')
    fake.add('orders', entry(4))
    vi.setSystemTime(Date.now() + 3_600_000)
    await round()
    expect(asked()).toEqual([FULL])
    expect(orders.ids()).toEqual(['n2:orders:8080', 'n4:orders:8080'])
  })

  it('with one service that cannot be read serves the others', async () => {
    const { fake, client, orders } = await started()
    const billing = watch(client, 'billing')
    fake.writes = (info) => (info.app === 'ORDERS' ? { ...info, port: { $: 'x', '@enabled': 'true' } } : info)
    fake.add('billing', entry(4))
    for (const n of [1, 2]) fake.register({ ...fake.instance('orders', `n${n}:orders:8080`) })
    await round()
    expect(orders.lists).toHaveLength(1)
    expect(orders.failures).toMatchObject([{ failure: 'malformed' }])
    expect(billing.ids()).toEqual(['n3:orders:8080', 'n4:orders:8080'])
    expect(billing.failures).toEqual([])
  })

  it('says its list again after a get has said another', async () => {
    const { fake, client, orders } = await started()
    fake.fault = () => {
      fake.fault = undefined
      return Response.json({ application: { name: 'ORDERS', instance: [] } })
    }
    expect(await got(client)).toEqual([])
    await round()
    expect(orders.lists).toHaveLength(2)
    expect(orders.ids()).toEqual(['n1:orders:8080', 'n2:orders:8080'])
  })

  it('of VIP addresses compares them in any case, and follows an instance that changes its own', async () => {
    const { fake, client } = world({ lookup: 'vip' })
    fake.add('orders', entry(1))
    fake.register({ ...fake.instance('orders', 'n1:orders:8080'), vipAddress: 'Orders.V1,orders.v2' })
    const [v1, v2] = [watch(client, 'orders.v1'), watch(client, 'ORDERS.V2')]
    await pass(1)
    expect([v1.ids(), v2.ids()]).toEqual([['n1:orders:8080'], ['n1:orders:8080']])
    fake.register({ ...fake.instance('orders', 'n1:orders:8080'), vipAddress: 'orders.v2' })
    await round()
    expect([v1.ids(), v2.ids()]).toEqual([[], ['n1:orders:8080']])
  })

  it('of 10 000 instances takes in 100 changes without making the others anew', async () => {
    const { fake, client } = world()
    for (let i = 0; i < 10_000; i++) {
      fake.add(`service-${i % 100}`, { instanceId: `i${i}`, host: `10.1.${i >> 8}.${i & 255}`, port: 80, zone: 'z1' })
    }
    const services = Array.from({ length: 100 }, (_, i) => watch(client, `service-${i}`))
    await pass(1)
    for (let i = 0; i < 100; i++) fake.add('service-7', { instanceId: `new${i}`, host: `10.2.0.${i}`, port: 80 })
    await pass(90_000)
    expect(services.map(({ lists }) => lists.length)).toEqual(services.map((_, i) => (i === 7 ? 2 : 1)))
    expect(services[7]?.lists[1]?.[0]).toBe(services[7]?.lists[0]?.[0])
  })
})

it('what says the same again touches no service', () => {
  const index = new RegistryIndex()
  const settings = { lookup: 'app', preferIp: false, preferSecure: true, zone: undefined } as const
  const said = (weight: number) =>
    entryOf({ instanceId: 'n1', hostName: 'a', metadata: { weight } }, 'ORDERS', settings)
  index.put(said(1))
  expect([...index.takeTouched()]).toEqual(['ORDERS'])
  index.put(said(1))
  index.replace([said(1)])
  expect(index.takeTouched().size).toBe(0)
  index.put(said(2))
  expect([...index.takeTouched()]).toEqual(['ORDERS'])
})

describe('the pace', () => {
  it('is nine tenths of the interval to the whole', async () => {
    for (const [random, ms] of [
      [0, INTERVAL_MS],
      [0.999, 0.9 * INTERVAL_MS],
    ] as const) {
      const { asked } = await started({ random: () => random })
      await pass(ms - 3)
      expect(asked()).toEqual([])
      await pass(40)
      expect(asked()).toEqual([DELTA])
    }
  })

  it('after failures is up to three intervals, after timeouts up to ten, and as before after an answer', async () => {
    for (const [fault, most] of [
      [() => new Response(null, { status: 500 }), 3],
      [() => new Promise<Response>(() => {}), 10],
    ] as const) {
      const { fake, orders, asked } = await started({ random: () => 0.5, requestTimeoutMs: 10 })
      fake.fault = fault
      const failedAt: number[] = []
      while (failedAt.length < 7) {
        await pass(1_000)
        if (orders.failures.length > failedAt.length) failedAt.push(Date.now())
      }
      const waits = failedAt.slice(1).map((at, i) => Math.round((at - (failedAt[i] as number)) / INTERVAL_MS))
      expect(waits).toEqual([1, 2, 4, 8, 16, 32].map((each) => Math.min(each, most)))
      fake.fault = undefined
      await pass(most * INTERVAL_MS)
      asked()
      await round()
      expect(asked()).toHaveLength(1)
    }
  })

  it('after 429 or 503 is at least what the server asks for by Retry-After, and at most a minute', async () => {
    for (const [after, waitMs] of [
      ['50', 50_000],
      ['7200', 60_000],
      ['5', INTERVAL_MS / 2],
      ['Wed, 21 Oct 2026 07:28:00 GMT', INTERVAL_MS / 2],
    ] as const) {
      const made = await started({ random: () => 0 })
      made.fake.fault = () => new Response(null, { status: 429, headers: { 'retry-after': after } })
      await pass(INTERVAL_MS)
      expect(made.orders.failures).toMatchObject([{ failure: 'limited' }])
      made.asked()
      await pass(waitMs - 2)
      expect(made.asked()).toEqual([])
      await pass(1)
      expect(made.asked()).toEqual([DELTA])
      made.orders.stop()
    }
  })

  it('is quick as long as there is no list at all', async () => {
    const { fake, client } = world({ random: () => 0.5 })
    fake.add('orders', entry(1))
    fake.ready = false
    const orders = watch(client)
    await pass(1)
    expect(orders.failures).toHaveLength(1)
    fake.ready = true
    await pass(1_000)
    expect(orders.ids()).toEqual(['n1:orders:8080'])
  })

  it('of 300 clients after an outage is at most twice what it is without one', async () => {
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % (2 ** 31 - 1)
      return seed / (2 ** 31 - 1)
    }
    const { fake } = world()
    fake.add('orders', entry(1))
    const perSecond = new Map<number, number>()
    const counted = inProcess({
      fetch(request) {
        const second = Math.floor(Date.now() / 1_000)
        perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
        return fake.fetch(request)
      },
    })
    for (let i = 0; i < 300; i++) {
      watch(world({ fetch: counted, random }).client)
      await pass(INTERVAL_MS / 300)
    }
    fake.fault = () => {
      throw new Error('gone')
    }
    await pass(120_000)
    fake.fault = undefined
    perSecond.clear()
    await pass(120_000)
    // A second has 10 on average; by chance some have more.
    const windows = [...perSecond.keys()].map((second) => {
      let sum = 0
      for (let i = 0; i < 10; i++) sum += perSecond.get(second + i) ?? 0
      return sum / 10
    })
    expect(Math.max(...windows)).toBeLessThanOrEqual((2 * 300) / 30)
  })
})

describe('scope service', () => {
  it('asks for each service by itself, at its own pace', async () => {
    const { fake, client, asked } = world({ scope: 'service' })
    fake.add('orders', entry(1))
    const [orders, billing] = [watch(client), watch(client, 'billing')]
    await pass(1)
    // The last makes sure that 404 is Eureka's word, once.
    expect(asked()).toEqual(['GET /apps/ORDERS', 'GET /apps/BILLING', DELTA])
    expect([orders.ids(), billing.lists]).toEqual([['n1:orders:8080'], [[]]])
    await round()
    expect([orders.confirmed, billing.confirmed]).toEqual([1, 1])
    fake.add('billing', entry(2))
    await round()
    expect(billing.ids()).toEqual(['n2:orders:8080'])
    fake.fault = () => new Response(null, { status: 503 })
    await round()
    expect(orders.failures).toMatchObject([{ failure: 'status', status: 503 }])
    expect(billing.lists).toHaveLength(2)
    orders.stop()
    billing.stop()
    await pass(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('asks for VIP addresses as they are written', async () => {
    const { fake, client, asked } = world({ scope: 'service', lookup: 'vip' })
    fake.add('Orders', entry(1))
    const [exact, other] = [watch(client, 'Orders'), watch(client, 'orders')]
    await pass(1)
    expect(asked()).toEqual(['GET /vips/Orders', 'GET /vips/orders'])
    expect([exact.ids(), other.ids()]).toEqual([['n1:orders:8080'], []])
  })
})

describe('a balancer', () => {
  it('has a change after one interval, and the cache of the server on top', async () => {
    const { fake, client } = world({}, { responseCacheMs: 30_000 })
    fake.add('orders', entry(1))
    const lb = createLoadBalancer({ discovery: client })
    stops.push(() => void lb.close())
    lb.pick('orders')
    await pass(1)
    fake.add('orders', entry(2))
    await pass(60_000)
    expect(lb.service('orders').instances()).toHaveLength(2)
  })

  it('serves the last good list while the registry is down', async () => {
    const { fake, client } = world()
    fake.add('orders', entry(1))
    const lb = createLoadBalancer({ discovery: client })
    stops.push(() => void lb.close())
    lb.pick('orders')
    await pass(1)
    fake.fault = () => {
      throw new Error('gone')
    }
    await pass(20 * INTERVAL_MS)
    expect(lb.pick('orders')?.instance.host).toBe('10.0.0.1')
    expect(lb.service('orders').stats().discoveryErrors).toBeGreaterThan(5)
  })
})

it('sessions end after about twenty minutes: the first server is asked first again', async () => {
  const hosts: string[] = []
  const { fake } = world()
  fake.add('orders', entry(1))
  let isFirstDown = true
  const { client } = world({
    url: ['http://a/eureka', 'http://b/eureka'],
    random: () => 0.5,
    fetch: async (input, init) => {
      hosts.push(new URL(String(input)).host)
      if (hosts.at(-1) === 'a' && isFirstDown) throw new TypeError('fetch failed')
      return inProcess(fake)(input, init)
    },
  })
  watch(client)
  await pass(1)
  expect(hosts.splice(0)).toEqual(['a', 'b'])
  isFirstDown = false
  await round()
  expect(hosts).toEqual(['b'])
  await pass(1_200_000)
  expect(hosts.at(-1)).toBe('a')
})
