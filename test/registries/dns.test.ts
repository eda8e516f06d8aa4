import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type DnsDiscovery, type DnsDiscoveryOptions, dnsDiscovery } from '../../bindings/discovery/dns/index.js'
import { createLoadBalancer, type DiscoveryError, type InstanceInit } from '../../bindings/index.js'
import { FakeDoh, type Row } from './fakes/doh.js'
import { inProcess } from './in-process.js'
import { RegistryServer } from './serve.js'

const DOH = 'http://name.server/dns-query'
const SRV = '_http._tcp.orders.lan'

function client(fake: FakeDoh, options: DnsDiscoveryOptions = {}): DnsDiscovery {
  const over = options.resolver === undefined ? { resolver: { doh: DOH }, fetch: inProcess(fake) } : {}
  return dnsDiscovery({ ...over, name: '_http._tcp.{service}.lan', ...options })
}

const a = (...addresses: string[]): Row[] => addresses.map((data) => ({ type: 'A', data }))
const srv = (...data: string[]): Row[] => data.map((each) => ({ type: 'SRV', data: each }))

type Shown = Exclude<InstanceInit, string | URL>

async function got(discovery: DnsDiscovery, serviceId = 'orders'): Promise<Shown[]> {
  const list = await discovery.get(serviceId, { signal: new AbortController().signal })
  return list as Shown[]
}

async function idsOf(discovery: DnsDiscovery): Promise<(string | undefined)[]> {
  return (await got(discovery)).map(({ instanceId }) => instanceId)
}

async function failureOf(promise: Promise<unknown>): Promise<DiscoveryError> {
  return promise.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (error) => error,
  )
}

function serviceOf(discovery: DnsDiscovery) {
  const lb = createLoadBalancer({ services: { orders: { discovery } } })
  const service = lb.service('orders')
  return { lb, service, ids: () => service.instances().map(({ instanceId }) => instanceId) }
}

describe('options', () => {
  it.each([
    [{ name: '{service}.lan' }, 'port'],
    [{ record: 'A' as const, name: '_x' }, 'port'],
    [{ name: '' }, 'name'],
    [{ record: 'MX' as never }, 'record'],
    [{ port: 0 }, 'port'],
    [{ port: 80, minTtlMs: 999 }, 'minTtlMs'],
    [{ port: 80, minTtlMs: 9_000, maxTtlMs: 8_000 }, 'maxTtlMs'],
    [{ port: 80, srvIntervalMs: 10 }, 'srvIntervalMs'],
    [{ port: 80, servers: [] }, 'servers'],
    [{ port: 80, servers: ['127.0.0.1', 'ns.lan'] }, 'servers[1]'],
    [{ port: 80, servers: ['127.0.0.1:99999'] }, 'servers[0]'],
    [{ port: 80, servers: ['::1'], resolver: { doh: DOH } }, 'servers'],
    [{ port: 80, resolver: { doh: 'ftp://x' } }, 'resolver.doh'],
    [{ port: 80, resolver: {} as never }, 'resolver'],
    [{ port: 80, resolver: { doh: DOH, json: true } as never }, 'resolver.json'],
    [{ port: 80, resolveTargets: 'SRV' as never }, 'resolveTargets'],
    [{ port: 80, priorities: 'some' as never }, 'priorities'],
    [{ port: 80, ttl: 3 } as never, 'ttl'],
    // Those that would do nothing.
    [{ port: 80, fetch }, 'fetch'],
    [{ port: 80, init: {} }, 'init'],
    [{ port: 80, headers: {}, resolver: async () => [] }, 'headers'],
    [{ port: 80, maxAnswerBytes: 9, resolver: 'system' as const }, 'maxAnswerBytes'],
    [{ record: 'SRV' as const, port: 80 }, 'port'],
    [{ name: '_http._tcp.{service}.lan', port: 80 }, 'port'],
    [{ name: (id: string) => id, record: 'A' as const, port: 80, priorities: 'all' as const }, 'priorities'],
    [{ port: 80, resolveTargets: true }, 'resolveTargets'],
  ])('%j is refused by name', (options, option) => {
    expect(() => dnsDiscovery(options)).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: `dnsDiscovery.${option}` }),
    )
  })

  it('no error shows the credentials of a URL', () => {
    const doh = 'ftp://user:geheim@name.server/'
    expect(() => dnsDiscovery({ port: 80, resolver: { doh } })).toThrow(/^(?!.*geheim)/s)
    expect(() => dnsDiscovery({ port: 80, resolver: { doh: new URL(doh), more: 1 } as never })).toThrow(
      /^(?!.*geheim)/s,
    )
  })

  it('servers are addresses, with a port or the usual one', () => {
    for (const servers of [['127.0.0.1'], ['127.0.0.1:5353'], ['[::1]:5353'], ['::1'], ['[::1]']]) {
      expect(() => dnsDiscovery({ port: 80, servers })).not.toThrow()
    }
  })

  it('a name is a template or a function, and must be one that a name server can have', async () => {
    const fake = new FakeDoh()
    fake.put('orders.lan', a('10.0.0.1'))
    expect(await idsOf(client(fake, { name: '{service}.lan.', port: 80 }))).toEqual(['10.0.0.1:80'])
    expect(await idsOf(client(fake, { name: (id) => `${id}.lan`, port: 80 }))).toEqual(['10.0.0.1:80'])
    for (const name of ['a..b', 'ä.lan', 'x y', `${'x'.repeat(64)}.lan`, '']) {
      const error = await failureOf(got(client(fake, { name: () => name, port: 80 })))
      expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'dnsDiscovery.name' })
    }
  })

  it('a function may give names of both kinds: those of address records need a port', async () => {
    const fake = new FakeDoh()
    const discovery = client(fake, { name: (id) => (id === 'orders' ? SRV : 'x.lan') })
    expect(await got(discovery)).toEqual([])
    expect(await failureOf(got(discovery, 'x'))).toMatchObject({ option: 'dnsDiscovery.port' })
  })

  it('where the runtime resolves no names, the error says what to give', () => {
    vi.stubGlobal('process', undefined)
    try {
      expect(() => dnsDiscovery({ port: 80 })).toThrow(/resolver must be \{ doh: url \} or a function/)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

describe('address records', () => {
  it('each address is an instance, with the configured port; 443 is secure', async () => {
    const fake = new FakeDoh()
    fake.put('orders', a('10.0.0.2', '10.0.0.1'))
    expect(await got(client(fake, { name: '{service}', port: 8080 }))).toEqual([
      { instanceId: '10.0.0.1:8080', host: '10.0.0.1', port: 8080, secure: false, metadata: {} },
      { instanceId: '10.0.0.2:8080', host: '10.0.0.2', port: 8080, secure: false, metadata: {} },
    ])
    const secure = async (options: DnsDiscoveryOptions) =>
      (await got(client(fake, { name: 'orders', ...options })))[0]?.secure
    expect(await secure({ port: 443 })).toBe(true)
    expect(await secure({ port: 443, secure: false })).toBe(false)
    expect(await secure({ port: 8443, secure: true })).toBe(true)
  })

  it('IPv6 addresses make URLs, and the same address in other letters is the same', async () => {
    const fake = new FakeDoh()
    fake.put('orders', [
      { type: 'AAAA', data: 'FD00:0:0:0:0:0:0:1' },
      { type: 'AAAA', data: 'fd00::2' },
    ])
    const discovery = client(fake, { name: 'orders', record: 'AAAA', port: 80 })
    const { lb, service } = serviceOf(discovery)
    const lease = await service.choose()
    expect(lease?.url('/x')).toMatch(/^http:\/\/\[fd00::[12]\]:80\/x$/)
    expect((await got(discovery)).map(({ host }) => host)).toEqual(['fd00::1', 'fd00::2'])
    await lb.close()
  })

  it('A+AAAA asks for both, and one that fails leaves the other, with what the one had', async () => {
    const fake = new FakeDoh()
    const clock = { ms: 0 }
    fake.put('orders', [...a('10.0.0.1'), { type: 'AAAA', data: 'fd00::1' }])
    const discovery = client(fake, { name: 'orders', record: 'A+AAAA', port: 80, clock: () => clock.ms })
    expect(await idsOf(discovery)).toEqual(['10.0.0.1:80', 'fd00::1:80'])
    fake.put('orders', [...a('10.0.0.9'), { type: 'AAAA', data: 'fd00::9' }])
    fake.rcodes.set('AAAA', 2)
    clock.ms += 5_000
    const told: unknown[] = []
    const signal = new AbortController().signal
    const list = (await discovery.get('orders', { signal, partlyFailed: (error) => told.push(error) })) as Shown[]
    expect(list.map(({ host }) => host)).toEqual(['10.0.0.9', 'fd00::1'])
    expect(told).toMatchObject([{ failure: 'status', message: 'dns: AAAA orders: SERVFAIL' }])
  })

  it('a family that fails says nothing about a name that has none of the other', async () => {
    const fake = new FakeDoh()
    fake.put('orders', [{ type: 'AAAA', data: 'fd00::1' }])
    fake.rcodes.set('AAAA', 2)
    const discovery = client(fake, { name: 'orders', record: 'A+AAAA', port: 80 })
    expect(await failureOf(got(discovery))).toMatchObject({ failure: 'status' })
  })

  it('follows CNAME records; the shortest TTL on the way counts', async () => {
    const fake = new FakeDoh()
    fake.put('orders', [{ type: 'CNAME', data: 'far.lan.', ttl: 7 }])
    fake.put('far.lan', a('10.0.0.1'))
    const discovery = client(fake, { name: 'orders', port: 80 })
    expect(await idsOf(discovery)).toEqual(['10.0.0.1:80'])
    expect(discovery.describe('orders')).toMatchObject({ name: 'orders', record: 'A', refreshMs: '7000' })
  })
})

describe('SRV records', () => {
  it('host, port, weight and priority; only the lowest priority is listed', async () => {
    const fake = new FakeDoh()
    fake.put(SRV, srv('10 60 8080 N1.lan.', '10 20 8081 n2.lan', '20 1 8080 n3.lan.'))
    expect(await got(client(fake))).toEqual([
      {
        instanceId: 'n1.lan:8080',
        host: 'n1.lan',
        port: 8080,
        secure: false,
        metadata: { priority: '10', weight: '60' },
      },
      {
        instanceId: 'n2.lan:8081',
        host: 'n2.lan',
        port: 8081,
        secure: false,
        metadata: { priority: '10', weight: '20' },
      },
    ])
  })

  it("priorities: 'all' lists every tier, told apart by metadata; the lower of two counts", async () => {
    const fake = new FakeDoh()
    fake.put(SRV, srv('20 5 8080 n1.lan.', '10 0 8080 n1.lan.', '20 3 443 n3.lan.'))
    const discovery = client(fake, { priorities: 'all' })
    expect(
      (await got(discovery)).map(({ instanceId, metadata, secure }) => [instanceId, metadata?.priority, secure]),
    ).toEqual([
      ['n1.lan:8080', '10', false],
      ['n3.lan:443', '20', true],
    ])
    expect(discovery.describe('orders').merged).toContain('"n1.lan:8080"')
  })

  it('weights: all 0 are alike; a 0 among others is 1, its share in the draw of RFC 2782', async () => {
    const fake = new FakeDoh()
    const weights = async (...rows: string[]) => {
      fake.put(SRV, srv(...rows))
      return (await got(client(fake))).map(({ metadata }) => metadata?.weight)
    }
    expect(await weights('0 0 1 a.lan.', '0 0 1 b.lan.')).toEqual(['1', '1'])
    expect(await weights('0 60 1 a.lan.', '0 0 1 b.lan.')).toEqual(['60', '1'])
  })

  it("a target of '.' is nobody", async () => {
    const fake = new FakeDoh()
    fake.put(SRV, srv('0 0 0 .'))
    expect(await got(client(fake))).toEqual([])
    fake.put(SRV, srv('0 0 0 .', '5 0 80 n1.lan.'))
    expect(await idsOf(client(fake))).toEqual(['n1.lan:80'])
  })

  it('resolveTargets: the addresses of the lowest priority that has any, sharing the weight of their target', async () => {
    const fake = new FakeDoh()
    const clock = { ms: 0 }
    fake.put(SRV, srv('10 5 80 gone.lan.', '20 60 8080 n1.lan.', '20 5 8080 n2.lan.', '30 1 80 n3.lan.'))
    fake.put('n1.lan', a('10.0.0.1', '10.0.0.2'))
    fake.put('n2.lan', a('10.0.0.3'))
    fake.put('n3.lan', a('10.0.0.4'))
    const discovery = client(fake, { resolveTargets: true, clock: () => clock.ms })
    expect((await got(discovery)).map(({ instanceId, metadata }) => [instanceId, metadata])).toEqual([
      ['10.0.0.1:8080', { priority: '20', weight: '30', target: 'n1.lan' }],
      ['10.0.0.2:8080', { priority: '20', weight: '30', target: 'n1.lan' }],
      ['10.0.0.3:8080', { priority: '20', weight: '5', target: 'n2.lan' }],
    ])
    fake.put('gone.lan', a('10.0.0.9'))
    clock.ms += 5_000
    expect(await idsOf(discovery)).toEqual(['10.0.0.9:80'])
  })

  it('resolveTargets: another priority stands in for targets that are gone, not for a name server that fails', async () => {
    const fake = new FakeDoh()
    const clock = { ms: 0 }
    fake.put(SRV, srv('10 5 80 n1.lan.', '20 5 80 n2.lan.'))
    fake.put('n1.lan', a('10.0.0.1'))
    fake.put('n2.lan', a('10.0.0.2'))
    fake.rcodes.set('A', 2)
    const discovery = client(fake, { resolveTargets: 'A', clock: () => clock.ms })
    expect(await failureOf(got(discovery))).toMatchObject({ failure: 'status' })
    fake.rcodes.clear()
    clock.ms += 5_000
    expect(await idsOf(discovery)).toEqual(['10.0.0.1:80'])
    fake.rcodes.set('A', 2)
    clock.ms += 5_000
    expect(await idsOf(discovery)).toEqual(['10.0.0.1:80'])
  })

  it('a record that cannot be read is left out and named; if none can be, the answer is malformed', async () => {
    const fake = new FakeDoh()
    fake.put(SRV, srv('0 0 80 n1.lan.', '0 0 0 n2.lan.', '0 0 80', '0 0 99999 n3.lan.', '0 0 80 a/b.', '0 0 80 a..b.'))
    const discovery = client(fake)
    expect(await idsOf(discovery)).toEqual(['n1.lan:80'])
    expect(discovery.describe('orders').unreadable?.split('; ')).toHaveLength(5)
    fake.put(SRV, srv('0 0 0 n2.lan.'))
    expect(await failureOf(got(client(fake)))).toMatchObject({ failure: 'malformed' })
    fake.put('orders', a('10.0.0.256', '1.2.3'))
    expect(await failureOf(got(client(fake, { name: 'orders', port: 80 })))).toMatchObject({ failure: 'malformed' })
  })
})

describe('DNS over HTTPS', () => {
  const fake = new FakeDoh()
  const server = new RegistryServer(fake)

  beforeAll(() => server.start())
  afterAll(() => server.kill())
  afterEach(() => {
    fake.respond = undefined
    fake.rcode = undefined
  })

  const over = (options: DnsDiscoveryOptions = {}) =>
    dnsDiscovery({ resolver: { doh: `${server.url}/dns-query` }, name: '_http._tcp.{service}.lan', ...options })
  const row = (more: object = {}) => ({ name: SRV, type: 33, TTL: 3, data: '0 0 80 n1.lan.', ...more })

  it('asks with the name, the type and the media type of the JSON form', async () => {
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    expect(await idsOf(over())).toEqual(['n1.lan:80'])
    expect(fake.asked.at(-1)).toBe(`SRV ${SRV}`)
    expect(fake.lastHeaders.get('accept')).toBe('application/dns-json')
  })

  it('NXDOMAIN and no data are nobody', async () => {
    fake.put(SRV, [])
    expect(await got(over())).toEqual([])
    fake.put(SRV, [{ type: 'TXT', data: 'x' }])
    expect(await got(over())).toEqual([])
  })

  it.each([
    [1, 'status', 'FORMERR'],
    [2, 'status', 'SERVFAIL'],
    [4, 'status', 'NOTIMP'],
    [5, 'denied', 'REFUSED'],
    [23, 'status', 'response code 23'],
  ])('response code %i is a failure', async (rcode, failure, word) => {
    fake.rcode = rcode
    expect(await failureOf(got(over()))).toMatchObject({ failure, message: `dns: SRV ${SRV}: ${word}` })
  })

  it.each<[string, Response | (() => Response), object]>([
    ['status 500', () => new Response('oops', { status: 500 }), { failure: 'status', status: 500 }],
    ['status 403', () => new Response('no', { status: 403 }), { failure: 'denied', status: 403 }],
    ['status 429', () => new Response('', { status: 429 }), { failure: 'limited', status: 429 }],
    ['truncated JSON', () => new Response('{"Status":0,"Ans'), { failure: 'malformed' }],
    ['a page of HTML', () => new Response('<html>'), { failure: 'malformed' }],
    ['nothing', () => new Response(''), { failure: 'malformed' }],
    ['an array', () => Response.json([]), { failure: 'malformed' }],
    ['no Status', () => Response.json({}), { failure: 'malformed' }],
    ['a Status that is a text', () => Response.json({ Status: '0' }), { failure: 'malformed' }],
    ['an Answer that is none', () => Response.json({ Status: 0, Answer: {} }), { failure: 'malformed' }],
    ['rows that are none', () => Response.json({ Status: 0, Answer: ['x'] }), { failure: 'malformed' }],
    [
      'a type that is a text',
      () => Response.json({ Status: 0, Answer: [row({ type: 'SRV' })] }),
      { failure: 'malformed' },
    ],
    ['no TTL', () => Response.json({ Status: 0, Answer: [row({ TTL: undefined })] }), { failure: 'malformed' }],
    ['data that is no text', () => Response.json({ Status: 0, Answer: [row({ data: 4 })] }), { failure: 'malformed' }],
    ['a part', () => Response.json({ Status: 0, TC: true, Answer: [row()] }), { failure: 'too-large' }],
    ['10 MB', () => new Response('x'.repeat(10_000_000)), { failure: 'too-large' }],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'http://x/' } }),
      { failure: 'redirect' },
    ],
  ])('%s: the list stays, the failure is told', async (_, respond, expected) => {
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const clock = { ms: 0 }
    const discovery = over({ clock: () => clock.ms })
    const { lb, service, ids } = serviceOf(discovery)
    await service.choose()
    fake.respond = respond as () => Response
    clock.ms += 5_000
    expect(await failureOf(service.refresh())).toMatchObject({ code: 'EVENKEEL_DISCOVERY', ...expected })
    expect(ids()).toEqual(['n1.lan:80'])
    await lb.close()
  })

  it('nobody listens, nobody answers: unreachable, timeout', async () => {
    const other = new RegistryServer(fake)
    await other.start()
    other.hang()
    const resolver = { doh: other.url }
    expect(await failureOf(got(over({ resolver, requestTimeoutMs: 30 })))).toMatchObject({ failure: 'timeout' })
    await other.kill()
    expect(await failureOf(got(over({ resolver })))).toMatchObject({ failure: 'unreachable' })
  })

  it('credentials are sent, and told nowhere', async () => {
    const doh = `${server.url.replace('://', '://user:geheim@')}/dns-query`
    const discovery = over({ resolver: { doh }, headers: { 'x-key': 'verborgen' } })
    fake.respond = (request) =>
      new Response(`${request.headers.get('authorization')} ${request.headers.get('x-key')}`, { status: 500 })
    const { lb, service } = serviceOf(discovery)
    const error = await failureOf(service.refresh())
    const told = JSON.stringify([
      await service.explain(),
      discovery.describe('orders'),
      error.message,
      `${error.cause}`,
    ])
    expect(fake.lastHeaders.get('authorization')).toBe(`Basic ${btoa('user:geheim')}`)
    expect(fake.lastHeaders.get('x-key')).toBe('verborgen')
    expect(told).toContain('500')
    expect(told).not.toMatch(/geheim|verborgen/)
    expect(told).not.toContain(btoa('user:geheim'))
    await lb.close()
  })
})

describe('a resolver of the user', () => {
  const ask = (answer: unknown, options: DnsDiscoveryOptions = {}) =>
    dnsDiscovery({ name: '_x.{service}', resolver: async () => answer as never, ...options })

  it('gives records, or [] for nobody', async () => {
    expect(await idsOf(ask([{ target: 'n1.lan.', port: 80, priority: 0, weight: 0 }]))).toEqual(['n1.lan:80'])
    expect(await got(ask([]))).toEqual([])
    const addresses = ask([{ address: '10.0.0.1', ttl: 4 }, { address: 'x' }], { record: 'A', port: 80 })
    expect(await idsOf(addresses)).toEqual(['10.0.0.1:80'])
    expect(addresses.describe('orders').unreadable).toContain('{"address":"x"}')
  })

  it('no array is malformed; what it throws is a failure, unless it says that there is nobody', async () => {
    expect(await failureOf(got(ask(undefined)))).toMatchObject({ failure: 'malformed' })
    const thrown = (error: Error) => got(dnsDiscovery({ name: '_x', resolver: () => Promise.reject(error) }))
    expect(await failureOf(thrown(new Error('no')))).toMatchObject({ failure: 'unreachable' })
    expect(await thrown(Object.assign(new Error(), { code: 'ENODATA' }))).toEqual([])
  })

  it('that never answers and hears no signal is left behind', async () => {
    const discovery = dnsDiscovery({ name: '_x', requestTimeoutMs: 20, resolver: () => new Promise(() => {}) })
    expect(await failureOf(got(discovery))).toMatchObject({ failure: 'timeout' })
  })

  it('TTLs beyond 31 bits are 0 (RFC 2181 §8)', async () => {
    const discovery = ask([{ address: '10.0.0.1', ttl: 2 ** 31 }], { record: 'A', port: 80 })
    await got(discovery)
    expect(discovery.describe('orders').refreshMs).toBe('5000')
  })
})

describe('over time', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  async function askedWithin(fake: FakeDoh, ms: number): Promise<number> {
    const before = fake.asked.length
    await vi.advanceTimersByTimeAsync(ms)
    return fake.asked.length - before
  }

  async function watched(fake: FakeDoh, options: DnsDiscoveryOptions = {}) {
    const service = serviceOf(client(fake, { random: () => 0, ...options }))
    void service.service.choose()
    await vi.advanceTimersByTimeAsync(0)
    return service
  }

  it('asks again when the TTL is over', async () => {
    const fake = new FakeDoh({ ttl: 12 })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const { lb, ids } = await watched(fake)
    fake.put(SRV, srv('0 0 80 n1.lan.', '0 0 80 n2.lan.'))
    expect(await askedWithin(fake, 11_999)).toBe(0)
    expect(await askedWithin(fake, 1)).toBe(1)
    expect(ids()).toEqual(['n1.lan:80', 'n2.lan:80'])
    await lb.close()
  })

  it.each([
    [0, 5_000],
    [86_400, 30_000],
  ])('a TTL of %i s is within the bounds', async (ttl, ms) => {
    const fake = new FakeDoh({ ttl })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const { lb } = await watched(fake)
    expect(await askedWithin(fake, ms - 1)).toBe(0)
    expect(await askedWithin(fake, 1)).toBe(1)
    await lb.close()
  })

  it('without a TTL it asks every srvIntervalMs; where nobody is, every minTtlMs', async () => {
    const fake = new FakeDoh()
    let records: unknown[] = [{ target: 'n1.lan', port: 80, priority: 0, weight: 0 }]
    const asked: number[] = []
    const resolver = async () => {
      asked.push(performance.now())
      return records as never
    }
    const { lb } = await watched(fake, { resolver, srvIntervalMs: 40_000 })
    await vi.advanceTimersByTimeAsync(40_000)
    records = []
    await vi.advanceTimersByTimeAsync(45_000)
    const [first = 0] = asked
    expect(asked.map((at) => at - first)).toEqual([0, 40_000, 80_000, 85_000])
    await lb.close()
  })

  it('the next question comes up to a tenth of the TTL later', async () => {
    const fake = new FakeDoh({ ttl: 10 })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const draws = [0]
    const { lb } = await watched(fake, { random: () => draws.pop() ?? 0.999 })
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await askedWithin(fake, 10_980)).toBe(0)
    expect(await askedWithin(fake, 20)).toBe(1)
    await lb.close()
  })

  it('an answer that says the same in another order keeps every instance, and is no change', async () => {
    const fake = new FakeDoh({ ttl: 5 })
    fake.put(SRV, srv('0 0 80 n1.lan.', '0 0 80 n2.lan.', '0 0 80 n3.lan.'))
    const { lb, service } = await watched(fake)
    const changes: unknown[] = []
    service.on('change', (change) => changes.push(change))
    const before = service.instances()
    expect(await askedWithin(fake, 20_000)).toBe(4)
    expect(service.instances().every((each, i) => each === before[i])).toBe(true)
    expect(changes).toEqual([])
    expect(service.stats().listAgeMs).toBeLessThan(5_000)
    await lb.close()
  })

  it('a watch gives a list when it has changed, and says otherwise that it is confirmed', async () => {
    const fake = new FakeDoh({ ttl: 5 })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const stop = new AbortController()
    const seen: unknown[] = []
    const options = { signal: stop.signal, confirmed: () => void seen.push('same') }
    const watching = (async () => {
      for await (const list of client(fake, { random: () => 0 }).watch('orders', options)) seen.push(list.length)
    })()
    await vi.advanceTimersByTimeAsync(10_000)
    fake.put(SRV, [])
    await vi.advanceTimersByTimeAsync(5_000)
    stop.abort()
    await watching
    expect(seen).toEqual([1, 'same', 'same', 0])
  })

  it('grpc/grpc-node#1663: new pods behind a headless service are used, though no call has failed', async () => {
    const fake = new FakeDoh({ ttl: 5 })
    fake.put('orders.svc', a('10.0.0.1'))
    const { lb, service } = await watched(fake, { name: '{service}.svc', port: 80 })
    fake.put('orders.svc', a('10.0.0.1', '10.0.0.2', '10.0.0.3'))
    await vi.advanceTimersByTimeAsync(5_500)
    const hosts = new Set(Array.from({ length: 6 }, () => service.pick()?.instance.host))
    expect([...hosts].sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
    await lb.close()
  })

  it('grpc/grpc-node#2023: a name that begins to exist after the client is found', async () => {
    const fake = new FakeDoh({ ttl: 5 })
    const { lb, ids } = await watched(fake)
    expect(ids()).toEqual([])
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(ids()).toEqual(['n1.lan:80'])
    await lb.close()
  })

  it('grpc/grpc-node#2455: however often a refresh is asked for, a name is asked for once within minTtlMs', async () => {
    const fake = new FakeDoh({ ttl: 300 })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const { lb, service } = await watched(fake)
    const storm = async () => {
      for (let i = 0; i < 50; i++) {
        void Promise.all([service.refresh(), service.refresh()]).catch(() => {})
        await vi.advanceTimersByTimeAsync(100)
      }
    }
    const before = fake.asked.length
    await storm()
    await storm()
    expect(fake.asked.length - before).toBe(1)
    fake.rcode = 2
    await vi.advanceTimersByTimeAsync(5_000)
    const failing = fake.asked.length
    await storm()
    await storm()
    expect(fake.asked.length - failing).toBe(2)
    await lb.close()
  })

  it('where nobody is, a timer that comes early puts the next question off by no more than that', async () => {
    const fake = new FakeDoh()
    // The clock goes a little slower than the timers.
    const clock = () => performance.now() * 0.999
    const { lb, ids } = await watched(fake, { clock })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    await vi.advanceTimersByTimeAsync(5_010)
    expect(ids()).toEqual(['n1.lan:80'])
    await lb.close()
  })

  it('questions that come together are one; one of them given up leaves the others', async () => {
    const fake = new FakeDoh()
    const asked: AbortSignal[] = []
    let open = (_: never[]) => {}
    const resolver = (_: string, __: string, { signal }: { signal: AbortSignal }) => {
      asked.push(signal)
      return new Promise<never[]>((resolve) => {
        open = resolve
      })
    }
    const discovery = client(fake, { resolver })
    const [first, second] = [new AbortController(), new AbortController()]
    const one = failureOf(discovery.get('orders', { signal: first.signal }))
    const other = discovery.get('orders', { signal: second.signal })
    first.abort(new Error('enough'))
    expect(await one).toMatchObject({ message: 'enough' })
    expect(asked.map(({ aborted }) => aborted)).toEqual([false])
    open([])
    expect(await other).toEqual([])
    await vi.advanceTimersByTimeAsync(5_000)
    const third = failureOf(discovery.get('orders', { signal: AbortSignal.abort(new Error('no')) }))
    expect(await third).toMatchObject({ message: 'no' })
    const last = new AbortController()
    const alone = failureOf(discovery.get('orders', { signal: last.signal }))
    await vi.advanceTimersByTimeAsync(0)
    last.abort(new Error('gone'))
    expect(await alone).toMatchObject({ message: 'gone' })
    expect(asked.map(({ aborted }) => aborted)).toEqual([false, true])
  })

  it('any number of services wait by one listener on the signal they were given', async () => {
    const fake = new FakeDoh()
    for (let i = 0; i < 20; i++) fake.put(`s${i}.lan`, a(`10.0.0.${i}`))
    const stop = new AbortController()
    const added = vi.spyOn(stop.signal, 'addEventListener')
    const removed = vi.spyOn(stop.signal, 'removeEventListener')
    const clients = [1, 2].map(() => client(fake, { name: '{service}.lan', port: 80 }))
    const told: string[] = []
    const ended = clients.flatMap((discovery) =>
      Array.from({ length: 20 }, async (_, i) => {
        for await (const list of discovery.watch(`s${i}`, { signal: stop.signal })) told.push(`${i} ${list.length}`)
      }),
    )
    await Promise.all(clients.map((each) => each.get('s0', { signal: stop.signal })))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told).toHaveLength(40)
    expect(added.mock.calls.length - removed.mock.calls.length).toBe(1)
    stop.abort()
    await Promise.all(ended)
  })

  it('questions that are over leave no listener behind', async () => {
    const fake = new FakeDoh()
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const discovery = client(fake)
    await Promise.all(Array.from({ length: 15 }, (_, i) => discovery.get(`s${i}`, { signal })))
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1])
  })

  it('while the name server fails the list is served, its age is told, and it is asked less and less often', async () => {
    const fake = new FakeDoh({ ttl: 5 })
    fake.put(SRV, srv('0 0 80 n1.lan.'))
    const { lb, service, ids } = await watched(fake, { random: () => 0.5, maxTtlMs: 5_000 })
    fake.rcode = 2
    await vi.advanceTimersByTimeAsync(120_000)
    expect(ids()).toEqual(['n1.lan:80'])
    expect(service.stats().listAgeMs).toBe(120_000)
    expect(fake.asked.length).toBeLessThan(12)
    expect(JSON.stringify(await service.explain())).toContain('SERVFAIL')
    fake.rcode = undefined
    fake.put(SRV, [])
    await vi.advanceTimersByTimeAsync(30_000)
    expect(ids()).toEqual([])
    await lb.close()
  })
})
