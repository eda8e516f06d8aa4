/** @module Lists from Nacos over time: intervals, failures, several servers, outages; in virtual time and over HTTP. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import type { NacosDiscoveryOptions } from '../../bindings/discovery/nacos/options.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { FakeNacos } from './fakes/nacos.js'
import { inProcess } from './in-process.js'
import { RegistryServer } from './serve.js'

/** Watches `orders`, and keeps what comes. */
function watching(fake: FakeNacos, options: Partial<NacosDiscoveryOptions> = {}) {
  const stop = new AbortController()
  const client = nacosDiscovery({ url: 'http://nacos:8848', fetch: inProcess(fake), api: 'v1', ...options })
  const seen = { lists: [] as string[][], failures: [] as unknown[], confirmed: 0 }
  const watch = client.watch('orders', {
    signal: stop.signal,
    failed: (error) => seen.failures.push(error),
    confirmed: () => seen.confirmed++,
  })
  const ended = (async () => {
    for await (const list of watch) seen.lists.push(list.map((each) => (each as { instanceId: string }).instanceId))
  })()
  return { client, seen, stop: () => (stop.abort(), ended) }
}

const entry = (instanceId: string, last: number) => ({ instanceId, host: `10.0.0.${last}`, port: 80 })

describe('in virtual time', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const timesOf = (fake: FakeNacos) => {
    const times: number[] = []
    fake.fault = () => void times.push(Math.round(performance.now()))
    return { times, gaps: () => times.slice(1).map((each, i) => each - (times[i] ?? 0)) }
  }

  it.each([
    ['what the server says', 3_000, {}, 3_000],
    ['no less than a second', 10, {}, 1_000],
    ['no more than a minute', 10_000_000, {}, 60_000],
    ['10 s, where it says nothing', 0, {}, 10_000],
    ["the user's own before all", 3_000, { pollMs: 500 }, 500],
  ])('the interval is %s, less up to a tenth', async (_, cacheMillis, options, intervalMs) => {
    const fake = new FakeNacos()
    fake.cacheMillis = cacheMillis
    const { gaps } = timesOf(fake)
    const { stop, seen } = watching(fake, { random: () => 0.5, ...options })
    await vi.advanceTimersByTimeAsync(4 * intervalMs)
    expect(gaps()).toEqual(Array.from({ length: gaps().length }, () => intervalMs * 0.95))
    expect(gaps().length).toBe(4)
    expect(seen).toEqual({ lists: [[]], failures: [], confirmed: 4 })
    await stop()
  })

  it('a change is in the list after one interval, and ends without a question more', async () => {
    const fake = new FakeNacos()
    const { stop, seen } = watching(fake)
    await vi.advanceTimersByTimeAsync(0)
    fake.add('orders', entry('a', 1))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(seen.lists).toEqual([[], ['a']])
    await stop()
    const asked = fake.log.length
    await vi.advanceTimersByTimeAsync(60_000)
    expect(fake.log.length).toBe(asked)
  })

  it('failures are told, waits get longer, and what has not changed is confirmed afterwards', async () => {
    const fake = new FakeNacos()
    fake.add('orders', entry('a', 1))
    const { stop, seen } = watching(fake, { random: () => 0.5 })
    await vi.advanceTimersByTimeAsync(0)
    const times: number[] = []
    fake.fault = () => {
      times.push(performance.now())
      return new Response('server is DOWN now', { status: 503 })
    }
    await vi.advanceTimersByTimeAsync(120_000)
    const gaps = times.slice(1).map((each, i) => each - (times[i] ?? 0))
    expect(gaps.slice(0, 4)).toEqual([10_000, 20_000, 40_000].concat(gaps[3] === undefined ? [] : [40_000]))
    expect(seen.failures.length).toBe(times.length)
    expect(seen.failures[0]).toMatchObject({ failure: 'status', status: 503 })
    expect(seen.lists).toEqual([['a']])
    fake.fault = undefined
    await vi.advanceTimersByTimeAsync(60_000)
    expect(seen.lists).toEqual([['a']])
    expect(seen.confirmed).toBeGreaterThan(0)
    await stop()
  })

  it('close ends watches; another balancer that shares the client goes on', async () => {
    const fake = new FakeNacos()
    const { client, seen, stop } = watching(fake)
    const signal = new AbortController().signal
    await vi.advanceTimersByTimeAsync(0)
    await client.close()
    await vi.advanceTimersByTimeAsync(60_000)
    expect([fake.log.length, seen.failures, vi.getTimerCount()]).toEqual([1, [], 0])
    const again = client.watch('orders', { signal })[Symbol.asyncIterator]()
    expect(await again.next()).toMatchObject({ done: false })
    await client.close()
    await stop()
  })

  it('as long as there is no list at all attempts follow one another sooner', async () => {
    const fake = new FakeNacos()
    const times: number[] = []
    fake.fault = () => (times.push(performance.now()), new Response('', { status: 503 }))
    const { stop } = watching(fake, { random: () => 0.5 })
    await vi.advanceTimersByTimeAsync(17_000)
    expect(times.map((each) => each - (times[0] ?? 0))).toEqual([0, 1_000, 3_000, 7_000, 12_000, 17_000])
    await stop()
  })

  it('429 with Retry-After: the server is left alone for so long, unless there is another', async () => {
    const fake = new FakeNacos()
    fake.cacheMillis = 1_000
    const { stop } = watching(fake, { random: () => 0 })
    await vi.advanceTimersByTimeAsync(500)
    fake.fault = () => new Response('', { status: 429, headers: { 'retry-after': '20' } })
    await vi.advanceTimersByTimeAsync(500)
    expect(fake.log.length).toBe(2)
    await vi.advanceTimersByTimeAsync(20_490)
    expect(fake.log.length).toBe(2)
    await vi.advanceTimersByTimeAsync(20)
    expect(fake.log.length).toBe(3)
    await stop()
    const other = watching(fake, { random: () => 0, url: ['http://a', 'http://b'] })
    fake.fault = ({ url }) =>
      url.startsWith('http://a') ? new Response('', { status: 429, headers: { 'retry-after': '20' } }) : undefined
    await vi.advanceTimersByTimeAsync(5_000)
    expect([other.seen.failures, other.seen.confirmed]).toEqual([[], 5])
    await other.stop()
  })

  it('who begins to watch while the server is left alone hears at once why there is no list', async () => {
    const fake = new FakeNacos()
    fake.fault = () => new Response('', { status: 429, headers: { 'retry-after': '20' } })
    const { client, stop } = watching(fake)
    await vi.advanceTimersByTimeAsync(5_000)
    const end = new AbortController()
    const failures: unknown[] = []
    const late = client.watch('billing', { signal: end.signal, failed: (error) => failures.push(error) })
    const next = late[Symbol.asyncIterator]().next()
    await vi.advanceTimersByTimeAsync(0)
    expect(failures).toMatchObject([{ failure: 'limited' }])
    end.abort()
    expect(await next).toMatchObject({ done: true })
    await stop()
  })

  it('a server that hangs is given up after requestTimeoutMs', async () => {
    const fake = new FakeNacos()
    fake.fault = () => new Promise(() => {})
    const { stop, seen } = watching(fake, { requestTimeoutMs: 2_000 })
    await vi.advanceTimersByTimeAsync(1_999)
    expect(seen.failures).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(seen.failures).toMatchObject([{ failure: 'timeout' }])
    await stop()
  })

  it('of several servers the next is asked, and the one that failed is left alone', async () => {
    const fake = new FakeNacos()
    fake.add('orders', entry('a', 1))
    const hosts: string[] = []
    fake.fault = ({ url }) => {
      const { hostname } = new URL(url)
      hosts.push(hostname)
      if (hostname === 'one') throw new TypeError('fetch failed')
      return undefined
    }
    const { stop, seen } = watching(fake, { url: ['http://one:8848', 'http://two:8848', 'http://three:8848'] })
    await vi.advanceTimersByTimeAsync(25_000)
    expect(hosts).toEqual(['one', 'two', 'two', 'two'])
    expect(seen).toMatchObject({ lists: [['a']], failures: [] })
    await stop()
  })

  it('clients after an outage: never more than twice the usual questions in a second', async () => {
    const clients = 300
    const fake = new FakeNacos()
    const fetch = inProcess(fake)
    const stop = new AbortController()
    for (let i = 0; i < clients; i++) {
      const client = nacosDiscovery({ url: 'http://nacos', fetch, api: 'v1', random: randomOf(i + 1) })
      const watch = client.watch('orders', { signal: stop.signal })
      void (async () => {
        for await (const _ of watch);
      })()
      await vi.advanceTimersByTimeAsync(10_000 / clients)
    }
    fake.fault = () => new Response('', { status: 503 })
    await vi.advanceTimersByTimeAsync(60_000)
    fake.fault = undefined
    const perSecond: number[] = []
    for (let second = 0; second < 40; second++) {
      fake.log.length = 0
      await vi.advanceTimersByTimeAsync(1_000)
      perSecond.push(fake.log.length)
    }
    expect(Math.max(...perSecond)).toBeLessThanOrEqual((2 * clients) / 10)
    stop.abort()
  })
})

describe('over HTTP, through a balancer', () => {
  const served = async (options: Partial<NacosDiscoveryOptions> = {}) => {
    const fake = new FakeNacos()
    fake.add('orders', entry('a', 1))
    fake.add('orders', entry('b', 2))
    const server = new RegistryServer(fake)
    await server.start()
    const discovery = nacosDiscovery({ url: server.url, pollMs: 100, requestTimeoutMs: 1_000, ...options })
    const lb = createLoadBalancer({ services: { orders: { discovery } } })
    const service = lb.service('orders')
    await service.choose()
    const failed = () => new Promise((resolve) => service.on('discoveryError', ({ error }) => resolve(error)))
    return { fake, server, lb, service, failed, end: () => lb.close().then(() => server.kill()) }
  }

  it.each([
    [
      'an HTML page',
      () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
      'malformed',
    ],
    ['truncated JSON', () => new Response('{"code":0,"data":[{"ip":'), 'malformed'],
    ['wrong types', () => Response.json({ code: 0, data: [{ ip: 7, port: 'x' }] }), 'malformed'],
    ['10 MB', () => new Response('x'.repeat(10_000_000)), 'too-large'],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }), 'redirect'],
    ['a refusal', () => new Response('token expired!', { status: 403 }), 'denied'],
    ['silence', () => new Promise<Response>(() => {}), 'timeout'],
  ])('%s: told in explain with its kind, the old list stays', async (_, answer, failure) => {
    const { fake, service, failed, end } = await served()
    const error = failed()
    fake.fault = answer
    expect(await error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure })
    expect(service.instances().length).toBe(2)
    const { source, notes } = await service.explain()
    expect(notes).toContain('discovery failed: the last good list is served')
    expect(source).toMatchObject({ namespace: 'public', group: 'DEFAULT_GROUP', api: 'v3' })
    fake.fault = undefined
    await end()
  })

  it('a server that is gone and comes back: the list is served meanwhile, then it is new', async () => {
    const { fake, server, service, failed, end } = await served()
    const error = failed()
    await server.kill()
    expect(await error).toMatchObject({ failure: 'unreachable' })
    expect(service.instances().length).toBe(2)
    const changed = new Promise((resolve) => service.on('change', resolve))
    fake.remove('orders', 'a')
    await server.start()
    expect(await changed).toMatchObject({ removed: [{ instanceId: 'a' }] })
    await end()
  })

  it('duplicates are named in explain, credentials are not', async () => {
    const { fake, lb, service, failed, end } = await served({ username: 'app', password: 'hunter2', pollMs: 200 })
    fake.put('orders', entry('a2', 1), { cluster: 'c2' })
    await service.refresh()
    const { source } = await service.explain()
    expect(source.merged).toContain('"a2" at 10.0.0.1:80 (the same address as "a"')
    fake.logins.user = { username: 'app', password: 'changed', ttlMs: 60_000 }
    fake.answers = () => new Response(`hunter2 and ${fake.log.at(-1)?.headers.get('accesstoken')}`, { status: 403 })
    const error = (await failed()) as Error
    const told = JSON.stringify([await service.explain(), lb.service('orders').stats(), error.message, String(error)])
    expect(error.message).toContain('… and …')
    expect(told).not.toMatch(/hunter2|token-\d/)
    await end()
  })
})

/** Xorshift, seeded. */
function randomOf(seed: number): () => number {
  let state = seed * 2_654_435_761
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
