/** @module Eureka's answers: what is read of them, by which question, and what is no answer. */

import { afterEach, describe, expect, it } from 'vitest'
import { type EurekaDiscovery, eurekaDiscovery } from '../../bindings/discovery/eureka/index.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { entry, failureOf, type Given, got, idsOf, URL_OF_FAKE, world } from './eureka-world.js'
import { EurekaFake, type Json } from './fakes/eureka.js'
import { inProcess } from './in-process.js'
import { RegistryServer } from './serve.js'

/** An application's answer with these instances, as they are written. */
function answering(instance: unknown, more: object = {}): EurekaDiscovery {
  const body = JSON.stringify({ application: { name: 'ORDERS', instance } })
  return world({ fetch: async () => new Response(body), ...more }).client
}

const raw = (more: Json = {}): Json => ({
  instanceId: 'n1',
  hostName: 'n1.lan',
  ipAddr: '10.1.0.4',
  app: 'ORDERS',
  status: 'UP',
  port: { $: 8080, '@enabled': 'true' },
  securePort: { $: 8443, '@enabled': 'false' },
  ...more,
})

async function only(instance: Json, more: object = {}): Promise<Given> {
  const list = await got(answering([instance], more))
  expect(list).toHaveLength(1)
  return list[0] as Given
}

describe('an instance', () => {
  it('has host, port, zone, weight, status and metadata of the registry', async () => {
    const { fake, client } = world()
    fake.add('orders', entry(1, { zone: 'z1', weight: 3, metadata: { version: '2' } }))
    expect(await got(client)).toEqual([
      {
        instanceId: 'n1:orders:8080',
        host: '10.0.0.1',
        port: 8080,
        secure: false,
        metadata: { zone: 'z1', weight: '3', version: '2', status: 'UP' },
      },
    ])
  })

  it('is https where its secure port is enabled, and with preferSecure false only where the plain one is not', async () => {
    const both = raw({ securePort: { $: 8443, '@enabled': 'true' } })
    expect(await only(both)).toMatchObject({ port: 8443, secure: true })
    expect(await only(both, { preferSecure: false })).toMatchObject({ port: 8080, secure: false })
    const secureOnly = { ...both, port: { $: 8080, '@enabled': 'false' } }
    expect(await only(secureOnly, { preferSecure: false })).toMatchObject({ port: 8443, secure: true })
    const neither = raw({ port: { $: 8080, '@enabled': 'false' } })
    expect(await only(neither)).toMatchObject({ port: 8080, secure: false })
  })

  it('has its host name, or its address with preferIp, and the other where that is missing', async () => {
    expect((await only(raw())).host).toBe('n1.lan')
    expect((await only(raw(), { preferIp: true })).host).toBe('10.1.0.4')
    expect((await only(raw({ hostName: undefined }))).host).toBe('10.1.0.4')
    expect((await only(raw({ ipAddr: '[fd00::1]' }), { preferIp: true })).host).toBe('fd00::1')
  })

  it('has ports as texts, flags as booleans, and the ports of InstanceInfo where there are none', async () => {
    expect(await only(raw({ port: { $: '9090', '@enabled': true } }))).toMatchObject({ port: 9090, secure: false })
    expect(await only(raw({ port: undefined, securePort: undefined }))).toMatchObject({ port: 7001, secure: false })
    expect(await only(raw({ securePort: { '@enabled': true, $: '9443' } }))).toMatchObject({ port: 9443, secure: true })
    expect(await only(raw({ port: 9090 }))).toMatchObject({ port: 9090 })
  })

  it('has no metadata where that is a Java map without entries, and its @class is none', async () => {
    expect((await only(raw({ metadata: { '@class': 'java.util.Collections$EmptyMap' } }))).metadata).toEqual({
      status: 'UP',
    })
    const metadata = { '@class': 'java.util.HashMap', weight: 3, canary: true, status: 'mine' }
    expect((await only(raw({ metadata }))).metadata).toEqual({ weight: '3', canary: 'true', status: 'UP' })
  })

  it('has its zone from metadata, from Amazon, or from the client', async () => {
    const dataCenterInfo = { name: 'Amazon', metadata: { 'availability-zone': 'us-east-1c', 'instance-id': 'i-1' } }
    const inZone = raw({ metadata: { zone: 'z1' }, dataCenterInfo })
    expect((await only(inZone)).metadata?.zone).toBe('z1')
    expect((await only(raw({ dataCenterInfo }))).metadata?.zone).toBe('us-east-1c')
    expect((await only(raw(), { zone: 'mine' })).metadata?.zone).toBe('mine')
    expect((await only(raw())).metadata).not.toHaveProperty('zone')
  })

  it('has its id, or that of the machine at Amazon, or its host name', async () => {
    const dataCenterInfo = { name: 'Amazon', metadata: { 'instance-id': 'i-1' } }
    expect((await only(raw({ dataCenterInfo }))).instanceId).toBe('n1')
    expect((await only(raw({ instanceId: undefined, dataCenterInfo }))).instanceId).toBe('i-1')
    expect((await only(raw({ instanceId: undefined }))).instanceId).toBe('n1.lan')
  })

  it('is listed while UP; with onlyUp false at any status, an unknown one as UNKNOWN', async () => {
    const instances = ['UP', 'DOWN', 'STARTING', 'OUT_OF_SERVICE', 'ON_FIRE'].map((status, i) =>
      raw({ instanceId: `n${i}`, hostName: `n${i}`, status }),
    )
    expect(idsOf(await got(answering(instances)))).toEqual(['n0'])
    const all = await got(answering(instances, { onlyUp: false }))
    expect(all.map(({ metadata }) => metadata?.status)).toEqual(['UP', 'DOWN', 'STARTING', 'OUT_OF_SERVICE', 'UNKNOWN'])
  })

  it('tells an overridden status in either spelling', async () => {
    for (const spelling of ['overriddenStatus', 'overriddenstatus']) {
      const one = await only(raw({ [spelling]: 'OUT_OF_SERVICE' }))
      expect(one.metadata).toEqual({ 'eureka.overriddenStatus': 'OUT_OF_SERVICE', status: 'UP' })
      expect((await only(raw({ [spelling]: 'UNKNOWN' }))).metadata).toEqual({ status: 'UP' })
    }
  })

  it('that cannot be read is left out and named by describe; if none can be, that is a failure', async () => {
    const bad = raw({ instanceId: 'n2', port: { $: 99_999, '@enabled': 'true' } })
    const client = answering([bad, raw()])
    expect(idsOf(await got(client))).toEqual(['n1'])
    expect(client.describe('orders').unreadable).toContain('"ORDERS/n2": port must be a port from 1 to 65535')
    expect(await failureOf(got(answering([bad])))).toMatchObject({ failure: 'malformed' })
    expect(await failureOf(got(answering([raw({ hostName: '', ipAddr: 'a b' })])))).toMatchObject({
      failure: 'malformed',
    })
  })

  it('listed twice at one address is listed once: who registered later, named by describe', async () => {
    const client = answering([
      raw({ instanceId: 'a-old', lastDirtyTimestamp: '1700000000000' }),
      raw({ instanceId: 'b-new', lastDirtyTimestamp: 1_700_000_001_000 }),
    ])
    expect(idsOf(await got(client))).toEqual(['b-new'])
    expect(client.describe('orders').merged).toContain('"a-old" at n1.lan:8080')
  })

  it('jquatier/eureka-js-client#19: one instance may stand without its array, as one application may', async () => {
    expect(idsOf(await got(answering(raw())))).toEqual(['n1'])
    const { fake, client } = world({}, { style: 'legacy' })
    fake.add('orders', entry(1))
    expect(idsOf(await got(client))).toEqual(['n1:orders:8080'])
    expect(await client.services({ signal: new AbortController().signal })).toEqual(['orders'])
  })

  it('is none where the application has none, or the registry no application', async () => {
    expect(await got(answering([]))).toEqual([])
    expect(await got(answering(undefined))).toEqual([])
    const { client } = world({}, { style: 'legacy' })
    expect(await client.services({ signal: new AbortController().signal })).toEqual([])
  })
})

describe('a question', () => {
  it('asks for JSON: the server writes XML for whoever does not', async () => {
    const { fake, client } = world()
    fake.add('orders', entry(1))
    await got(client)
    expect(fake.log[0]?.headers.accept).toBe('application/json')
    const xml = await fake.fetch(new Request('http://eureka.test/eureka/apps/'))
    expect(await xml.text()).toContain('<applications>')
  })

  it('names the application in upper case; one that is not there has no instances', async () => {
    const { fake, client, asked } = world()
    fake.add('my_svc', entry(1))
    expect(idsOf(await got(client, 'My_Svc'))).toEqual(['n1:orders:8080'])
    expect(await got(client, 'other/one')).toEqual([])
    expect(asked()).toEqual(['GET /apps/MY_SVC', 'GET /apps/OTHER%2FONE'])
  })

  it('that is answered 404 by a server that knows no path of the protocol is a failure, not "nobody"', async () => {
    const { fake } = world()
    const wrong = eurekaDiscovery({ url: 'http://eureka.test:8761', fetch: inProcess(fake), scope: 'service' })
    const error = await failureOf(got(wrong))
    expect(error).toMatchObject({ failure: 'status', status: 404 })
    expect(String(error)).toContain('url must be where the protocol begins')
    const right = world()
    for (let i = 0; i < 3; i++) expect(await got(right.client, 'nobody')).toEqual([])
    // It has shown once that it is Eureka.
    expect(right.asked().filter((each) => each === 'GET /apps/delta')).toHaveLength(1)
    const unready = world()
    unready.fake.deltaEnabled = false
    expect(await got(unready.client, 'nobody')).toEqual([])
  })

  it('has the instances of other regions, as a watch has them', async () => {
    const { fake, client, asked } = world({ regions: ['eu'] })
    fake.add('orders', entry(1))
    fake.add('billing', entry(2))
    expect(idsOf(await got(client))).toEqual(['n1:orders:8080'])
    expect(asked()).toEqual(['GET /apps/?regions=eu'])
    expect(() => world({ regions: ['eu'], scope: 'service' })).toThrow(/regions needs scope 'registry'/)
  })

  it('spring-cloud/spring-cloud-netflix#1788: by VIP address or by application name, as lookup says', async () => {
    for (const [lookup, path] of [
      ['vip', '/vips/orders.v1'],
      ['svip', '/svips/orders.v1'],
    ] as const) {
      const { fake, client, asked } = world({ lookup })
      fake.register(raw({ vipAddress: 'orders,orders.v1', secureVipAddress: 'orders.v1,x' }))
      expect(idsOf(await got(client, 'orders.v1'))).toEqual(['n1'])
      expect(asked()).toEqual([`GET ${path}`])
      expect(await got(client, 'billing')).toEqual([])
      // As a watch compares them; the server compares them exactly, and answers an empty list, not 404.
      expect(idsOf(await got(client, 'ORDERS.V1'))).toEqual(['n1'])
      const exact = eurekaDiscovery({ url: URL_OF_FAKE, fetch: inProcess(fake), lookup, scope: 'service' })
      expect(await got(exact, 'ORDERS.V1')).toEqual([])
    }
    const { fake, client } = world()
    fake.register(raw({ vipAddress: 'orders.v1' }))
    expect(await got(client, 'orders.v1')).toEqual([])
    expect(idsOf(await got(client, 'orders'))).toEqual(['n1'])
  })

  it('for the services names applications, or VIP addresses', async () => {
    const { signal } = new AbortController()
    const apps = world()
    const vips = world({ lookup: 'vip' })
    for (const { fake } of [apps, vips]) {
      fake.register(raw({ vipAddress: 'orders.v2, orders.v1' }))
      fake.register(raw({ app: 'BILLING', vipAddress: 'billing' }))
    }
    expect(await apps.client.services({ signal })).toEqual(['billing', 'orders'])
    expect(await vips.client.services({ signal })).toEqual(['billing', 'orders.v1', 'orders.v2'])
  })

  it('unchanged lists are the same object', async () => {
    const { fake, client } = world()
    for (const n of [3, 1, 2]) fake.add('orders', entry(n))
    const before = await got(client)
    expect(await got(client)).toBe(before)
    fake.add('orders', entry(4))
    const after = await got(client)
    expect(after.slice(0, 3).every((each, i) => each === before[i])).toBe(true)
  })
})

describe('over HTTP', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  async function served(fake = new EurekaFake()): Promise<{ fake: EurekaFake; server: RegistryServer; url: string }> {
    const server = new RegistryServer(fake)
    await server.start()
    closing.push(() => server.kill())
    return { fake, server, url: `${server.url}/eureka` }
  }

  it('a balancer lists what is registered, and explains where it has it from', async () => {
    const { fake, url } = await served()
    fake.add('orders', entry(1))
    fake.add('orders', entry(2))
    const lb = createLoadBalancer({ discovery: eurekaDiscovery({ url }) })
    closing.push(() => lb.close())
    expect((await lb.choose('orders'))?.instance.host).toMatch(/^10\.0\.0\.[12]$/)
    const { source } = await lb.service('orders').explain()
    expect(source).toMatchObject({ discovery: 'eureka', address: url, app: 'ORDERS', scope: 'registry', hash: 'UP_2_' })
  })

  it('spring-cloud/spring-cloud-netflix#2352: of four servers with three dead the fourth answers', async () => {
    const dead = await Promise.all([served(), served(), served()])
    for (const { server } of dead) await server.kill()
    const alive = await served()
    alive.fake.add('orders', entry(1))
    const client = eurekaDiscovery({ url: [...dead.map(({ url }) => url), alive.url] })
    expect(idsOf(await got(client))).toEqual(['n1:orders:8080'])
    // Who answered is asked first from now on.
    alive.fake.log.length = 0
    await got(client)
    expect(alive.fake.log).toHaveLength(1)
  })

  it('a server that is not ready is passed over', async () => {
    const starting = await served()
    starting.fake.ready = false
    const other = await served()
    other.fake.add('orders', entry(1))
    expect(idsOf(await got(eurekaDiscovery({ url: [starting.url, other.url] })))).toEqual(['n1:orders:8080'])
    expect(await failureOf(got(eurekaDiscovery({ url: starting.url })))).toMatchObject({
      failure: 'denied',
      status: 403,
    })
  })

  it('nodejs/undici#3220: credentials in the URL are sent as a header, and told nowhere', async () => {
    const { fake, server, url } = await served()
    fake.add('orders', entry(1))
    const client = eurekaDiscovery({ url: url.replace('//', '//user:pa%3Ass@') })
    expect(idsOf(await got(client))).toEqual(['n1:orders:8080'])
    expect(fake.log[0]?.headers.authorization).toBe(`Basic ${btoa('user:pa:ss')}`)
    fake.fault = (request) => new Response(`no: ${request.headers.get('authorization')}`, { status: 401 })
    const errors = [await failureOf(got(client))]
    expect(errors[0]).toMatchObject({ failure: 'denied', status: 401 })
    await server.kill()
    errors.push(await failureOf(got(client)))
    expect(errors[1]).toMatchObject({ failure: 'unreachable' })
    for (const told of [...errors.map(String), JSON.stringify(client.describe('orders'))]) {
      expect(told).not.toMatch(new RegExp(`user|pa:ss|pa%3Ass|${btoa('user:pa:ss')}`))
    }
  })

  it.each([
    ['truncated JSON', () => new Response('{"applications":{"appl'), 'malformed', /no JSON/],
    ['an error page', () => new Response('<html>busy</html>'), 'malformed', /a page of HTML or XML/],
    ['another shape', () => Response.json({ apps: [] }), 'malformed', /applications must be an object, missing/],
    [
      'an application that is a text',
      () => Response.json({ applications: { application: ['x'] } }),
      'malformed',
      /an object/,
    ],
    [
      'an application without a name',
      () => Response.json({ applications: { application: [{ instance: [{ hostName: 'a' }] }] } }),
      'malformed',
      /the name of an application/,
    ],
    ['a redirect', () => Response.redirect('http://127.0.0.1:9/'), 'redirect', /redirect/],
    ['33 MiB', () => new Response(new Uint8Array(33 * 2 ** 20)), 'too-large', /maxAnswerBytes/],
    ['status 500', () => new Response('boom', { status: 500 }), 'status', /status 500: boom/],
    ['status 429', () => new Response(null, { status: 429 }), 'limited', /429/],
  ])('%s is a failure that explain tells, and the old list stays', async (_, answer, failure, message) => {
    const { fake, url } = await served()
    fake.add('orders', entry(1))
    const errors: unknown[] = []
    const lb = createLoadBalancer({ discovery: eurekaDiscovery({ url, registryFetchIntervalMs: 20 }) })
    closing.push(() => lb.close())
    const service = lb.service('orders')
    await service.choose()
    const failed = new Promise<void>((resolve) => {
      service.on('discoveryError', ({ error }) => {
        errors.push(error)
        resolve()
      })
    })
    fake.fault = answer
    await failed
    expect(errors[0]).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure, message: expect.stringMatching(message) })
    expect(service.instances()).toHaveLength(1)
    const { notes } = await service.explain()
    expect(notes.join()).toContain('the last good list is served')
  })

  it('maxAnswerBytes bounds what is read', async () => {
    const { fake, url } = await served()
    fake.fault = () => new Response(new Uint8Array(10 * 2 ** 20))
    const client = eurekaDiscovery({ url, maxAnswerBytes: 2 ** 20 })
    expect(await failureOf(got(client))).toMatchObject({ failure: 'too-large' })
  })

  it('a server that takes requests and answers none is a timeout', async () => {
    const { server, url } = await served()
    server.hang()
    const client = eurekaDiscovery({ url, requestTimeoutMs: 30 })
    expect(await failureOf(got(client))).toMatchObject({ failure: 'timeout' })
    server.resume()
    expect(await got(client)).toEqual([])
  })
})

describe('options', () => {
  it.each([
    [{}, /url of the registry|at least one|must be/],
    [{ url: 5 }, /eurekaDiscovery\.url must be a URL/],
    [{ url: [] }, /eurekaDiscovery\.url must be the URL of at least one server/],
    [{ url: ['http://a/eureka', 'ftp://b'] }, /eurekaDiscovery\.url\[1\]/],
    [{ url: { z1: 'nonsense' } }, /eurekaDiscovery\.url\.z1/],
    [{ url: 'http://a', lookup: 'name' }, /eurekaDiscovery\.lookup must be 'app' or 'vip' or 'svip'/],
    [{ url: 'http://a', scope: 'all' }, /eurekaDiscovery\.scope/],
    [{ url: 'http://a', regions: [''] }, /eurekaDiscovery\.regions\[0\]/],
    [{ url: 'http://a', registryFetchIntervalMs: 0 }, /eurekaDiscovery\.registryFetchIntervalMs/],
    [{ url: 'http://a', delta: 'no' }, /eurekaDiscovery\.delta/],
    [{ url: 'http://a', zone: '' }, /eurekaDiscovery\.zone/],
    [{ url: 'http://a', preferip: true }, /has no option "preferip"/],
  ])('%j is refused by name', (options, message) => {
    expect(() => eurekaDiscovery(options as never)).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG' }))
    expect(() => eurekaDiscovery(options as never)).toThrow(message)
  })

  it('a refused URL does not show its password', () => {
    expect(() => eurekaDiscovery({ url: 'ftp://user:secret@host/eureka' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    )
  })

  it('servers of the own zone come first', async () => {
    const hosts: string[] = []
    const client = eurekaDiscovery({
      url: { z1: 'http://a/eureka', z2: ['http://b/eureka', 'http://c/eureka'] },
      zone: 'z2',
      fetch: async (input) => {
        hosts.push(new URL(String(input)).host)
        return new Response(null, { status: 503 })
      },
    })
    const error = await failureOf(got(client))
    expect(hosts).toEqual(['b', 'c', 'a'])
    expect(error).toMatchObject({ failure: 'status', message: expect.stringContaining('none of 3 eureka servers') })
  })
})
