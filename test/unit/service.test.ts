import { readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { coreOf } from '../../bindings/core/core.js'
import {
  createLoadBalancer,
  hint,
  type Lease,
  type LoadBalancer,
  type Policy,
  random,
  roundRobin,
  type ServiceInstance,
  type ServiceOptions,
  type Supplier,
  subset,
  weighted,
  zonePreference,
} from '../../bindings/index.js'

/** A balancer with one service `s`, its clock in the test's hand. */
function make(options: ServiceOptions, balancer: { zone?: string; module?: WebAssembly.Module } = {}) {
  const time = { now: 0 }
  const lb = createLoadBalancer({ clock: () => time.now, seed: 1, ...balancer, services: { s: options } })
  return { time, lb: lb as LoadBalancer, service: lb.service('s') }
}

const abc = ['http://a:1', 'http://b:1', 'http://c:1']
const hosts = (leases: readonly (Lease | undefined)[]) => leases.map((lease) => lease?.instance.host ?? '-').join('')
const picks = (pick: () => Lease | undefined, count: number) => {
  const leases = Array.from({ length: count }, pick)
  for (const lease of leases) lease?.done()
  return hosts(leases)
}

describe('a lease', () => {
  it('counts in flight until done, once', () => {
    const { service } = make({ instances: ['http://a:1'] })
    const lease = service.pick() as Lease
    expect(service.stats().instances[0]).toMatchObject({ picks: 1, inFlight: 1 })
    lease.done()
    lease.done({ error: new Error('too late') })
    lease[Symbol.dispose]()
    expect(service.stats().instances[0]).toMatchObject({
      picks: 1,
      inFlight: 0,
      successes: 1,
      failures: 0,
      cancelled: 0,
    })
  })

  it.each([
    [{ status: 200 }, 'successes'],
    [{ status: 404 }, 'successes'],
    [{ status: 500 }, 'failures'],
    [{ status: 429 }, 'failures'],
    [{ error: new Error('reset') }, 'failures'],
    [{ cancelled: true, error: new Error('aborted') }, 'cancelled'],
  ])('done with %j counts among %s', (outcome, meter) => {
    const { service } = make({ instances: ['http://a:1'] })
    service.pick()?.done(outcome)
    expect(service.stats().instances[0]).toMatchObject({ successes: 0, failures: 0, cancelled: 0, [meter]: 1 })
  })

  it('takes null for success, and its fetch is bound and sends once', async () => {
    const lb = createLoadBalancer({ services: { s: ['http://a:1'] }, fetch: () => Promise.resolve(new Response('ok')) })
    ;(lb.pick('s') as Lease).done(null as never)
    const { fetch } = lb.pick('s') as Lease
    expect((await fetch('/x')).status).toBe(200)
    await expect(fetch('/x')).rejects.toMatchObject({
      code: 'EVENKEEL_CONFIG',
      message: expect.stringContaining('pick again'),
    })
    expect(lb.stats().s?.instances[0]).toMatchObject({ inFlight: 0, successes: 2, picks: 2 })
  })

  it('is cancelled when disposed of', () => {
    const { service } = make({ instances: ['http://a:1'] })
    service.pick()?.[Symbol.dispose]()
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, cancelled: 1 })
  })

  it('times out as cancelled where a limit is set', () => {
    const { time, service } = make({ instances: ['http://a:1'], leaseTimeoutMs: 100 })
    const [first, second, third] = [service.pick(), service.pick(), service.pick()] as [Lease, Lease, Lease]
    second.done()
    time.now = 100
    service.pick()
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 1, cancelled: 2, successes: 1 })
    first.done()
    third.done()
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 1, cancelled: 2, successes: 1 })
  })

  it('may end after its service has', async () => {
    const { lb, service } = make({ instances: ['http://a:1'] })
    const lease = service.pick() as Lease
    await lb.remove('s')
    lease.done()
    expect(() => lb.pick('s')).toThrow(expect.objectContaining({ code: 'EVENKEEL_UNKNOWN_SERVICE' }))
  })

  it('brings its latency into the averages: the clock is read only by policies that need time', () => {
    let reads = 0
    const clock = () => reads++
    const untimed = createLoadBalancer({ clock, services: { s: abc } })
    reads = 0
    untimed.pick('s')?.done()
    expect(reads).toBe(0)
    const { time, service } = make({ instances: ['http://a:1'], policy: 'peak-ewma' })
    const lease = service.pick()
    time.now = 40
    lease?.done()
    const [a] = service.stats().instances
    expect(a?.latencyMs).toBe(40)
    expect(Math.abs((a?.p50Ms as number) / 40 - 1)).toBeLessThan(1 / 16)
  })
})

describe('a list that changes', () => {
  it('keeps what is known of the instances that stay, and never restarts the rotation', () => {
    const { service } = make({ instances: abc, policy: roundRobin({ start: -1 }) })
    const open = service.pick() as Lease
    const change = service.update(['http://b:1', 'http://a:1', 'http://d:1'])
    expect([change.added, change.removed].map((list) => list.map(({ host }) => host).join(''))).toEqual(['d', 'c'])
    expect(service.stats().instances.map(({ instanceId, inFlight }) => [instanceId, inFlight])).toEqual([
      ['b:1', 0],
      ['a:1', 1],
      ['d:1', 0],
    ])
    expect(picks(() => service.pick(), 3)).toBe('adb')
    open.done()
    expect(service.stats().instances[1]).toMatchObject({ inFlight: 0, picks: 2 })
  })

  it('takes a new port under the same id for a new instance', () => {
    const { service } = make({ instances: [{ instanceId: 'i', host: 'a', port: 1 }] })
    const open = service.pick() as Lease
    const change = service.update([{ instanceId: 'i', host: 'a', port: 2 }])
    expect([change.added.length, change.removed.length, change.changed.length]).toEqual([1, 1, 0])
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, picks: 0 })
    open.done()
    expect(service.stats().instances[0]).toMatchObject({ inFlight: 0, picks: 0 })
  })

  it('gives an instance that comes back while its requests run its old row', () => {
    const { service } = make({ instances: abc })
    const lease = service.pick() as Lease
    const others = abc.filter((url) => !url.includes(lease.instance.host))
    service.update(others)
    service.update(abc)
    const mine = () => service.stats().instances.find(({ instanceId }) => instanceId === lease.instance.instanceId)
    expect(mine()?.inFlight).toBe(1)
    lease.done()
    expect(mine()).toMatchObject({ inFlight: 0, successes: 1 })
  })

  it('reuses rows: a thousand generations need no more memory than the first', () => {
    const { service } = make({ instances: abc })
    const generation = (i: number) => {
      service.update([
        { host: `h${i}`, port: 1 },
        { host: `h${i + 1}`, port: 1 },
      ])
      service.pick()?.done()
    }
    for (let i = 0; i < 100; i++) generation(i)
    const before = coreOf().exports.memory.buffer.byteLength
    for (let i = 100; i < 2_000; i++) generation(i)
    expect(coreOf().exports.memory.buffer.byteLength).toBe(before)
  })

  it('may become empty and full again', () => {
    const { service } = make({ instances: abc })
    service.update([])
    expect(service.pick()).toBeUndefined()
    expect(service.stats().noInstance).toBe(1)
    service.update(abc)
    expect(service.pick()).toBeDefined()
  })
})

describe('weights', () => {
  const weights = [
    { url: 'http://a:1', weight: 3 },
    { url: 'http://b:1', weight: 2 },
    { url: 'http://c:1', weight: 1 },
  ]

  it('rotate interleaved or in blocks', () => {
    const of = (suppliers: ServiceOptions['suppliers']) =>
      make({ instances: weights, suppliers: suppliers ?? [], policy: roundRobin({ start: -1 }) }).service
    const interleaved = of(['weighted'])
    expect(picks(() => interleaved.pick(), 12)).toBe('abcabaabcaba')
    const blocks = of([weighted({ order: 'block' })])
    expect(picks(() => blocks.pick(), 12)).toBe('aaabbcaaabbc')
    const unused = of([])
    expect(picks(() => unused.pick(), 6)).toBe('abcabc')
  })

  it('of 0 drain while another is positive; unreadable ones count as 1 and are named', async () => {
    const { service } = make({
      instances: [
        { url: 'http://a:1', weight: 0 },
        { url: 'http://b:1', metadata: { weight: 'heavy' } },
        { url: 'http://c:1', weight: 1 },
      ],
      suppliers: ['weighted'],
      policy: roundRobin({ start: -1 }),
    })
    expect(picks(() => service.pick(), 4)).toBe('bcbc')
    const { layers, notes, excluded } = await service.explain()
    expect(layers.at(-1)).toMatchObject({ name: 'weighted', in: 3, out: 2, reason: '1 with weight 0' })
    expect(excluded).toEqual([{ instanceId: 'a:1', by: 'weighted', reason: '1 with weight 0' }])
    expect(notes).toContain('the weight of "b:1" can\'t be read and counts as 1')
    service.update([{ url: 'http://a:1', weight: 0 }])
    expect(picks(() => service.pick(), 2)).toBe('aa')
  })

  it('come from a function too, asked once per instance and change', () => {
    const asked: string[] = []
    const { service } = make({
      instances: abc,
      suppliers: [weighted({ weight: ({ host }) => (asked.push(host), host === 'a' ? 2.5 : 1) })],
      policy: roundRobin({ start: -1 }),
    })
    expect(picks(() => service.pick(), 9)).toHaveLength(9)
    expect([...picks(() => service.pick(), 9)].filter((host) => host === 'a')).toHaveLength(5)
    service.update([...abc, 'http://d:1'])
    expect(asked.join('')).toBe('abcd')
  })

  it('count as 1 where the function throws, which is told once and named in explain', async () => {
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
    const weight = ({ host }: ServiceInstance) => {
      if (host === 'x') throw new Error('no weight for x')
      return 3
    }
    const { service } = make({ instances: ['http://a:1', 'http://x:1'], suppliers: [weighted({ weight })] })
    expect([...picks(() => service.pick(), 8)].filter((host) => host === 'x')).toHaveLength(2)
    service.update(['http://a:1', { url: 'http://x:1', zone: 'moved' }])
    expect((await service.explain()).notes.join()).toContain('the weight of "x:1" can\'t be read and counts as 1')
    expect(complaints).toHaveBeenCalledTimes(1)
    complaints.mockRestore()
  })

  it('follow a refresh that changes them', () => {
    const { service } = make({ instances: weights, suppliers: ['weighted'], policy: roundRobin({ start: -1 }) })
    picks(() => service.pick(), 6)
    service.update([
      { url: 'http://a:1', weight: 1 },
      { url: 'http://b:1', weight: 1 },
    ])
    expect([...picks(() => service.pick(), 100)].filter((host) => host === 'a')).toHaveLength(50)
  })
})

describe('filters', () => {
  const instances = [
    { url: 'http://a:1', zone: 'East', hint: 'v1' },
    { url: 'http://b:1', zone: 'east', hint: 'v2' },
    { url: 'http://c:1', zone: 'west', hint: 'v2' },
    'http://d:1',
  ]
  const found = async (
    service: { explain: LoadBalancer['explain'] extends (id: string, r?: infer R) => infer P ? (r?: R) => P : never },
    request = {},
  ) => (await service.explain(request)).candidates.map(({ host }) => host).join('')

  it('prefer the own zone, ignoring case', async () => {
    expect(await found(make({ instances, suppliers: ['zone-preference'] }, { zone: 'EAST' }).service)).toBe('ab')
    expect(
      await found(make({ instances, suppliers: [zonePreference({ zone: 'west' })] }, { zone: 'east' }).service),
    ).toBe('c')
  })

  it('tell own zone unset, no zone metadata and no match apart', async () => {
    const reason = async (options: ServiceOptions, zone?: string) =>
      (await make(options, zone === undefined ? {} : { zone }).service.explain()).layers[1]
    expect(await reason({ instances, suppliers: ['zone-preference'] })).toMatchObject({
      out: 4,
      reason: 'own zone unset',
    })
    expect(await reason({ instances: abc, suppliers: ['zone-preference'] }, 'east')).toMatchObject({
      out: 3,
      fellBack: true,
      reason: 'no instance has zone metadata',
    })
    expect(await reason({ instances, suppliers: ['zone-preference'] }, 'north')).toMatchObject({
      out: 4,
      fellBack: true,
      reason: 'no instance has zone "north"',
    })
    expect(await reason({ instances, suppliers: [zonePreference({ strict: true })] }, 'north')).toMatchObject({
      out: 0,
      reason: 'no instance has zone "north"',
    })
  })

  it('follow the hint: header before request before configuration', async () => {
    const { service } = make({ instances, suppliers: ['hint'], hints: { s: 'v1' } })
    expect(await found(service)).toBe('a')
    expect(await found(service, { hint: 'v2' })).toBe('bc')
    expect(await found(service, { hint: 'v2', headers: { 'X-SC-LB-Hint': 'v1' } })).toBe('a')
    expect(await found(service, { headers: new Headers({ 'x-sc-lb-hint': 'v2' }) })).toBe('bc')
    expect(await found(service, { headers: [['X-Sc-Lb-Hint', 'v2']] })).toBe('bc')
    expect(await found(service, { hint: 'V2' })).toBe('abcd')
    expect(
      await found(make({ instances, suppliers: [hint({ header: 'x-v', strict: true })] }).service, {
        headers: { 'x-v': 'v9' },
      }),
    ).toBe('')
  })

  it('count and tell each pick that falls back', () => {
    const { service } = make({ instances, suppliers: ['zone-preference', 'hint'] }, { zone: 'north' })
    const events: unknown[] = []
    service.on('fallback', (event) => events.push(event))
    service.pick()
    service.pick({ hint: 'v2' })
    service.pick({ hint: 'v3' })
    expect(service.stats().fallbacks).toEqual({ 'zone-preference': 3, hint: 1 })
    expect(events).toHaveLength(4)
    expect(events.at(-1)).toEqual({ supplier: 'hint', reason: 'no instance has hint "v3"' })
  })

  it('compose in the order given', async () => {
    const { service } = make(
      { instances, suppliers: ['zone-preference', 'hint', subset({ instanceId: 'x', size: 1 })] },
      { zone: 'east' },
    )
    const { layers, excluded } = await service.explain({ hint: 'v2' })
    expect(layers.map(({ name, in: from, out }) => [name, from, out])).toEqual([
      ['discovery', 4, 4],
      ['zone-preference', 4, 2],
      ['hint', 2, 1],
      ['subset', 1, 1],
    ])
    expect(excluded).toContainEqual({ instanceId: 'c:1', by: 'zone-preference', reason: 'keeps zone "east"' })
  })

  it('say in plain JavaScript what they do in the core', async () => {
    const suppliers: Supplier[] = [
      zonePreference({ zone: 'east' }),
      hint(),
      weighted(),
      subset({ instanceId: 'foobar', size: 2 }),
    ]
    const many = Array.from({ length: 150 }, (_, i) => ({
      host: `h${i}`,
      port: 1,
      zone: i % 3 ? 'east' : 'west',
      hint: `v${i % 7}`,
      weight: i % 2,
    }))
    for (const supplier of suppliers) {
      const { service } = make({ instances: many, suppliers: [supplier] })
      const answer = supplier.filter(service.instances(), { hint: 'v3' })
      const plain = Array.isArray(answer) ? answer : (answer as { list: readonly ServiceInstance[] }).list
      expect((await service.explain({ hint: 'v3' })).candidates).toEqual(plain)
    }
  })
})

describe('extensions', () => {
  it('a supplier of the user narrows the list, memoised by its key', () => {
    let asked = 0
    const even: Supplier = {
      name: 'tenant',
      memoKey: (request) => request.attributes?.tenant as string | undefined,
      filter: (list, request) => (asked++, list.filter(({ host }) => host !== request.attributes?.tenant)),
    }
    const { service } = make({ instances: abc, suppliers: [even], policy: roundRobin({ start: -1 }) })
    expect(picks(() => service.pick({ attributes: { tenant: 'a' } }), 4)).toBe('bcbc')
    expect(picks(() => service.pick({ attributes: { tenant: 'b' } }), 4)).toBe('acac')
    expect(picks(() => service.pick({ attributes: { tenant: 'a' } }), 2)).toBe('bc')
    expect(asked).toBe(2)
  })

  it('one without a key is asked each time, and costs no memory', () => {
    let asked = 0
    const { service } = make({
      instances: abc,
      suppliers: [{ name: 'each', filter: (list) => (asked++, list.slice(1)) }, 'hint'],
    })
    for (let i = 0; i < 100; i++) service.pick({ hint: `${i % 3}` })?.done()
    const before = coreOf().exports.memory.buffer.byteLength
    for (let i = 0; i < 50_000; i++) service.pick({ hint: `${i % 3}` })?.done()
    expect(coreOf().exports.memory.buffer.byteLength).toBe(before)
    expect(asked).toBe(50_100)
  })

  it('its memo is bounded: ten thousand keys cost no memory', () => {
    const { service } = make({ instances: abc, suppliers: ['hint', 'weighted'] })
    for (let i = 0; i < 1_000; i++) service.pick({ hint: `a${i}` })?.done()
    const before = coreOf().exports.memory.buffer.byteLength
    for (let i = 0; i < 10_000; i++) service.pick({ hint: `b${i}` })?.done()
    expect(coreOf().exports.memory.buffer.byteLength).toBe(before)
  })

  it('stages that keep the whole list do not share their memos', () => {
    const keepAll = (name: string, key: string): Supplier => ({
      name,
      memoKey: (request) => request.attributes?.[key] as string,
      filter: (list) => list,
    })
    const { service } = make({
      instances: abc,
      suppliers: [
        keepAll('one', 'x'),
        { name: 'two', memoKey: (request) => request.attributes?.x as string, filter: (list) => list.slice(0, 1) },
      ],
    })
    service.pick({ attributes: { x: 'k' } })
    expect(picks(() => service.pick({ attributes: { x: 'k' } }), 3)).toBe('aaa')
  })

  it('is refused an instance that it was not given', () => {
    const { service } = make({
      instances: abc,
      suppliers: [{ name: 'liar', filter: (list) => [{ ...(list[0] as ServiceInstance) }] }],
    })
    expect(() => service.pick()).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringContaining('"liar"') }),
    )
  })

  it('may change the list, or close the service, in the midst of a pick', async () => {
    const { lb, service } = make({
      instances: abc,
      suppliers: [
        {
          name: 'updates',
          filter: (list) => (service.update([{ host: `n${list.length}`, port: 1 }, 'http://x:1']), list),
        },
        { name: 'narrows', filter: (list) => list.slice(0, 2) },
      ],
    })
    for (let i = 0; i < 50; i++) service.pick()?.done()
    const closing = make({
      instances: abc,
      suppliers: [{ name: 'closes', filter: (list) => (void closing.lb.remove('s'), list.slice(1)) }],
    })
    const lease = closing.service.pick()
    lease?.done()
    expect(closing.service.state).toBe('closed')
    await lb.close()
  })

  it('may close its service while weights are asked for: nothing is written to what was freed', async () => {
    const lb = createLoadBalancer({ seed: 1 })
    let closing = false
    const weight = () => {
      if (closing) void lb.remove('s')
      return 7
    }
    const service = lb.define('s', { instances: abc, suppliers: [weighted({ weight })] })
    service.pick()
    closing = true
    expect(() => service.update(['http://x:1'])).toThrow(expect.objectContaining({ code: 'EVENKEEL_CLOSED' }))
    const other = lb.define('o', { instances: abc })
    expect(other.stats().instances.map(({ weight, inFlight }) => [weight, inFlight])).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ])
  })

  it('an update and a removal within a pick give back nothing that the pick looks at', () => {
    const lb = createLoadBalancer({ seed: 1 })
    const service = lb.define('s', {
      instances: abc,
      suppliers: [
        {
          name: 'reckless',
          filter(list) {
            service.update(['http://x:1', 'http://y:1'])
            void lb.remove('s')
            lb.define('o', { instances: abc })
            return list.slice(1)
          },
        },
      ],
    })
    service.pick()
    expect(
      lb
        .service('o')
        .stats()
        .instances.every(({ inFlight, picks }) => inFlight === 0 && picks === 0),
    ).toBe(true)
  })

  it('a policy may replace the list it picks from: the row it picked is not given to another', () => {
    let armed = true
    const policy: Policy = {
      name: 'replacing',
      pick() {
        if (armed) service.update(['http://b:1'])
        armed = false
        return 0
      },
    }
    const { service } = make({ instances: ['http://a:1'], policy })
    const lease = service.pick() as Lease
    service.update(['http://b:1', 'http://c:1'])
    lease.done()
    expect(service.stats().instances.map(({ inFlight, successes }) => [inFlight, successes])).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  it('one that throws when told of the pick leaves nothing in flight', () => {
    const supplier: Supplier = {
      name: 'throws',
      memoKey: () => undefined,
      filter: (list) => list,
      selected: () => {
        throw new Error('selected')
      },
    }
    const { service } = make({ instances: abc, suppliers: [supplier] })
    expect(() => service.pick()).toThrow('selected')
    expect(service.stats().instances.every(({ inFlight }) => inFlight === 0)).toBe(true)
  })

  it('a policy is told of cancelled leases too, and its complaints break nothing', () => {
    const told: unknown[] = []
    const policy: Policy = {
      name: 'complains',
      pick: () => 0,
      done(_, outcome, latencyMs) {
        told.push([outcome, latencyMs])
        throw new Error('done')
      },
    }
    const { service } = make({ instances: abc, policy })
    const report = console.error
    const reports: unknown[] = []
    console.error = (...args) => reports.push(args)
    service.pick()?.done({ cancelled: true })
    service.pick()?.done()
    console.error = report
    expect(told).toEqual([
      [{ cancelled: true }, Number.NaN],
      [{}, 0],
    ])
    expect(reports).toHaveLength(1)
  })

  it('picks that throw are not told as fallbacks later', () => {
    let broken = true
    const events: unknown[] = []
    const { service } = make({
      instances: abc,
      suppliers: [
        { name: 'falls', filter: (list) => ({ list, fellBack: true, reason: 'always' }) },
        {
          name: 'breaks',
          filter: (list) => {
            if (broken) throw new Error('broken')
            return list
          },
        },
      ],
    })
    service.on('fallback', (event) => events.push(event))
    for (let i = 0; i < 10; i++) expect(() => service.pick()).toThrow('broken')
    broken = false
    service.pick()
    expect(events).toHaveLength(1)
  })

  it('round robin within a policy of the user goes by the weights too', () => {
    const inner = roundRobin({ start: -1 })
    const policy: Policy = { name: 'wrapped', pick: (candidates, context) => inner.pick(candidates, context) }
    const { service } = make({
      instances: [
        { url: 'http://a:1', weight: 3 },
        { url: 'http://b:1', weight: 1 },
      ],
      suppliers: ['weighted'],
      policy,
    })
    expect([...picks(() => service.pick(), 40)].filter((host) => host === 'a')).toHaveLength(30)
  })

  it('a policy of the user picks by index, sees load and latency, and is told how it ended', () => {
    const told: [string, number][] = []
    const seen: number[][] = []
    const policy: Policy = {
      name: 'fewest',
      pick(candidates, { nowMs, random }) {
        const loads = Array.from({ length: candidates.length }, (_, i) => candidates.inFlight(i))
        seen.push([nowMs, candidates.weight(0), candidates.latencyMs(0)])
        expect(random()).toBeLessThan(1)
        return loads.indexOf(Math.min(...loads))
      },
      done: (instance, _, latencyMs) => told.push([instance.host, latencyMs]),
    }
    const { time, service } = make({ instances: abc, policy })
    const leases = [service.pick(), service.pick(), service.pick(), service.pick()]
    expect(hosts(leases)).toBe('abca')
    time.now = 20
    leases[0]?.done({ status: 200 })
    service.pick()
    expect(told).toEqual([['a', 20]])
    expect(seen.at(-1)).toEqual([20, 1, 20])
  })

  it.each([3, -2, 0.5, Number.NaN])('a policy that answers %s of three is an error', (index) => {
    const { service } = make({ instances: abc, policy: { name: 'odd', pick: () => index } })
    expect(() => service.pick()).toThrow(expect.objectContaining({ code: 'EVENKEEL_CONFIG' }))
    expect(service.stats().instances.every(({ inFlight }) => inFlight === 0)).toBe(true)
  })

  it('a policy may wrap a built-in one', () => {
    const inner = random()
    const { service } = make({
      instances: abc,
      policy: { name: 'wrapped', pick: (candidates, context) => inner.pick(candidates, context) },
    })
    expect(
      [...picks(() => service.pick(), 60)]
        .sort()
        .filter((host, i, all) => host !== all[i - 1])
        .join(''),
    ).toBe('abc')
  })

  it('a listener that throws is reported once and breaks nothing', () => {
    const { service } = make({ instances: abc })
    const report = console.error
    const reports: unknown[] = []
    console.error = (...args) => reports.push(args)
    try {
      const listening = service.on('change', () => {
        throw new Error('listener')
      })
      service.update(['http://x:1'])
      service.update(['http://y:1'])
      listening[Symbol.dispose]()
      service.update(['http://z:1'])
    } finally {
      console.error = report
    }
    expect(reports).toHaveLength(1)
    expect(service.instances()[0]?.host).toBe('z')
  })
})

describe('picks', () => {
  it('are the same for the same seed, whatever other services do', () => {
    const run = (noise: boolean) => {
      const lb = createLoadBalancer({
        seed: 5,
        clock: () => 0,
        services: { s: { instances: abc, policy: 'random' }, t: { instances: abc, policy: 'random' } },
      })
      return picks(() => {
        if (noise) lb.pick('t')?.done()
        return lb.pick('s')
      }, 50)
    }
    expect(run(true)).toBe(run(false))
  })

  it('are not disturbed by explain or stats', async () => {
    const run = async (look: boolean) => {
      const { service } = make({ instances: abc, policy: 'random', suppliers: ['weighted', 'hint'] })
      let all = ''
      for (let i = 0; i < 20; i++) {
        if (look) {
          await service.explain({ hint: 'x' })
          service.stats()
        }
        all += picks(() => service.pick(), 1)
      }
      return all
    }
    expect(await run(true)).toBe(await run(false))
  })

  it('of a plan exclude the ones before, and end when all are tried', () => {
    const { service } = make({ instances: abc })
    const leases = [...service.plan()]
    expect(leases.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect([...hosts(leases)].sort().join('')).toBe('abc')
    for (const lease of leases) lease.done()
    expect(service.stats().instances.every(({ inFlight }) => inFlight === 0)).toBe(true)
    expect([...service.plan({}, { attempts: 2 })]).toHaveLength(2)
    const careless = make({ instances: abc, policy: 'random', retry: { avoidPreviousInstance: false } }).service
    for (let i = 0; i < 20; i++) expect([...hosts([...careless.plan()])].sort().join('')).toBe('abc')
    expect(careless.stats()).toMatchObject({ fallbacks: {}, instances: [{ picks: 20 }, { picks: 20 }, { picks: 20 }] })
  })

  it('avoid every row of what was tried, weighted lists too', () => {
    const { service } = make({
      instances: [
        { url: 'http://a:1', weight: 3 },
        { url: 'http://b:1', weight: 1 },
      ],
      suppliers: ['weighted'],
    })
    const previous = [service.instances()[0] as ServiceInstance]
    expect(picks(() => service.pick({ previous }), 8)).toBe('bbbbbbbb')
    const all = service.instances()
    expect([...picks(() => service.pick({ previous: all }), 8)].filter((host) => host === 'a')).toHaveLength(6)
    expect(service.stats().fallbacks['retry-aware']).toBe(8)
    const other = make({
      instances: abc,
      retry: { avoidPreviousInstance: false },
      policy: roundRobin({ start: -1 }),
    }).service
    expect(picks(() => other.pick({ previous: other.instances().slice(0, 1) }), 3)).toBe('abc')
  })

  it('by pickMany are indexes into instances(), without leases', () => {
    const { service } = make({
      instances: [
        { url: 'http://a:1', zone: 'x' },
        { url: 'http://b:1', zone: 'y' },
        { url: 'http://c:1', zone: 'y' },
      ],
      suppliers: [zonePreference({ zone: 'y' })],
      policy: roundRobin({ start: -1 }),
    })
    const out = new Int32Array(4)
    expect(service.pickMany(out)).toBe(4)
    expect([...out]).toEqual([1, 2, 1, 2])
    expect(service.stats().instances.every(({ picks }) => picks === 0)).toBe(true)
    service.pickMany(out, { previous: [service.instances()[1] as ServiceInstance] })
    expect([...out]).toEqual([2, 2, 2, 2])
    service.update([])
    expect(service.pickMany(out)).toBe(0)
  })

  it('run in a module of the caller', () => {
    const module = new WebAssembly.Module(readFileSync(new URL('../../build/core.wasm', import.meta.url)))
    const { service } = make({ instances: abc, policy: roundRobin({ start: -1 }) }, { module })
    expect(picks(() => service.pick(), 4)).toBe('abca')
  })

  it('failures cost a Peak EWMA instance its traffic, though it fails fast', () => {
    const { time, service } = make({ instances: abc, policy: 'peak-ewma' })
    const counts: Record<string, number> = {}
    for (let i = 0; i < 600; i++) {
      const lease = service.pick() as Lease
      counts[lease.instance.host] = (counts[lease.instance.host] ?? 0) + 1
      time.now += lease.instance.host === 'b' ? 1 : 10
      lease.done({ status: lease.instance.host === 'b' ? 503 : 200 })
    }
    expect(counts.b).toBeLessThan(30)
  })
})

describe('a balancer', () => {
  it('can be made and closed ten thousand times in the memory of a few', { timeout: 60_000 }, async () => {
    const cycle = async () => {
      const lb = createLoadBalancer({ services: { s: { instances: abc, suppliers: ['hint', 'weighted'] } } })
      lb.pick('s', { hint: 'x' })?.done()
      lb.service('s').update(['http://x:1'])
      lb.pick('s')?.done()
      await lb.close()
    }
    for (let i = 0; i < 1_000; i++) await cycle()
    const before = coreOf().exports.memory.buffer.byteLength
    for (let i = 0; i < 10_000; i++) await cycle()
    expect(coreOf().exports.memory.buffer.byteLength).toBe(before)
  })

  it('that nobody closes gives its memory back when it is collected', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const round = async () => {
      for (let i = 0; i < 500; i++) createLoadBalancer({ services: { s: abc } }).pick('s')
      collect()
      // Finalizers run as tasks of their own.
      await new Promise((resolve) => setTimeout(resolve))
    }
    for (let i = 0; i < 5; i++) await round()
    const before = coreOf().exports.memory.buffer.byteLength
    for (let i = 0; i < 20; i++) await round()
    expect(coreOf().exports.memory.buffer.byteLength).toBe(before)
  })

  it('finds a service by a parsed URL after its namesake in other case is gone', async () => {
    const lb = createLoadBalancer({ services: { Ab: abc, AB: abc }, fetch: async () => new Response('ok') })
    await lb.remove('Ab')
    expect((await lb.fetch(new URL('http://AB/'))).status).toBe(200)
  })

  it('closes once, and then refuses', async () => {
    const { lb } = make({ instances: abc })
    const closed = expect.objectContaining({ code: 'EVENKEEL_CLOSED' })
    await lb.close()
    await lb.close()
    expect(() => lb.pick('s')).toThrow(closed)
    expect(() => lb.define('t', { instances: abc })).toThrow(closed)
    expect(() => lb.stats()).toThrow(closed)
    await expect(lb.fetch('http://s/')).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
    await expect(lb.choose('s')).rejects.toMatchObject({ code: 'EVENKEEL_CLOSED' })
  })

  it('notes metadata that no supplier looks at', async () => {
    const { service } = make({ instances: [{ url: 'http://a:1', weight: 2 }, 'http://b:1'] })
    expect((await service.explain()).notes).toEqual([
      '1 of 2 instances have weight metadata, but "weighted" is not among the suppliers',
    ])
  })

  it('notes no weights and zones that are the same for all, as registries give them', async () => {
    const same = { metadata: { weight: '1', zone: 'z' } }
    const { service } = make({
      instances: [
        { url: 'http://a:1', ...same },
        { url: 'http://b:1', ...same },
      ],
    })
    expect((await service.explain()).notes).toEqual([])
  })
})

it('with a registry any name makes a service, unless unknownService: "error" is written out', async () => {
  const discovery = { name: 'registry', get: () => ['http://a:1'] }
  const fetch = async () => new Response('ok')
  const open = createLoadBalancer({ discovery, fetch, services: { known: {} } })
  expect((await open.fetch('http://other/')).status).toBe(200)
  const strict = createLoadBalancer({ discovery, fetch, services: { known: {} }, unknownService: 'error' })
  expect((await strict.fetch('http://known/')).status).toBe(200)
  const unknown = expect.objectContaining({ code: 'EVENKEEL_UNKNOWN_SERVICE' })
  await expect(strict.fetch('http://other/')).rejects.toEqual(unknown)
  expect(() => strict.pick('other')).toThrow(unknown)
  expect(Object.keys(strict.stats())).toEqual(['known'])
})
