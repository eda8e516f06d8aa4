/** @module A call is tried once more elsewhere if its connection failed and sending it again does no harm. */

import { expect } from 'chai'
import { attemptsOf, createLoadBalancer, isConnectionError, roundRobin, type ServiceOptions } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { echoOf } from './servers.js'
import { endings, inFlight } from './services.js'

type Place = keyof Context['backends']

/** Goes to these instances in this order, the refused ones included. */
function over(context: Context, places: readonly Place[], options: ServiceOptions = {}) {
  const lb = createLoadBalancer({
    services: {
      orders: {
        instances: places.map((place, i) => ({ url: context.backends[place], instanceId: `${i}-${place}` })),
        policy: roundRobin({ start: -1 }),
        ...options,
      },
    },
  })
  return { lb, service: lb.service('orders') }
}

const tried = (result: unknown) => attemptsOf(result).map(({ instance }) => instance.instanceId)

function streamOf(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
}

export const cases: Case[] = [
  ...['GET', 'HEAD', 'OPTIONS', 'get'].map((method) => ({
    name: `retry: ${method} goes to another instance after a refused connection`,
    async run(context: Context) {
      const { lb, service } = over(context, ['refused', 'a'])
      const response = await lb.fetch('http://orders/x', { method })
      expect([response.status, response.headers.get('x-instance')]).to.deep.equal([200, 'a'])
      const [first, second] = attemptsOf(response)
      expect(tried(response)).to.deep.equal(['0-refused', '1-a'])
      expect(isConnectionError(first?.error)).to.equal(true)
      expect([first?.status, second?.status, second?.error]).to.deep.equal([undefined, 200, undefined])
      expect(service.stats()).to.include({ retriesNext: 1, retriesSame: 0 })
      expect(endings(service)).to.deep.equal([1, 1, 0])
      expect(inFlight(service)).to.equal(0)
    },
  })),
  ...['close', 'reset', 'half'].map((path) => ({
    name: `retry: GET goes to another instance after the connection ended without an answer (${path})`,
    async run(context: Context) {
      const { lb, service } = over(context, ['a', 'b'])
      const response = await lb.fetch(`http://orders/${path}?on=a`)
      expect((await echoOf(response)).instance).to.equal('b')
      expect(tried(response)).to.deep.equal(['0-a', '1-b'])
      expect(endings(service)).to.deep.equal([1, 1, 0])
    },
  })),
  {
    name: 'retry: a Request as input is sent again',
    async run(context) {
      const { lb } = over(context, ['refused', 'a'])
      const request = new Request('http://orders/a%2Fb', { headers: { 'x-one': '1' } })
      const seen = await echoOf(await lb.fetch(request))
      expect([seen.instance, seen.target, seen.headers['x-one']]).to.deep.equal(['a', '/a%2Fb', '1'])
    },
  },
  ...['POST', 'PUT', 'DELETE'].map((method) => ({
    name: `retry: ${method} is not repeated, and its caller gets the transport's own error`,
    async run(context: Context) {
      const { lb, service } = over(context, ['refused', 'a'])
      const error = await rejected(lb.fetch('http://orders/x', { method }))
      expect(isConnectionError(error)).to.equal(true)
      expect(tried(error)).to.deep.equal(['0-refused'])
      expect(endings(service)).to.deep.equal([0, 1, 0])
      expect(inFlight(service)).to.equal(0)
    },
  })),
  {
    name: 'retry: a POST with an Idempotency-Key is repeated with its body',
    async run(context) {
      for (const headers of [{ 'Idempotency-Key': 'k1' }, new Headers({ 'idempotency-key': 'k1' })]) {
        const { lb } = over(context, ['refused', 'a'])
        const response = await lb.fetch('http://orders/x', { method: 'POST', headers, body: 'text of a body' })
        const { instance, body, headers: seen } = await echoOf(response)
        expect([instance, body, seen['idempotency-key']]).to.deep.equal(['a', 'text of a body', 'k1'])
      }
    },
  },
  {
    name: 'retry: a body that is a stream is never sent again, whatever the method and the options',
    async run(context) {
      const { lb, service } = over(context, ['refused', 'a'], { retry: { retryOnAllOperations: true } })
      const headers = { 'Idempotency-Key': 'k1' }
      const init: RequestInit & { duplex: 'half' } = { method: 'PUT', headers, body: streamOf('text'), duplex: 'half' }
      expect(tried(await rejected(lb.fetch('http://orders/x', init)))).to.deep.equal(['0-refused'])
      expect(service.stats().retriesNext).to.equal(0)
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'retry: a Request with a body is sent again where its method may be: what is sent is a copy',
    async run(context) {
      const post = (headers = {}) => new Request('http://orders/x', { method: 'POST', headers, body: 'text of a body' })
      const opted = over(context, ['refused', 'a'], { retry: { retryOnAllOperations: true } })
      const keyed = over(context, ['refused', 'a'])
      for (const { lb, headers } of [opted, { ...keyed, headers: { 'idempotency-key': 'k1' } }].map((each) => ({
        headers: {},
        ...each,
      }))) {
        const { body, instance } = await echoOf(await lb.fetch(post(headers)))
        expect([instance, body]).to.deep.equal(['a', 'text of a body'])
      }
      const neither = over(context, ['refused', 'a'])
      expect(tried(await rejected(neither.lb.fetch(post())))).to.deep.equal(['0-refused'])
      expect(inFlight(neither.service)).to.equal(0)
    },
  },
  {
    name: 'retry: a Request with a body goes out if nothing failed, also under time limits',
    async run(context) {
      const { lb } = over(context, ['a'], { timeoutMs: 5_000, attemptTimeoutMs: 5_000 })
      const request = new Request('http://orders/x', { method: 'POST', body: 'text' })
      expect((await echoOf(await lb.fetch(request))).body).to.equal('text')
    },
  },
  {
    name: 'retry: can be switched off, for the service and for one call',
    async run(context) {
      const off = over(context, ['refused', 'a'], { retry: false })
      expect(tried(await rejected(off.lb.fetch('http://orders/x')))).to.deep.equal(['0-refused'])
      const on = over(context, ['refused', 'a'])
      const call = on.lb.with({ retry: false }).fetch('http://orders/x')
      expect(tried(await rejected(call))).to.deep.equal(['0-refused'])
    },
  },
  {
    name: 'retry: methods and retryOnAllOperations widen what is repeated',
    async run(context) {
      for (const retry of [{ methods: ['PUT'] }, { retryOnAllOperations: true }]) {
        const { lb } = over(context, ['refused', 'a'], { retry })
        const response = await lb.fetch('http://orders/x', { method: 'PUT', body: 'text' })
        expect((await echoOf(response)).body).to.equal('text')
      }
    },
  },
  {
    name: 'retry: the same instance as often as allowed, then the next, where the count begins anew',
    async run(context) {
      const retry = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 2 }
      const { lb, service } = over(context, ['refused', 'refused', 'refused', 'refused'], { retry })
      const [first, again, second, secondAgain, third, thirdAgain, ...more] = tried(
        await rejected(lb.fetch('http://orders/x')),
      )
      expect([again, secondAgain, thirdAgain]).to.deep.equal([first, second, third])
      expect(new Set([first, second, third]).size).to.equal(3)
      expect(more).to.deep.equal([])
      expect(service.stats()).to.include({ retriesSame: 3, retriesNext: 2 })
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'retry: when all fail the caller gets the last error with all attempts',
    async run(context) {
      const { lb, service } = over(context, ['refused', 'refused'])
      const error = await rejected(lb.fetch('http://orders/x'))
      expect(tried(error)).to.deep.equal(['0-refused', '1-refused'])
      expect(attemptsOf(error)[1]?.error).to.equal(error)
      expect(endings(service)).to.deep.equal([0, 2, 0])
    },
  },
  {
    name: 'retry: statuses on request; the last response is returned whatever its status',
    async run(context) {
      const retry = { statusCodes: [503] }
      const one = over(context, ['a', 'b'], { retry })
      const response = await one.lb.fetch('http://orders/status/503?on=a')
      expect(attemptsOf(response).map(({ status }) => status)).to.deep.equal([503, 200])
      const both = over(context, ['a', 'b'], { retry })
      const last = await both.lb.fetch('http://orders/status/503')
      expect([last.status, await last.text()]).to.deep.equal([503, 'status 503'])
      expect(endings(both.service)).to.deep.equal([0, 2, 0])
    },
  },
  {
    name: 'retry: an error of the transport that is no connection error passes unchanged, once',
    async run() {
      const own = Object.freeze(new Error('bad argument'))
      let sent = 0
      const lb = createLoadBalancer({
        services: { orders: ['http://10.0.0.1:80', 'http://10.0.0.2:80'] },
        fetch: () => {
          sent++
          return Promise.reject(own)
        },
      })
      expect(await rejected(lb.fetch('http://orders/x'))).to.equal(own)
      expect(sent).to.equal(1)
      expect(attemptsOf(own).length).to.equal(1)
    },
  },
  {
    name: 'retry: a lease is used for one attempt only',
    async run(context) {
      const { lb, service } = over(context, ['refused', 'a'])
      const lease = lb.pick('orders')
      const error = await rejected(lease?.fetch('/x') ?? Promise.resolve())
      expect(isConnectionError(error)).to.equal(true)
      expect(endings(service)).to.deep.equal([0, 1, 0])
    },
  },
]
