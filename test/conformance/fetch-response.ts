/** @module What comes back: the transport's own response, and when its request stops counting as in flight. */

import { expect } from 'chai'
import { attemptsOf, createLoadBalancer, type LoadBalancer } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { control, echoOf, newToken } from './servers.js'
import { endings, inFlight } from './services.js'

function overA(context: Context, release: 'headers' | 'body' = 'headers'): LoadBalancer {
  return createLoadBalancer({ services: { orders: { instances: [context.backends.a], release } } })
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error('the response has no body')
  return response.body.getReader()
}

const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

export const cases: Case[] = [
  {
    name: 'fetch: gives the very response of the transport, and keeps the attempts beside it',
    async run() {
      const response = new Response('text')
      const lb = createLoadBalancer({ services: { orders: ['http://10.0.0.1:80'] }, fetch: async () => response })
      const answer = await lb.fetch('http://orders/x')
      expect(answer).to.equal(response)
      expect(attemptsOf(answer).map(({ instance, status }) => [instance.host, status])).to.deep.equal([
        ['10.0.0.1', 200],
      ])
      expect(attemptsOf(new Response())).to.deep.equal([])
    },
  },
  {
    name: 'fetch: a response is read while the server still writes it; in flight ends with its headers',
    async run(context) {
      const lb = overA(context)
      const token = newToken(context)
      const response = await lb.fetch(`http://orders/drip?token=${token}`)
      expect(inFlight(lb.service('orders'))).to.equal(0)
      const reader = readerOf(response)
      expect(decode((await reader.read()).value)).to.equal('first')
      await control(context, 'go', token)
      expect(decode((await reader.read()).value)).to.equal('second')
      expect((await reader.read()).done).to.equal(true)
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
    },
  },
  {
    name: 'fetch: a 503 is an answer: returned, counted as a failure, not tried again',
    async run(context) {
      const lb = overA(context)
      const response = await lb.fetch('http://orders/status/503')
      expect([response.status, await response.text()]).to.deep.equal([503, 'status 503'])
      expect(endings(lb.service('orders'))).to.deep.equal([0, 1, 0])
      expect(attemptsOf(response).length).to.equal(1)
    },
  },
  {
    name: 'release body: in flight until the body has been read; url, status and headers are the response’s',
    async run(context) {
      const lb = overA(context, 'body')
      const token = newToken(context)
      const response = await lb.fetch(`http://orders/drip?token=${token}`)
      expect(response.url).to.equal(`${context.backends.a}/drip?token=${token}`)
      expect([response.status, response.headers.get('x-instance')]).to.deep.equal([200, 'a'])
      expect(inFlight(lb.service('orders'))).to.equal(1)
      await control(context, 'go', token)
      expect(await response.text()).to.equal('firstsecond')
      expect(inFlight(lb.service('orders'))).to.equal(0)
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
      expect(attemptsOf(response).length).to.equal(1)
    },
  },
  {
    name: 'release body: streams chunk by chunk',
    async run(context) {
      const lb = overA(context, 'body')
      const token = newToken(context)
      const reader = readerOf(await lb.fetch(`http://orders/drip?token=${token}`))
      expect(decode((await reader.read()).value)).to.equal('first')
      expect(inFlight(lb.service('orders'))).to.equal(1)
      await control(context, 'go', token)
      expect(decode((await reader.read()).value)).to.equal('second')
      expect((await reader.read()).done).to.equal(true)
      expect(inFlight(lb.service('orders'))).to.equal(0)
    },
  },
  {
    name: 'release body: a body given up is cancelled at the server too and counts as cancelled',
    async run(context) {
      const lb = overA(context, 'body')
      const token = newToken(context)
      const reader = readerOf(await lb.fetch(`http://orders/drip?token=${token}`))
      await reader.read()
      await reader.cancel()
      await control(context, 'closed', token)
      expect(inFlight(lb.service('orders'))).to.equal(0)
      expect(endings(lb.service('orders'))).to.deep.equal([0, 0, 1])
    },
  },
  {
    name: 'release body: a call aborted while its body is read counts as cancelled',
    async run(context) {
      const lb = overA(context, 'body')
      const token = newToken(context)
      const stop = new AbortController()
      const reader = readerOf(await lb.fetch(`http://orders/drip?token=${token}`, { signal: stop.signal }))
      await reader.read()
      const read = rejected(reader.read())
      stop.abort()
      await read
      await control(context, 'closed', token)
      expect(inFlight(lb.service('orders'))).to.equal(0)
      expect(endings(lb.service('orders'))).to.deep.equal([0, 0, 1])
    },
  },
  {
    name: 'release body: a body cut off is a failure, and the reader gets the error',
    async run(context) {
      const lb = overA(context, 'body')
      const response = await lb.fetch('http://orders/cut')
      await rejected(response.text())
      expect(inFlight(lb.service('orders'))).to.equal(0)
      expect(endings(lb.service('orders'))).to.deep.equal([0, 1, 0])
    },
  },
  {
    name: 'release body: responses without a body are complete as well',
    async run(context) {
      for (const [method, path, status] of [
        ['GET', '/status/204', 204],
        ['GET', '/status/205', 205],
        ['GET', '/status/304', 304],
        ['HEAD', '/x', 200],
      ] as const) {
        const lb = overA(context, 'body')
        const response = await lb.fetch(`http://orders${path}`, { method })
        expect([response.status, await response.text()]).to.deep.equal([status, ''])
        expect(inFlight(lb.service('orders'))).to.equal(0)
        expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
      }
    },
  },
  {
    name: 'release body: a redirect that is not followed is complete as well',
    async run(context) {
      const lb = overA(context, 'body')
      const response = await lb.fetch('http://orders/redirect', { redirect: 'manual' })
      expect(response.status).to.be.oneOf([302, 0])
      await response.text()
      expect(inFlight(lb.service('orders'))).to.equal(0)
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
    },
  },
  {
    name: 'close: a call in flight still gets its answer',
    async run(context) {
      const lb = overA(context, 'body')
      const token = newToken(context)
      const sent = lb.fetch(`http://orders/drip?token=${token}`)
      await control(context, 'arrived', token)
      await lb.close()
      await control(context, 'go', token)
      expect(await (await sent).text()).to.equal('firstsecond')
    },
  },
  {
    name: 'lease.fetch: sends to that instance and completes the lease by the result',
    async run(context) {
      const lb = createLoadBalancer({ services: { orders: [context.backends.a, context.backends.b] } })
      const lease = lb.pick('orders')
      const response = await lease?.fetch('/a%2Fb', { method: 'POST', body: 'text' })
      if (response === undefined) throw new Error('no lease')
      const seen = await echoOf(response)
      expect(seen).to.include({ target: '/a%2Fb', method: 'POST', body: 'text' })
      expect(context.backends[seen.instance as 'a' | 'b']).to.contain(String(lease?.instance.port))
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
      lease?.done({ error: new Error('late') })
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
    },
  },
]
