/** @module etcd: which keys are a service's, what their values say, and what is said when it can't be had. */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { etcdDiscovery } from '../../bindings/discovery/etcd/index.js'
import { createLoadBalancer } from '../../bindings/index.js'
import { clientOf, grpc, listOf } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'

let fake: FakeEtcd

beforeEach(() => {
  fake = new FakeEtcd()
})

afterEach(() => fake.close())

const signal = new AbortController().signal

describe('values', () => {
  test.each([
    ['gRPC naming', grpc('10.0.0.1:8080'), { host: '10.0.0.1', port: 8080, secure: false, metadata: {} }],
    [
      'gRPC naming with metadata',
      grpc('10.0.0.1:8080', { weight: 3, zone: 'z1', secure: 'true', canary: true, deep: {} }),
      { secure: true, metadata: { weight: '3', zone: 'z1', canary: 'true' } },
    ],
    ['gRPC naming with a text as metadata', grpc('a:1', 'blue'), { metadata: { 'etcd.metadata': 'blue' } }],
    ['gRPC naming with IPv6', grpc('[::1]:80'), { host: '::1', port: 80 }],
    ['gRPC naming without Op', '{"Addr":"10.0.0.1:80"}', { port: 80 }],
    [
      'JSON',
      '{"host":"h","port":81,"secure":true,"zone":"z","weight":2,"version":"1","status":"DOWN","metadata":{"a":1}}',
      { host: 'h', port: 81, secure: true, metadata: { a: '1', zone: 'z', weight: '2', version: '1', status: 'DOWN' } },
    ],
    ['JSON with a port as text', '{"host":"h","port":"81"}', { port: 81 }],
    ['JSON with an id', '{"host":"h","port":81,"instanceId":"me"}', { instanceId: 'me' }],
    ['JSON with a url', '{"url":"https://h"}', { host: 'h', port: 443, secure: true }],
    ['JSON with a url and a port', '{"url":"http://h:81/"}', { host: 'h', port: 81, secure: false }],
    ['host:port', '10.0.0.1:8080', { host: '10.0.0.1', port: 8080, secure: false, metadata: {} }],
    ['host:port, with IPv6 and a line end', ' [2001:db8::1]:8080\n', { host: '2001:db8::1', port: 8080 }],
    ['a URL', 'https://h:8443', { host: 'h', port: 8443, secure: true }],
  ])('%s', async (_, value, expected) => {
    fake.put('orders/key', value)
    expect(await listOf(clientOf(fake))).toMatchObject([{ instanceId: 'key', ...expected }])
  })

  test.each([
    ['no port', grpc('10.0.0.1')],
    ['a port out of range', '10.0.0.1:70000'],
    ['port 0', '{"host":"h","port":0}'],
    ['no host', '{"port":80}'],
    ['an empty host', '{"host":"","port":80}'],
    ['no text for Addr', '{"Addr":5}'],
    ['cut JSON', '{"host":"h"'],
    ['an array', '["10.0.0.1:80"]'],
    ['nothing', ''],
    ['a path', 'http://h:80/path'],
    ['credentials', 'http://me:secret@h:80'],
    ['no boolean for secure', '{"host":"h","port":80,"secure":"yes"}'],
    ['no UTF-8', undefined],
  ])('a value with %s is left out and named; alone it is no list', async (_, value) => {
    fake.put('orders/good', '10.0.0.1:80')
    if (value === undefined) fake.putBytes('orders/odd', '\xff\xfe')
    else fake.put('orders/odd', value)
    const client = clientOf(fake)
    expect((await listOf(client)).map(({ instanceId }) => instanceId)).toEqual(['good'])
    expect(client.describe('orders').unreadable).toContain('"orders/odd": the value')
    fake.delete('orders/good')
    await expect(listOf(client)).rejects.toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'malformed' })
    await expect(listOf(client)).rejects.toThrow(
      'none of 1 values under "orders/" can be read: "orders/odd": the value',
    )
  })

  test('parse reads a format of its own: an instance, a text, or undefined for what is none', async () => {
    fake.put('kratos/orders/1', '{"endpoints":["grpc://10.0.0.1:9000","http://10.0.0.1:8000"]}')
    fake.put('kratos/orders/2', '{"endpoints":["grpc://10.0.0.2:9000"]}')
    fake.put('kratos/orders/3', 'text')
    fake.put('kratos/orders/4', 'no')
    const seen: string[] = []
    const client = clientOf(fake, {
      prefix: 'kratos/{serviceId}/',
      parse(key, value) {
        seen.push(key)
        if (value === 'text') return '10.0.0.3:80'
        const url = JSON.parse(value).endpoints.find((each: string) => each.startsWith('http:'))
        return url && { url, weight: 2 }
      },
    })
    expect(await listOf(client)).toMatchObject([
      { instanceId: '1', host: '10.0.0.1', port: 8000, metadata: { weight: '2' } },
      { instanceId: '3', host: '10.0.0.3', port: 80 },
    ])
    expect(seen).toEqual(['kratos/orders/1', 'kratos/orders/2', 'kratos/orders/3', 'kratos/orders/4'])
    expect(client.describe('orders').unreadable).toMatch(/^"kratos\/orders\/4": .*JSON/)
  })

  test('two keys with one address are one instance, and told', async () => {
    fake.put('orders/a', grpc('10.0.0.1:80'))
    fake.put('orders/b', grpc('10.0.0.1:80'))
    const client = clientOf(fake)
    expect(await listOf(client)).toHaveLength(1)
    expect(client.describe('orders').merged).toContain('the same address')
  })

  test('an unchanged answer is the list that was there', async () => {
    fake.put('orders/b', grpc('10.0.0.2:80', { zone: 'z' }))
    fake.put('orders/a', grpc('10.0.0.1:80'))
    const client = clientOf(fake)
    const before = await listOf(client)
    expect(await listOf(client)).toBe(before)
    fake.put('orders/a', grpc('10.0.0.9:80'))
    const later = await listOf(client)
    expect(later).not.toBe(before)
    expect(later[1]).toBe(before[1])
  })
})

describe('keys', () => {
  test('only those under the prefix, in any depth; the mark of a folder is no instance', async () => {
    fake.put('orders/', '')
    fake.put('orders/eu/1', '10.0.0.1:80')
    fake.put('orders2/2', '10.0.0.2:80')
    fake.put('order/3', '10.0.0.3:80')
    expect(await listOf(clientOf(fake))).toMatchObject([{ instanceId: 'eu/1' }])
  })

  test('no key is no instance, not a failure', async () => {
    expect(await listOf(clientOf(fake))).toEqual([])
    fake.put('orders/', '')
    expect(await listOf(clientOf(fake))).toEqual([])
  })

  test('a template with or without a dollar sign, a function, and names beyond ASCII', async () => {
    fake.put('/services/bücher/v1/ü', '10.0.0.1:80')
    fake.put('x:bücher:y', '10.0.0.2:80')
    const template = clientOf(fake, { prefix: '/services/{serviceId}/v1/' })
    expect(await listOf(template, 'bücher')).toMatchObject([{ instanceId: 'ü', host: '10.0.0.1' }])
    const dollar = clientOf(fake, { prefix: ['/services/$', '{serviceId}/v1/'].join('') })
    expect(await listOf(dollar, 'bücher')).toEqual(await listOf(template, 'bücher'))
    const byFunction = clientOf(fake, { prefix: (serviceId) => `x:${serviceId}:` })
    expect(await listOf(byFunction, 'bücher')).toMatchObject([{ instanceId: 'y', host: '10.0.0.2' }])
    expect(byFunction.describe('bücher').prefix).toBe('x:bücher:')
  })

  test('a function that answers no prefix is named', async () => {
    const client = clientOf(fake, { prefix: () => '' })
    await expect(listOf(client)).rejects.toMatchObject({ code: 'EVENKEEL_CONFIG', option: 'etcdDiscovery.prefix' })
  })

  test('services are what stands between the root and the end of the prefix', async () => {
    for (const key of ['svc/b/v1/1', 'svc/a/v1/1', 'svc/a/v1/2', 'svc/c', 'svc//v1/', 'other/d/v1/1'])
      fake.put(key, 'h:1')
    const client = clientOf(fake, { prefix: 'svc/{serviceId}/v1/' })
    expect(await client.services?.({ signal })).toEqual(['a', 'b'])
    expect(fake.requests.at(-1)?.body).toContain('"keys_only":true')
    expect(await clientOf(fake).services?.({ signal })).toEqual(['other', 'svc'])
    expect(clientOf(fake, { prefix: (id) => id }).services).toBeUndefined()
    expect(clientOf(fake, { prefix: 'svc/{serviceId}' }).services).toBeUndefined()
  })
})

describe('failures', () => {
  const failing = async (response: () => Response, options = {}) => {
    fake.fault = response
    return listOf(clientOf(fake, options)).then(
      () => expect.fail('it must fail'),
      (error) => error,
    )
  }

  test.each([
    ['permission denied', 403, 7, 'denied'],
    ['authentication failed, invalid user ID or password', 400, 3, 'denied'],
    ['user name is empty', 400, 3, 'denied'],
    ['no leader', 503, 14, 'status'],
    ['request timed out', 504, 4, 'status'],
    ['too many requests', 429, 8, 'limited'],
  ])('"%s" is an error in the words of the server', async (said, status, code, failure) => {
    const error = `etcdserver: ${said}`
    for (const body of [
      { error, message: error, code },
      { code, message: error, details: [] },
      { error: { grpc_code: code, http_code: status, message: error } },
    ]) {
      expect(await failing(() => Response.json(body, { status }))).toMatchObject({
        code: 'EVENKEEL_DISCOVERY',
        failure,
        status,
        message: `etcd: POST http://127.0.0.1:2379/v3/kv/range answered status ${status}: ${error}`,
      })
    }
  })

  test.each([
    ['no object', '[]'],
    ['no header', '{"kvs":[]}'],
    ['a header that is none', '{"header":5}'],
    ['a revision that is none', '{"header":{"revision":"x"}}'],
    ['keys that are no array', '{"header":{"revision":"1"},"kvs":{}}'],
    ['a key that is no object', '{"header":{"revision":"1"},"kvs":[5]}'],
    ['a key that is no base64', '{"header":{"revision":"1"},"kvs":[{"key":"***"}]}'],
    ['a value that is no base64', '{"header":{"revision":"1"},"kvs":[{"key":"YQ==","value":5}]}'],
    ['cut JSON', '{"header":{"revi'],
    ['nothing', ''],
    ['a page', '<html>proxy</html>'],
  ])('an answer of %s is malformed', async (_, text) => {
    expect(await failing(() => new Response(text))).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'malformed' })
  })

  test('an error within an answer of status 200 is one', async () => {
    const error = await failing(() => Response.json({ error: { message: 'etcdserver: no leader', grpc_code: 14 } }))
    expect(error).toMatchObject({ failure: 'status', message: expect.stringContaining('no leader') })
  })

  test('more than maxAnswerBytes is refused', async () => {
    const error = await failing(() => new Response('x'.repeat(2_000)), { maxAnswerBytes: 1_000 })
    expect(error).toMatchObject({ failure: 'too-large', message: expect.stringContaining('maxAnswerBytes') })
  })

  test('of several servers the next is asked, and then first', async () => {
    fake.put('orders/a', '10.0.0.1:80')
    const asked: string[] = []
    const client = etcdDiscovery({
      url: ['http://one:2379', new URL('http://two:2379/'), 'http://three:2379/etcd'],
      fetch: async (input, init) => {
        const { host } = new URL(String(input))
        asked.push(host)
        if (host === 'one:2379') throw new TypeError('refused')
        return fake.fetch(new Request(input, init))
      },
    })
    expect(await listOf(client)).toHaveLength(1)
    expect(await listOf(client)).toHaveLength(1)
    expect(asked).toEqual(['one:2379', 'two:2379', 'two:2379'])
    expect(client.describe('orders').address).toBe('http://one:2379, http://two:2379, http://three:2379/etcd')
  })

  test('the gateway of 3.3 has another path', async () => {
    await listOf(clientOf(fake, { api: '/v3beta' }))
    expect(fake.requests.map(({ path }) => path)).toEqual(['/v3beta/kv/range'])
  })
})

describe('options', () => {
  test.each([
    [{ url: [] }, 'url'],
    [{ url: 'ftp://h' }, 'url'],
    [{ url: ['http://h', 'h:1'] }, 'url[1]'],
    [{ url: 'http://root:secret@h' }, 'url'],
    [{ prefix: 'orders/' }, 'prefix'],
    [{ prefix: '{serviceId}/{serviceId}/' }, 'prefix'],
    [{ parse: 'json' }, 'parse'],
    [{ api: '/v2' }, 'api'],
    [{ format: 'xml' }, 'format'],
    [{ leaseTtlMs: 0 }, 'leaseTtlMs'],
    [{ checkIntervalMs: 1 }, 'checkIntervalMs'],
    [{ username: 'root' }, 'password'],
    [{ password: 'secret' }, 'username'],
    [{ username: 'root', password: ['secret'] }, 'password'],
    [{ token: 'secret' }, 'token'],
  ])('%j is refused by name, without a secret', (options, option) => {
    let error: unknown
    try {
      etcdDiscovery(options as object)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option: `etcdDiscovery.${option}` })
    expect(String(error)).not.toContain('secret')
  })
})

describe('a value whose host is none', () => {
  test.each([
    '{"host":"a b","port":80}',
    '{"host":"h/x","port":80}',
    '{"host":"[::1","port":80}',
    '{"Addr":"a%20b:80"}',
  ])('%s takes nobody else with it', async (value) => {
    const fake = new FakeEtcd()
    fake.put('orders/good', '10.0.0.1:80')
    fake.put('orders/odd', value)
    const discovery = clientOf(fake)
    const lb = createLoadBalancer({ services: { orders: { discovery } } })
    expect((await lb.service('orders').choose())?.instance.host).toBe('10.0.0.1')
    expect(discovery.describe('orders').unreadable).toMatch(/^"orders\/odd": .*must be a host name or address/)
    await lb.close()
    fake.close()
  })

  test('is told from a name in another script, which URLs encode', async () => {
    const fake = new FakeEtcd()
    fake.put('orders/a', 'bücher.example:80')
    expect(await listOf(clientOf(fake))).toMatchObject([{ host: 'bücher.example' }])
    fake.close()
  })
})
