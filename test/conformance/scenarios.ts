/**
 * @module An order platform in two cities, as a team runs it: its five routing scenarios, and the eight windows in
 * which calls go wrong. The transport is the case's own, time a clock moved by hand.
 */

import { expect } from 'chai'
import {
  attemptsOf,
  createLoadBalancer,
  type DiscoveryClient,
  type FetchLike,
  type InstanceInit,
  type LoadBalancerOptions,
  roundRobin,
  type ServiceOptions,
  subset,
  version,
  zonePreference,
} from 'evenkeel'
import type { Case } from './case.js'
import { rejected } from './errors-of.js'
import { counts, handClock, picks, serviceWith } from './services.js'

/** A transport that answers for each host by what is said of it; what it was asked is remembered. */
function transport(answers: Record<string, () => Response | Promise<Response>> = {}): FetchLike & { hosts: string[] } {
  const hosts: string[] = []
  const send: FetchLike = async (input) => {
    const { hostname } = new URL(typeof input === 'string' || input instanceof URL ? input : input.url)
    hosts.push(hostname)
    return answers[hostname]?.() ?? new Response(hostname)
  }
  return Object.assign(send, { hosts })
}

const refuse = () => {
  throw Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
  })
}

/** Two instances in Shanghai, two in Beijing; the second of each speaks v2. */
const CITIES: readonly InstanceInit[] = [
  { host: 'sh-1', port: 80, zone: 'shanghai', version: 'v1' },
  { host: 'sh-2', port: 80, zone: 'shanghai', version: 'v2' },
  { host: 'bj-1', port: 80, zone: 'beijing', version: 'v1' },
  { host: 'bj-2', port: 80, zone: 'beijing', version: 'v2' },
]
const without = (...hosts: string[]) => CITIES.filter((each) => !hosts.includes((each as { host: string }).host))

function stock(options: ServiceOptions, balancer: Omit<LoadBalancerOptions, 'services'> = {}) {
  const sent = transport()
  const lb = createLoadBalancer({
    seed: 1,
    fetch: sent,
    ...balancer,
    services: { stock: { policy: roundRobin({ start: -1 }), ...options } },
  })
  return { lb, service: lb.service('stock'), hosts: sent.hosts }
}

const idsOf = (list: readonly { host: string }[]) => list.map(({ host }) => host)

const scenarios: Case[] = [
  {
    name: 'scenario: two callers with the list in another order: A = 1, 2, 3, 1 and B = 3, 1, 2, 3',
    run() {
      const caller = (order: readonly string[]) =>
        serviceWith({ instances: order.map((host) => ({ host, port: 80 })), policy: roundRobin({ start: -1 }) })
      const [a, b] = [caller(['1', '2', '3']), caller(['3', '1', '2'])]
      const four = (service: typeof a) => Array.from({ length: 4 }, () => service.pick()?.instance.host).join(', ')
      expect([four(a), four(b)]).to.deep.equal(['1, 2, 3, 1', '3, 1, 2, 3'])
    },
  },
  {
    name: 'scenario: an ordinary query stays in its city, and goes to the other if its own has nobody',
    run() {
      const { service } = stock({ instances: CITIES, suppliers: ['zone-preference'] }, { zone: 'shanghai' })
      expect(counts(picks(service, 10), 4)).to.deep.equal([5, 5, 0, 0])
      service.update(without('sh-1', 'sh-2'))
      expect(counts(picks(service, 10), 2)).to.deep.equal([5, 5])
      expect(service.stats().fallbacks).to.deep.equal({ 'zone-preference': 10 })
    },
  },
  {
    name: 'scenario: data that may not leave its region fails rather than crossing over',
    async run() {
      const options = { instances: without('sh-1', 'sh-2'), suppliers: [zonePreference({ strict: true })] }
      const { lb, hosts } = stock(options, { zone: 'shanghai' })
      expect(await rejected(lb.fetch('http://stock/personal'))).to.include({ code: 'EVENKEEL_NO_INSTANCE' })
      expect(hosts).to.deep.equal([])
    },
  },
  {
    name: 'scenario: a strict version is served by its own instances or by nobody, or by the stable ones if one says so',
    async run() {
      const headers = { 'X-Service-Version': 'v2' }
      const strict = stock({ instances: CITIES, suppliers: [version({ strict: true })] })
      for (let i = 0; i < 8; i++) await strict.lb.fetch('http://stock/', { headers })
      expect(new Set(strict.hosts)).to.deep.equal(new Set(['sh-2', 'bj-2']))
      strict.service.update(without('sh-2', 'bj-2'))
      expect(await rejected(strict.lb.fetch('http://stock/', { headers }))).to.include({ code: 'EVENKEEL_NO_INSTANCE' })
      expect(strict.hosts).to.have.length(8)

      const marked = [
        { host: 'old', port: 80, version: 'v1', metadata: { stable: 'true' } },
        { host: 'odd', port: 80, version: 'v0' },
      ]
      const returning = stock({ instances: marked, suppliers: [version({ fallback: 'stable' })] })
      await returning.lb.fetch('http://stock/', { headers })
      expect(returning.hosts).to.deep.equal(['old'])
      expect(returning.service.stats().fallbacks).to.deep.equal({ version: 1 })
    },
  },
  {
    name: 'scenario: strict before preferred: the version decides, then the city; the other order is noted',
    async run() {
      const headers = { 'X-Service-Version': 'v2' }
      const strict = version({ strict: true })
      const right = stock({ instances: CITIES, suppliers: [strict, 'zone-preference'] }, { zone: 'shanghai' })
      expect(idsOf((await right.service.explain({ headers })).candidates)).to.deep.equal(['sh-2'])
      right.service.drain('sh-2:80')
      const { candidates, layers } = await right.service.explain({ headers })
      expect(idsOf(candidates)).to.deep.equal(['bj-2'])
      expect(layers.at(-1)).to.include({ name: 'zone-preference', fellBack: true })

      const wrong = stock({ instances: CITIES, suppliers: ['zone-preference', strict] }, { zone: 'shanghai' })
      wrong.service.drain('sh-2:80')
      const explained = await wrong.service.explain({ headers })
      expect(explained.candidates).to.deep.equal([])
      expect(explained.notes.join()).to.include('"version" is strict and comes after the preference "zone-preference"')
    },
  },
  {
    name: 'scenario: machines of different size take their share by weight',
    run() {
      const sized = CITIES.map((each, i) => ({
        ...(each as { host: string; port: number }),
        weight: [3, 1, 1, 1][i] as number,
      }))
      const { service } = stock({ instances: sized, suppliers: ['weighted'] })
      expect(counts(picks(service, 60), 4)).to.deep.equal([30, 10, 10, 10])
    },
  },
  {
    name: 'scenario: many instances: a client keeps a few of them, always the same, whatever the order it is told',
    run() {
      const many = Array.from({ length: 100 }, (_, i) => ({ host: `h${i}`, port: 80 }))
      const kept = (instances: readonly InstanceInit[]) => {
        const service = serviceWith({ instances, suppliers: [subset({ instanceId: 'web-7', size: 10 })] })
        return new Set(Array.from({ length: 100 }, () => service.pick()?.instance.host))
      }
      const first = kept(many)
      expect(first.size).to.equal(10)
      expect(kept([...many].reverse())).to.deep.equal(first)
    },
  },
]

interface Registry extends DiscoveryClient {
  list: readonly InstanceInit[] | Error
}

function registry(list: Registry['list']): Registry {
  return {
    name: 'registry',
    list,
    get() {
      if (this.list instanceof Error) throw this.list
      return this.list
    },
  }
}

const windows: Case[] = [
  {
    name: 'window: the registry is down: the last good list serves on, and everything says that it failed',
    async run() {
      const clock = handClock()
      const client = registry(CITIES)
      const { lb, service, hosts } = stock(
        { discovery: client, cache: { ttlMs: 5_000, staleMs: 5_000 } },
        { clock: clock.now },
      )
      const failures: number[] = []
      service.on('discoveryError', ({ servedAgeMs }) => failures.push(servedAgeMs))
      await lb.fetch('http://stock/')
      client.list = new Error('connection refused')
      clock.advance(60_000)
      await lb.fetch('http://stock/')
      expect(hosts).to.have.length(2)
      expect(service.state).to.equal('stale')
      expect(failures).to.deep.equal([60_000])
      expect(service.stats()).to.include({ discoveryErrors: 1, discovered: 4, noInstance: 0 })
      const { layers, notes } = await service.explain()
      expect(layers[0]).to.include({ reason: 'failed: connection refused', ageMs: 60_000 })
      expect(notes).to.include('discovery failed: the last good list is served')
      client.list = []
      clock.advance(60_000)
      expect(await rejected(lb.fetch('http://stock/'))).to.include({ code: 'EVENKEEL_NO_INSTANCE' })
      expect(service.stats().discovered).to.equal(0)
    },
  },
  {
    name: 'window: deregistered but cached: picked until the list is asked for again, and the timeline tells',
    async run() {
      const clock = handClock(0)
      const client = registry(CITIES)
      const { lb, service, hosts } = stock(
        { discovery: client, cache: { ttlMs: 35_000, staleMs: 0 } },
        { clock: clock.now },
      )
      await service.choose()
      clock.advance(10_000)
      client.list = without('bj-2')
      clock.advance(10_000)
      for (let i = 0; i < 4; i++) await lb.fetch('http://stock/')
      expect(hosts).to.include('bj-2')
      clock.advance(20_000)
      for (let i = 0; i < 6; i++) await lb.fetch('http://stock/')
      expect(hosts.slice(4)).not.to.include('bj-2')
      expect(service.timeline('bj-2:80').map(({ at, event }) => `${at} ${event}`)).to.deep.equal([
        '0 discovered',
        '20000 first-picked',
        '20000 last-picked',
        '40000 removed-by-registry',
        '40000 dropped-from-cache',
      ])
    },
  },
  {
    name: 'window: filtered to nothing: the registry has instances, the call has none, and explain says which layer it was',
    async run() {
      const { lb, service } = stock(
        { instances: CITIES, suppliers: [version({ strict: true }), 'zone-preference'] },
        { zone: 'shanghai' },
      )
      const headers = { 'X-Service-Version': 'v3' }
      const error = await rejected(lb.fetch('http://stock/', { headers }))
      expect(error).to.include({ code: 'EVENKEEL_NO_INSTANCE' })
      expect((error as Error).message).to.include('none of 4 is left by version (no instance has version "v3")')
      const { layers } = await service.explain({ headers })
      expect(layers.map(({ name, in: before, out }) => [name, before, out])).to.deep.equal([
        ['discovery', 4, 4],
        ['version', 4, 0],
        ['zone-preference', 0, 0],
      ])
      expect(layers.map(({ reason }) => reason)).to.deep.equal([undefined, 'no instance has version "v3"', undefined])
    },
  },
  {
    name: 'window: local rotations are skewed: each caller is even, all together need not be, and digests tell orders apart',
    async run() {
      const callers = Array.from({ length: 3 }, (_, i) =>
        serviceWith({ instances: [...CITIES.slice(i), ...CITIES.slice(0, i)], policy: roundRobin({ start: -1 }) }),
      )
      const firsts = callers.map((service) => service.pick()?.instance.host)
      expect(firsts).to.deep.equal(['sh-1', 'sh-2', 'bj-1'])
      const same = Array.from({ length: 3 }, () =>
        serviceWith({ instances: CITIES, policy: roundRobin({ start: -1 }) }),
      )
      expect(same.map((service) => service.pick()?.instance.host)).to.deep.equal(['sh-1', 'sh-1', 'sh-1'])
      for (const service of callers) expect(counts(picks(service, 40), 4)).to.deep.equal([10, 10, 10, 10])
      const digests = await Promise.all(callers.map(async (service) => (await service.explain()).source.orderDigest))
      expect(new Set(digests).size).to.equal(3)
      const random = Array.from(
        { length: 20 },
        (_, seed) => serviceWith({ instances: CITIES }, { seed }).pick()?.instance.host,
      )
      expect(new Set(random).size).to.equal(4)
    },
  },
  {
    name: 'window: slow but healthy: round robin keeps sending, peak EWMA does not, stats show who it is',
    async run() {
      const clock = handClock(0)
      const slow = () => {
        clock.advance(900)
        return new Response('slow')
      }
      const quick = () => {
        clock.advance(1)
        return new Response('quick')
      }
      const answers = { 'sh-1': slow, 'sh-2': quick, 'bj-1': quick, 'bj-2': quick }
      const shareOfSlow = async (policy: string) => {
        const sent = transport(answers)
        const { lb, service } = stock({ instances: CITIES, policy }, { clock: clock.now, fetch: sent })
        for (let i = 0; i < 400; i++) await lb.fetch('http://stock/')
        const { p50Ms } = service.stats().instances[0] ?? {}
        expect(p50Ms).to.be.closeTo(900, 60)
        return sent.hosts.filter((host) => host === 'sh-1').length
      }
      expect(await shareOfSlow('round-robin')).to.equal(100)
      expect(await shareOfSlow('peak-ewma')).to.be.below(20)
    },
  },
  {
    name: 'window: retries amplify: never more attempts than allowed, each told apart, none where nothing may be repeated',
    async run() {
      const sent = transport(Object.fromEntries(idsOf(CITIES as { host: string }[]).map((host) => [host, refuse])))
      const retry = { maxRetriesOnSameServiceInstance: 1, maxRetriesOnNextServiceInstance: 2 }
      const { lb, service } = stock({ instances: CITIES, retry }, { fetch: sent })
      const error = await rejected(lb.fetch('http://stock/'))
      // Twice each: the cursor goes over what is left to try.
      expect(sent.hosts).to.deep.equal(['sh-1', 'sh-1', 'bj-1', 'bj-1', 'sh-2', 'sh-2'])
      expect(attemptsOf(error)).to.have.length(6)
      expect(service.stats()).to.include({ retriesSame: 3, retriesNext: 2 })
      await rejected(lb.fetch('http://stock/', { method: 'POST' }))
      expect(sent.hosts).to.have.length(7)
      await rejected(lb.with({ retry: false }).fetch('http://stock/'))
      expect(sent.hosts).to.have.length(8)
    },
  },
  {
    name: 'window: a storm of probes: no more checks at once than allowed, and each instance once a round',
    async run() {
      const many = Array.from({ length: 200 }, (_, i) => ({ host: `h${i}`, port: 80 }))
      let underWay = 0
      let most = 0
      const asked = new Set<string>()
      const probe: FetchLike = async (input) => {
        asked.add(String(input))
        most = Math.max(most, ++underWay)
        await Promise.resolve()
        underWay--
        return new Response('UP')
      }
      const { lb, service } = stock(
        { instances: many, healthCheck: { maxConcurrent: 8, initialDelayMs: 1_000_000 } },
        { fetch: probe },
      )
      await service.check()
      expect([most, asked.size, service.stats().healthChecks]).to.deep.equal([8, 200, 200])
      await lb.close()
    },
  },
  {
    name: 'window: configuration leaks between services: each has its own suppliers, policy, cursor and numbers',
    async run() {
      const sent = transport({ 'pay-1': refuse })
      const lb = createLoadBalancer({
        seed: 1,
        fetch: sent,
        zone: 'shanghai',
        defaults: { policy: roundRobin({ start: -1 }) },
        services: {
          stock: { instances: CITIES, suppliers: ['zone-preference'] },
          pay: {
            instances: ['http://pay-1:80', 'http://pay-2:80', 'http://pay-3:80'],
            retry: false,
            noInstance: 'response',
          },
        },
      })
      const [stockService, pay] = [lb.service('stock'), lb.service('pay')]
      await rejected(lb.fetch('http://pay/'))
      expect(picks(stockService, 3)).to.deep.equal([0, 1, 0])
      expect(picks(pay, 2)).to.deep.equal([1, 2])
      expect(pay.stats()).to.deep.include({ retriesNext: 0, fallbacks: {} })
      expect(stockService.options().retry?.from).to.equal('default')
      expect(pay.options().retry).to.deep.equal({ value: false, from: 'service' })
      expect(pay.options().policy?.from).to.equal('balancer')
      pay.drain('pay-2:80')
      expect(stockService.stats().instances.every(({ drained }) => !drained)).to.equal(true)
      await lb.remove('pay')
      expect(stockService.pick()).not.to.equal(undefined)
    },
  },
]

export const cases: Case[] = [...scenarios, ...windows]
