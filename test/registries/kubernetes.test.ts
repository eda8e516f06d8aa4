/** @module The Kubernetes client over HTTP: questions, answers that are none, credentials, options. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type KubernetesDiscoveryOptions, kubernetesDiscovery } from '../../bindings/discovery/kubernetes/index.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { FakeKubernetes, status } from './fakes/kubernetes.js'
import { endpoint, errorOf, follow, idsOf, listed, pod, setup, signal, slice } from './kubernetes-setup.js'
import { RegistryServer } from './serve.js'

let fake: FakeKubernetes
let server: RegistryServer

beforeEach(async () => {
  fake = new FakeKubernetes({ endpointsPerSlice: 1 })
  server = new RegistryServer(fake)
  await server.start()
})

afterEach(async () => {
  fake.close()
  await server.kill()
})

const client = (options: KubernetesDiscoveryOptions = {}) => kubernetesDiscovery({ url: server.url, ...options })

/** Resolves when the condition holds, asked whenever the event loop turns. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

describe('a list', () => {
  it('is read page by page', async () => {
    for (let i = 1; i <= 7; i++) fake.add('orders', pod(`p${i}`, i))
    expect(idsOf(await listed(client({ limit: 3 })))).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7'])
    expect(fake.requests.map(({ query }) => [query.limit, query.continue])).toEqual([
      ['3', undefined],
      ['3', 'c1'],
      ['3', 'c2'],
    ])
  })

  it('whose next page is too old (410) is read once more, as one page', async () => {
    for (let i = 1; i <= 7; i++) fake.add('orders', pod(`p${i}`, i))
    fake.fault = ({ url }) => {
      if (url.includes('continue=c2')) fake.compact()
      return undefined
    }
    expect(await listed(client({ limit: 3 }))).toHaveLength(7)
    expect(fake.requests.at(-1)?.query).toEqual({ labelSelector: 'kubernetes.io/service-name=orders' })
    fake.fault = ({ url }) => (url.includes('continue') ? undefined : status(410, 'Gone', 'gone'))
    expect(await errorOf(listed(client()))).toMatchObject({ failure: 'status', status: 410 })
  })

  it('of a service that does not exist is empty', async () => {
    expect(await listed(client(), 'nobody')).toEqual([])
  })

  it('that never ends is refused', async () => {
    const page = { metadata: { resourceVersion: '1', continue: 'more' }, items: [] }
    const { client } = setup({ fetch: async () => Response.json(page) })
    expect(await errorOf(listed(client))).toMatchObject({ failure: 'too-large' })
  })

  it('ends with its signal', async () => {
    server.hang()
    const stop = new AbortController()
    const asked = errorOf(client().get('orders', { signal: stop.signal }) as Promise<unknown>)
    stop.abort(new Error('enough'))
    expect((await asked).message).toBe('enough')
    server.resume()
  })
})

describe('a service id', () => {
  it('may name the namespace, or be the name of the cluster DNS', async () => {
    fake.add('orders.shop', pod('a', 1))
    for (const id of ['orders.shop', 'orders.shop.svc', 'orders.shop.svc.cluster.local']) {
      expect(idsOf(await listed(client(), id))).toEqual(['a'])
    }
    expect(idsOf(await listed(client({ namespace: 'shop' })))).toEqual(['a'])
    expect(await listed(client({ namespace: 'shop' }), 'orders.default')).toEqual([])
  })

  it('that no service can have is an error, and reaches no selector', async () => {
    for (const id of ['ORDERS', 'my_svc', 'orders,tier=gold', 'orders.shop/../x', 'orders.shop.pod', '', 'a.']) {
      const error = await errorOf(listed(client(), id))
      expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'serviceId' })
    }
    expect(fake.requests).toEqual([])
  })
})

describe('services', () => {
  it('are those that have slices, by their metadata alone', async () => {
    fake.add('orders', pod('a', 1))
    fake.add('orders', pod('b', 2))
    fake.add('billing', pod('c', 3))
    fake.add('other.shop', pod('d', 4))
    const bare = slice('by-hand', [])
    fake.put({ ...bare, metadata: { name: 'by-hand', labels: {} } })
    expect(await client({ limit: 2 }).services({ signal: signal() })).toEqual(['billing', 'orders'])
    expect(fake.requests[0]?.query.labelSelector).toBe('kubernetes.io/service-name')
    expect(fake.requests[0]?.accept).toContain('PartialObjectMetadataList')
  })
})

describe('answers that are none', () => {
  const answers: [name: string, answer: () => Response, expected: object, message: RegExp][] = [
    ['401', () => status(401, 'Unauthorized', 'Unauthorized'), { failure: 'denied', status: 401 }, /no token, or one/],
    [
      '403',
      () => status(403, 'Forbidden', 'endpointslices is forbidden: User "x" cannot list'),
      { failure: 'denied', status: 403 },
      /status 403: endpointslices is forbidden.*allowed to get, list and watch endpointslices/,
    ],
    [
      '404',
      () => status(404, 'NotFound', 'not found'),
      { failure: 'status', status: 404 },
      /no discovery\.k8s\.io\/v1/,
    ],
    ['429', () => status(429, 'TooManyRequests', 'wait'), { failure: 'limited', status: 429 }, /wait/],
    ['500', () => new Response('oops', { status: 500 }), { failure: 'status', status: 500 }, /oops/],
    ['HTML', () => new Response('<html>login</html>'), { failure: 'malformed' }, /HTML/],
    ['nothing', () => new Response(''), { failure: 'malformed' }, /nothing/],
    ['half a JSON', () => new Response('{"items":[{"metad'), { failure: 'malformed' }, /no JSON/],
    ['another object', () => Response.json({}), { failure: 'malformed' }, /metadata of the list/],
    [
      'another type',
      () => Response.json({ metadata: { resourceVersion: '1' }, items: {} }),
      { failure: 'malformed' },
      /items of the list must be an array/,
    ],
    [
      'no version',
      () => Response.json({ metadata: {}, items: [] }),
      { failure: 'malformed' },
      /resourceVersion of the list must be a text, missing/,
    ],
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'http://elsewhere.test/' } }),
      { failure: 'redirect' },
      /redirect/,
    ],
    ['10 MB', () => new Response(`"${'x'.repeat(10_000_000)}"`), { failure: 'too-large' }, /more than 8388608 bytes/],
  ]
  for (const [name, answer, expected, message] of answers) {
    it(`${name}: a typed error in explain, and the old list stays`, async () => {
      fake.add('orders', pod('a', 1))
      const lb = createLoadBalancer({ services: { orders: { discovery: client({ random: () => 0 }) } } })
      const service = lb.service('orders')
      await service.choose()
      fake.fault = () => answer()
      const error = await errorOf(service.refresh())
      expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', ...expected })
      expect(error.message).toMatch(message)
      const told = new Promise<unknown>((resolve) => service.on('discoveryError', ({ error }) => resolve(error)))
      fake.cutWatches()
      await told
      await until(() => service.stats().discoveryErrors >= 2)
      expect((await service.explain()).layers[0]?.reason).toMatch(message)
      expect(idsOf(service.instances())).toEqual(['a'])
      await lb.close()
    })
  }

  it('no answer: a timeout', async () => {
    server.hang()
    expect(await errorOf(listed(client({ requestTimeoutMs: 20 })))).toMatchObject({ failure: 'timeout' })
    server.resume()
  })

  it('no server: unreachable', async () => {
    await server.kill()
    expect(await errorOf(listed(client()))).toMatchObject({ failure: 'unreachable' })
  })

  it('an unknown authority: the error says what to do', async () => {
    const cause = Object.assign(new Error('unable to verify the first certificate'), {
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    })
    const failing = async () => {
      throw new TypeError('fetch failed', { cause })
    }
    const error = await errorOf(listed(client({ fetch: failing })))
    expect(error.message).toContain('NODE_EXTRA_CA_CERTS')
  })
})

describe('a watch over HTTP', () => {
  it('lists a change within a second, and is over when it is not wanted', async () => {
    const heard = follow(client())
    await until(() => fake.watches === 1)
    const beganAt = performance.now()
    fake.add('orders', pod('a', 1))
    await until(() => heard.lists.length === 2)
    expect(performance.now() - beganAt).toBeLessThan(1_000)
    heard.stop()
    await until(() => fake.watches === 0)
  })

  it('is begun anew when the server was killed, with what has changed meanwhile', async () => {
    fake.add('orders', pod('a', 1))
    const heard = follow(client({ random: () => 0 }))
    await until(() => fake.watches === 1)
    await server.kill()
    await until(() => heard.failures.length > 0)
    expect(heard.failures[0]).toMatchObject({ failure: 'unreachable' })
    fake.add('orders', pod('b', 2))
    await server.start()
    await until(() => heard.lists.length === 2)
    expect(idsOf(heard.lists[1])).toEqual(['a', 'b'])
    heard.stop()
  })

  it('refused: what the API says, and what to do', async () => {
    fake.fault = ({ url }) => (url.includes('watch=true') ? status(403, 'Forbidden', 'no') : undefined)
    const heard = follow(client())
    await until(() => heard.failures.length > 0)
    expect(heard.failures[0]).toMatchObject({ failure: 'denied', status: 403 })
    expect(String(heard.failures[0])).toContain('watch endpointslices')
    heard.stop()
  })

  it('a line without end is refused', async () => {
    const heard = follow(client({ maxAnswerBytes: 2_000 }))
    await until(() => fake.watches === 1)
    fake.put(slice('s', [endpoint('a', '10.1.0.1', { hostname: 'x'.repeat(5_000) })]))
    await until(() => heard.failures.length > 0)
    expect(heard.failures[0]).toMatchObject({ failure: 'too-large' })
    heard.stop()
  })
})

describe('credentials', () => {
  it('a token goes with each request, as given or as asked for', async () => {
    fake.tokens = ['secret-1']
    expect(await listed(client({ token: 'secret-1\n' }))).toEqual([])
    expect(await listed(client({ token: () => 'secret-1' }))).toEqual([])
    expect(await listed(client({ token: async () => ' secret-1 ' }))).toEqual([])
    expect(await errorOf(listed(client()))).toMatchObject({ failure: 'denied' })
    const heard = follow(client({ token: 'secret-1' }))
    await until(() => fake.watches === 1)
    expect(fake.requests.at(-1)?.authorization).toBe('Bearer secret-1')
    heard.stop()
  })

  it('refused: a function is asked once more at once, a text is not', async () => {
    fake.tokens = ['new']
    const tokens = ['old', 'new']
    expect(await listed(client({ token: () => String(tokens.shift()) }))).toEqual([])
    fake.requests.length = 0
    expect(await errorOf(listed(client({ token: 'old' })))).toMatchObject({ failure: 'denied' })
    expect(fake.requests).toHaveLength(1)
  })

  it('a token that can not be had is an error', async () => {
    const cases: [KubernetesDiscoveryOptions['token'], RegExp][] = [
      [() => Promise.reject(new Error('no vault')), /token\(\) failed: no vault/],
      [() => '', /returned no token/],
      [() => 7 as never, /returned no token/],
      [() => new Promise<string>(() => {}), /token\(\) took longer than 20 ms/],
    ]
    for (const [token, message] of cases) {
      const error = await errorOf(listed(client({ token: token as string, requestTimeoutMs: 20 })))
      expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
      expect(error.message).toMatch(message)
    }
  })

  it('are told nowhere', async () => {
    const secrets = ['hush-token', 'hush-header', 'hush-password']
    const url = server.url.replace('//', `//user:${secrets[2]}@`)
    let count = 0
    const token = () => `${secrets[0]}-${++count % 7}`
    const told: string[] = []
    const given = { url, token, headers: { 'x-key': 'hush-header' } }
    fake.fault = ({ headers }) =>
      status(500, 'Internal', `sent: ${headers.get('authorization')} ${headers.get('x-key')}`)
    for (let i = 0; i < 20; i++) {
      const discovery = client(given)
      told.push(String(await errorOf(listed(discovery))), JSON.stringify(discovery.describe('orders')))
    }
    const heard = follow(client(given))
    await until(() => heard.failures.length > 0)
    heard.stop()
    told.push(String(heard.failures[0]))
    for (const option of ['token', 'headers', 'url'] as const) {
      const wrong = { token: ['hush-token'], headers: { 'x-key': 'hush-header\n' }, url: `ftp://x:hush-password@y` }
      told.push(String(await errorOf((async () => client({ [option]: wrong[option] } as object))())))
    }
    told.push(String(await errorOf((async () => client({ token: 'hush-token\u0001' }))())))
    for (const secret of secrets) expect(told.join()).not.toContain(secret)
    expect(told.join()).toContain('sent: Bearer')
  })

  it('in the URL are basic authentication', async () => {
    await listed(client({ url: server.url.replace('//', '//user:pass@') }))
    expect(fake.requests[0]?.authorization).toBe(`Basic ${btoa('user:pass')}`)
  })
})

describe('options', () => {
  it('are refused by name', () => {
    const wrong: [object, string][] = [
      [{ url: 'x' }, 'url'],
      [{ url: 'http://x/?a=1' }, 'url'],
      [{ namespace: 'My_Space' }, 'namespace'],
      [{ token: '' }, 'token'],
      [{ port: 0 }, 'port'],
      [{ port: '' }, 'port'],
      [{ port: 1.5 }, 'port'],
      [{ family: 'v4' }, 'family'],
      [{ zone: '' }, 'zone'],
      [{ hints: 1 }, 'hints'],
      [{ serving: true }, 'serving'],
      [{ secure: 'yes' }, 'secure'],
      [{ labelSelector: '' }, 'labelSelector'],
      [{ labelPrefix: 1 }, 'labelPrefix'],
      [{ limit: 0 }, 'limit'],
      [{ watchTimeoutMs: 10 }, 'watchTimeoutMs'],
      [{ serviceAccountFolder: '' }, 'serviceAccountFolder'],
      [{ order: 'first' }, 'order'],
      [{ colour: 'red' }, 'colour'],
    ]
    for (const [options, name] of wrong) {
      expect(() => kubernetesDiscovery({ url: 'http://x', ...options }), name).toThrow(
        expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringContaining(name) }),
      )
    }
  })

  it('describe the source', async () => {
    const discovery = client({ order: 3 })
    expect([discovery.name, discovery.order]).toEqual(['kubernetes', 3])
    expect(discovery.describe('orders')).toEqual({ address: server.url, namespace: 'default' })
    fake.add('orders', pod('a', 1))
    await listed(discovery)
    expect(discovery.describe('orders')).toEqual({
      address: server.url,
      namespace: 'default',
      slices: '1',
      resourceVersion: '1001',
      family: 'IPv4',
    })
    await discovery.close()
  })

  it('a gateway below a path', async () => {
    const gateway = new RegistryServer({
      fetch: (request) => fake.fetch(new Request(request.url.replace('/k8s/clusters/c1', ''), request)),
    })
    await gateway.start()
    fake.add('orders', pod('a', 1))
    expect(idsOf(await listed(client({ url: `${gateway.url}/k8s/clusters/c1/` })))).toEqual(['a'])
    await gateway.kill()
  })
})
