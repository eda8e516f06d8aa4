/** What users of Spring Cloud asked for or met: the input of each issue, and what should come of it. */

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  attemptsOf,
  createLoadBalancer,
  type DiscoveryClient,
  hint,
  type InstanceInit,
  isConnectionError,
  leastRequest,
  type PickRequest,
  roundRobin,
  type Supplier,
  sameInstancePreference,
  stickySession,
  subset,
  weighted,
} from '../../bindings/index.js'
import { undiciFetch } from '../../bindings/transport/undici.js'
import {
  candidates,
  errorOf,
  failure,
  hosts,
  hostsOf,
  instance,
  layers,
  make,
  makeSpring,
  observer,
  picks,
  registry,
  scripted,
  settled,
  spring,
  tagged,
} from './kit.js'

const open: (() => unknown)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of open.splice(0).reverse()) await close()
})

const ab = hosts('a', 'b')
const abc = hosts('a', 'b', 'c')
const digits = hosts(...'0123456789')
const MAX = 2 ** 31 - 1

/** A supplier that keeps everything and the requests it was asked with. */
function spying() {
  const requests: PickRequest[] = []
  const supplier: Supplier = { name: 'spying', filter: (list, request) => (requests.push(request), list) }
  return { requests, supplier }
}

describe('picks', () => {
  it('commons 1144: sticky picks do not move the rotation', () => {
    const { service } = make({ instances: ab, suppliers: [stickySession()], policy: roundRobin({ start: -1 }) })
    const sticky = { cookies: { 'sc-lb-instance-id': 'a' } }
    expect(picks(service, 1) + picks(service, 1, sticky) + picks(service, 1)).toBe('aab')
  })

  it.each([
    [MAX, '0123456789'],
    [-(2 ** 31), '1234567890'],
  ])('commons 1074, commons PR 1077: begun at %i the order holds beyond the largest int', (start, expected) => {
    const { service } = make({ instances: digits, policy: roundRobin({ start }) })
    expect(picks(service, 10)).toBe(expected)
  })

  it('commons 595, commons 601: of a pair, the one with fewer requests in flight', () => {
    const { service } = make({ instances: ab, policy: leastRequest() })
    const leases = Array.from({ length: 10 }, () => service.pick())
    for (const lease of leases) if (lease?.instance.host === 'b') lease.done()
    expect(service.stats().instances.map(({ inFlight }) => inFlight)).toEqual([5, 0])
    expect(service.pick()?.instance.host).toBe('b')
  })

  it('commons 1063, commons 1102, commons PR 1140: weights 1:2:3 over six picks are 1, 2 and 3', () => {
    const instances = tagged({ a: { weight: '1' }, b: { weight: '2' }, c: { weight: '3' } })
    const seen = picks(make({ instances, suppliers: [weighted()] }).service, 6)
    expect(['a', 'b', 'c'].map((host) => seen.split(host).length - 1)).toEqual([1, 2, 3])
  })

  it('commons 1515: the algorithm is chosen for a service by its options', async () => {
    const options = JSON.parse('{ "A": { "policy": "random" }, "B": { "policy": "round-robin" } }')
    const lb = createLoadBalancer({
      seed: 7,
      services: { A: { instances: digits, ...options.A }, B: { instances: digits, ...options.B } },
    })
    expect([(await lb.explain('A')).policy, (await lb.explain('B')).policy]).toEqual(['random', 'round-robin'])
    const [random, turns] = [picks(lb.service('A'), 10), picks(lb.service('B'), 10)]
    expect('01234567890123456789').toContain(turns)
    expect('01234567890123456789').not.toContain(random)
  })
})

describe('chains', () => {
  it('commons 1488: what is inside of a subset is asked with the same request', () => {
    const { requests, supplier } = spying()
    const { service } = make({ instances: digits, suppliers: [supplier, subset({ instanceId: 'x', size: 3 })] })
    const request = { hint: 'h' }
    service.pick(request)
    expect(requests).toHaveLength(1)
    expect(requests[0]).toBe(request)
  })

  it('commons 1249, commons 1252: the same instance stays, whatever is around the preference', async () => {
    const { supplier } = spying()
    for (const suppliers of [
      [sameInstancePreference()],
      [supplier, sameInstancePreference()],
      [sameInstancePreference(), supplier, 'zone-preference', hint(), 'weighted'],
    ]) {
      const { service } = make({ discovery: registry(abc), suppliers })
      const chosen = [await service.choose(), await service.choose(), await service.choose()]
      expect(chosen.map((lease) => lease?.instance.host)).toEqual(['a', 'a', 'a'])
    }
  })

  it('commons 1056: the same id in a new object with new metadata is the same instance', async () => {
    const beat = (at: string) => tagged({ a: { at }, b: { at }, c: { at } })
    const client = registry(beat('1'))
    const { service } = make({ discovery: client, suppliers: [sameInstancePreference()] })
    await service.choose()
    const before = instance(service, 'a')
    client.says = beat('2')
    await service.refresh()
    expect(instance(service, 'a')).not.toBe(before)
    expect(picks(service, 3)).toBe('aaa')
  })

  it('commons 849, commons 1207: health checks have no cache beneath them, all other chains have one', async () => {
    vi.useFakeTimers()
    for (const preset of ['default', 'zone-preference', 'request-based-sticky-session', 'weighted']) {
      const { service } = make({ discovery: registry(ab), preset })
      await service.choose()
      expect((await layers(service)).slice(0, 2)).toEqual(['discovery', 'cache'])
    }
    const { service, lb } = make({ discovery: registry(ab), preset: 'health-check' })
    await service.choose()
    expect(await layers(service)).toEqual(['discovery', 'health-check'])
    await lb.close()
  })

  it('commons 880: a retry whose filter leaves only what was tried asks for the others', async () => {
    const { service } = make({ instances: abc, suppliers: [stickySession()] })
    const request = { cookies: { 'sc-lb-instance-id': 'a' }, previous: [instance(service, 'a')] }
    expect(await candidates(service, request)).toBe('bc')
    const failing = make({ instances: abc, suppliers: [stickySession()] }, {}, failure('ECONNREFUSED'), 200)
    await failing.lb.fetch('http://s/', { headers: { cookie: 'sc-lb-instance-id=a' } })
    expect(failing.reached()).toMatch(/^a[bc]$/)
  })

  it('commons 1628: an instance may have several API versions, and ranges of them', async () => {
    const instances = tagged({ a: { API_VERSION: '1,2' }, b: { API_VERSION: '3' }, c: { API_VERSION: '2+' } })
    const { service } = make({ instances, suppliers: ['api-version'] })
    const asks = (version: string) => candidates(service, { headers: { 'x-api-version': version } })
    expect([await asks('1'), await asks('2'), await asks('3')]).toEqual(['a', 'ac', 'bc'])
  })
})

describe('health checks and lists', () => {
  it('commons 1157: a round is one publication, so round robin reaches everybody', async () => {
    vi.useFakeTimers()
    const delays: Record<string, number> = { a: 30, b: 20, c: 10 }
    const { service, lb } = make({ instances: abc, healthCheck: { intervalMs: 1_000 } }, {}, ({ host }) => {
      return new Promise((resolve) => setTimeout(() => resolve(new Response()), delays[host]))
    })
    service.pick()
    await vi.advanceTimersByTimeAsync(30)
    const seen: string[] = []
    for (let ms = 0; ms < 3_000; ms += 10) {
      await vi.advanceTimersByTimeAsync(10)
      seen.push(picks(service, 3))
    }
    expect(new Set(seen)).toEqual(new Set(['abc']))
    await lb.close()
  })

  it('commons 976, commons 1039: health is asked at its own port, traffic keeps to the instance’s', async () => {
    vi.useFakeTimers()
    const healthCheck = { port: 8081, path: '/path' }
    const { service, lb, sent } = make({ instances: [{ host: 'host', port: 8080 }], healthCheck })
    await service.choose()
    await lb.fetch('http://s/')
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET http://host:8081/path',
      'GET http://host:8080/',
    ])
    await lb.close()
  })

  it('commons 1215: a list that has expired is served while the registry is down; one call asks it', async () => {
    const client = registry(hosts('a'))
    const { service, time } = make({ discovery: client, cache: { ttlMs: 1_000 } })
    await service.choose()
    client.says = new Error('down')
    time.now = 1_500
    const failed = new Promise((resolve) => service.on('discoveryError', resolve))
    const stale = await Promise.all([service.choose(), service.choose(), service.choose()])
    expect(stale.map((lease) => lease?.instance.host)).toEqual(['a', 'a', 'a'])
    expect(await failed).toMatchObject({ error: client.says, servedAgeMs: 1_500 })
    await settled()
    expect([client.asked, service.state]).toEqual([2, 'stale'])
    time.now = 1_000_000
    const much = await Promise.all([service.choose(), service.choose(), service.choose()])
    expect(much.map((lease) => lease?.instance.host)).toEqual(['a', 'a', 'a'])
    expect(client.asked).toBe(3)
  })

  it('commons 1254: under constant traffic the list is asked for anew after its time', async () => {
    const client = registry(hosts('a'))
    const { service, time } = makeSpring({ 'cache.ttl': '30s' }, { discovery: client })
    await service.choose()
    for (time.now = 1_000; time.now < 30_000; time.now += 1_000) await service.choose()
    expect([client.asked, time.now]).toEqual([1, 30_000])
    client.says = hosts('b')
    await service.choose()
    expect(client.asked).toBe(2)
    expect(await candidates(service)).toBe('b')
    const { options, warnings } = spring({ 'cache.caffeine.spec': 'expireAfterAccess=30s' })
    expect([options.defaults?.cache, warnings.length > 0]).toEqual([undefined, true])
  })

  it('commons 1542, commons PR 1739: a slow registry that comes first wins over a quick one', async () => {
    vi.useFakeTimers()
    const saying = (ms: number, order: number, list: InstanceInit[]): DiscoveryClient => ({
      name: `after ${ms} ms`,
      order,
      get: () => new Promise((resolve) => setTimeout(() => resolve(list), ms)),
    })
    const { service } = make({ discovery: [saying(1, 2, hosts('quick')), saying(500, 1, hosts('slow'))] })
    const chosen = service.choose()
    await vi.advanceTimersByTimeAsync(500)
    expect((await chosen)?.instance.host).toBe('slow')
  })
})

describe('URLs', () => {
  const urlOf = (at: InstanceInit, original: string) =>
    make({ instances: [at] })
      .service.pick()
      ?.url(original)

  it.each(['?m=%3CHello=World@x%3E', '?foo=%7C', '?m=%3Ca=b%3E', '/a%20b;v=%2F?x=é&y=%'])(
    'commons 1192, openfeign 819, gateway 2065, netflix 1382: what is encoded is not encoded once more: %s',
    async (rest) => {
      const path = rest.startsWith('/') ? rest : `/${rest}`
      expect(urlOf({ host: 'h', port: 8080 }, `http://svc${path}`)).toBe(`http://h:8080${path}`)
      const { lb, sent } = make({ instances: [{ host: 'h', port: 8080 }] })
      await lb.fetch(`http://s${path}`)
      expect(sent[0]?.url).toBe(`http://h:8080${path}`)
    },
  )

  it('netflix 1291: a plus in the query stays one when http becomes https', () => {
    expect(urlOf({ host: 'h', port: 8443, secure: true }, 'http://svc/x?q=a+b')).toBe('https://h:8443/x?q=a+b')
  })

  it.each([0, -1])('commons PR 1054: a secure instance with port %i is at 443', async (port) => {
    vi.useFakeTimers()
    const { service, sent } = make({ instances: [{ host: 'h', port, secure: true }], healthCheck: { path: '/' } })
    const chosen = await service.choose()
    expect(sent[0]?.url).toBe('https://h:443/')
    if (port < 0) expect(chosen?.url('http://s/x')).toBe('https://h:443/x')
  })

  it('gateway 1842, commons 823, commons 926, commons 1168: an lb route to a plain instance is http', async () => {
    const { lb, sent } = make({ instances: [{ host: 'h', port: 8080 }] })
    await lb.fetch('lb://s/x')
    expect(sent[0]?.url).toBe('http://h:8080/x')
  })

  it('gateway 1842, commons 823, commons 926, commons 1168: the scheme of an instance of its own wins', () => {
    expect(urlOf({ host: 'h', port: 8080, scheme: 'http' }, 'https://svc/x')).toBe('http://h:8080/x')
    expect(urlOf('http://h:8080', 'https://svc/x')).toBe('http://h:8080/x')
    expect(urlOf({ host: 'h', port: 8443, scheme: 'https' }, 'http://svc/x')).toBe('https://h:8443/x')
  })

  it('commons 1601: what names no service passes through untouched, where that is asked for', async () => {
    const { sent, transport } = scripted(200)
    const given: unknown[] = []
    const lb = createLoadBalancer({
      services: { s: ab },
      unknownService: 'passthrough',
      fetch: (input, init) => (given.push(input, init), transport(input, init)),
    })
    const init = { headers: { k: 'v' } }
    await lb.fetch('http://127.0.0.1:8080/x', init)
    await lb.fetch('http://localhost/y')
    expect(sent.map(({ url }) => url)).toEqual(['http://127.0.0.1:8080/x', 'http://localhost/y'])
    expect(given[1]).toBe(init)
  })
})

/** A server that answers every connection with nothing but this; its URL. */
async function server(answer: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    open.push(() => socket.destroy())
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  open.push(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

const answering = (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')

/** The URL of a port that nobody listens at. */
async function closedPort(): Promise<string> {
  const url = await server(() => {})
  await open.splice(-1)[0]?.()
  return url
}

/** The URL of a server whose loop stands still: once its queue is full, connections to it never open. */
async function silentPort(): Promise<string> {
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads')
    const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port)
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`,
    { eval: true },
  )
  open.push(() => worker.terminate())
  const [port] = await once(worker, 'message')
  const sockets = Array.from({ length: 16 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.slice(0, 2).map((socket) => once(socket, 'connect')))
  return `http://127.0.0.1:${port}`
}

describe('retries', () => {
  const connectError = failure('ECONNREFUSED')
  const isConnect = (error: unknown) => (error as { cause?: { code?: string } }).cause?.code === 'ECONNREFUSED'

  it('commons 1043, commons PR 1085: only the exceptions that are listed are tried again', async () => {
    const connecting = make({ instances: ab, retry: { exceptions: isConnect } }, {}, connectError, 200)
    expect((await connecting.lb.fetch('http://s/')).status).toBe(200)
    const readTimeout = failure('UND_ERR_HEADERS_TIMEOUT')
    const reading = make({ instances: ab, retry: { exceptions: isConnect } }, {}, readTimeout, 200)
    expect(await errorOf(reading.lb.fetch('http://s/'))).toBe(readTimeout)
    expect([connecting.reached(), reading.reached()]).toEqual(['ab', 'a'])
  })

  it('commons 1043, commons PR 1085: so are those that properties list: a limit on an attempt is none of them', async () => {
    vi.useFakeTimers()
    const listed = { 'retry.retryable-exceptions': 'java.net.ConnectException' }
    const connecting = makeSpring(listed, { instances: ab }, {}, connectError, 200)
    expect((await connecting.lb.fetch('http://s/')).status).toBe(200)
    const reading = makeSpring(
      listed,
      { instances: ab, attemptTimeoutMs: 100 },
      {},
      ({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      200,
    )
    const error = errorOf(reading.lb.fetch('http://s/'))
    await vi.advanceTimersByTimeAsync(100)
    expect(await error).toMatchObject({ code: 'EVENKEEL_TIMEOUT' })
    expect([connecting.reached(), reading.reached()]).toEqual(['ab', 'a'])
  })

  it('commons 1043, commons PR 1085: nor is undici’s read timeout a connect exception', async () => {
    const listed = { 'retry.retryable-exceptions': 'java.net.ConnectException' }
    const readTimeout = failure('UND_ERR_HEADERS_TIMEOUT')
    const { lb, reached } = makeSpring(listed, { instances: ab }, {}, readTimeout)
    expect(await errorOf(lb.fetch('http://s/'))).toBe(readTimeout)
    expect(reached()).toBe('a')
  })

  it('openfeign 840: after a retry on the same instance the error is that of the last attempt', async () => {
    const [first, last] = [failure('ECONNREFUSED'), failure('ECONNREFUSED')]
    const retry = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 0 }
    const { lb, reached } = make({ instances: ab, retry }, {}, first, last)
    const error = await errorOf(lb.fetch('http://s/'))
    expect(error).toBe(last)
    expect([(error.cause as { code: string }).code, reached()]).toEqual(['ECONNREFUSED', 'aa'])
  })

  it('openfeign 840: so it is over sockets', async () => {
    const transport = undiciFetch()
    open.push(() => transport.close())
    const instances = [await closedPort()]
    const retry = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 0 }
    const { lb } = make({ instances, retry }, { fetch: transport })
    const error = await errorOf(lb.fetch('http://s/'))
    expect(error).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNREFUSED' } })
    expect(attemptsOf(error)).toHaveLength(2)
  })

  it('gateway 2226, gateway 3862: the request of a retry has what was tried', async () => {
    const { requests, supplier } = spying()
    const { lb } = make({ instances: abc, suppliers: [supplier] }, {}, connectError, 200)
    await lb.fetch('http://s/x')
    expect(requests.map(({ previous = [] }) => hostsOf(previous))).toEqual(['', 'a'])
  })

  it('gateway 2226, gateway 3862: a connection that is refused counts as retryable', async () => {
    const transport = undiciFetch()
    open.push(() => transport.close())
    const instances = [await closedPort(), await server(answering)]
    const { lb } = make({ instances }, { fetch: transport })
    const response = await lb.fetch('http://s/')
    expect([response.status, await response.text(), attemptsOf(response).length]).toEqual([200, 'ok', 2])
  })

  it('gateway 2226, gateway 3862: a connection that does not open in time counts as retryable', async () => {
    const transport = undiciFetch({ connectTimeoutMs: 100 })
    open.push(() => transport.close())
    const instances = [await silentPort(), await server(answering)]
    const { lb } = make({ instances }, { fetch: transport })
    const response = await lb.fetch('http://s/')
    expect([response.status, await response.text()]).toEqual([200, 'ok'])
    const [first] = attemptsOf(response)
    expect(first?.error).toMatchObject({ cause: { code: 'UND_ERR_CONNECT_TIMEOUT' } })
    expect(isConnectionError(first?.error)).toBe(true)
  })

  it('commons PR 1321: there is one default of retries, for every way to send', async () => {
    const { lb, service, reached } = make({ instances: ab }, {}, connectError)
    expect(service.options().retry).toMatchObject({
      from: 'default',
      value: { maxRetriesOnSameServiceInstance: 0, maxRetriesOnNextServiceInstance: 1, retryOnAllOperations: false },
    })
    await errorOf(lb.fetch('http://s/'))
    await errorOf(lb.fetch(new Request('http://s/')))
    await errorOf(service.fetch('/'))
    await errorOf(lb.with({ hint: 'h' }).fetch('http://s/'))
    expect(reached()).toHaveLength(8)
    const post = make({ instances: ab }, {}, connectError)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) await errorOf(post.lb.fetch('http://s/', { method }))
    expect(post.reached()).toHaveLength(4)
  })
})

describe('calls without an instance', () => {
  const all = 'openfeign 1203, commons 1173, commons 1196, gateway 2351'

  it(`${all}: one error of one kind, discarded once, with meters too`, async () => {
    const { lifecycle, order } = observer()
    const { lb, service, sent } = make({ instances: [], metrics: {} }, { lifecycle: [lifecycle] })
    const errors = [await errorOf(lb.fetch('http://s/x')), await errorOf(service.fetch('/x'))]
    for (const error of errors) expect(error).toMatchObject({ name: 'NoInstanceError', code: 'EVENKEEL_NO_INSTANCE' })
    expect(order).toEqual(['onStart', 'DISCARD', 'onStart', 'DISCARD'])
    expect(service.stats().meters.map(({ name, count }) => [name, count])).toEqual([
      ['loadbalancer.requests.discard', 2],
    ])
    expect([sent.length, service.stats().noInstance]).toEqual([0, 2])
  })

  it(`${all}: or a 503, discarded once`, async () => {
    const { lifecycle, order } = observer()
    const { lb, sent } = make({ instances: [], metrics: {}, noInstance: 'response' }, { lifecycle: [lifecycle] })
    const response = await lb.fetch('http://s/x')
    expect([response.status, order, sent.length]).toEqual([503, ['onStart', 'DISCARD'], 0])
  })

  it(`${all}: a retry that finds nobody any more is discarded, and ends with the error of the attempt before`, async () => {
    const error = failure('ECONNREFUSED')
    const { lifecycle, order } = observer()
    const { lb, service, sent } = make({ instances: ab, metrics: {} }, { lifecycle: [lifecycle] }, () => {
      service.update([])
      throw error
    })
    expect(await errorOf(lb.fetch('http://s/x'))).toBe(error)
    expect([sent.length, order]).toEqual([1, ['onStart', 'onStartRequest', 'FAILED', 'onStart', 'DISCARD']])
  })

  it('gateway 414: no instance is 503 or 404, by choice', async () => {
    const { lb } = make({ instances: [], noInstance: 'response' })
    expect((await lb.fetch('http://s/')).status).toBe(503)
    const other = make({ instances: [], noInstance: 'response', noInstanceStatus: 404 })
    expect((await other.lb.fetch('http://s/')).status).toBe(404)
  })
})

describe('what is seen and told', () => {
  const all = 'commons 1090, commons 1100, commons 1368, gateway 2059, gateway 2720'
  const headers = { 'x-own': '1', cookie: 'k=1; sc-lb-instance-id=c' }
  const url = 'http://s/path?q=1'

  type Made = ReturnType<typeof make>
  const entries: [string, (made: Made) => unknown][] = [
    ['lb.fetch', ({ lb }) => lb.with({ attributes: { a: 1 } }).fetch(url, { method: 'PUT', headers })],
    [
      'lb.fetch of a Request',
      ({ lb }) => lb.with({ attributes: { a: 1 } }).fetch(new Request(url, { method: 'PUT', headers })),
    ],
    ['lb.pick', ({ lb }) => lb.pick('s', { method: 'PUT', url, headers, attributes: { a: 1 } })],
    ['lb.choose', ({ lb }) => lb.choose('s', { method: 'PUT', url, headers, attributes: { a: 1 } })],
    ['service.pick', ({ service }) => service.pick({ method: 'PUT', url, headers, attributes: { a: 1 } })],
    ['with attributes', ({ lb }) => lb.with({ attributes: { a: 1 } }).pick('s', { method: 'PUT', url, headers })],
    ['explain', ({ service }) => service.explain({ method: 'PUT', url, headers, attributes: { a: 1 } })],
  ]

  it.each(entries)(
    `${all}: through %s suppliers see method, URL, headers, cookies and attributes`,
    async (_, enter) => {
      const { requests, supplier } = spying()
      const chosen: number[] = []
      const counting: Supplier = { name: 'counting', filter: (list) => (chosen.push(list.length), list) }
      const made = make({ instances: abc, suppliers: [supplier, stickySession(), counting] })
      await enter(made)
      const [request] = requests
      expect(request).toMatchObject({ method: 'PUT', url, attributes: { a: 1 } })
      expect(new Headers(request?.headers).get('x-own')).toBe('1')
      // The cookie has been read: one instance is left.
      expect(chosen).toEqual([1])
    },
  )

  it(`${all}: and so do policies and observers`, async () => {
    const seen: PickRequest[] = []
    const policy = {
      name: 'seeing',
      pick: (_: unknown, context: { request: PickRequest }) => (seen.push(context.request), 0),
    }
    const { lifecycle, onStart } = observer()
    const { lb } = make({ instances: abc, policy }, { lifecycle: [lifecycle] })
    await lb.with({ attributes: { a: 1 }, key: 'k' }).fetch(url, { method: 'put', headers })
    const expected = { method: 'PUT', url, headers, attributes: { a: 1 }, key: 'k' }
    expect([seen[0], onStart[0]?.request]).toEqual([expected, expected])
  })

  it('commons 778, commons 922, commons 964, commons 1015, commons 1076, gateway 2712: a service needs a name', async () => {
    const message = 'a service id must be a non-empty string, not ""'
    expect(() => createLoadBalancer({ services: { '': ab } })).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', message }),
    )
    const asked: string[] = []
    const lb = createLoadBalancer({ discovery: async (id) => (asked.push(id), ab) })
    expect(() => lb.pick('')).toThrow(message)
    expect(() => lb.service('')).toThrow(message)
    expect(() => lb.define('', { instances: ab })).toThrow(message)
    expect(await errorOf(lb.choose(''))).toMatchObject({ message })
    expect(() => lb.pick(undefined as never)).toThrow(/service id must be a non-empty string, not undefined/)
    expect(await errorOf(lb.fetch('http:///x'))).toMatchObject({ code: 'EVENKEEL_CONFIG' })
    expect(asked).toEqual([])
  })

  it('commons 1258: tags of one’s own are on every meter', async () => {
    const tags = ({ instance }: { instance?: { metadata: Readonly<Record<string, string>> } }) => ({
      zone: instance?.metadata.zone ?? 'none',
    })
    const { lb, service } = make(
      { instances: tagged({ a: { zone: 'east' } }), metrics: { tags }, retry: false },
      {},
      200,
      failure('ECONNREFUSED'),
    )
    await lb.fetch('http://s/')
    await errorOf(lb.fetch('http://s/'))
    expect(service.stats().meters.map(({ name, tags }) => [name, tags.zone])).toEqual([
      ['loadbalancer.requests.active', 'east'],
      ['loadbalancer.requests.success', 'east'],
      ['loadbalancer.requests.failed', 'east'],
    ])
    service.update([])
    await errorOf(lb.fetch('http://s/'))
    expect(service.stats().meters.map(({ name, tags }) => [name, tags.zone])).toEqual([
      ['loadbalancer.requests.discard', 'none'],
    ])
  })
})
