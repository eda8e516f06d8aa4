/** @module Which service a URL names, and that nothing but scheme, host and port of it changes. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import type { Case, Context } from './case.js'
import { rejected } from './errors-of.js'
import { echoOf } from './servers.js'

const TARGETS = [
  '/',
  '/a%2Fb/%2f',
  '/%7Cx?pipe=%7C',
  '/plus+sign?q=a+b%20c&d=%2B',
  '/;v=1/x;y?a=1;b=2',
  '/double//slashes//',
  '/?a=1&a=2&b&=c',
  '/caf%C3%A9?q=%E2%82%AC',
  '/a%20b/%25?x=%',
  "/!$&'()*,:@~?/?:@!$()*,",
  '/x?redirect=http://other/%3Fy',
  '/UPPER/lower?Case=Kept',
]

function overA(context: Context, ...serviceIds: string[]) {
  return createLoadBalancer({ services: Object.fromEntries(serviceIds.map((id) => [id, [context.backends.a]])) })
}

/** A balancer whose transport only notes what it is given. */
function noting(instance: string | { host: string; port?: number; secure?: boolean; scheme?: string }) {
  const seen: string[] = []
  const lb = createLoadBalancer({
    services: { orders: [instance] },
    fetch: async (input) => {
      seen.push(input instanceof Request ? input.url : String(input))
      return new Response()
    },
  })
  return { lb, seen }
}

export const cases: Case[] = [
  ...TARGETS.map((target) => ({
    name: `fetch: the server sees ${target} byte for byte`,
    async run(context: Context) {
      const lb = overA(context, 'orders')
      const url = `http://orders${target}`
      for (const input of [url, new URL(url), new Request(url)]) {
        expect((await echoOf(await lb.fetch(input))).target).to.equal(target)
      }
    },
  })),
  {
    name: 'fetch: the server sees //leading//slashes byte for byte',
    needs: 'keep-leading-slashes',
    async run(context) {
      const lb = overA(context, 'orders')
      const url = 'http://orders//leading//slashes'
      for (const input of [url, new URL(url), new Request(url)]) {
        expect((await echoOf(await lb.fetch(input))).target).to.equal('//leading//slashes')
      }
    },
  },
  {
    name: 'fetch: what the runtime itself makes of an odd URL is what the server sees',
    async run(context) {
      const lb = overA(context, 'orders')
      for (const target of [
        '/x?',
        '//leading//x',
        '/a|b^c?q=|',
        "/x?q='",
        '/a/../b/./c',
        '/%2e%2e/x',
        '/caf\u00e9?\u00e9',
        '/x\\y',
      ]) {
        const plain = await echoOf(await fetch(context.backends.a + target))
        expect((await echoOf(await lb.fetch(`http://orders${target}`))).target).to.equal(plain.target)
      }
    },
  },
  {
    name: 'fetch: no path becomes /, a fragment stays at home, a port and another scheme go',
    async run(context) {
      const lb = overA(context, 'orders')
      const targetOf = async (url: string) => (await echoOf(await lb.fetch(url))).target
      expect(await targetOf('http://orders')).to.equal('/')
      expect(await targetOf('http://orders?x=1')).to.equal('/?x=1')
      expect(await targetOf('http://orders/x?y#fragment')).to.equal('/x?y')
      expect(await targetOf('https://orders:9443/x')).to.equal('/x')
      expect(await targetOf('lb://orders/x')).to.equal('/x')
    },
  },
  {
    name: 'fetch: the transport is given the text with only scheme, host and port replaced',
    async run() {
      const { lb, seen } = noting({ host: '10.1.2.3', port: 8443, secure: true })
      await lb.fetch('http://orders//a%2Fb/./../c|d e?q=|#frag%7C')
      await lb.fetch('http://orders:99/x')
      expect(seen).to.deep.equal(['https://10.1.2.3:8443//a%2Fb/./../c|d e?q=|#frag%7C', 'https://10.1.2.3:8443/x'])
    },
  },
  {
    name: 'fetch: an instance without a port gets the scheme’s; IPv6 gets brackets',
    async run() {
      for (const [instance, url] of [
        [{ host: 'orders.internal' }, 'http://orders.internal:80/x'],
        [{ host: 'orders.internal', secure: true }, 'https://orders.internal:443/x'],
        [{ host: '::1', port: 8080 }, 'http://[::1]:8080/x'],
      ] as const) {
        const { lb, seen } = noting(instance)
        await lb.fetch('http://orders/x')
        expect(seen).to.deep.equal([url])
      }
    },
  },
  {
    name: 'fetch: text names a service by the host as written, case and underscores included',
    async run(context) {
      const lb = overA(context, 'Order_Service', 'order_service', 'svc1.1')
      await lb.fetch('http://Order_Service/x')
      await lb.fetch('http://svc1.1/x')
      const { Order_Service: mixed, order_service: lower, 'svc1.1': dotted } = lb.stats()
      expect([mixed, lower, dotted].map((stats) => stats?.instances[0]?.picks)).to.deep.equal([1, 0, 1])
    },
  },
  {
    name: 'fetch: a URL or a Request, whose host is in lower case, is matched ignoring case',
    async run(context) {
      const lb = overA(context, 'Order_Service', 'Stock')
      await lb.fetch(new URL('http://Order_Service/x'))
      await lb.fetch(new Request('http://Order_Service/x'))
      expect(lb.stats().Order_Service?.instances[0]?.successes).to.equal(2)
    },
  },
  {
    name: 'fetch: an unknown service is an error that says which are known, and what was perhaps meant',
    async run(context) {
      const lb = overA(context, 'orders', 'stock')
      const unknown = await rejected(lb.fetch('http://order/x'))
      expect(unknown).to.include({ code: 'EVENKEEL_UNKNOWN_SERVICE', serviceId: 'order' })
      expect((unknown as Error).message).to.contain('orders, stock')
      expect(((await rejected(lb.fetch('http://ORDERS/x'))) as Error).message).to.contain('did you mean "orders"?')
    },
  },
  {
    name: 'fetch: an unknown service passes through unchanged where that is asked for',
    async run(context) {
      const services = { orders: [context.backends.a] }
      const lb = createLoadBalancer({ services, unknownService: 'passthrough' })
      expect((await echoOf(await lb.fetch(`${context.backends.b}/a%2Fb`))).instance).to.equal('b')
      expect((await echoOf(await lb.fetch('http://orders/'))).instance).to.equal('a')

      const given: unknown[] = []
      const noted = createLoadBalancer({
        services,
        unknownService: 'passthrough',
        fetch: async (...args) => {
          given.push(...args)
          return new Response()
        },
      })
      const request = new Request('http://elsewhere/')
      const init = { method: 'PUT' }
      await noted.fetch(request, init)
      expect(given[0]).to.equal(request)
      expect(given[1]).to.equal(init)
    },
  },
  {
    name: 'fetch: is bound, and service.fetch takes a path or any host',
    async run(context) {
      const lb = overA(context, 'orders')
      const { fetch } = lb
      expect((await echoOf(await fetch('http://orders/x'))).target).to.equal('/x')
      const { fetch: ofService } = lb.service('orders')
      expect((await echoOf(await ofService('/a%2Fb?c'))).target).to.equal('/a%2Fb?c')
      expect((await echoOf(await ofService('http://whatever:1/y'))).target).to.equal('/y')
    },
  },
  {
    name: 'fetch: awaits nothing before the transport on a warm list',
    async run() {
      const { lb, seen } = noting('http://10.0.0.1:80')
      const sent = lb.fetch('http://orders/x')
      expect(seen.length).to.equal(1)
      await sent
    },
  },
]
