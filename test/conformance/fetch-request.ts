/** @module What goes out: method, headers, body and options as the caller gave them, to an instance. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import type { Case, Context } from './case.js'
import { control, echoOf, newToken } from './servers.js'
import { endings, inFlight } from './services.js'

const overA = (context: Context) => createLoadBalancer({ services: { orders: [context.backends.a] } })

const ENCODED = new TextEncoder().encode('bytes of a body')

const BODIES: [string, () => BodyInit, string][] = [
  ['text', () => 'text of a body', 'text of a body'],
  ['search parameters', () => new URLSearchParams({ a: '1 2' }), 'a=1+2'],
  ['an ArrayBuffer', () => ENCODED.slice().buffer, 'bytes of a body'],
  ['a typed array', () => ENCODED, 'bytes of a body'],
  ['a Blob', () => new Blob([ENCODED]), 'bytes of a body'],
]

export const cases: Case[] = [
  ...BODIES.map(([kind, body, text]) => ({
    name: `fetch: a body that is ${kind} arrives`,
    async run(context: Context) {
      const response = await overA(context).fetch('http://orders/x', { method: 'POST', body: body() })
      expect(await echoOf(response)).to.include({ method: 'POST', body: text })
    },
  })),
  {
    name: 'fetch: headers arrive, whatever their form',
    async run(context) {
      const forms: HeadersInit[] = [{ 'X-One': '1' }, [['x-one', '1']], new Headers({ 'x-one': '1' })]
      for (const headers of forms) {
        const { headers: seen } = await echoOf(await overA(context).fetch('http://orders/x', { headers }))
        expect(seen['x-one']).to.equal('1')
      }
    },
  },
  {
    name: 'fetch: a Request arrives with its method, headers and body',
    async run(context) {
      const request = new Request('http://orders/a%2Fb?c=+', {
        method: 'POST',
        headers: { 'x-one': '1', 'content-type': 'text/plain' },
        body: 'text of a body',
      })
      const { method, target, headers, body } = await echoOf(await overA(context).fetch(request))
      expect([method, target, body]).to.deep.equal(['POST', '/a%2Fb?c=+', 'text of a body'])
      expect([headers['x-one'], headers['content-type']]).to.deep.equal(['1', 'text/plain'])
    },
  },
  {
    name: 'fetch: init beside a Request replaces what it names, as in fetch',
    async run(context) {
      const request = new Request('http://orders/x', { method: 'POST', headers: { 'x-one': '1' }, body: 'first' })
      const response = await overA(context).fetch(request, { headers: { 'x-two': '2' }, body: 'second' })
      const { method, headers, body } = await echoOf(response)
      expect([method, body]).to.deep.equal(['POST', 'second'])
      expect([headers['x-one'], headers['x-two']]).to.deep.equal([undefined, '2'])
    },
  },
  {
    name: 'fetch: one long-lived Request can be sent many times',
    async run(context) {
      const lb = overA(context)
      const request = new Request('http://orders/x', { headers: { 'x-one': '1' } })
      for (let i = 0; i < 50; i++) expect((await echoOf(await lb.fetch(request))).headers['x-one']).to.equal('1')
    },
  },
  {
    name: 'fetch: the hint header picks the instance and still arrives, from init and from a Request',
    async run(context) {
      const { a, b } = context.backends
      const lb = createLoadBalancer({
        services: {
          orders: {
            instances: [
              { url: a, hint: 'v1' },
              { url: b, hint: 'v2' },
            ],
            suppliers: ['hint'],
          },
        },
      })
      const headers = { 'X-SC-LB-Hint': 'v2' }
      for (const sent of [
        lb.fetch('http://orders/x', { headers }),
        lb.fetch(new Request('http://orders/x', { headers })),
        lb.fetch('http://orders/x', { headers: [['x-sc-lb-hint', 'v2']] }),
      ]) {
        const seen = await echoOf(await sent)
        expect([seen.instance, seen.headers['x-sc-lb-hint']]).to.deep.equal(['b', 'v2'])
      }
      const overridden = await echoOf(await lb.with({ hint: 'v1' }).fetch('http://orders/x'))
      expect(overridden.instance).to.equal('a')
    },
  },
  {
    name: 'fetch: redirect manual is passed on; without it the redirect is followed',
    async run(context) {
      const lb = overA(context)
      const manual = { redirect: 'manual' } as const
      for (const sent of [
        lb.fetch('http://orders/redirect', manual),
        lb.fetch(new Request('http://orders/redirect', manual)),
      ]) {
        const response = await sent
        // Browsers hide it from scripts, the others show it.
        if (response.type === 'opaqueredirect') expect(response.status).to.equal(0)
        else expect([response.status, response.headers.get('location')]).to.deep.equal([302, '/redirected'])
      }
      const followed = await lb.fetch('http://orders/redirect')
      expect((await echoOf(followed)).target).to.equal('/redirected')
      const plain = await fetch(`${context.backends.a}/redirect`)
      await plain.text()
      expect([followed.redirected, followed.url]).to.deep.equal([plain.redirected, plain.url])
    },
  },
  {
    name: 'fetch: all options reach the transport, time limits or not',
    async run() {
      const init = {
        method: 'PUT',
        redirect: 'manual',
        credentials: 'include',
        duplex: 'half',
        cache: 'no-store',
        dispatcher: { of: 'undici' },
        body: 'text',
      } as const
      const given: (RequestInit | undefined)[] = []
      const lb = createLoadBalancer({
        services: {
          orders: ['http://10.0.0.1:80'],
          limited: { instances: ['http://10.0.0.1:80'], timeoutMs: 1_000, attemptTimeoutMs: 1_000 },
        },
        fetch: async (_, init) => {
          given.push(init)
          return new Response()
        },
      })
      await lb.fetch('http://orders/x', init as RequestInit)
      await lb.fetch('http://limited/x', init as RequestInit)
      for (const seen of given) expect(seen).to.include(init)
      expect(given[1]?.signal).to.be.instanceOf(AbortSignal)
    },
  },
  {
    name: 'fetch: a request body is streamed while it is written',
    needs: 'stream-request',
    async run(context) {
      const lb = overA(context)
      const token = newToken(context)
      const encoder = new TextEncoder()
      let writer!: ReadableStreamDefaultController<Uint8Array>
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          writer = controller
          controller.enqueue(encoder.encode('first '))
        },
      })
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
      const sent = lb.fetch(`http://orders/x?token=${token}`, init)
      await control(context, 'received', token)
      expect(inFlight(lb.service('orders'))).to.equal(1)
      writer.enqueue(encoder.encode('second'))
      writer.close()
      expect((await echoOf(await sent)).body).to.equal('first second')
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
    },
  },
]
