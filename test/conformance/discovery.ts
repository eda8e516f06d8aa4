/** @module Discovery clients of the user's own: asked, cached, watched, failing. Time is a clock moved by hand. */

import { expect } from 'chai'
import { createLoadBalancer, type DiscoveryClient, type InstanceInit, simpleDiscovery } from 'evenkeel'
import type { Case } from './case.js'
import { rejected } from './errors-of.js'
import { addresses, handClock, serviceWith } from './services.js'

interface Registry extends DiscoveryClient {
  asked: number
  answer: () => Promise<readonly InstanceInit[]> | readonly InstanceInit[]
}

function registry(answer: Registry['answer']): Registry {
  return {
    name: 'registry',
    asked: 0,
    answer,
    get() {
      this.asked++
      return this.answer()
    },
  }
}

const idsOf = (service: { instances(): readonly { instanceId: string }[] }) =>
  service.instances().map(({ instanceId }) => instanceId)

/** A promise, settled from outside. */
function gate<T>(): { promise: Promise<T>; open: (value: T) => void; fail: (error: unknown) => void } {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

/** Lets everything that is ready to go on go on. */
const settled = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

export const cases: Case[] = [
  {
    name: 'discovery: a client that answers at once serves the first pick',
    run() {
      const service = serviceWith({ discovery: registry(() => addresses(2)) })
      expect(service.state).to.equal('cold')
      expect(service.pick()?.instance.host).to.be.oneOf(['10.0.0.0', '10.0.0.1'])
      expect(service.state).to.equal('ready')
    },
  },
  {
    name: 'discovery: nothing is asked before the first call; pick never waits, choose does',
    async run() {
      const slow = gate<string[]>()
      const client = registry(() => slow.promise)
      const service = serviceWith({ discovery: client })
      expect(client.asked).to.equal(0)
      expect(service.pick()).to.equal(undefined)
      const chosen = service.choose()
      slow.open(addresses(1))
      expect((await chosen)?.instance.instanceId).to.equal('10.0.0.0:8080')
      expect(client.asked).to.equal(1)
    },
  },
  {
    name: 'discovery: calls that come together ask once',
    async run() {
      const slow = gate<string[]>()
      const client = registry(() => slow.promise)
      const service = serviceWith({ discovery: client })
      const chosen = Promise.all(Array.from({ length: 20 }, () => service.choose()))
      slow.open(addresses(3))
      expect((await chosen).every((lease) => lease !== undefined)).to.equal(true)
      expect(client.asked).to.equal(1)
    },
  },
  {
    name: 'cache: fresh for ttlMs, then served stale while one call refreshes it, then waited for',
    async run() {
      const clock = handClock()
      const client = registry(() => Promise.resolve(addresses(1)))
      const service = serviceWith({ discovery: client, cache: { ttlMs: 1_000, staleMs: 500 } }, { clock: clock.now })
      await service.choose()
      clock.advance(999)
      expect(service.pick()).not.to.equal(undefined)
      expect(client.asked).to.equal(1)
      expect(service.state).to.equal('ready')

      const slow = gate<string[]>()
      client.answer = () => slow.promise
      clock.advance(1)
      expect(service.state).to.equal('stale')
      expect(service.pick()).not.to.equal(undefined)
      expect(service.pick()).not.to.equal(undefined)
      expect(client.asked).to.equal(2)
      slow.open(addresses(2))
      await settled()
      expect(service.instances().length).to.equal(2)
      expect(service.state).to.equal('ready')

      client.answer = () => Promise.resolve(addresses(3))
      clock.advance(1_500)
      await service.choose()
      expect(service.instances().length).to.equal(3)
    },
  },
  {
    name: 'discovery: a refresh begun by a pick is handed to waitUntil, and ends with its list in force',
    async run() {
      const slow = gate<string[]>()
      const lb = createLoadBalancer({ services: { orders: { discovery: registry(() => slow.promise) } } })
      const handed: Promise<unknown>[] = []
      expect(lb.with({ waitUntil: (promise) => handed.push(promise) }).pick('orders')).to.equal(undefined)
      expect(handed.length).to.equal(1)
      slow.open(addresses(2))
      await handed[0]
      expect(lb.service('orders').instances().length).to.equal(2)
    },
  },
  {
    name: 'cache false: every call that waits asks once',
    async run() {
      const client = registry(() => Promise.resolve(addresses(1)))
      const lb = createLoadBalancer({
        services: { orders: { discovery: client, cache: false } },
        fetch: async () => new Response(),
      })
      for (let calls = 1; calls <= 3; calls++) {
        if (calls === 2) await lb.fetch('http://orders/x')
        else (await lb.choose('orders'))?.done()
        await settled()
        expect(client.asked).to.equal(calls)
      }
    },
  },
  {
    name: 'discovery: a registry that fails leaves the old list in force and is asked again after a second or so',
    async run() {
      const clock = handClock()
      const client = registry(() => addresses(2))
      const service = serviceWith({ discovery: client, cache: { ttlMs: 100 } }, { clock: clock.now })
      const errors: unknown[] = []
      service.on('discoveryError', ({ error }) => errors.push(error))
      service.pick()?.done()
      await settled()
      const down = new Error('registry is down')
      client.answer = () => Promise.reject(down)
      clock.advance(5_000)
      expect(await service.choose()).not.to.equal(undefined)
      expect(errors).to.deep.equal([down])
      expect(service.stats().discoveryErrors).to.equal(1)
      expect((await service.explain()).notes).to.contain('discovery failed: the last good list is served')
      clock.advance(499)
      expect(await service.choose()).not.to.equal(undefined)
      expect(client.asked).to.equal(2)
      client.answer = () => Promise.resolve(addresses(3))
      // Pauses are drawn, so that many clients don't ask in step: from half a second to one and a half.
      clock.advance(1_001)
      await service.choose()
      expect(service.instances().length).to.equal(3)
    },
  },
  {
    name: 'discovery: failing without an earlier list is EVENKEEL_DISCOVERY with the cause; pick gives undefined',
    async run() {
      const down = new Error('registry is down')
      const lb = createLoadBalancer({ services: { orders: { discovery: registry(() => Promise.reject(down)) } } })
      for (const call of [lb.choose('orders'), lb.fetch('http://orders/')]) {
        expect(await rejected(call)).to.include({ code: 'EVENKEEL_DISCOVERY', serviceId: 'orders', cause: down })
      }
      expect(lb.pick('orders')).to.equal(undefined)
      expect(lb.service('orders').state).to.equal('failed')
    },
  },
  {
    name: 'discovery: an unreadable list changes nothing and counts as a failure',
    async run() {
      const client = registry(() => addresses(2))
      const service = serviceWith({ discovery: client })
      service.pick()?.done()
      await settled()
      client.answer = () => Promise.resolve([{ host: 'x', port: 65_536 }])
      expect(await rejected(service.refresh())).to.include({ code: 'EVENKEEL_DISCOVERY' })
      expect(idsOf(service)).to.deep.equal(['10.0.0.0:8080', '10.0.0.1:8080'])
    },
  },
  {
    name: "discovery: an entry that can't be read is left out and named, once",
    async run() {
      const client = registry(() => addresses(2))
      const service = serviceWith({ discovery: client })
      const failures: unknown[] = []
      service.on('discoveryError', ({ error }) => failures.push((error as { failure?: string }).failure))
      service.pick()?.done()
      await settled()
      client.answer = () => Promise.resolve(['http://10.9.9.9:80', { host: 'x', port: 65_536 }])
      await service.refresh()
      await service.refresh()
      expect(idsOf(service)).to.deep.equal(['10.9.9.9:80'])
      expect((await service.explain()).notes.join()).to.contain('65536')
      expect(failures).to.deep.equal(['malformed'])
    },
  },
  {
    name: 'refresh: asks again, also right after a client that answers at once was asked',
    async run() {
      const client = registry(() => addresses(1))
      const service = serviceWith({ discovery: client })
      service.pick()?.done()
      client.answer = () => addresses(3)
      const change = await service.refresh()
      expect(client.asked).to.equal(2)
      expect(change.added.length).to.equal(2)
      expect(service.instances().length).to.equal(3)
    },
  },
  {
    name: 'discovery: an empty answer means empty, not failed',
    async run() {
      const client = registry(() => addresses(2))
      const service = serviceWith({ discovery: client })
      service.pick()?.done()
      await settled()
      client.answer = () => []
      const change = await service.refresh()
      expect(change.removed.length).to.equal(2)
      expect(service.pick()).to.equal(undefined)
      expect(service.state).to.equal('ready')
    },
  },
  {
    name: 'discovery: repeated instance ids are merged and named by explain',
    async run() {
      const service = serviceWith({ discovery: registry(() => ['http://10.0.0.1:80', 'http://10.0.0.1:80']) })
      expect((await service.explain()).notes.join()).to.contain('"10.0.0.1:80" was listed more than once')
      expect(service.instances().length).to.equal(1)
    },
  },
  {
    name: 'discovery: choose gives up after its own time limit or signal, the refresh goes on',
    async run() {
      const slow = gate<string[]>()
      const service = serviceWith({ discovery: registry(() => slow.promise) })
      expect(await rejected(service.choose({}, { timeoutMs: 10 }))).to.include({ code: 'EVENKEEL_TIMEOUT' })
      const stop = new AbortController()
      const reason = new Error('enough')
      const chosen = rejected(service.choose({}, { signal: stop.signal }))
      stop.abort(reason)
      expect(await chosen).to.equal(reason)
      slow.open(addresses(1))
      expect(await service.choose()).not.to.equal(undefined)
    },
  },
  {
    name: 'discovery: a watch gives its first list, then what is pushed',
    async run(context) {
      const second = gate<void>()
      const service = serviceWith({
        discovery: {
          name: 'pushing',
          async *watch(_, { signal }) {
            yield addresses(1)
            await second.promise
            yield addresses(2)
            await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          },
        },
      })
      expect((await service.choose())?.instance.host).to.equal('10.0.0.0')
      second.open()
      // Workers end what outlives a request: there a watch is asked for its first list at each refresh.
      if (context.runtime.startsWith('workerd')) return
      await settled()
      expect(service.instances().length).to.equal(2)
    },
  },
  {
    name: 'discovery: a list of nobody is never fresh; each call that waits asks again',
    async run() {
      const client = registry(() => Promise.resolve([]))
      const service = serviceWith({ discovery: client })
      expect(await service.choose()).to.equal(undefined)
      expect(await service.choose()).to.equal(undefined)
      expect(client.asked).to.equal(2)
      client.answer = () => Promise.resolve(addresses(1))
      expect(await service.choose()).not.to.equal(undefined)
    },
  },
  {
    name: 'emptyList: a sudden list of nobody is not believed for protectMs',
    async run() {
      const clock = handClock()
      const client = registry(() => Promise.resolve(addresses(2)))
      const service = serviceWith({ discovery: client, emptyList: { protectMs: 5_000 } }, { clock: clock.now })
      await service.choose()
      client.answer = () => Promise.resolve([])
      await service.refresh()
      clock.advance(4_999)
      expect(service.pick()).not.to.equal(undefined)
      expect((await service.explain()).notes.join()).to.contain('the last list is kept for 1 ms')
      await settled()
      clock.advance(1_001)
      expect(await service.choose()).to.equal(undefined)
    },
  },
  {
    name: 'discovery of several clients: the first that lists anybody, past one that fails; or all of them, merged',
    async run() {
      const down = registry(() => Promise.reject(new Error('down')))
      const clients = [{ ...down, order: -1 }, simpleDiscovery({ orders: addresses(1) }), () => addresses(2)]
      const first = serviceWith({ discovery: clients })
      await first.choose()
      expect(idsOf(first)).to.deep.equal(['10.0.0.0:8080'])
      expect((await first.explain()).source).to.include({ discovery: 'registry, simple, custom' })
      const merged = serviceWith({ discovery: clients }, { discoveryMode: 'merge' })
      await merged.choose()
      expect(idsOf(merged)).to.deep.equal(['10.0.0.0:8080', '10.0.0.1:8080'])
    },
  },
  {
    name: 'discovery by a function: a list, a promise of one, or one list after the other',
    async run(context) {
      const second = gate<void>()
      async function* lists() {
        yield addresses(1)
        await second.promise
        yield addresses(2)
        await new Promise(() => {})
      }
      expect(serviceWith({ discovery: () => addresses(1) }).pick()).not.to.equal(undefined)
      expect(await serviceWith({ discovery: async () => addresses(1) }).choose()).not.to.equal(undefined)
      const service = serviceWith({ discovery: () => lists() })
      expect(await service.choose()).not.to.equal(undefined)
      // Workers end what outlives a request: there a stream is asked for its first list at each refresh.
      if (context.runtime.startsWith('workerd')) return
      second.open()
      await settled()
      expect(service.instances().length).to.equal(2)
    },
  },
  {
    name: 'discovery of the balancer: a service of any name is made on first use',
    async run() {
      const asked: string[] = []
      const lb = createLoadBalancer({
        discovery: {
          name: 'any',
          get(serviceId) {
            asked.push(serviceId)
            return addresses(1)
          },
        },
        fetch: async (input) => new Response(String(input)),
      })
      expect(await (await lb.fetch('http://New_Service/x')).text()).to.equal('http://10.0.0.0:8080/x')
      expect(lb.pick('another')?.instance.serviceId).to.equal('another')
      expect(asked).to.deep.equal(['New_Service', 'another'])
    },
  },
  {
    name: 'update: added, removed and changed are told; what stays is the same object',
    run() {
      const service = serviceWith({ instances: ['http://10.0.0.1:80', { url: 'http://10.0.0.2:80', zone: 'a' }] })
      const [kept] = service.instances()
      const events: unknown[] = []
      service.on('change', (change) => events.push(change))
      const change = service.update(['http://10.0.0.1:80', { url: 'http://10.0.0.2:80', zone: 'b' }, '10.0.0.3:80'])
      expect(change.added.map(({ instanceId }) => instanceId)).to.deep.equal(['10.0.0.3:80'])
      expect(change.changed.map(({ metadata }) => metadata.zone)).to.deep.equal(['b'])
      expect(change.removed).to.deep.equal([])
      expect(service.instances()[0]).to.equal(kept)
      expect(events).to.deep.equal([change])
    },
  },
]
