/** @module Instances that are a binding: anything with a fetch, as a Cloudflare service binding. */

import { expect } from 'chai'
import { attemptsOf, createLoadBalancer, type Fetcher, roundRobin } from 'evenkeel'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { echoOf } from './servers.js'
import { endings, inFlight } from './services.js'

const over = (...fetchers: Fetcher[]) =>
  createLoadBalancer({
    services: {
      orders: {
        instances: fetchers.map((fetcher, i) => ({ instanceId: `binding-${i}`, fetcher })),
        policy: roundRobin({ start: -1 }),
      },
    },
  })

export const cases: Case[] = [
  {
    name: 'binding: the runtime’s own answers; where it has none, one that sends to a server',
    async run(context) {
      const { a } = context.backends
      const standIn: Fetcher = {
        async fetch(input) {
          const { url, method, headers, body } = input as Request
          const { pathname, search } = new URL(url)
          const held = body === null ? {} : { body: await (input as Request).text() }
          return fetch(`${a}${pathname}${search}`, { method, headers, ...held })
        },
      }
      const lb = over(context.binding ?? standIn)
      const response = await lb.fetch('http://orders/a%2Fb?c=%7C', { method: 'POST', body: 'text' })
      const { instance, method, target, body } = await echoOf(response)
      expect([instance, method, target, body]).to.deep.equal(['a', 'POST', '/a%2Fb?c=%7C', 'text'])
      expect(endings(lb.service('orders'))).to.deep.equal([1, 0, 0])
    },
  },
  {
    name: 'binding: called on its own object, with a Request of the URL and options as given',
    async run() {
      const seen: unknown[] = []
      const binding = {
        answer: 'mine',
        async fetch(input: string | URL | Request) {
          const { url, method } = input as Request
          seen.push(url, method)
          return new Response(this.answer)
        },
      }
      const lb = over(binding)
      const response = await lb.fetch('http://orders/a%2Fb?c', { method: 'PATCH' })
      expect(await response.text()).to.equal('mine')
      expect(seen).to.deep.equal(['http://orders/a%2Fb?c', 'PATCH'])
    },
  },
  {
    name: 'binding: has no URL (EVENKEEL_NO_ADDRESS), but takes a path through its lease',
    async run() {
      const lb = over({ fetch: async (input) => new Response((input as Request).url) })
      const lease = lb.pick('orders')
      expect(thrown(() => lease?.url('http://orders/x'))).to.include({ code: 'EVENKEEL_NO_ADDRESS' })
      const response = await lease?.fetch('/a%2Fb')
      expect(await response?.text()).to.equal('http://orders/a%2Fb')
      expect(inFlight(lb.service('orders'))).to.equal(0)
    },
  },
  {
    name: 'binding: one whose connection fails is left for the next',
    async run(context) {
      const { refused } = context.backends
      const lb = over({ fetch: () => fetch(refused) }, { fetch: async () => new Response('second') })
      const response = await lb.fetch('http://orders/x')
      expect(await response.text()).to.equal('second')
      expect(attemptsOf(response).map(({ instance }) => instance.instanceId)).to.deep.equal(['binding-0', 'binding-1'])
    },
  },
  {
    name: 'binding: with an address too, the URL is the instance’s and the binding sends it',
    async run() {
      const lb = createLoadBalancer({
        services: {
          orders: [
            { url: 'http://10.0.0.1:8080', fetcher: { fetch: async (input) => new Response((input as Request).url) } },
          ],
        },
      })
      const response = await lb.fetch('http://orders/x')
      expect(await response.text()).to.equal('http://10.0.0.1:8080/x')
    },
  },
]
