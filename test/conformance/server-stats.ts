/** @module Ribbon's statistics of each instance, its circuit breaker, and the zones, as `stats()` tells them. */

import { expect } from 'chai'
import {
  attemptsOf,
  createLoadBalancer,
  type FetchLike,
  type InstanceInit,
  type Lease,
  type Outcome,
  type Policy,
  type ServerStats,
  type Service,
} from 'evenkeel'
import type { Case } from './case.js'
import { addresses, handClock, serviceWith } from './services.js'

const refused = () => Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })

/** A lease on one instance; what was picked on the way to it is given back. */
export function leaseOn(service: Service, index: number): Lease {
  const wanted = service.instances()[index]?.instanceId
  for (;;) {
    const lease = service.pick() as Lease
    if (lease.instance.instanceId === wanted) return lease
    lease.done({ cancelled: true })
  }
}

export function trip(service: Service, index: number, times = 3): void {
  for (let i = 0; i < times; i++) leaseOn(service, index).done({ error: refused() })
}

const server = (service: Service, index: number) => service.stats().instances[index]?.server as ServerStats

/** Round robin over those whose breaker is closed. */
function heeding(serviceOf: () => Service): Policy {
  let turn = 0
  return {
    name: 'heeding',
    pick(candidates) {
      const open = serviceOf().stats().instances
      const ids = new Set(open.filter(({ server }) => server?.tripped).map(({ instanceId }) => instanceId))
      for (let i = 0; i < candidates.length; i++) {
        const index = turn++ % candidates.length
        if (!ids.has(candidates.instance(index).instanceId)) return index
      }
      return -1
    },
  }
}

const zoned = (...zones: string[]): InstanceInit[] =>
  addresses(zones.length).map((url, i) => ({ url, zone: zones[i] as string }))

const statistics: Case[] = [
  {
    name: 'server stats: not kept unless asked for',
    run() {
      const { instances, zones } = serviceWith({ instances: addresses(2) }).stats()
      expect(instances.map(({ server }) => server)).to.deep.equal([undefined, undefined])
      expect(zones).to.deep.equal({})
    },
  },
  {
    name: 'server stats: what an instance was asked, how long it took, when',
    run() {
      const clock = handClock(0)
      const service = serviceWith({ instances: addresses(1), serverStats: true }, { clock: clock.now })
      expect(server(service, 0)).to.deep.equal({
        requests: 0,
        active: 0,
        requestsInWindow: 0,
        connectionFailures: 0,
        failuresInWindow: 0,
        tripped: false,
        trippedForMs: 0,
        blackoutMs: 0,
        responseTimes: { count: 0, meanMs: Number.NaN, variance: Number.NaN, minMs: Number.NaN, maxMs: Number.NaN },
        firstAccessedAt: Number.NaN,
        lastAccessedAt: Number.NaN,
        lastFailureAt: Number.NaN,
      })
      const leases = [1, 2, 3, 4].map(() => service.pick() as Lease)
      clock.advance(10)
      leases[0]?.done()
      clock.advance(20)
      leases[1]?.done({ status: 500 })
      leases[2]?.done({ error: refused() })
      expect(server(service, 0)).to.deep.equal({
        requests: 3,
        active: 1,
        requestsInWindow: 0,
        connectionFailures: 1,
        failuresInWindow: 1,
        tripped: false,
        trippedForMs: 0,
        blackoutMs: 0,
        responseTimes: { count: 3, meanMs: 70 / 3, variance: 1900 / 3 - (70 / 3) ** 2, minMs: 10, maxMs: 30 },
        firstAccessedAt: 0,
        lastAccessedAt: 0,
        lastFailureAt: 30,
      })
      clock.advance(600_000)
      expect(server(service, 0).active, 'forgotten at 600 s').to.equal(1)
      clock.advance(1)
      expect(server(service, 0).active).to.equal(0)
      expect(service.stats().instances[0]?.inFlight).to.equal(1)
    },
  },
  {
    name: 'server stats: a retry is credited to whom it was sent',
    async run() {
      const fetch: FetchLike = async (input) => {
        if (new URL(input instanceof Request ? input.url : input).hostname === 'a') throw refused()
        return new Response('ok')
      }
      const service = serviceWith(
        { instances: ['http://a', 'http://b'], serverStats: true, policy: { type: 'round-robin', start: -1 } },
        { fetch },
      )
      const response = await service.fetch('/')
      expect(attemptsOf(response).length).to.equal(2)
      const seen = [0, 1].map((i) => server(service, i))
      expect(seen.map(({ requests }) => requests)).to.deep.equal([1, 1])
      expect(seen.map(({ connectionFailures }) => connectionFailures)).to.deep.equal([1, 0])
    },
  },
  {
    name: 'server stats: by default no answer and 503 trip, any other answer heals, what was cancelled does neither',
    run() {
      const service = serviceWith({ instances: addresses(1), serverStats: true })
      const after = (outcome: Outcome) => {
        service.pick()?.done(outcome)
        return server(service, 0).connectionFailures
      }
      expect(after({ error: refused() })).to.equal(1)
      expect(after({ status: 503 })).to.equal(2)
      expect(after({ cancelled: true, status: 503 })).to.equal(2)
      expect(after({ status: 500 })).to.equal(0)
      expect(after({ status: 503 })).to.equal(1)
      expect(after({ error: new Error('malformed') })).to.equal(0)
    },
  },
  {
    name: 'server stats: trips of one’s own',
    run() {
      const trips = ({ status = 200 }: Outcome) => status >= 500
      const service = serviceWith({ instances: addresses(1), serverStats: { trips, connectionFailureThreshold: 1 } })
      service.pick()?.done({ error: refused() })
      expect(server(service, 0).tripped).to.equal(false)
      service.pick()?.done({ status: 502 })
      expect(server(service, 0).tripped).to.equal(true)
    },
  },
  {
    name: 'server stats: after three connection failures an instance is left out for 10 s',
    run() {
      const clock = handClock()
      const service: Service = serviceWith(
        { instances: addresses(2), serverStats: true, policy: heeding(() => service) },
        { clock: clock.now },
      )
      const [first, second] = service.instances()
      const told: unknown[] = []
      service.on('eject', ({ instance, reason, forMs }) => told.push([instance, reason, forMs]))
      service.on('restore', ({ instance }) => told.push(instance))
      trip(service, 0)
      expect(told).to.deep.equal([[first, 'circuit breaker: connection failures in a row', 10_000]])
      expect(server(service, 0)).to.include({ tripped: true, trippedForMs: 10_000, blackoutMs: 10_000 })
      clock.advance(9_999)
      for (let i = 0; i < 4; i++) expect(service.pick()?.instance).to.equal(second)
      clock.advance(1)
      expect(server(service, 0).tripped).to.equal(false)
      leaseOn(service, 0).done()
      expect(told[1]).to.equal(first)
      const events = service.timeline(first?.instanceId).map(({ event }) => event)
      expect(events.filter((event) => event.endsWith('ed') && !event.includes('picked'))).to.deep.equal([
        'discovered',
        'ejected',
        'restored',
      ])
    },
  },
  {
    name: 'server stats: stay with an instance over refreshes, end when it leaves',
    run() {
      const [a, b, c] = addresses(3) as [string, string, string]
      const clock = handClock()
      const service = serviceWith({ instances: [a, b], serverStats: { percentiles: true } }, { clock: clock.now })
      const indexOf = (url: string) =>
        service.instances().findIndex(({ host, port }) => `http://${host}:${port}` === url)
      const of = (url: string) => server(service, indexOf(url))
      leaseOn(service, 1).done({ latencyMs: 70 })
      trip(service, 1)
      clock.advance(1_000)
      service.update([c, b])
      expect(of(b)).to.include({ tripped: true, requests: 4 })
      expect([of(b).percentilesMs?.[99], of(c).requests]).to.deep.equal([70, 0])
      service.update([c])
      service.update([c, a, b])
      expect(of(b)).to.include({ tripped: false, requests: 0 })
      expect([of(a), of(b)].map(({ percentilesMs }) => percentilesMs?.[99])).to.deep.equal([Number.NaN, Number.NaN])
      for (const url of [a, b]) leaseOn(service, indexOf(url)).done({ latencyMs: 5 })
      clock.advance(1_000)
      expect([of(a), of(b)].map(({ percentilesMs }) => percentilesMs?.[99])).to.deep.equal([5, 5])
    },
  },
  {
    name: 'server stats: a selection that a supplier refuses leaves nothing in flight',
    run() {
      const refusing = {
        name: 'refusing',
        filter: <T>(list: T) => list,
        selected: () => {
          throw new Error('no')
        },
      }
      const service = serviceWith({ instances: addresses(1), serverStats: true, suppliers: [refusing] })
      expect(() => service.pick()).to.throw('no')
      expect(server(service, 0).active).to.equal(0)
    },
  },
  {
    name: 'server stats: who is asked what trips may close the service',
    run() {
      const lb = createLoadBalancer({
        services: {
          orders: {
            instances: addresses(1),
            serverStats: {
              trips: () => {
                lb.remove('orders')
                return true
              },
            },
          },
        },
      })
      const service = lb.service('orders')
      service.pick()?.done({ status: 503 })
      expect(service.state).to.equal('closed')
    },
  },
]

/** Published each second, of the second before; response times 1, 2, … 10 ms. */
function publishing(compat: string[]) {
  const clock = handClock(0)
  const service = serviceWith(
    { instances: addresses(1), serverStats: { percentiles: true } },
    { clock: clock.now, compat },
  )
  const told = () => [10, 25, 50, 75, 90].map((percent) => server(service, 0).percentilesMs?.[percent as 10])
  const seen = [told()]
  for (let ms = 10; ms > 0; ms--) service.pick()?.done({ latencyMs: ms })
  seen.push(told())
  for (const _ of [1, 2, 3]) {
    clock.advance(1_000)
    seen.push(told())
  }
  return seen
}

const percentiles: Case[] = [
  {
    name: 'server stats: percentiles of the last complete second that had requests',
    run() {
      const nothing = Array(5).fill(Number.NaN)
      const ten = [2, 3.5, 6, 8.5, 10]
      expect(publishing([])).to.deep.equal([nothing, nothing, ten, ten, ten])
    },
  },
  {
    name: 'server stats, quirk ribbon-percentiles-empty: zeros of a second without requests',
    run() {
      const zeros = Array(5).fill(0)
      expect(publishing(['ribbon-percentiles-empty']).slice(2)).to.deep.equal([[2, 3.5, 6, 8.5, 10], zeros, zeros])
    },
  },
]

const zones: Case[] = [
  {
    name: 'server stats: a zone’s load is that of its instances whose breakers are closed',
    run() {
      const service = serviceWith({ instances: zoned('East', 'east', 'EAST', 'west'), serverStats: true })
      trip(service, 2)
      trip(service, 3)
      ;[4, 2, 9].forEach((count, index) => {
        for (let i = 0; i < count; i++) leaseOn(service, index)
      })
      expect(service.stats().zones).to.deep.equal({
        east: { instances: 3, tripped: 1, active: 15, load: 3 },
        west: { instances: 1, tripped: 1, active: 0, load: -1 },
      })
    },
  },
  {
    name: 'server stats: instances without a zone are in zone unknown',
    run() {
      const { zones } = serviceWith({ instances: addresses(2), serverStats: true }).stats()
      expect(zones).to.deep.equal({ unknown: { instances: 2, tripped: 0, active: 0, load: 0 } })
    },
  },
]

export const cases: Case[] = [...statistics, ...percentiles, ...zones]
