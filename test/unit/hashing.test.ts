/** The hashing policies through the public API: keys, movement, bounds, retries. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createLoadBalancer,
  type InstanceInit,
  jump,
  maglev,
  type PickRequest,
  type Policy,
  rendezvous,
  ringHash,
  roundRobin,
  type Service,
  type ServiceInstance,
  type ServiceOptions,
  sourceHash,
  weighted,
} from '../../bindings/index.js'
import { byNumber } from '../../bindings/policy/identities.js'
import type { BalancedService } from '../../bindings/service/service.js'

const instances = (count: number): InstanceInit[] =>
  Array.from({ length: count }, (_, i) => ({ host: `10.0.0.${i + 1}`, port: 80, instanceId: `node-${i}` }))

function serviceWith(
  policy: ServiceOptions['policy'],
  given: readonly InstanceInit[] = instances(10),
  more: ServiceOptions = {},
): BalancedService {
  const lb = createLoadBalancer({ seed: 1, services: { s: { instances: given, policy: policy as Policy, ...more } } })
  return lb.service('s') as BalancedService
}

function idFor(service: Service, request: PickRequest): string | undefined {
  const lease = service.pick(request)
  lease?.done()
  return lease?.instance.instanceId
}

const keys = Array.from({ length: 400 }, (_, i) => `user-${i}`)
const idsFor = (service: Service) => keys.map((key) => idFor(service, { key }))

const POLICIES: [string, () => Policy][] = [
  ['ring-hash', () => ringHash({ pointsPerInstance: 40 })],
  ['ring-hash, sized', () => ringHash({ minRingSize: 256 })],
  ['maglev', () => maglev({ tableSize: 251 })],
  ['rendezvous', () => rendezvous()],
  ['jump', () => jump()],
]

describe.each(POLICIES)('%s', (name, policy) => {
  it('the same key goes to the same instance, and all instances have keys', () => {
    const service = serviceWith(policy())
    const ids = idsFor(service)
    expect(idsFor(service)).toEqual(ids)
    expect(new Set(ids).size).toBe(10)
  })

  it('the order of the list does not matter, whatever the weights', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ id: fc.nat({ max: 40 }), weight: fc.integer({ min: 0, max: 3 }) }), {
          selector: ({ id }) => id,
          minLength: 1,
          maxLength: 12,
        }),
        fc.boolean(),
        fc.integer(),
        (members, weighted, seed) => {
          const list = members.map(({ id, weight }) => ({ host: 'h', port: id + 1, instanceId: `n${id}`, weight }))
          const shuffled = fc.sample(fc.shuffledSubarray(list, { minLength: list.length }), { numRuns: 1, seed })[0]
          const suppliers = weighted ? ['weighted'] : []
          const services = [list, shuffled as InstanceInit[]].map((each) => serviceWith(policy(), each, { suppliers }))
          const [one, other] = services.map((service) => keys.slice(0, 40).map((key) => idFor(service, { key })))
          expect(other).toEqual(one)
          for (const service of services) service.close()
        },
      ),
      { seed: 20260101, numRuns: 60 },
    )
  })

  it('an instance that goes and comes back leaves every key where it was', () => {
    const service = serviceWith(policy())
    const before = idsFor(service)
    service.update(instances(10).filter((_, i) => i !== 3))
    expect(idsFor(service)).not.toContain('node-3')
    service.update(instances(10).reverse())
    expect(idsFor(service)).toEqual(before)
    service.drain('node-7')
    expect(idsFor(service)).not.toContain('node-7')
    service.restore('node-7')
    expect(idsFor(service)).toEqual(before)
  })

  it('a request without a key goes to a random instance, the same ones for the same seed', () => {
    const [one, other] = [serviceWith(policy()), serviceWith(policy())].map((service) =>
      Array.from({ length: 300 }, () => idFor(service, {})),
    )
    expect(other).toEqual(one)
    expect(new Set(one).size).toBe(10)
  })

  it('a call tries all instances, each once, beginning with the key’s own', () => {
    const service = serviceWith(policy(), instances(7))
    for (const key of keys.slice(0, 60)) {
      const leases = [...service.plan({ key })]
      for (const lease of leases) lease.done()
      const tried = leases.map(({ instance }) => instance.instanceId)
      expect(tried[0]).toBe(idFor(service, { key }))
      expect(new Set(tried).size).toBe(7)
    }
  })

  it('with everybody tried, picks as if nobody were', () => {
    const service = serviceWith(policy())
    for (const key of keys.slice(0, 40)) {
      expect(idFor(service, { key, previous: service.instances() })).toBe(idFor(service, { key }))
    }
  })

  it('numbers and bigints count as their text', () => {
    const service = serviceWith(policy())
    for (const key of [0, -1, 42, 1.5, 2 ** 40]) expect(idFor(service, { key })).toBe(idFor(service, { key: `${key}` }))
    expect(idFor(service, { key: 2n ** 70n })).toBe(idFor(service, { key: '1180591620717411303424' }))
  })

  it('explain tells the candidates and draws nothing; pickMany goes by the key', async () => {
    const service = serviceWith(policy())
    const explained = await service.explain({ key: 'k' })
    expect([explained.policy, explained.candidates.length]).toEqual([name.split(',')[0], 10])
    const out = new Int32Array(3)
    expect(service.pickMany(out, { key: 'k' })).toBe(3)
    const index = service.instances().findIndex(({ instanceId }) => instanceId === idFor(service, { key: 'k' }))
    expect([...out]).toEqual([index, index, index])
  })

  it('takes turns with another on one list, in a policy of the user’s own', () => {
    const [own, other] = [policy(), name === 'maglev' ? ringHash() : maglev()]
    let turn = 0
    const mixed: Policy = {
      name: 'mixed',
      pick: (candidates, context) => (turn++ % 2 === 0 ? own : other).pick(candidates, context),
    }
    const service = serviceWith(mixed)
    const alone = [serviceWith(own), serviceWith(other)] as const
    for (const [i, key] of keys.slice(0, 50).entries()) {
      expect(idFor(service, { key })).toBe(idFor(alone[i % 2] as Service, { key }))
    }
  })

  it('weight 0 has no keys while another has a weight', () => {
    const given = instances(5).map((each, i) => ({ ...(each as object), weight: i === 2 ? 0 : 1 + i }))
    const service = serviceWith(policy(), given as InstanceInit[], { suppliers: ['weighted'] })
    expect(new Set(idsFor(service))).toEqual(new Set(['node-0', 'node-1', 'node-3', 'node-4']))
  })

  it('a key function may change or close the service it is asked for', () => {
    let act = (): void => {}
    const factory = { 'ring-hash': ringHash, maglev, rendezvous, jump }[name.split(',')[0] as 'jump']
    const key = (request: PickRequest) => {
      act()
      return request.key
    }
    const service = serviceWith(factory({ key }))
    const plain = serviceWith(factory())
    expect(idFor(service, { key: 'k' })).toBe(idFor(plain, { key: 'k' }))
    act = () => service.update(instances(3))
    expect(idFor(service, { key: 'k' })).toMatch(/^node-\d$/)
    act = () => {}
    expect(['node-0', 'node-1', 'node-2']).toContain(idFor(service, { key: 'k' }))
    act = () => service.close()
    expect(() => service.pick({ key: 'k' })?.done()).not.toThrow()
    expect(() => service.pick({ key: 'k' })).toThrow(/closed/)
  })
})

describe.each(POLICIES.filter(([name]) => /^(ring-hash|rendezvous)/.test(name) && !name.includes('sized')))(
  '%s: minimal movement',
  (_, policy) => {
    it('one less moves only its own keys, to where a retry would go', () => {
      fc.assert(
        fc.property(fc.integer({ min: 2, max: 12 }), fc.nat(), (count, nth) => {
          const list = instances(count)
          const gone = `node-${nth % count}`
          const service = serviceWith(policy(), list)
          const others = serviceWith(
            policy(),
            list.filter((_, i) => i !== nth % count),
          )
          const instance = service.instances().filter(({ instanceId }) => instanceId === gone)
          for (const key of keys.slice(0, 100)) {
            const home = idFor(service, { key })
            const now = idFor(others, { key })
            expect(now).toBe(home === gone ? idFor(service, { key, previous: instance }) : home)
          }
          service.close()
          others.close()
        }),
        { seed: 20260101, numRuns: 40 },
      )
    })
  },
)

it('ring hash: an instance that goes, drains or changes its weight takes or leaves its own keys alone', () => {
  const weight = fc.oneof(fc.integer({ min: 0, max: 8 }), fc.constantFrom(0.001, 0.25, 1.5, 30))
  fc.assert(
    fc.property(
      fc.array(weight, { minLength: 2, maxLength: 9 }),
      fc.nat(),
      fc.option(weight, { nil: undefined }),
      (weights, one, to) => {
        const nth = one % weights.length
        const listOf = (all: readonly number[]) =>
          instances(all.length).map((instance, i) => ({ ...(instance as object), weight: all[i] as number }))
        const others = weights.filter((_, i) => i !== nth)
        if (others.every((each) => each === 0)) return
        const service = serviceWith(ringHash({ pointsPerInstance: 20 }), listOf(weights), { suppliers: ['weighted'] })
        const before = idsFor(service)
        service.update(
          to === undefined
            ? listOf(weights).filter((_, i) => i !== nth)
            : listOf(weights.map((each, i) => (i === nth ? to : each))),
        )
        const after = idsFor(service)
        const moved = before.filter((id, i) => id !== after[i] && id !== `node-${nth}` && after[i] !== `node-${nth}`)
        expect(moved).toEqual([])
        service.close()
      },
    ),
    { seed: 20260101, numRuns: 150 },
  )
})

it('ring hash: a ramp of one moves no key between the others', () => {
  let nowMs = 0
  const list = (weight: number) =>
    instances(6).map((each, i) => ({ ...(each as object), weight: i === 2 ? weight : 1 }))
  const service = createLoadBalancer({
    clock: () => nowMs,
    services: { s: { instances: list(1), policy: ringHash(), suppliers: [weighted({ rampMs: 1000 })] } },
  }).service('s') as BalancedService
  let before = idsFor(service)
  service.update(list(100))
  for (nowMs = 0; nowMs <= 1000; nowMs += 50) {
    const after = idsFor(service)
    expect(before.every((id, i) => id === after[i] || after[i] === 'node-2')).toBe(true)
    before = after
  }
  expect(before.filter((id) => id === 'node-2').length).toBeGreaterThan(360)
})

it('maglev: says where it has more instances than slots', async () => {
  const [few, enough] = [251, 307].map((tableSize) => serviceWith(maglev({ tableSize }), instances(255)))
  const notes = async (service = few as BalancedService) => (await service.explain()).notes
  expect(await notes()).toEqual(['255 instances share 251 slots: 4 or more have none (tableSize)'])
  expect(await notes(enough)).toEqual([])
})

it('says where a supplier without memoKey has a table laid out at each pick', async () => {
  const supplier = { name: 'mine', filter: (list: readonly ServiceInstance[]) => list.slice(1) }
  const more = { suppliers: [supplier] }
  expect((await serviceWith(maglev(), undefined, more).explain()).notes).toEqual([
    '"mine" has no memoKey: maglev lays out its table anew at each pick',
  ])
  expect((await serviceWith(roundRobin(), undefined, more).explain()).notes).toEqual([])
})

it('tables that are kept by key take 32 MB of the core at most, those of the latest keys', () => {
  const tenants = 400
  const list = instances(2 * tenants).map((each, i) => ({ ...(each as object), metadata: { hint: `t${i >> 1}` } }))
  const service = serviceWith(maglev(), list, { suppliers: ['hint'] })
  const { memory } = service.picker.core.exports
  const before = memory.buffer.byteLength
  const pickAll = () => {
    for (let i = 0; i < tenants; i++) {
      const id = Number(idFor(service, { key: 'k', hint: `t${i}` })?.slice('node-'.length))
      expect(id >> 1).toBe(i)
    }
  }
  pickAll()
  // All would take 100 MB; memory grows by doubling.
  expect(memory.buffer.byteLength - before).toBeLessThan(64 << 20)
  const { keptBytes } = service.picker.tree
  expect(keptBytes).toBeGreaterThan(31 << 20)
  expect(keptBytes).toBeLessThanOrEqual(32 << 20)
  const { evictions } = service.picker.tree
  for (let i = 300; i < tenants; i++) idFor(service, { key: 'k', hint: `t${i}` })
  expect(service.picker.tree.evictions).toBe(evictions)
  service.close()
})

it('tables that come long after their lists count as well', async () => {
  const tenants = 200
  const list = instances(2 * tenants).map((each, i) => ({ ...(each as object), metadata: { hint: `t${i >> 1}` } }))
  const service = serviceWith(maglev(), list, { suppliers: ['hint'] })
  for (let i = 0; i < tenants; i++) await service.explain({ hint: `t${i}` })
  const before = service.picker.tree.keptBytes
  for (let i = 0; i < tenants; i++) {
    idFor(service, { key: 'k', hint: `t${i}` })
    expect(service.picker.tree.keptBytes).toBeLessThanOrEqual(32 << 20)
  }
  expect(before).toBeLessThan(1 << 20)
  expect(service.picker.tree.keptBytes).toBeGreaterThan(31 << 20)
  service.close()
})

it('jump: one shard more moves keys to it alone', () => {
  const shards = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ host: 'h', port: i + 1, instanceId: `shard-${i}` }))
  const service = serviceWith(jump(), shards(11))
  const before = idsFor(service)
  service.update(shards(12).reverse())
  const after = idsFor(service)
  const moved = after.filter((id, i) => id !== before[i])
  expect(moved.length).toBeGreaterThan(10)
  expect(new Set(moved)).toEqual(new Set(['shard-11']))
})

it('jump: shards are in the order of their numbers', () => {
  const ids = [
    'shard-10',
    'shard-2',
    'shard-1',
    'b',
    'a10b2',
    'a9',
    'a10b10',
    '7',
    '10',
    '010',
    'a',
    '12345678901234567891',
    '12345678901234567890',
  ]
  expect(ids.sort(byNumber)).toEqual([
    '7',
    '010',
    '10',
    '12345678901234567890',
    '12345678901234567891',
    'a',
    'a9',
    'a10b2',
    'a10b10',
    'b',
    'shard-1',
    'shard-2',
    'shard-10',
  ])
})

describe('bounded loads', () => {
  const bounded: [string, (loadFactor: number) => Policy][] = [
    ['ring-hash', (loadFactor) => ringHash({ pointsPerInstance: 20, loadFactor })],
    ['maglev', (loadFactor) => maglev({ tableSize: 101, loadFactor })],
    ['rendezvous', (loadFactor) => rendezvous({ loadFactor })],
  ]
  const trace = fc.record({
    weights: fc.array(fc.integer({ min: 1, max: 4000 }), { minLength: 2, maxLength: 9 }),
    weighted: fc.boolean(),
    thousandths: fc.integer({ min: 1001, max: 2500 }),
    steps: fc.array(
      fc.oneof(
        {
          weight: 3,
          arbitrary: fc.record({ key: fc.nat({ max: 5 }), previous: fc.array(fc.nat({ max: 8 }), { maxLength: 3 }) }),
        },
        { weight: 1, arbitrary: fc.record({ done: fc.nat() }) },
      ),
      { maxLength: 150 },
    ),
  })

  it.each(bounded)(
    '%s: no pick is ever above ⌈c · (active + 1) · w / W⌉, and somebody is always found',
    (_, policy) => {
      fc.assert(
        fc.property(trace, ({ weights, weighted, thousandths, steps }) => {
          const list = weights.map((weight, i) => ({
            host: 'h',
            port: i + 1,
            instanceId: `n${i}`,
            weight: weight / 1000,
          }))
          const service = serviceWith(policy(thousandths / 1000), list, { suppliers: weighted ? ['weighted'] : [] })
          const all = service.instances()
          const loads = weights.map(() => 0)
          const open: [{ done(): void }, number][] = []
          for (const step of steps) {
            if ('done' in step) {
              const [[lease, at] = []] = open.length === 0 ? [] : open.splice(step.done % open.length, 1)
              lease?.done()
              if (at !== undefined) loads[at] = (loads[at] as number) - 1
              continue
            }
            const tried = new Set(step.previous.map((i) => i % weights.length))
            const lease = service.pick({
              key: step.key,
              previous: [...tried].map((i) => all[i] as (typeof all)[number]),
            })
            if (lease === undefined) throw new Error('nobody was found')
            const at = all.indexOf(lease.instance)
            // To another try, the list is those who are not tried.
            const left = weights.map((_, i) => i).filter((i) => tried.size === weights.length || !tried.has(i))
            expect(left).toContain(at)
            const active = left.reduce((sum, i) => sum + (loads[i] as number), 0)
            const weightOf = (i: number) => BigInt(weighted ? (weights[i] as number) : 1)
            const total = left.reduce((sum, i) => sum + weightOf(i), 0n) * 1000n
            const most = BigInt(thousandths) * BigInt(active + 1) * weightOf(at)
            loads[at] = (loads[at] as number) + 1
            expect(BigInt(loads[at] as number)).toBeLessThanOrEqual((most + total - 1n) / total)
            open.push([lease, at])
          }
          service.close()
        }),
        { seed: 20260101, numRuns: 250 },
      )
    },
  )

  it.each(bounded)('%s: one key alone is spread over all, and is at home again when load is gone', (_, policy) => {
    const service = serviceWith(policy(1.25), instances(5))
    const home = idFor(service, { key: 'hot' })
    const leases = Array.from({ length: 100 }, () => service.pick({ key: 'hot' }))
    const loads = service.stats().instances.map(({ inFlight }) => inFlight)
    expect(Math.max(...loads)).toBeLessThanOrEqual(25)
    expect(Math.min(...loads)).toBeGreaterThanOrEqual(0)
    expect(loads.filter((load) => load > 0).length).toBeGreaterThanOrEqual(4)
    for (const lease of leases) lease?.done()
    expect(idFor(service, { key: 'hot' })).toBe(home)
  })
})

describe('where the key comes from', () => {
  const byKey = serviceWith(rendezvous(), instances(50))
  const home = (key: string) => idFor(byKey, { key })

  it.each<[string, Parameters<typeof rendezvous>[0], PickRequest]>([
    ['a header', { key: { header: 'X-User' } }, { headers: { 'x-user': 'u1' }, key: 'other' }],
    ['a header of Headers', { key: { header: 'x-user' } }, { headers: new Headers({ 'X-User': 'u1' }) }],
    ['a header of pairs', { key: { header: 'x-user' } }, { headers: [['X-USER', 'u1']] }],
    ['a cookie', { key: { cookie: 'sid' } }, { headers: { cookie: 'a=b; sid=u1' } }],
    ['a cookie given apart', { key: { cookie: 'sid' } }, { cookies: { sid: 'u1' } }],
    ['an attribute', { key: { attribute: 'tenant' } }, { attributes: { tenant: 'u1' } }],
    ['a function', { key: ({ url }) => String(url).slice(1) }, { url: '/u1' }],
  ])('%s', (_, options, request) => {
    const service = serviceWith(rendezvous(options), instances(50))
    for (let i = 0; i < 3; i++) expect(idFor(service, request)).toBe(home('u1'))
  })

  it.each<[string, Parameters<typeof rendezvous>[0], PickRequest]>([
    ['no key', {}, {}],
    ['an empty key', {}, { key: '' }],
    ['no such header', { key: { header: 'x-user' } }, { headers: { other: 'u1' }, key: 'k' }],
    ['an attribute that is an object', { key: { attribute: 'tenant' } }, { attributes: { tenant: {} } }],
    ['a function that has none', { key: () => null }, { key: 'k' }],
  ])('%s: a random instance', (_, options, request) => {
    const service = serviceWith(rendezvous(options), instances(50))
    expect(new Set(Array.from({ length: 200 }, () => idFor(service, request))).size).toBeGreaterThan(30)
  })

  it('fetch: by lb.with, or by a header of the call', async () => {
    const sent: string[] = []
    const lb = createLoadBalancer({
      seed: 1,
      fetch: async (input) => {
        sent.push(new URL(input instanceof Request ? input.url : input).hostname)
        return new Response()
      },
      services: {
        keyed: { instances: instances(50), policy: 'ring-hash' },
        headed: { instances: instances(50), policy: { type: 'ring-hash', key: { header: 'x-user' } } },
      },
    })
    await lb.with({ key: 'u1' }).fetch('http://keyed/')
    await lb.fetch('http://headed/', { headers: { 'X-User': 'u1' } })
    await lb.with({ key: 'u1' }).fetch('http://keyed/again')
    expect(new Set(sent).size).toBe(1)
  })
})

describe('source-hash', () => {
  const service = serviceWith('source-hash', instances(60))
  const from = (address: string) => idFor(service, { attributes: { clientAddress: address } })

  it.each([
    ['203.0.113.7', '203.0.113.7:4711'],
    ['203.0.113.7', ' 203.0.113.7 '],
    ['203.0.113.7', '::ffff:203.0.113.7'],
    ['203.0.113.7', '::FFFF:203.0.113.7'],
    ['203.0.113.7', '[::ffff:203.0.113.7]:80'],
    ['2001:db8::1', '2001:0DB8:0:0:0:0:0:1'],
    ['2001:db8::1', '[2001:db8::1]:443'],
    ['2001:db8::1', '"[2001:db8::1]:443"'],
    ['fe80::1', 'fe80::1%eth0'],
    ['client.example', 'Client.Example'],
  ])('%s is the same client as %s', (address, other) => {
    expect(from(other)).toBe(from(address))
  })

  it('hashes the address over the ring', () => {
    const ring = serviceWith('ring-hash', instances(60))
    for (const key of ['203.0.113.7', '2001:db8::1']) expect(from(key)).toBe(idFor(ring, { key }))
  })

  it('the attribute comes before the header, of which the first address counts', () => {
    const headers = { 'X-Forwarded-For': '203.0.113.7, 10.1.1.1' }
    expect(idFor(service, { headers })).toBe(from('203.0.113.7'))
    expect(idFor(service, { headers, attributes: { clientAddress: '2001:db8::1' } })).toBe(from('2001:db8::1'))
  })

  it('reads the header that it is told', () => {
    const [cf, forwarded] = ['CF-Connecting-IP', 'Forwarded'].map((header) =>
      serviceWith(sourceHash({ header }), instances(60)),
    ) as [BalancedService, BalancedService]
    expect(idFor(cf, { headers: { 'cf-connecting-ip': '2001:DB8::1' } })).toBe(from('2001:db8::1'))
    const by = (value: string) => idFor(forwarded, { headers: { forwarded: value } })
    expect(by('for=203.0.113.7;proto=http, for=10.1.1.1')).toBe(from('203.0.113.7'))
    expect(by('proto=https; For="[2001:db8::1]:4711"')).toBe(from('2001:db8::1'))
    expect(by('for=_gazonk')).toBe(from('_gazonk'))
  })

  it.each(['', ' ', 'unknown', ':80'])('%j is no address: a random instance', (address) => {
    expect(new Set(Array.from({ length: 200 }, () => from(address))).size).toBeGreaterThan(30)
  })
})

describe('options', () => {
  it.each<[string, () => unknown, string, RegExp]>([
    ['a key that is text', () => ringHash({ key: 'x' as never }), 'ringHash.key', /\{ header \}, \{ cookie \}/],
    ['a key of two places', () => jump({ key: { header: 'a', cookie: 'b' } as never }), 'jump.key', /or a function/],
    ['a header without a name', () => maglev({ key: { header: '' } }), 'maglev.key', /with a name/],
    ['a bound of 1', () => rendezvous({ loadFactor: 1 }), 'rendezvous.loadFactor', /1\.001/],
    ['no prime', () => maglev({ tableSize: 65_536 }), 'maglev.tableSize', /nearest are 65521 and 65537, not 65536/],
    ['too many slots', () => maglev({ tableSize: 5_000_077 }), 'maglev.tableSize', /5000011/],
    ['both forms', () => ringHash({ minRingSize: 5, pointsPerInstance: 5 }), 'ringHash.minRingSize', /not both/],
    ['least above most', () => ringHash({ minRingSize: 9, maxRingSize: 8 }), 'ringHash.minRingSize', /at most/],
    ['of source-hash', () => sourceHash({ pointsPerInstance: 0 }), 'sourceHash.pointsPerInstance', /1 to 65536/],
    ['an unknown one', () => jump({ loadFactor: 2 } as never), 'jump.loadFactor', /accepted: key/],
  ])('%s is an error that names it', (_, act, option, message) => {
    expect(act).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', option, message: expect.stringMatching(message) }),
    )
  })

  it('5 000 011 slots, Envoy’s most, are a prime', () => {
    expect(() => maglev({ tableSize: 5_000_011 })).not.toThrow()
  })

  it('a ring has no more points than it may: all have fewer, and each has some', () => {
    const service = serviceWith(ringHash({ maxRingSize: 50 }), instances(40))
    expect(new Set(Array.from({ length: 4000 }, (_, i) => idFor(service, { key: i }))).size).toBe(40)
  })

  it('round robin is none the wiser', () => {
    const service = serviceWith(roundRobin({ start: -1 }), instances(3))
    expect([1, 2, 3].map((key) => idFor(service, { key }))).toEqual(['node-0', 'node-1', 'node-2'])
  })
})
