/** Subsets of large lists: which part a client keeps, and what all clients together make of the list. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ranksByHash } from '../../bindings/core/hash-ranks.js'
import {
  type ApertureOptions,
  aperture,
  createLoadBalancer,
  hint,
  type InstanceInit,
  type LoadBalancerOptions,
  leastRequest,
  type Policy,
  peakEwma,
  random,
  rendezvousSubset,
  roundRobin,
  type Service,
  type ServiceInstance,
  type ServiceOptions,
} from '../../bindings/index.js'
import { overlapsOf } from '../../bindings/supplier/ring-overlaps.js'
import { apertureWeights } from '../model/aperture.js'
import { xxh64 } from '../model/xxh64.js'
import { CORES } from './cores.js'

const serviceWith = (options: ServiceOptions, balancer: Omit<LoadBalancerOptions, 'services'> = {}): Service =>
  createLoadBalancer({ seed: 1, ...balancer, services: { s: options } }).service('s')

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ instanceId: `n${i}`, host: 'h' }))
const instancesOf = (inits: readonly InstanceInit[]) => serviceWith({ instances: inits }).instances()

async function keptIds(service: Service): Promise<string[]> {
  return (await service.explain()).candidates.map(({ instanceId }) => instanceId)
}

function byHash(texts: readonly string[], seedText?: string): number[] {
  const encoder = new TextEncoder()
  const seed = seedText === undefined ? 0n : xxh64(encoder.encode(seedText)) >> 11n
  const hashes = texts.map((text) => xxh64(encoder.encode(text), seed))
  const ascending = (a: number, b: number) => Number((hashes[a] as bigint) > (hashes[b] as bigint)) * 2 - 1
  return texts.map((_, i) => i).sort((a, b) => (hashes[a] === hashes[b] ? a - b : ascending(a, b)))
}

describe.each(Object.entries(CORES))('%s', (_, make) => {
  const core = make()

  it('ranks texts by XXH64 as the model does', () => {
    const text = fc.oneof(fc.string({ maxLength: 9 }), fc.string({ unit: 'binary', maxLength: 90 }))
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), fc.option(text, { nil: undefined }), (texts, seedText) => {
        expect(ranksByHash(core, texts, seedText)).toEqual(byHash(texts, seedText))
      }),
      { seed: 1, numRuns: 300 },
    )
  })

  it('gives back what it takes', () => {
    const texts = numbered(1_000).map(({ instanceId }) => instanceId)
    for (let i = 0; i < 3; i++) ranksByHash(core, texts, 'client')
    const before = core.exports.memory.buffer.byteLength
    for (let i = 0; i < 200; i++) ranksByHash(core, texts, 'client')
    expect(core.exports.memory.buffer.byteLength).toBe(before)
  })
})

it('hashes by the published values', () => {
  // Of the reference implementation's `xxhsum -H64`, as they stand in the README of xxhash-wasm and in many test suites.
  expect(xxh64(new TextEncoder().encode(''))).toBe(0xef46db3751d8e999n)
  expect(xxh64(new TextEncoder().encode('a'))).toBe(0xd24ec4f1a98c6e5bn)
  expect(xxh64(new TextEncoder().encode('abc'))).toBe(0x44bc2cf5ad770999n)
})

describe('rendezvousSubset', () => {
  const backends = instancesOf(numbered(300))
  const clients = Array.from({ length: 300 }, (_, i) => `client-${i}`)
  const kept = (instanceId: string, size: number, list = backends) => {
    const answer = rendezvousSubset({ instanceId, size }).filter(list, {})
    return ('list' in answer ? answer.list : answer).map((instance) => instance.instanceId)
  }
  const shares = (size: number) => {
    const counted = new Map(backends.map(({ instanceId }) => [instanceId, 0]))
    for (const client of clients) for (const id of kept(client, size)) counted.set(id, (counted.get(id) ?? 0) + 1)
    return [...counted.values()].map((count) => (100 * count) / size)
  }

  // algorithms.md §4 has 8.7, 17.7 and 30.7 % of one run; drawing k of n at random gives √((1 − k/n) / k) of the mean.
  it.each([90, 30, 10])('%i of 300 for each of 300 clients: as even as drawing at random', (size) => {
    const all = shares(size)
    const deviation = Math.sqrt(all.reduce((sum, share) => sum + (share - 100) ** 2, 0) / all.length)
    const expected = 100 * Math.sqrt((1 - size / 300) / size)
    expect(Math.abs(deviation / expected - 1)).toBeLessThan(0.12)
    expect(Math.min(...all)).toBeGreaterThanOrEqual(100 - 4 * expected)
    expect(Math.max(...all)).toBeLessThanOrEqual(100 + 4 * expected)
  })

  it('takes one other for the one that goes, and touches nobody else', () => {
    const gone = backends[137]?.instanceId as string
    const less = backends.filter(({ instanceId }) => instanceId !== gone)
    let had = 0
    let changed = 0
    for (const client of clients) {
      const before = new Set(kept(client, 30))
      const after = kept(client, 30, less)
      if (before.has(gone)) had++
      changed += after.filter((id) => !before.has(id)).length
    }
    expect(changed).toBe(had)
    expect(had).toBeGreaterThan(10)
  })

  it('keeps the same, however the list is ordered, and keeps its order', () => {
    const turned = backends.toReversed()
    for (const client of clients.slice(0, 20)) {
      expect(kept(client, 30, turned)).toEqual(kept(client, 30).toReversed())
      const places = kept(client, 30).map((id) => Number(id.slice(1)))
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }
  })

  it('is the lowest of XXH64 seeded by the client', () => {
    const ids = backends.map(({ instanceId }) => instanceId)
    for (const size of [1, 7, 299]) {
      const lowest = byHash(ids, 'client-7').slice(0, size)
      expect(kept('client-7', size)).toEqual(lowest.sort((a, b) => a - b).map((i) => ids[i]))
    }
  })

  it('of a service is what it is by itself; the balancer’s id is the default', async () => {
    const instances = numbered(50)
    const own = serviceWith({ instances, suppliers: [rendezvousSubset({ instanceId: 'a', size: 9 })] })
    const inherited = serviceWith(
      { instances, suppliers: [{ type: 'rendezvous-subset', size: 9 }] },
      { instanceId: 'a' },
    )
    expect(await keptIds(own)).toEqual(kept('a', 9, instancesOf(instances)))
    expect(await keptIds(inherited)).toEqual(await keptIds(own))
  })

  it('without an id keeps to the seed: the same over refreshes, another in another client', async () => {
    const instances = numbered(50)
    const of = (seed: number) => serviceWith({ instances, suppliers: [rendezvousSubset({ size: 9 })] }, { seed })
    const service = of(5)
    const first = await keptIds(service)
    const spared = numbered(60).filter(({ instanceId }) => !first.includes(instanceId))[0]?.instanceId
    service.update(numbered(50).filter(({ instanceId }) => instanceId !== spared))
    expect(await keptIds(service)).toEqual(first)
    expect(await keptIds(of(5))).toEqual(first)
    expect(await keptIds(of(6))).not.toEqual(first)
  })

  it('without an id and without a seed differs from client to client', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => {
        const lb = createLoadBalancer({
          services: { s: { instances: numbered(50), suppliers: [rendezvousSubset({ size: 9 })] } },
        })
        return keptIds(lb.service('s'))
      }),
    )
    expect(new Set(answers.map(String)).size).toBe(5)
  })

  it('called by itself without an id keeps to one draw', () => {
    const supplier = rendezvousSubset({ size: 9 })
    expect(supplier.filter(backends, {})).toEqual(supplier.filter(backends, {}))
    expect(rendezvousSubset({ size: 9 }).filter(backends, {})).not.toEqual(supplier.filter(backends, {}))
  })
})

describe('aperture', () => {
  it('gives every instance exactly the same weight, for every number of clients and instances', () => {
    for (let clients = 1; clients <= 40; clients++) {
      for (let servers = 1; servers <= 40; servers++) {
        const total = new Array<number>(servers).fill(0)
        for (let id = 0; id < clients; id++) {
          const overlaps = [...overlapsOf(clients, id, servers, 12)]
          const sum = overlaps.reduce((all, [, overlap]) => all + overlap, 0)
          // Each client sends as much as the others.
          for (const [place, overlap] of overlaps) total[place] = (total[place] as number) + overlap / sum
        }
        const mean = clients / servers
        expect(Math.max(...total) / mean, `${clients} clients, ${servers} servers`).toBeCloseTo(1, 9)
        expect(Math.min(...total) / mean, `${clients} clients, ${servers} servers`).toBeCloseTo(1, 9)
      }
    }
  })

  it('sees what Finagle’s does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.nat(),
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 30 }),
        (clients, any, servers, least) => {
          const id = any % clients
          const overlaps = overlapsOf(clients, id, servers, least)
          const expected = apertureWeights(clients, id, servers, least)
          const unit = expected.reduce((a, b) => a + b) / [...overlaps.values()].reduce((a, b) => a + b)
          const off = expected.map((weight, place) => Math.abs((overlaps.get(place) ?? 0) * unit - weight))
          expect(Math.max(...off)).toBeLessThan(1e-9)
          expect([...overlaps.values()].every(Number.isInteger)).toBe(true)
        },
      ),
      { seed: 1, numRuns: 200 },
    )
  })

  // algorithms.md §4: how many instances client 0 has.
  it.each([
    [10, 7, 7],
    [100, 300, 12],
    [37, 250, 14],
    [1000, 5000, 15],
  ])('of %i clients and %i instances shows %i of them to the first', (clients, servers, peers) => {
    expect(overlapsOf(clients, 0, servers, 12).size).toBe(peers)
  })

  const serviceOf = (options: ApertureOptions, instances: readonly InstanceInit[], policy: Policy, rest = {}) =>
    serviceWith({ instances, policy, suppliers: [aperture(options)], ...rest })

  /** How often all clients together have picked each instance: `rounds` each. */
  function picked(services: readonly Service[], rounds: number): number[] {
    const counted = new Map<string, number>()
    for (const service of services) {
      for (let i = 0; i < rounds; i++) {
        const lease = service.pick()
        lease?.done()
        const id = lease?.instance.instanceId as string
        counted.set(id, (counted.get(id) ?? 0) + 1)
      }
    }
    return services[0]?.instances().map(({ instanceId }) => counted.get(instanceId) ?? 0) as number[]
  }

  it.each([
    [10, 25, 3],
    [7, 30, 12],
    [4, 9, 2],
  ])('%i clients that rotate over %i instances load all of them alike', (clients, servers, minAperture) => {
    const instances = numbered(servers)
    const services = Array.from({ length: clients }, (_, index) =>
      serviceOf({ clients, index, minAperture }, instances, roundRobin()),
    )
    // What a client sees is the same in sum for all of them, so one length of a whole rotation serves all.
    const rotation = Math.ceil((minAperture * clients) / servers) * servers
    const counts = picked(services, rotation * clients)
    expect(new Set(counts).size).toBe(1)
  })

  it.each([random(), leastRequest(), peakEwma()])(
    '$name goes by it too: none of 25 instances is off by more than 7 in 100',
    (policy) => {
      const services = Array.from({ length: 10 }, (_, index) =>
        serviceWith(
          { instances: numbered(25), policy, suppliers: [aperture({ clients: 10, index, minAperture: 3 })] },
          { seed: index, clock: () => 0 },
        ),
      )
      const counts = picked(services, 5_000)
      // 2 000 each; the standard deviation of a draw is 2.2 %.
      expect(Math.min(...counts)).toBeGreaterThan(1_870)
      expect(Math.max(...counts)).toBeLessThan(2_130)
    },
  )

  it('does not mind the order of the list', async () => {
    const kept = async (instances: InstanceInit[]) =>
      (await keptIds(serviceOf({ clients: 10, index: 3, minAperture: 5 }, instances, random()))).toSorted()
    expect(await kept(numbered(40).toReversed())).toEqual(await kept(numbered(40)))
  })

  it('multiplies the weights that instances have, whichever is listed first', () => {
    const instances = numbered(9).map((one, i) => ({ ...one, weight: i % 3 === 0 ? 2.5 : 1 }))
    for (const suppliers of [
      ['weighted', aperture({ clients: 4, index: 1, minAperture: 2 })],
      [aperture({ clients: 4, index: 1, minAperture: 2 }), 'weighted'],
    ]) {
      const service = serviceWith({ instances, suppliers })
      const plain = serviceWith({ instances, suppliers: [aperture({ clients: 4, index: 1, minAperture: 2 })] })
      service.pick()
      plain.pick()
      const weights = service.stats().instances.map(({ weight }) => weight)
      const factors = plain.stats().instances.map(({ weight }) => weight)
      expect(weights).toEqual(instances.map(({ weight }, i) => weight * (factors[i] as number)))
      // Again and again the same, not the product of all times.
      service.drain('n8')
      service.restore('n8')
      service.pick()
      expect(service.stats().instances.map(({ weight }) => weight)).toEqual(weights)
    }
  })

  it('keeps greatest weights within what a weight may be', () => {
    const instances = numbered(9).map((one, i) => ({ ...one, weight: i === 0 ? 2 ** 31 - 1 : 2 ** 30 }))
    const service = serviceWith({
      instances,
      suppliers: ['weighted', aperture({ clients: 40, index: 1, minAperture: 4 })],
    })
    const weights = () => service.stats().instances.map(({ weight }) => weight)
    service.pick()
    const first = weights()
    expect(Math.max(...first)).toBeLessThanOrEqual(2 ** 31 - 1)
    service.drain('n8')
    service.restore('n8')
    service.pick()
    expect(weights()).toEqual(first)
  })

  it('of a list written out by weights', async () => {
    const instances = numbered(6).map((one, i) => ({ ...one, weight: i + 1 }))
    const service = serviceWith(
      { instances, suppliers: ['weighted', aperture({ clients: 1, index: 0 })] },
      { compat: ['weighted-expanded'] },
    )
    expect(await keptIds(service)).toEqual(instances.map(({ instanceId }) => instanceId))
    expect(picked([service], 21)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('stays where it is while a call tries one instance after the other, and ends with others', () => {
    const service = serviceOf({ clients: 4, index: 1, minAperture: 2 }, numbered(9), roundRobin())
    service.pick()?.done()
    const weights = service.stats().instances.map(({ weight }) => weight)
    const previous: ServiceInstance[] = []
    while (previous.length < 9) {
      const lease = service.pick({ previous: [...previous] })
      lease?.done()
      previous.push(lease?.instance as ServiceInstance)
      expect(service.stats().instances.map(({ weight }) => weight)).toEqual(weights)
    }
    const tried = previous.map(({ instanceId }) => instanceId)
    expect(tried.toSorted()).toEqual(numbered(9).map(({ instanceId }) => instanceId))
    const seen = picked([service], 200).flatMap((count, i) => (count > 0 ? [`n${i}`] : []))
    expect(seen.length).toBe(3)
    expect(tried.slice(0, 3).toSorted()).toEqual(seen)
  })

  it('takes its number from the end of the id', async () => {
    const instances = numbered(40)
    const of = (options: ApertureOptions, instanceId?: string) =>
      keptIds(
        serviceWith(
          { instances, suppliers: [aperture({ minAperture: 5, ...options })] },
          instanceId === undefined ? {} : { instanceId },
        ),
      )
    const seventh = await of({ clients: 10, index: 7 })
    expect(await of({ clients: 10, instanceId: 'web-7' })).toEqual(seventh)
    expect(await of({ clients: 10 }, 'web-07')).toEqual(seventh)
    expect(await of({ clients: 10, index: 7 }, 'web-1')).toEqual(seventh)
    expect(await of({ clients: 10 }, 'web-1')).not.toEqual(seventh)
  })

  const make = (options: ApertureOptions, instanceId?: string) => () =>
    serviceWith(
      { instances: ['http://h:1'], suppliers: [aperture(options)] },
      instanceId === undefined ? {} : { instanceId },
    )

  it.each<[string, () => unknown, string, RegExp]>([
    ['no clients', () => aperture({} as ApertureOptions), 'aperture.clients', /how many clients/],
    ['no client at all', () => aperture({ clients: 0 }), 'aperture.clients', /from 1/],
    ['a number that is none of them', () => aperture({ clients: 3, index: 3 }), 'aperture.index', /below clients/],
    ['no number', make({ clients: 3 }), 'aperture.index', /neither is given/],
    ['an id without a number', make({ clients: 3 }, 'web'), 'aperture.index', /"web" does not/],
    ['an id with too great a number', make({ clients: 3, instanceId: 'web-3' }), 'aperture.index', /"web-3"/],
    [
      'a supplier before it that goes by the request',
      () => serviceWith({ instances: ['http://h:1'], suppliers: [hint(), aperture({ clients: 1, index: 0 })] }),
      'suppliers',
      /"aperture" depends on no request: list it before "hint"/,
    ],
    [
      'two of them',
      () =>
        serviceWith({
          instances: ['http://h:1'],
          suppliers: [aperture({ clients: 1, index: 0 }), aperture({ clients: 1, index: 0 })],
        }),
      'suppliers',
      /once/,
    ],
  ])('refuses %s', (_, act, option, message) => {
    try {
      act()
    } catch (error) {
      expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option })
      expect((error as Error).message).toMatch(message)
      return
    }
    throw new Error('nothing was refused')
  })
})
