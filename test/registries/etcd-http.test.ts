/** @module etcd over real HTTP: what a server, or what stands in front of it, can do to an answer. */

import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { etcdDiscovery } from '../../bindings/discovery/etcd/index.js'
import { createLoadBalancer, type DiscoveryError } from '../../bindings/index.js'
import { grpc } from './etcd-setup.js'
import { FakeEtcd } from './fakes/etcd.js'
import { RegistryServer } from './serve.js'

let fake: FakeEtcd
let server: RegistryServer

beforeEach(async () => {
  fake = new FakeEtcd()
  server = new RegistryServer(fake)
  await server.start()
})

afterEach(async () => {
  fake.close()
  await server.kill()
})

/** Whose waits are as short as they can be. */
function balancer(url: string) {
  const discovery = etcdDiscovery({ url, requestTimeoutMs: 1_000, random: () => 0 })
  const lb = createLoadBalancer({ services: { orders: { discovery } } })
  const service = lb.service('orders')
  const ids = () => service.instances().map(({ instanceId }) => instanceId)
  const changed = () => new Promise<void>((resolve) => service.on('change', () => resolve()))
  const failed = () =>
    new Promise<DiscoveryError>((resolve) =>
      service.on('discoveryError', ({ error }) => resolve(error as DiscoveryError)),
    )
  return { lb, service, ids, changed, failed }
}

test('a change is in the list within a second, over a connection of its own', async () => {
  fake.put('orders/a', grpc('10.0.0.1:80', { weight: 2 }))
  const { lb, service, ids, changed } = balancer(server.url)
  ;(await service.choose())?.done()
  expect(service.instances()[0]).toMatchObject({ host: '10.0.0.1', metadata: { weight: '2' } })
  for (const [change, expected] of [
    [() => fake.put('orders/b', grpc('10.0.0.2:80')), ['a', 'b']],
    [() => fake.delete('orders/a'), ['b']],
  ] as const) {
    const next = changed()
    const beganAt = performance.now()
    change()
    await next
    expect(performance.now() - beganAt).toBeLessThan(1_000)
    expect(ids()).toEqual(expected)
  }
  expect((await service.explain()).source).toMatchObject({
    discovery: 'etcd',
    address: server.url,
    prefix: 'orders/',
    revision: '4',
  })
  await lb.close()
})

test('the list outlives the server, and the failure is told; back again it is watched again', async () => {
  fake.put('orders/a', grpc('10.0.0.1:80'))
  const { lb, service, ids, changed, failed } = balancer(server.url)
  ;(await service.choose())?.done()
  const failure = failed()
  await server.kill()
  expect(await failure).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure: 'unreachable' })
  expect(ids()).toEqual(['a'])
  expect(service.pick()?.instance.instanceId).toBe('a')
  fake.put('orders/b', grpc('10.0.0.2:80'))
  const next = changed()
  await server.start()
  await next
  expect(ids()).toEqual(['a', 'b'])
  await lb.close()
})

const answers: [string, RequestListener, string][] = [
  ['truncated JSON', (_, response) => response.end('{"header":{"revision":"9"},"kv'), 'malformed'],
  ['a page', (_, response) => response.end('<!doctype html><title>proxy</title>'), 'malformed'],
  [
    'a connection that is cut in the middle',
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"header"')
      setImmediate(() => response.destroy())
    },
    'unreachable',
  ],
  ['10 MB', (_, response) => response.end(`{"kvs":"${'x'.repeat(10 * 2 ** 20)}"}`), 'too-large'],
  ['a redirect', (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(), 'redirect'],
  ['502', (_, response) => response.writeHead(502).end('<h1>Bad Gateway</h1>'), 'status'],
  ['404', (_, response) => response.writeHead(404).end('Not Found'), 'status'],
  ['no answer', () => {}, 'timeout'],
]

test.each(answers)('%s is told by its kind in explain, and the old list stays', async (_, listener, failure) => {
  let answersItself = false
  fake.put('orders/a', grpc('10.0.0.1:80'))
  const odd: Server = createServer((request, response) => {
    if (answersItself) return listener(request, response)
    const pieces: Buffer[] = []
    request.on('data', (piece) => pieces.push(piece))
    request.on('end', async () => {
      const question = { method: 'POST', body: Buffer.concat(pieces).toString() }
      const answer = await fake.fetch(new Request(`http://fake${request.url}`, question))
      response.write('')
      if (request.url?.endsWith('watch')) response.write('{"result":{"header":{"revision":"2"},"created":true}}\n')
      else response.end(await answer.text())
    })
  })
  odd.listen(0, '127.0.0.1')
  await once(odd, 'listening')
  const { lb, service, ids, failed } = balancer(`http://127.0.0.1:${(odd.address() as AddressInfo).port}`)
  ;(await service.choose())?.done()
  answersItself = true
  // The watch ends first; what the next range is answered is what this is about.
  const first = failed()
  odd.closeAllConnections()
  await first
  const error = await failed()
  expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', failure })
  expect(ids()).toEqual(['a'])
  const explained = await service.explain()
  expect(JSON.stringify(explained)).toContain(JSON.stringify(error.message).slice(1, -1))
  await lb.close()
  odd.closeAllConnections()
  odd.close()
})
