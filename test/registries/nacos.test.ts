/** @module Lists from Nacos: what is asked, what is made of the answers, in each of the APIs. */

import { describe, expect, it } from 'vitest'
import { nacosDiscovery } from '../../bindings/discovery/nacos/index.js'
import type { NacosDiscoveryOptions } from '../../bindings/discovery/nacos/options.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { type FakeApi, FakeNacos, type NacosEntry } from './fakes/nacos.js'
import { inProcess } from './in-process.js'
import type { Entry } from './registry.js'

const signal = new AbortController().signal
const APIS: FakeApi[] = ['v3', 'v2', 'v1']

function setup(apis: FakeApi[] = APIS, options: Partial<NacosDiscoveryOptions> = {}) {
  const fake = new FakeNacos()
  fake.apis = new Set(apis)
  const client = nacosDiscovery({ url: 'http://nacos:8848', fetch: inProcess(fake), ...options })
  const list = (serviceId = 'orders') => client.get(serviceId, { signal })
  const ids = async (serviceId?: string) => (await list(serviceId)).map((each) => (each as Entry).instanceId)
  const put = (instanceId: string, more: Partial<Entry> & NacosEntry = {}, serviceId = 'orders') => {
    const { cluster, healthy, enabled, ephemeral, namespace, rawWeight, ...entry } = more
    const host = `10.0.0.${instanceId.charCodeAt(0) - 96}`
    const of = { cluster, healthy, enabled, ephemeral, namespace, rawWeight }
    const given = Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined))
    fake.put(serviceId, { instanceId, host, port: 8080, ...entry }, given)
  }
  const paths = () => fake.log.map(({ path }) => path)
  return { fake, client, list, ids, put, paths }
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: { code: string; failure: string; status?: number; message: string }) => error,
  )

describe.each(APIS)('API %s', (api) => {
  it('maps an instance: address, weight, zone, security, metadata, health', async () => {
    const { list, put } = setup([api])
    put('b', { port: 9090, weight: 2.5, secure: true, zone: 'z1', metadata: { version: '2', weight: '7' } })
    put('a', { cluster: 'hangzhou' })
    expect(await list()).toEqual([
      {
        instanceId: 'a',
        host: '10.0.0.1',
        port: 8080,
        secure: false,
        metadata: {
          zone: 'hangzhou',
          weight: '1',
          status: 'UP',
          'nacos.instanceId': 'a',
          'nacos.weight': '1',
          'nacos.healthy': 'true',
          'nacos.cluster': 'hangzhou',
          'nacos.ephemeral': 'true',
        },
      },
      {
        instanceId: 'b',
        host: '10.0.0.2',
        port: 9090,
        secure: true,
        metadata: expect.objectContaining({ zone: 'z1', weight: '2.5', version: '2', secure: 'true' }),
      },
    ])
  })

  it('an unknown service is empty, not failed', async () => {
    const { ids } = setup([api])
    expect(await ids('nobody')).toEqual([])
  })

  it('disabled instances are never listed, unhealthy ones on request', async () => {
    const { ids, put } = setup([api])
    const all = setup([api], { healthyOnly: false })
    for (const each of [put, all.put]) {
      each('a')
      each('b', { healthy: false })
      each('c', { enabled: false })
    }
    expect(await ids()).toEqual(['a'])
    expect(await all.ids()).toEqual(['a', 'b'])
    const [, b] = (await all.list()) as { metadata: Record<string, string> }[]
    expect(b?.metadata).toMatchObject({ status: 'DOWN', 'nacos.healthy': 'false' })
  })

  it('disabled instances are left out where the server lists them', async () => {
    const { fake, ids } = setup([api], { api })
    const host = { ip: '10.0.0.1', port: 80, enabled: false }
    fake.answers = () =>
      Response.json(api === 'v1' ? { hosts: [host] } : { code: 0, data: api === 'v2' ? { hosts: [host] } : [host] })
    expect(await ids()).toEqual([])
  })

  it('namespaces, groups and GROUP@@name keep services apart', async () => {
    const { put, ids, fake } = setup([api])
    put('a')
    put('b', {}, 'PAY@@orders')
    put('c', { namespace: 'ns-1' })
    expect([await ids(), await ids('PAY@@orders')]).toEqual([['a'], ['b']])
    const of = (options: Partial<NacosDiscoveryOptions>) =>
      nacosDiscovery({ url: 'http://nacos:8848', fetch: inProcess(fake), ...options }).get('orders', { signal })
    expect(await of({ namespace: 'ns-1' })).toMatchObject([{ instanceId: 'c' }])
    expect(await of({ group: 'PAY' })).toMatchObject([{ instanceId: 'b' }])
  })

  it('clusters: these only; with clusterFallback all, where none of them has a healthy instance', async () => {
    const only = setup([api], { clusters: ['c1', 'c2'] })
    const preferred = setup([api], { clusters: ['c1'], clusterFallback: true })
    for (const { put } of [only, preferred]) {
      put('a', { cluster: 'c1' })
      put('b', { cluster: 'c2' })
      put('c', { cluster: 'c3' })
    }
    expect(await only.ids()).toEqual(['a', 'b'])
    expect(await preferred.ids()).toEqual(['a'])
    preferred.put('a', { cluster: 'c1', healthy: false })
    expect(await preferred.ids()).toEqual(['b', 'c'])
    expect(preferred.client.describe('orders').fallback).toBe('nobody in c1: other clusters are listed')
    only.fake.remove('orders', 'a')
    only.fake.remove('orders', 'b')
    expect(await only.ids()).toEqual([])
  })

  it('a server that ignores clusters, as r-nacos does, is not believed', async () => {
    const { fake, put, ids } = setup([api], { clusters: ['c1'] })
    put('a', { cluster: 'c1' })
    put('b', { cluster: 'c2' })
    fake.fault = (asked) => {
      asked.params.delete('clusters')
      asked.params.delete('clusterName')
      return undefined
    }
    expect(await ids()).toEqual(['a'])
  })

  it('ephemeral: both kinds, or one of them', async () => {
    const lists = [undefined, true, false].map(async (ephemeral) => {
      const { put, ids } = setup([api], ephemeral === undefined ? {} : { ephemeral })
      put('a')
      put('b', { ephemeral: false })
      return ids()
    })
    expect(await Promise.all(lists)).toEqual([['a', 'b'], ['a'], ['b']])
  })

  it('the protection threshold: all are listed, as the server says; it is told where the API tells it', async () => {
    const { fake, put, ids, client } = setup([api])
    put('a')
    put('b', { healthy: false })
    put('c', { healthy: false })
    fake.store.protect({ namespace: 'public', group: 'DEFAULT_GROUP', name: 'orders' }, 0.5)
    expect(await ids()).toEqual(['a', 'b', 'c'])
    const { protection } = client.describe('orders')
    expect(protection).toBe(api === 'v3' ? undefined : 'too few are healthy: the server lists all of them as healthy')
    put('b')
    expect(await ids()).toEqual(['a', 'b'])
    expect(client.describe('orders').protection).toBe(undefined)
  })

  it('a threshold of 0 protects a service that has metadata of its own and nobody healthy', async () => {
    const { fake, put, ids } = setup([api])
    put('a', { healthy: false })
    expect(await ids()).toEqual([])
    fake.store.protect({ namespace: 'public', group: 'DEFAULT_GROUP', name: 'orders' }, 0)
    expect(await ids()).toEqual(['a'])
  })

  it('weights: below 0 is 0, what is no number is 1, the infinite is 10 000', async () => {
    const { list, put } = setup([api])
    const raw = { a: '-1', b: 'NaN', c: 'Infinity', d: '-Infinity', e: '0.25' }
    for (const [id, rawWeight] of Object.entries(raw)) put(id, { rawWeight })
    const weights = (await list()).map((each) => (each as Entry).metadata?.weight)
    expect(weights).toEqual(['0', '1', '10000', '0', '0.25'])
  })

  it('names of services, in the group, over several pages', async () => {
    const { put, client } = setup([api])
    for (let i = 0; i < 1_001; i++) put('a', {}, `service-${i}`)
    put('a', {}, 'PAY@@billing')
    put('a', {}, 'MY_DEFAULT_GROUP@@other')
    const names = await client.services({ signal })
    expect([names.length, new Set(names).size, names.includes('service-1000')]).toEqual([1_001, 1_001, true])
    expect(names).toEqual([...names].sort())
  })
})

describe('which API', () => {
  it('v3, then v2, then v1; what worked is remembered', async () => {
    const { ids, paths, client } = setup(['v1'])
    await ids()
    await ids()
    const list = 'ns/instance/list'
    expect(paths()).toEqual([`/v3/client/${list}`, `/v2/${list}`, `/v1/${list}`, `/v1/${list}`])
    expect(client.describe('orders').api).toBe('v1')
  })

  it.each([404, 405, 410, 501])('an API that answers %i is not there', async (status) => {
    const { fake, put, ids } = setup(['v1'])
    fake.absentStatus = status
    put('a')
    expect(await ids()).toEqual(['a'])
  })

  it('a server that loses its API, upgraded to 3.2, is asked in the others in the same question', async () => {
    const { fake, put, ids, client } = setup(['v1', 'v2'])
    put('a')
    expect(await ids()).toEqual(['a'])
    fake.apis = new Set(['v3'])
    expect(await ids()).toEqual(['a'])
    expect(client.describe('orders').api).toBe('v3')
  })

  it('403 to every path, as r-nacos and proxies say it, proves no API', async () => {
    const { fake, put, ids, client } = setup(['v1'])
    put('a')
    fake.fault = ({ path }) => (path.startsWith('/v1/ns/') ? undefined : new Response('', { status: 403 }))
    expect(await ids()).toEqual(['a'])
    expect(client.describe('orders').api).toBe('v1')
  })

  it('codes that say "not found" are an empty list, with 200 and with 404', async () => {
    const { fake, ids } = setup(['v3'])
    for (const [status, code] of [
      [200, 20_004],
      [404, 20_004],
      [200, 21_008],
      [500, 21_008],
    ]) {
      fake.answers = () =>
        Response.json({ code, message: 'service not found', data: null }, { status: status as number })
      expect(await ids()).toEqual([])
    }
  })

  it('a fixed API is the only one', async () => {
    const { ids, paths } = setup(['v1'], { api: 'v2' })
    expect(await failureOf(ids())).toMatchObject({ failure: 'status', status: 404 })
    expect(new Set(paths())).toEqual(new Set(['/v2/ns/instance/list']))
  })

  it('a server with none of them says so', async () => {
    const error = await failureOf(setup([]).ids())
    expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'status', status: 404 })
    expect(error?.message).toContain('has none of the APIs v3, v2, v1')
  })

  it('names of services: in v1 where 3.x has it, else as its administrator', async () => {
    const { fake, put, ids, client } = setup()
    put('a')
    fake.adminOnly = true
    fake.logins.user = undefined
    await ids()
    expect(client.describe('orders').api).toBe('v3')
    expect(await client.services({ signal })).toEqual(['orders'])
    expect(client.describe('orders').api).toBe('v3')
    fake.apis = new Set(['v3'])
    expect(await failureOf(client.services({ signal }))).toMatchObject({ failure: 'denied', status: 403 })
    fake.adminOnly = false
    expect(await client.services({ signal })).toEqual(['orders'])
  })

  it('a bare origin gets /nacos, another path stays', async () => {
    const { fake } = setup()
    const ask = (url: string) => nacosDiscovery({ url, fetch: inProcess(fake) }).get('orders', { signal })
    await ask('http://nacos:8848/')
    expect(fake.log[0]?.url).toContain('http://nacos:8848/nacos/v3/')
    await failureOf(ask('http://nacos:8848/other/'))
    expect(fake.log.at(-1)?.url).toContain('http://nacos:8848/other/v1/')
  })
})

describe('what is not as it should be', () => {
  it.each([
    ['no object', '[]', 'malformed'],
    ['truncated JSON', '{"hosts":[{"ip":"10.0', 'malformed'],
    ['a page of HTML', '<html>Whoops</html>', 'malformed'],
    ['nothing', '', 'malformed'],
    ['hosts that are no array', '{"hosts":{}}', 'malformed'],
    ['an entry that is no object', '{"hosts":[7]}', 'malformed'],
    ['only entries without a port', '{"hosts":[{"ip":"10.0.0.1"}]}', 'malformed'],
    ['a weight that is no number', '{"hosts":[{"ip":"10.0.0.1","port":80,"weight":"heavy"}]}', 'malformed'],
    ['10 MB', `{"hosts":[],"x":"${'x'.repeat(10_000_000)}"}`, 'too-large'],
  ])('%s: a typed error', async (_, text, failure) => {
    const { fake, ids } = setup(['v1'], { api: 'v1' })
    fake.answers = () => new Response(text)
    expect(await failureOf(ids())).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure })
  })

  it.each([
    [new Response('caused: server is DOWN now, please try again later!', { status: 503 }), 'status', 503],
    [new Response('slow down', { status: 429 }), 'limited', 429],
    [new Response(null, { status: 302, headers: { location: 'http://elsewhere/' } }), 'redirect', 302],
    [Response.json({ code: 30_000, message: 'server error', data: null }), 'status', 200],
    [Response.json({ code: 10_001, message: 'access denied', data: null }), 'denied', 200],
    [Response.json({ code: 'zero', data: [] }), 'malformed', undefined],
    [Response.json({ code: 0, data: {} }), 'malformed', undefined],
  ])('%#: an answer that is none', async (response, failure, status) => {
    const { fake, ids } = setup(['v3'], { api: 'v3' })
    fake.answers = () => response
    const error = await failureOf(ids())
    expect(error).toMatchObject({ failure, ...(status !== undefined && { status }) })
  })

  it('an entry that cannot be read is left out and named', async () => {
    const { fake, ids, client } = setup(['v1'], { api: 'v1' })
    fake.answers = () =>
      Response.json({ hosts: [{ ip: '10.0.0.1', port: 80 }, { ip: '10.0.0.2', port: 0 }, { port: 80 }] })
    expect(await ids()).toEqual(['10.0.0.1#80#DEFAULT#'])
    expect(client.describe('orders').unreadable).toMatch(/instance 1: port must be a port.*instance 2: ip must be/)
  })

  it('one address in two clusters is one instance, the healthy one, and is named', async () => {
    const { put, ids, client } = setup(['v1'], { healthyOnly: false })
    put('a', { cluster: 'c1', healthy: false })
    put('b', { cluster: 'c2', host: '10.0.0.1' })
    expect(await ids()).toEqual(['b'])
    expect(client.describe('orders').merged).toContain('"a" at 10.0.0.1:8080 (the same address as "b"')
  })

  it('IPv6 has no brackets', async () => {
    const { put, list } = setup()
    put('a', { host: '[fd00::1]' })
    put('b', { host: 'fd00::2' })
    expect((await list()).map((each) => (each as Entry).host)).toEqual(['fd00::1', 'fd00::2'])
  })

  it('an unchanged list is the same object, its unchanged entries too', async () => {
    const { put, list } = setup()
    put('a')
    put('b')
    const before = await list()
    expect(await list()).toBe(before)
    put('c')
    expect((await list())[0]).toBe(before[0])
  })
})

describe('options', () => {
  it.each([
    [{ url: 'nacos:8848' }, 'nacosDiscovery.url'],
    [{ url: [] }, 'nacosDiscovery.url'],
    [{ url: ['http://a', 'ftp://b'] }, 'nacosDiscovery.url[1]'],
    [{ api: 'v4' }, 'nacosDiscovery.api'],
    [{ clusters: ['a,b'] }, 'nacosDiscovery.clusters[0]'],
    [{ group: 'A@@B' }, 'nacosDiscovery.group'],
    [{ pollMs: 10 }, 'nacosDiscovery.pollMs'],
    [{ username: 'u' }, 'nacosDiscovery.password'],
    [{ username: 'u', password: 'p', accessToken: 't' }, 'nacosDiscovery.accessToken'],
    [{ healthyOnly: 'yes' }, 'nacosDiscovery.healthyOnly'],
    [{ adress: 'x' }, 'nacosDiscovery.adress'],
  ])('%j is refused by name', (options, option) => {
    const given = { url: 'http://nacos:8848', ...options } as NacosDiscoveryOptions
    expect(() => nacosDiscovery(given)).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option }))
  })

  it('no error tells a credential', () => {
    const secrets = [
      { password: 5 as unknown as string, username: 'u' },
      { accessToken: ['hunter2'] as unknown as string },
      { url: 'ftp://u:hunter2@nacos' },
      { accessToken: 'hunter2\n' },
    ]
    for (const options of secrets) {
      const given = { url: 'http://nacos:8848', ...options } as NacosDiscoveryOptions
      expect(() => nacosDiscovery(given)).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG' }))
      expect(() => nacosDiscovery(given)).not.toThrow(/hunter2|5/)
    }
  })
})

describe('nacos-sdk-nodejs PR#152: registry weights are heeded', () => {
  const weighted = async (policy: 'random' | 'round-robin') => {
    const { put, client } = setup()
    put('a', { weight: 1 })
    put('b', { weight: 3 })
    put('c', { weight: 0 })
    const lb = createLoadBalancer({
      services: { orders: { discovery: client, policy, suppliers: ['weighted'] } },
      seed: 7,
    })
    const service = lb.service('orders')
    await service.refresh()
    const picks: Record<string, number> = { a: 0, b: 0, c: 0 }
    for (let i = 0; i < 4_000; i++) {
      const id = service.pick()?.instance.instanceId ?? 'none'
      picks[id] = (picks[id] ?? 0) + 1
    }
    await lb.close()
    return picks
  }

  it('1, 3, 0 of 4 000 picks: about 1 000, 3 000 and 0 at random', async () => {
    const { a, b, c } = (await weighted('random')) as { a: number; b: number; c: number }
    // Five standard deviations of 4 000 draws with 1/4.
    expect(Math.abs(a - 1_000)).toBeLessThan(5 * Math.sqrt(4_000 * 0.25 * 0.75))
    expect([a + b, c]).toEqual([4_000, 0])
  })

  it('exactly so in rotation', async () => {
    expect(await weighted('round-robin')).toEqual({ a: 1_000, b: 3_000, c: 0 })
  })
})
