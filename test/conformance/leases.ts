/** @module A lease is completed exactly once, and nothing stays in flight. */

import { expect } from 'chai'
import { createLoadBalancer, roundRobin } from 'evenkeel'
import type { Case } from './case.js'
import { addresses, endings, handClock, inFlight, serviceWith } from './services.js'

/** What `using` calls; on engines without the symbol, what compilers put in its place. */
const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose')

export const cases: Case[] = [
  {
    name: 'lease: done counts once, whatever comes after',
    run() {
      const service = serviceWith({ instances: addresses(2) })
      const lease = service.pick()
      expect(inFlight(service)).to.equal(1)
      lease?.done()
      lease?.done({ error: new Error('late') })
      lease?.done({ cancelled: true })
      lease?.[DISPOSE]()
      expect(inFlight(service)).to.equal(0)
      expect(endings(service)).to.deep.equal([1, 0, 0])
    },
  },
  {
    name: 'lease: disposed without an outcome counts as cancelled',
    run() {
      const service = serviceWith({ instances: addresses(2) })
      service.pick()?.[DISPOSE]()
      expect(inFlight(service)).to.equal(0)
      expect(endings(service)).to.deep.equal([0, 0, 1])
    },
  },
  {
    name: 'lease: an error, a 5xx and a 429 are failures, other statuses successes',
    run() {
      const service = serviceWith({ instances: addresses(1) })
      for (const status of [200, 302, 404, 499, 500, 503, 429]) service.pick()?.done({ status })
      service.pick()?.done({ error: new Error('refused') })
      expect(endings(service)).to.deep.equal([4, 4, 0])
    },
  },
  {
    name: 'lease: a thousand in flight go back to zero in any order',
    run() {
      const service = serviceWith({ instances: addresses(7), policy: 'least-request' })
      const leases = Array.from({ length: 1_000 }, () => service.pick())
      expect(inFlight(service)).to.equal(1_000)
      for (let i = 0; i < leases.length; i++) leases[(i * 617) % 1_000]?.done(i % 3 === 0 ? { cancelled: true } : {})
      expect(service.stats().instances.map((one) => one.inFlight)).to.deep.equal(new Array(7).fill(0))
    },
  },
  {
    name: 'lease: url() changes scheme, host and port, no other byte',
    run() {
      const lease = serviceWith({ instances: [{ url: 'https://10.1.2.3:8443' }] }).pick()
      expect(lease?.url('http://Orders:99//a%2Fb/%7C;p=1?q=%20+&x=a|b#%zz')).to.equal(
        'https://10.1.2.3:8443//a%2Fb/%7C;p=1?q=%20+&x=a|b#%zz',
      )
      expect(lease?.url('/only/a%2fpath?x')).to.equal('https://10.1.2.3:8443/only/a%2fpath?x')
      expect(lease?.url('ws://orders/socket')).to.equal('wss://10.1.2.3:8443/socket')
      lease?.done()
    },
  },
  {
    name: 'lease: an IPv6 host gets its brackets, a missing port the scheme’s',
    run() {
      const at = (host: string, port?: number) =>
        serviceWith({ instances: [{ host, ...(port !== undefined && { port }) }] })
          .pick()
          ?.url('http://orders/x')
      expect(at('fe80::1', 8080)).to.equal('http://[fe80::1]:8080/x')
      expect(at('orders.internal')).to.equal('http://orders.internal:80/x')
    },
  },
  {
    name: 'lease: one never completed is cancelled after leaseTimeoutMs',
    run() {
      const clock = handClock()
      const service = serviceWith({ instances: addresses(1), leaseTimeoutMs: 1_000 }, { clock: clock.now })
      const forgotten = service.pick()
      clock.advance(600)
      const fresh = service.pick()
      clock.advance(400)
      service.pick()?.done()
      expect(inFlight(service)).to.equal(1)
      expect(endings(service)).to.deep.equal([1, 0, 1])
      forgotten?.done()
      fresh?.done()
      expect(inFlight(service)).to.equal(0)
      expect(endings(service)).to.deep.equal([2, 0, 1])
    },
  },
  {
    name: 'lease: instances that left keep their leases until these end',
    run() {
      const [first, second] = addresses(2) as [string, string]
      const service = serviceWith({ instances: [first], policy: 'least-request' })
      const old = service.pick()
      service.update([second])
      const current = service.pick()
      old?.done({ error: new Error('gone') })
      expect(inFlight(service)).to.equal(1)
      current?.done()
      expect(endings(service)).to.deep.equal([1, 0, 0])
    },
  },
  {
    name: 'lease: state belongs to the instance and survives a refresh in another order',
    run() {
      const list = addresses(3)
      const service = serviceWith({ instances: list, policy: roundRobin({ start: -1 }) })
      const held = service.pick()
      service.update([...list].reverse())
      const [last, , first] = service.stats().instances
      expect([first?.inFlight, last?.inFlight]).to.deep.equal([1, 0])
      held?.done()
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'plan: each lease excludes the ones before, and it ends when all were tried',
    run() {
      const service = serviceWith({ instances: addresses(4), policy: 'random' })
      const tried: string[] = []
      const attempts: number[] = []
      for (const lease of service.plan()) {
        tried.push(lease.instance.instanceId)
        attempts.push(lease.attempt)
        lease.done({ error: new Error('no') })
      }
      expect([...tried].sort()).to.deep.equal(service.instances().map(({ instanceId }) => instanceId))
      expect(attempts).to.deep.equal([1, 2, 3, 4])
      expect(inFlight(service)).to.equal(0)
    },
  },
  {
    name: 'plan: no more attempts than asked for',
    run() {
      const service = serviceWith({ instances: addresses(4) })
      expect([...service.plan({}, { attempts: 2 })].length).to.equal(2)
    },
  },
  {
    name: 'previous: instances tried already are left out while others remain',
    run() {
      const service = serviceWith({ instances: addresses(3), policy: 'random' })
      const [first, second, third] = service.instances()
      if (!first || !second || !third) throw new Error('three instances were given')
      for (let i = 0; i < 20; i++) {
        const lease = service.pick({ previous: [first, third] })
        lease?.done()
        expect(lease?.instance).to.equal(second)
      }
      const lease = service.pick({ previous: [first, second, third] })
      expect(lease).not.to.equal(undefined)
      expect(service.stats().fallbacks).to.deep.equal({ 'retry-aware': 1 })
    },
  },
  {
    name: 'a closed balancer takes late completions without harm',
    async run() {
      const lb = createLoadBalancer({ services: { orders: addresses(2) } })
      const lease = lb.pick('orders')
      await lb.close()
      lease?.done()
      lease?.[DISPOSE]()
    },
  },
]
