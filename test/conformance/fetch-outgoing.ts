/** @module What is added to a request on its way, and to its answer: transformers, X-Forwarded, the sticky cookie. */

import { expect } from 'chai'
import { createLoadBalancer, type LoadBalancerOptions, roundRobin, type ServiceOptions, stickySession } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { echoOf } from './servers.js'
import { inFlight } from './services.js'

function over(
  context: Context,
  places: readonly (keyof Context['backends'])[],
  options: ServiceOptions = {},
  balancer: LoadBalancerOptions = {},
) {
  const instances = places.map((place) => ({ url: context.backends[place], instanceId: place }))
  return createLoadBalancer({
    ...balancer,
    services: { orders: { instances, policy: roundRobin({ start: -1 }), ...options } },
  })
}

function mayWriteCookies(): boolean {
  return new Request('http://orders/', { headers: { cookie: 'x=1' } }).headers.has('cookie')
}

/** The authority and scheme that a server is told. */
const forwarded = ({ headers }: { headers: Record<string, string> }) => [
  headers['x-forwarded-host'],
  headers['x-forwarded-proto'],
]

export const cases: Case[] = [
  {
    name: 'transformers: change what is sent at each attempt, whatever the input',
    async run(context) {
      const lb = over(
        context,
        ['refused', 'a'],
        { retry: { retryOnAllOperations: true } },
        {
          transformers: [
            (request, instance, original) => {
              const changed = new Request(request)
              changed.headers.set('x-signed', `${instance.instanceId} ${new URL(original.url).host}`)
              return changed
            },
          ],
        },
      )
      const own = { headers: { 'x-own': '1' } }
      for (const [input, init] of [
        ['http://orders/a%2Fb?c', own],
        [new URL('http://orders/a%2Fb?c'), own],
        [new Request('http://orders/a%2Fb?c', own), undefined],
        ['http://orders/a%2Fb?c', { ...own, method: 'POST', body: 'text' }],
      ] as const) {
        const { instance, target, headers, body } = await echoOf(await lb.fetch(input, init))
        expect([instance, target]).to.deep.equal(['a', '/a%2Fb?c'])
        expect([headers['x-signed'], headers['x-own']]).to.deep.equal(['a orders', '1'])
        expect(body).to.equal(init !== undefined && 'body' in init ? 'text' : '')
      }
    },
  },
  {
    name: 'transformers: a Request with a body goes through them',
    async run(context) {
      const lb = over(context, ['a'], {}, { transformers: [(request) => new Request(request)] })
      const request = new Request('http://orders/x', { method: 'POST', body: 'text' })
      expect((await echoOf(await lb.fetch(request))).body).to.equal('text')
    },
  },
  {
    name: 'transformers: one that fails ends the call, nothing is sent and nothing stays in flight',
    async run(context) {
      const mistake = new Error('mistake')
      const throwing = () => {
        throw mistake
      }
      const lb = over(context, ['a'], {}, { transformers: [throwing] })
      expect(await rejected(lb.fetch('http://orders/x'))).to.equal(mistake)
      expect(inFlight(lb.service('orders'))).to.equal(0)
      const forgetting = over(context, ['a'], {}, { transformers: [() => undefined as never] })
      expect(await rejected(forgetting.fetch('http://orders/x'))).to.include({
        code: 'EVENKEEL_CONFIG',
        option: 'transformers[0]',
      })
    },
  },
  {
    name: 'xForwarded: the instance learns what was asked for, once, and what the caller says stays',
    async run(context) {
      const lb = over(context, ['refused', 'a'], { xForwarded: true })
      expect(forwarded(await echoOf(await lb.fetch('https://orders:8443/x')))).to.deep.equal(['orders:8443', 'https'])
      const headers = { 'X-Forwarded-Host': 'edge.example' }
      const seen = await echoOf(await lb.fetch(new Request('http://orders/x', { headers })))
      expect(forwarded(seen)).to.deep.equal(['edge.example', 'http'])
      expect(forwarded(await echoOf(await over(context, ['a']).fetch('http://orders/x')))).to.deep.equal([
        undefined,
        undefined,
      ])
    },
  },
  {
    name: 'sticky cookie: the instance is told its own id; by no browser, whose scripts may not write cookies',
    async run(context) {
      const suppliers = [stickySession({ addServiceInstanceCookie: true })]
      const lb = over(context, ['refused', 'a'], { suppliers })
      const headers = { cookie: 'x=1; sc-lb-instance-id=gone' }
      const seen = await echoOf(await lb.fetch('http://orders/x', { headers }))
      expect(seen.headers.cookie).to.equal(mayWriteCookies() ? 'x=1; sc-lb-instance-id=a' : undefined)
    },
  },
  {
    name: 'sticky cookie: the answer sets it, unless the request came with it; not in browsers',
    async run(context) {
      const lb = over(context, ['a'], { suppliers: [stickySession({ setCookie: { httpOnly: true } })] })
      const response = await lb.fetch('http://orders/x')
      const expected = mayWriteCookies() ? 'sc-lb-instance-id=a; Path=/; HttpOnly' : null
      expect(response.headers.get('set-cookie')).to.equal(expected)
      expect(response.url).to.equal(`${context.backends.a}/x`)
      expect((await echoOf(response)).instance).to.equal('a')
      const known = await lb.fetch('http://orders/x', { headers: { cookie: 'sc-lb-instance-id=a' } })
      expect(known.headers.get('set-cookie')).to.equal(null)
      await known.text()
    },
  },
]
