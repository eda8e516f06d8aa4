/** @module Consul: what is asked, what is made of the answers, and what of answers that are none. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ConsulDiscoveryOptions, consulDiscovery } from '../../bindings/discovery/consul/index.js'
import { RegistryHttp } from '../../bindings/discovery/registry/registry-http.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { answer, cluster, entry, errorOf, idsOf, type Listed } from './consul-setup.js'
import { FakeConsul } from './fakes/consul.js'
import { RegistryServer } from './serve.js'

/** One entry of an answer, as Consul writes it. */
function raw(service: object = {}, node: object = {}, checks: unknown = []) {
  return {
    Node: { Node: 'n1', Address: '10.1.0.4', Datacenter: 'dc1', Meta: {}, ...node },
    Service: { ID: 'orders-1', Service: 'orders', Tags: [], Address: '10.0.0.1', Port: 8080, Meta: {}, ...service },
    Checks: checks,
  }
}

const check = (Status: string, CheckID = 'service:orders-1') => ({ CheckID, Status, ServiceID: 'orders-1' })

async function listOf(entries: unknown[], options: ConsulDiscoveryOptions = {}) {
  const { fake, get } = cluster(options)
  fake.fault = () => answer(entries, '5')
  return (await get()) as readonly Required<Listed>[]
}

const oneOf = async (entry: unknown, options?: ConsulDiscoveryOptions) =>
  (await listOf([entry], options))[0] as Required<Listed>

describe('from an entry to an instance', () => {
  it('takes id, address, port, tags, meta, weight, zone and node from where Consul has them', async () => {
    const tags = ['zone=z1', 'v2', 'version=1']
    const service = { Tags: tags, Meta: { version: '3', secure: 'true' }, Weights: { Passing: 10, Warning: 1 } }
    expect(await oneOf(raw(service))).toEqual({
      instanceId: 'orders-1',
      host: '10.0.0.1',
      port: 8080,
      secure: true,
      metadata: {
        zone: 'z1',
        version: '3',
        secure: 'true',
        weight: '10',
        status: 'UP',
        'consul.status': 'passing',
        'consul.node': 'n1',
        'consul.datacenter': 'dc1',
        'consul.tags': 'zone=z1,v2,version=1',
      },
    })
  })

  it.each([
    [{ Address: '' }, {}, '10.1.0.4'],
    [{ Address: undefined }, {}, '10.1.0.4'],
    [{ Address: '' }, { Address: '' }, 'n1'],
    [{ Address: '2001:db8::1' }, {}, '2001:db8::1'],
    [{ Address: '[2001:db8::1]' }, {}, '2001:db8::1'],
  ])('an empty address is that of the node: %j, %j', async (service, node, host) => {
    expect((await oneOf(raw(service, node))).host).toBe(host)
  })

  it.each([
    ['false', undefined, undefined, false],
    ['TRUE', undefined, undefined, true],
    [undefined, 'https', undefined, true],
    ['false', 'https', undefined, false],
    [undefined, undefined, undefined, false],
    ['false', undefined, true, true],
    ['true', undefined, false, false],
  ])('secure %s, scheme %s, option %s: %s', async (secure, scheme, option, expected) => {
    const Meta = { ...(secure && { secure }), ...(scheme && { scheme }) }
    const instance = await oneOf(raw({ Meta }), option === undefined ? {} : { secure: option })
    expect(instance.secure).toBe(expected)
  })

  it('secure in a tag counts too', async () => {
    expect((await oneOf(raw({ Tags: ['secure=true'] }))).secure).toBe(true)
  })

  it.each([
    ['service', 'from-meta'],
    ['node', 'from-node'],
    ['datacenter', 'dc1'],
    ['locality', 'from-locality'],
    [{ service: 'az' }, 'az-of-service'],
    [{ node: 'rack' }, 'rack-of-node'],
    [{ node: 'none' }, undefined],
  ] as const)('zoneFrom %j', async (zoneFrom, zone) => {
    const service = { Meta: { az: 'az-of-service', zone: 'from-meta' }, Locality: { Zone: 'from-locality' } }
    const node = { Meta: { zone: 'from-node', rack: 'rack-of-node' } }
    const { metadata } = await oneOf(raw(service, node), { zoneFrom })
    // What the service says of itself stays where nothing else is found.
    expect(metadata.zone).toBe(zone ?? 'from-meta')
  })

  it.each([
    [{ Passing: 10, Warning: 3 }, 'passing', undefined, '10'],
    [{ Passing: 10, Warning: 3 }, 'warning', undefined, '3'],
    [{ Passing: 10, Warning: 0 }, 'warning', undefined, '0'],
    [{ Passing: 0, Warning: 0 }, 'passing', undefined, '0'],
    [undefined, 'passing', undefined, '1'],
    [{ Passing: 1, Warning: 1 }, 'passing', '0.5', '0.5'],
    [{ Passing: 1, Warning: 1 }, 'passing', 'heavy', '1'],
    [{ Passing: 10, Warning: 1 }, 'passing', '7', '10'],
    [{ Passing: -3, Warning: 1 }, 'passing', undefined, '1'],
  ])('Weights %j, %s, metadata %s: %s', async (Weights, status, own, weight) => {
    const service = { Weights, Meta: { ...(own && { weight: own }) } }
    expect((await oneOf(raw(service, {}, [check(status)]))).metadata.weight).toBe(weight)
  })

  it.each([
    [[], 'UP', 'passing'],
    [null, 'UP', 'passing'],
    [[check('passing', 'serfHealth'), check('warning')], 'UP', 'warning'],
    [[check('warning', 'serfHealth'), check('critical'), check('passing')], 'DOWN', 'critical'],
    [[check('passing'), check('something new')], 'DOWN', 'critical'],
    [[check('critical', '_node_maintenance')], 'OUT_OF_SERVICE', 'maintenance'],
    [[check('critical'), check('critical', '_service_maintenance:orders-1')], 'OUT_OF_SERVICE', 'maintenance'],
  ])('the worst check wins: %j is %s', async (checks, status, word) => {
    const { metadata } = await oneOf(raw({}, {}, checks), { health: 'any' })
    expect([metadata.status, metadata['consul.status']]).toEqual([status, word])
  })

  it('health: passing and warning by default; passing; any', async () => {
    const { fake, client, get } = cluster()
    const statuses = ['passing', 'warning', 'critical'] as const
    for (const [i, status] of statuses.entries()) fake.add('orders', entry(i, { status }))
    expect(idsOf(await get())).toEqual(fake.listed('orders'))
    expect(idsOf(await get())).toEqual(['orders-0', 'orders-1'])
    expect(client.describe('orders')).toMatchObject({ health: 'warning', unhealthy: '1 not listed' })
    const entries = statuses.map((status, i) => raw({ ID: `${i}`, Port: i + 1 }, {}, [check(status)]))
    expect(idsOf(await listOf(entries, { health: 'passing' }))).toEqual(['0'])
    expect(idsOf(await listOf(entries, { health: 'any' }))).toEqual(['0', '1', '2'])
  })

  it('one id on several nodes are several instances; one address on several nodes is one, the healthier', async () => {
    const twice = [raw({ ID: 'orders' }, { Node: 'n2' }), raw({ ID: 'orders', Address: '10.0.0.2' })]
    expect(idsOf(await listOf(twice))).toEqual(['n1/orders', 'n2/orders'])
    const moved = [raw({}, { Node: 'n1' }, [check('critical')]), raw({}, { Node: 'n2' }, [check('passing')])]
    const [instance, ...others] = await listOf(moved, { health: 'any' })
    expect(others).toEqual([])
    expect(instance).toMatchObject({ instanceId: 'orders-1', metadata: { 'consul.node': 'n2', status: 'UP' } })
  })

  it('a service without a port gets defaultPort, or is left out and named', async () => {
    const entries = [raw({ Port: 0 }), raw({ ID: 'orders-2', Port: 81, Address: '10.0.0.2' })]
    const ports = (await listOf(entries, { defaultPort: 9000 })).map(({ port }) => port)
    expect(ports).toEqual([9000, 81])
    const { fake, client, get } = cluster()
    fake.fault = () => answer(entries, '5')
    expect(idsOf(await get())).toEqual(['orders-2'])
    expect(client.describe('orders').unreadable).toContain('[0] "orders-1": Service.Port must be a port')
  })
})

describe('what is asked', () => {
  it('has all parameters, and the token in its header alone', async () => {
    const { fake, get } = cluster({
      token: 'the-token',
      datacenter: 'dc1',
      namespace: 'shop',
      partition: 'part',
      peer: 'other',
      tags: ['v2', 'blue'],
      nodeMeta: { rack: 'r1:top', os: 'linux' },
      filter: 'Service.Meta.version == "2"',
      near: '_agent',
      consistency: 'stale',
      cached: true,
    })
    await get('or/ders')
    const [request] = fake.requests
    expect(request?.path).toBe('/v1/health/service/or/ders')
    expect(request?.token).toBe('the-token')
    expect(String(request?.query)).toBe(
      'dc=dc1&ns=shop&partition=part&peer=other&node-meta=rack%3Ar1%3Atop&node-meta=os%3Alinux' +
        '&tag=v2&tag=blue&filter=Service.Meta.version+%3D%3D+%222%22&near=_agent&stale=&cached=',
    )
  })

  it('Consul selects by tag, node meta and filter; near changes nothing of the order', async () => {
    const { fake, get } = cluster({
      tags: ['v2'],
      nodeMeta: { rack: 'r2' },
      filter: 'Service.Meta.a == "1"',
      near: 'node-2',
    })
    fake.addNode({ name: 'node-2', address: '10.1.0.2', meta: { rack: 'r2' } })
    const one = { tags: ['V2', 'x'], metadata: { a: '1' } }
    fake.add('orders', entry(1, { ...one, node: 'node-2' }))
    fake.add('orders', entry(2, { ...one, node: 'node-2', tags: ['x'] }))
    fake.add('orders', entry(3, { ...one, node: 'node-1' }))
    fake.add('orders', entry(4, { ...one, node: 'node-2', metadata: { a: '2' } }))
    fake.add('orders', entry(0, { ...one, node: 'node-2' }))
    expect(idsOf(await get())).toEqual(['orders-0', 'orders-1'])
  })

  it('a token function is asked for each question; one that fails, hangs or gives none is a failure', async () => {
    const tokens = ['first', 'second']
    const { fake, get } = cluster({ token: async () => tokens.shift() as string, requestTimeoutMs: 20 })
    await get()
    await get()
    expect(fake.requests.map(({ token }) => token)).toEqual(['first', 'second'])
    expect(await errorOf(get())).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'denied' })
    const hanging = cluster({ token: () => new Promise<string>(() => {}), requestTimeoutMs: 20 })
    expect(await errorOf(hanging.get())).toMatchObject({ failure: 'denied' })
    expect(hanging.fake.requests).toEqual([])
  })

  it('services: all names, sorted; with tags those that have them', async () => {
    const { fake, client } = cluster()
    fake.add('orders', entry(1, { tags: ['v2'] }))
    fake.add('billing', entry(2))
    const { signal } = new AbortController()
    expect(await client.services({ signal })).toEqual(['billing', 'consul', 'orders'])
    const tagged = cluster({ tags: ['v2'] })
    tagged.fake.add('orders', entry(1, { tags: ['v2'] }))
    tagged.fake.add('billing', entry(2))
    expect(await tagged.client.services({ signal })).toEqual(['orders'])
  })
})

describe('options', () => {
  it.each([
    [{ url: [] }, 'url'],
    [{ url: ['http://a', 'ftp://b'] }, 'url[1]'],
    [{ url: 'http://a?token=secret' }, 'url'],
    [{ token: '' }, 'token'],
    [{ token: 7 }, 'token'],
    [{ token: 'a\nsecret' }, 'token'],
    [{ consistency: 'strong' }, 'consistency'],
    [{ cached: true, consistency: 'consistent' }, 'cached'],
    [{ maxStaleMs: 5 }, 'maxStaleMs'],
    [{ waitMs: 600_001 }, 'waitMs'],
    [{ waitMs: 10 }, 'waitMs'],
    [{ tags: 'v2' }, 'tags'],
    [{ nodeMeta: { a: 1 } }, 'nodeMeta.a'],
    [{ zoneFrom: 'rack' }, 'zoneFrom'],
    [{ zoneFrom: { service: 'a', node: 'b' } }, 'zoneFrom'],
    [{ health: 'all' }, 'health'],
    [{ defaultPort: 0 }, 'defaultPort'],
    [{ registration: { deregisterAfterMs: 59_999 } }, 'registration.deregisterAfterMs'],
    [{ passing: true }, 'passing'],
  ])('%j is refused, and %s named', (options, option) => {
    let error: unknown
    try {
      consulDiscovery(options as never)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option: `consulDiscovery.${option}` })
    expect(String(error)).not.toContain('secret')
  })
})

describe('answers that are none', () => {
  const servers: RegistryServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
  })

  async function served(options: ConsulDiscoveryOptions = {}) {
    const fake = new FakeConsul()
    const server = new RegistryServer(fake)
    await server.start()
    servers.push(server)
    const url = server.url.replace('//', '//ops:url-secret@')
    const client = consulDiscovery({ url, token: 'token-secret', random: () => 0, ...options })
    return { fake, server, client }
  }

  /** Serves a good list, then the other answer; what of it is seen. */
  async function failedBy(
    fault: (request: Request) => Response | Promise<Response>,
    options: ConsulDiscoveryOptions = {},
  ) {
    const { fake, client } = await served(options)
    fake.add('orders', entry(1))
    const lb = createLoadBalancer({ services: { orders: { discovery: client } } })
    const service = lb.service('orders')
    expect((await service.choose())?.instance.instanceId).toBe('orders-1')
    const failed = new Promise<unknown>((resolve) => service.on('discoveryError', ({ error }) => resolve(error)))
    fake.fault = fault
    fake.catalog.wakeAll()
    const error = (await failed) as { message: string; failure?: string }
    const explained = await service.explain()
    expect(service.pick()?.instance.instanceId).toBe('orders-1')
    expect(explained.notes).toContain('discovery failed: the last good list is served')
    expect(JSON.stringify(explained) + error.message).not.toMatch(/secret/)
    await lb.close()
    return error
  }

  it.each([
    ['truncated JSON', 'malformed', () => answer('[{"Node":{"No', '9')],
    ['nothing', 'malformed', () => answer('', '9')],
    ['an object', 'malformed', () => answer({}, '9')],
    ['null', 'malformed', () => answer(null, '9')],
    ['entries without a service', 'malformed', () => answer([{ Node: {} }], '9')],
    ['entries of wrong types', 'malformed', () => answer([raw({ Port: 'http' }), 7, null], '9')],
    ['checks that are no list', 'malformed', () => answer([raw({}, {}, 'passing')], '9')],
    ['a page of HTML', 'malformed', () => answer('<html>login</html>', '9')],
    ['403', 'denied', () => new Response('ACL not found', { status: 403 })],
    ['401', 'denied', () => new Response('', { status: 401 })],
    ['429', 'limited', () => new Response('rate limit exceeded', { status: 429 })],
    ['500', 'status', () => new Response('No cluster leader', { status: 500 })],
    ['400', 'status', () => new Response('Invalid index', { status: 400 })],
    ['404', 'status', () => new Response('', { status: 404 })],
    ['a page of HTML with 502', 'status', () => new Response('<html>', { status: 502 })],
    ['a redirect elsewhere', 'redirect', () => new Response('', { status: 307, headers: { location: 'http://x/' } })],
    ['10 MB', 'too-large', () => answer(`["${'x'.repeat(10 * 2 ** 20)}"]`, '9')],
    ['a broken connection', 'unreachable', () => Promise.reject(new Error('gone'))],
  ])('%s: %s, and the list stays', async (_, failure, fault) => {
    expect(await failedBy(fault)).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure })
  })

  it('an error text that repeats the token does not give it away', async () => {
    const echo = (request: Request) => new Response(`no ${request.headers.get('x-consul-token')}`, { status: 403 })
    expect((await failedBy(echo)).message).toContain('answered status 403: no …')
  })

  it('nobody at all is an answer: an unknown service, or all gone', async () => {
    const { fake, client } = await served()
    const { signal } = new AbortController()
    expect(await client.get('unheard-of', { signal })).toEqual([])
    fake.add('orders', entry(1))
    fake.remove('orders', 'orders-1')
    expect(await client.get('orders', { signal })).toEqual([])
  })

  it('a token that may see nothing of what is there is denied; one that may see a part is told so', async () => {
    const { fake, client } = await served({ token: 'reader' })
    const { signal } = new AbortController()
    fake.add('orders', entry(1))
    fake.rights = { reader: { read: ['billing'] } }
    expect(await errorOf(client.get('orders', { signal }))).toMatchObject({ failure: 'denied', status: 200 })
    expect(await client.get('unheard-of', { signal })).toEqual([])
    fake.rights = {}
    expect(await errorOf(client.get('orders', { signal }))).toMatchObject({ failure: 'denied', status: 403 })
    fake.fault = () => answer([raw()], '5', { 'x-consul-results-filtered-by-acls': 'true' })
    expect(idsOf(await client.get('orders', { signal }))).toEqual(['orders-1'])
    expect(client.describe('orders').filteredByAcls).toBe('the token may not see all instances')
  })

  it('no leader: a failure; a stale answer is taken all the same, but for one that lists nobody', async () => {
    const strict = cluster()
    strict.fake.add('orders', entry(1))
    strict.fake.hasLeader = false
    expect(await errorOf(strict.get())).toMatchObject({ failure: 'status', status: 500 })
    const stale = cluster({ consistency: 'stale' })
    stale.fake.add('orders', entry(1))
    stale.fake.hasLeader = false
    expect(idsOf(await stale.get())).toEqual(['orders-1'])
    expect(stale.client.describe('orders').leader).toBe('none known to the server that answered')
    stale.fake.remove('orders', 'orders-1')
    expect(await errorOf(stale.get())).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
  })

  it('hashicorp/consul#9776: a streamed answer always says that there is no leader, which means nothing', async () => {
    const { fake, get } = cluster({ cached: true, maxStaleMs: 1_000 })
    fake.isStreaming = true
    fake.add('orders', entry(1))
    expect(idsOf(await get())).toEqual(['orders-1'])
    fake.remove('orders', 'orders-1')
    expect(await get()).toEqual([])
    expect(fake.requests.length).toBe(2)
  })

  it('explain tells where the list is from, who was merged, and nothing secret', async () => {
    const { fake, client } = await served({ datacenter: 'dc1', tags: ['v2'] })
    fake.add('orders', entry(1, { tags: ['v2'] }))
    fake.add('orders', entry(2, { tags: ['v2'], host: '10.0.0.1' }))
    const lb = createLoadBalancer({ services: { orders: { discovery: client } } })
    await lb.service('orders').choose()
    const { source } = await lb.service('orders').explain()
    expect(source).toMatchObject({ datacenter: 'dc1', tags: 'v2', consistency: 'default', index: '12' })
    expect(source?.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(source?.merged).toContain('the same address')
    expect(JSON.stringify(source)).not.toMatch(/secret/)
    await lb.close()
  })

  it('tokens that change are hidden as long as questions may have them, and do not add up', async () => {
    const forgotten = vi.spyOn(RegistryHttp.prototype, 'unhide')
    let count = 0
    const { fake, get } = cluster({ token: () => `token-${++count >> 1}-of-many` })
    for (let i = 0; i < 7; i++) await get()
    expect(forgotten.mock.calls).toEqual([['token-0-of-many'], ['token-1-of-many']])
    fake.fault = () => new Response('no token-3-of-many, token-4-of-many', { status: 403 })
    expect(String(await errorOf(get()))).toMatch(/no …, …$/)
    forgotten.mockRestore()
  })

  it('a stale answer from before what was seen already is asked again of the leader', async () => {
    const { fake, get } = cluster({ consistency: 'stale' })
    fake.add('orders', entry(1))
    await get()
    const index = fake.catalog.indexOf('orders')
    fake.fault = ({ url }) => (url.includes('stale') ? answer([], String(index - 1n)) : undefined)
    expect(idsOf(await get())).toEqual(['orders-1'])
    expect(fake.requests.map(({ query }) => query.has('stale'))).toEqual([true, true, false])
    // The leader's own word counts, also after a snapshot was restored.
    fake.fault = () => answer([], '1')
    expect(await get()).toEqual([])
    fake.requests.length = 0
    expect(await get()).toEqual([])
    expect(fake.requests).toHaveLength(1)
  })

  it('close ends watches; another balancer that shares the client goes on', async () => {
    const { client } = cluster()
    const { signal } = new AbortController()
    const watch = client.watch('orders', { signal })[Symbol.asyncIterator]()
    await watch.next()
    const next = watch.next()
    await client.close()
    expect(await next).toMatchObject({ done: true })
    expect(await client.get('orders', { signal })).toEqual([])
    const again = client.watch('orders', { signal })[Symbol.asyncIterator]()
    expect(await again.next()).toMatchObject({ done: false, value: [] })
    await client.close()
  })
})
