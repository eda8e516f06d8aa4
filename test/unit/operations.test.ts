/** What a person does to a running service, and what it tells afterwards: drains, timelines, remembered picks. */

import { describe, expect, it } from 'vitest'
import {
  createLoadBalancer,
  type ListChange,
  type ServiceOptions,
  type Supplier,
  type TimelineEntry,
} from '../../bindings/index.js'
import { headerOf } from '../../bindings/request.js'
import type { BalancedService } from '../../bindings/service/service.js'

const abc = ['http://a:1', 'http://b:1', 'http://c:1']

function make(options: ServiceOptions) {
  const time = { now: 1_000 }
  const lb = createLoadBalancer({
    clock: () => time.now,
    seed: 1,
    fetch: async () => new Response('ok'),
    services: { s: options },
  })
  const service = lb.service('s')
  const reached = (count = 12) => {
    const hosts = new Set<string>()
    for (let i = 0; i < count; i++) {
      const lease = service.pick()
      if (lease !== undefined) hosts.add(lease.instance.host)
      lease?.done()
    }
    return [...hosts].sort().join('')
  }
  return { time, lb, service, reached }
}

const told = (entries: readonly TimelineEntry[]) =>
  entries.map(({ instanceId, at, event }) => `${at} ${instanceId} ${event}`)

describe('drain', () => {
  it('gives an instance no new picks, also after a refresh, until it is restored', () => {
    const { service, reached } = make({ instances: abc })
    service.drain('b:1')
    expect(reached()).toBe('ac')
    service.update([...abc, 'http://d:1'])
    expect(reached()).toBe('acd')
    service.update(['http://a:1'])
    service.update(abc)
    expect(reached()).toBe('ac')
    service.restore('b:1')
    expect(reached()).toBe('abc')
  })

  it('lets requests in flight end, and counts them', () => {
    const { service } = make({ instances: ['http://a:1'] })
    const lease = service.pick()
    service.drain('a:1')
    expect(service.pick()).toBeUndefined()
    expect(service.stats().instances[0]).toMatchObject({ drained: true, inFlight: 1 })
    lease?.done()
    expect(service.stats().instances[0]).toMatchObject({ drained: true, inFlight: 0, successes: 1 })
  })

  it('ends by itself after forMs, and says so', () => {
    const { service, time, reached } = make({ instances: abc })
    const restored: string[] = []
    service.on('restore', ({ instance }) => restored.push(instance.instanceId))
    service.drain('a:1', { forMs: 500 })
    service.drain('b:1', { forMs: 900 })
    time.now = 1_499
    expect(reached()).toBe('c')
    time.now = 1_500
    expect(reached()).toBe('ac')
    time.now = 2_000
    expect(reached()).toBe('abc')
    expect(restored).toEqual(['a:1', 'b:1'])
  })

  it('ends also where every call waits for its list, and for whoever only looks', async () => {
    const { service, time, lb } = make({ discovery: { name: 'registry', get: async () => abc }, cache: false })
    await lb.fetch('http://s/')
    service.drain('a:1', { forMs: 1_000 })
    time.now = 2_000
    expect((await service.explain()).candidates).toHaveLength(3)
    service.drain('a:1', { forMs: 1_000 })
    time.now = 3_000
    expect(service.stats().instances[0]?.drained).toBe(false)
    service.drain('a:1', { forMs: 1_000 })
    time.now = 4_000
    const hosts = new Set<string | undefined>()
    for (let i = 0; i < 6; i++) hosts.add((await service.choose())?.instance.host)
    expect(hosts.size).toBe(3)
  })

  it('of ids that never come back are kept within bounds, and cost no more each', () => {
    const { service, reached } = make({ instances: abc })
    for (let i = 0; i < 20_000; i++) service.drain(`gone-${i}`)
    service.drain('a:1')
    expect(reached()).toBe('bc')
  })

  it('keeps a retry away from an instance that was drained meanwhile', async () => {
    const hosts: string[] = []
    const lb = createLoadBalancer({
      seed: 1,
      fetch: async (input) => {
        const { hostname } = new URL(String(input))
        hosts.push(hostname)
        if (hosts.length > 1) return new Response('ok')
        lb.service('s').drain(`${hostname}:1`)
        throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } })
      },
      services: { s: { instances: abc, retry: { maxRetriesOnSameServiceInstance: 1 } } },
    })
    await lb.fetch('http://s/')
    expect(hosts).toHaveLength(2)
    expect(hosts[1]).not.toBe(hosts[0])
  })

  it('shows in explain as the first layer, with who is out', async () => {
    const { service } = make({ instances: abc })
    service.drain('b:1')
    const { layers, excluded, candidates } = await service.explain()
    expect(layers[1]).toEqual({ name: 'drained', in: 3, out: 2, reason: '1 drained' })
    expect(excluded).toEqual([{ instanceId: 'b:1', by: 'drained', reason: '1 drained' }])
    expect(candidates.map(({ host }) => host)).toEqual(['a', 'c'])
    service.restore('b:1')
    expect((await service.explain()).layers.map(({ name }) => name)).toEqual(['discovery'])
  })

  it.each([
    [() => make({ instances: abc }).service.drain('' as never), 'drain.instanceId'],
    [() => make({ instances: abc }).service.drain('a:1', { forMs: 0 }), 'drain.forMs'],
    [() => make({ instances: abc }).service.drain('a:1', { ms: 5 } as never), 'drain.ms'],
  ])('refuses what it can not use', (act, option) => {
    expect(act).toThrowError(expect.objectContaining({ code: 'EVENKEEL_CONFIG', option }))
  })
})

describe('the timeline', () => {
  it('tells of lists, picks, drains and stops, in order', async () => {
    const { service, time, lb } = make({ instances: ['http://a:1'] })
    time.now = 2_000
    await lb.fetch('http://s/')
    time.now = 3_000
    await lb.fetch('http://s/')
    time.now = 4_000
    service.drain('a:1')
    time.now = 5_000
    service.restore('a:1')
    time.now = 6_000
    service.stopped('a:1', { at: 5_500 })
    time.now = 7_000
    service.update(['http://b:1'])
    expect(told(service.timeline('a:1'))).toEqual([
      '1000 a:1 discovered',
      '2000 a:1 first-picked',
      '3000 a:1 last-picked',
      '4000 a:1 drained',
      '5000 a:1 restored',
      '5500 a:1 stopped-by-owner',
      '6000 a:1 drained',
      '7000 a:1 dropped-from-cache',
    ])
    expect(told(service.timeline('b:1'))).toEqual(['7000 b:1 discovered'])
  })

  it('knows when the registry was first seen without an instance', async () => {
    const list = { now: abc }
    const { service, time } = make({ discovery: { name: 'registry', get: () => list.now }, cache: { ttlMs: 100 } })
    await service.choose()
    time.now = 1_200
    list.now = ['http://a:1']
    await service.refresh()
    expect(told(service.timeline('b:1'))).toEqual([
      '1000 b:1 discovered',
      '1200 b:1 removed-by-registry',
      '1200 b:1 dropped-from-cache',
    ])
  })

  it('stamps a pick from a list that grows old', async () => {
    const { service, time } = make({ discovery: { name: 'registry', get: () => ['http://a:1'] } })
    await service.choose()
    time.now = 1_500
    service.pick()?.done()
    expect(told(service.timeline('a:1'))).toContain('1500 a:1 last-picked')
  })

  it('keeps to its bound when leases of instances that have left are still sent', async () => {
    const { service } = make({ instances: ['http://a:1'] })
    for (let i = 0; i < 600; i++) {
      service.update([`http://h${i}:1`])
      const lease = service.pick()
      service.update(['http://b:1'])
      await lease?.fetch('/')
    }
    expect(service.timeline()).toHaveLength(1_000)
  })

  it('keeps the last thousand entries', () => {
    const { service } = make({ instances: ['http://a:1'] })
    for (let i = 0; i < 1_000; i++) service.update([`http://h${i}:1`])
    const entries = service.timeline()
    expect(entries).toHaveLength(1_000)
    expect(entries.at(-1)?.instanceId).toBe('h999:1')
  })
})

describe('recent picks', () => {
  it('are none unless asked for', () => {
    const { service } = make({ instances: abc })
    service.pick()?.done()
    expect(service.recent()).toEqual([])
  })

  it('tell each layer, the instance and how it ended', () => {
    const { service, time } = make({
      instances: [{ url: 'http://a:1', zone: 'east', version: '2' }, 'http://b:1'],
      suppliers: [{ type: 'zone-preference', zone: 'east' }],
      trace: { sample: 1 },
    })
    service.pick()?.done()
    time.now = 1_200
    service.pick()?.done({ status: 503 })
    service.pick()?.done({ error: new Error('reset') })
    service.pick()?.[Symbol.dispose]()
    service.drain('a:1')
    service.drain('b:1')
    service.pick()
    const records = service.recent()
    expect(records[0]).toEqual({
      at: 1_000,
      attempt: 1,
      instanceId: 'a:1',
      zone: 'east',
      version: '2',
      policy: 'round-robin',
      candidates: 1,
      selectionMs: 0,
      outcome: 'SUCCESS',
      layers: [
        { name: 'discovery', in: 2, out: 2, ageMs: 0 },
        { name: 'zone-preference', in: 2, out: 1, reason: 'keeps zone "east"' },
      ],
    })
    expect(records.map(({ outcome }) => outcome)).toEqual(['SUCCESS', 'SUCCESS', 'FAILED', 'CANCELLED', 'DISCARD'])
    expect(records.at(-1)?.instanceId).toBeUndefined()
  })

  it('are every so many, and the last of them', () => {
    const { service, time } = make({ instances: abc, trace: { sample: 0.25, keep: 3 } })
    for (let i = 0; i < 40; i++) {
      time.now = i
      service.pick()?.done()
    }
    expect(service.recent().map(({ at }) => at)).toEqual([28, 32, 36])
  })

  it('draw nothing: the same picks with a trace and without', () => {
    const options = { instances: abc, policy: 'random', suppliers: [{ type: 'hint' }] }
    const [plain, traced] = [make(options), make({ ...options, trace: { sample: 0.5 } })]
    const picks = ({ service }: typeof plain) =>
      Array.from({ length: 50 }, () => service.pick({ hint: 'x' })?.instance.host).join('')
    expect(picks(traced)).toBe(picks(plain))
  })
})

describe('a chain that is asked with many keys', () => {
  it('keeps 1 024 answers a supplier, whatever came before it in the chain', () => {
    const instances = Array.from({ length: 2_000 }, (_, i) => ({
      url: `http://h${i}:1`,
      hint: `${i}`,
      zone: `z${i % 2}`,
    }))
    const byHeader: Supplier = {
      name: 'by-header',
      memoKey: (request) => headerOf(request, 'x-key'),
      filter: (list) => list,
    }
    const { service } = make({ instances, suppliers: ['hint', byHeader] })
    const { picker } = service as BalancedService
    const kept = () => [1, 2].map((stage) => picker.tree.budgetOf(stage).size)
    let most = [0, 0]
    for (let i = 0; i < 100_000; i++) {
      const hint = String(i * 7_919)
      const lease = service.pick({ hint: String(i % 3_000), headers: { 'x-key': hint } })
      lease?.done()
      most = most.map((count, at) => Math.max(count, kept()[at] as number))
    }
    expect(most).toEqual([1_024, 1_024])
  })
})

it('a change of the list says what it was', () => {
  const { service } = make({ instances: abc })
  const changes: ListChange[] = []
  service.on('change', (change) => changes.push(change))
  service.update(['http://a:1', 'http://d:1'])
  expect(changes[0]?.removed.map(({ host }) => host)).toEqual(['b', 'c'])
})

it('stats tell for how long an instance has been left out as ill', async () => {
  const { service, time } = make({
    instances: abc,
    healthCheck: { accept: () => healthy },
  })
  let healthy = true
  await service.check()
  healthy = false
  time.now = 2_000
  await service.check()
  time.now = 5_000
  expect(service.stats().instances.map(({ ejectedForMs }) => ejectedForMs)).toEqual([3_000, 3_000, 3_000])
  healthy = true
  await service.check()
  expect(service.stats().instances.map(({ ejectedForMs }) => ejectedForMs)).toEqual([0, 0, 0])
  service.stopped('a:1')
})

it('a registry that fails while another lists is counted, and told like any failure', async () => {
  const failing = {
    name: 'failing',
    get() {
      throw new Error('down')
    },
  }
  const { service } = make({ discovery: [failing, { name: 'good', get: () => abc }] })
  const told: unknown[] = []
  service.on('discoveryError', ({ error }) => told.push((error as Error).message))
  expect((await service.choose())?.instance.port).toBe(1)
  expect(told).toEqual(['down'])
  expect(service.stats().discoveryErrors).toBe(1)
  expect(service.state).toBe('ready')
  expect((await service.explain()).source).toMatchObject({ from: 'good', 'failing.failed': 'down' })
})
