/** Where lists come from. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  compositeDiscovery,
  createLoadBalancer,
  type DiscoveryClient,
  type InstanceInit,
  simpleDiscovery,
} from '../../bindings/index.js'
import { fromSpring } from '../../bindings/spring/index.js'
import { errorOf, hosts, hostsOf, make, makeSpring, registry } from './kit.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const never = () => new Promise<never>(() => {})
const down = new Error('registry is down')
const signal = new AbortController().signal

describe('DiscoveryClientServiceInstanceListSupplierTests', () => {
  it('gives the list of the registry, in its order', async () => {
    const { service } = make({ discovery: registry(hosts('b', 'a', 'c')) })
    await service.choose()
    expect(hostsOf(service.instances())).toBe('bac')
  })

  it('gives a fresh one at the next look, where nothing is kept', async () => {
    const client = registry(hosts('a'))
    const { service } = make({ discovery: client, cache: false })
    await service.choose()
    client.says = hosts('b', 'c')
    await service.choose()
    expect(hostsOf(service.instances())).toBe('bc')
  })

  it('tells an error from an empty list: a service that has none yet fails with its cause', async () => {
    const { service } = make({ discovery: registry(down) })
    const error = await errorOf(service.choose())
    expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', serviceId: 's', cause: down })
    expect([service.state, service.stats().discoveryErrors]).toEqual(['failed', 1])
  })

  it('keeps the last list after an error; where SCLB is asked for, nobody', async () => {
    for (const [compat, left] of [
      [[], 'a'],
      [['discovery-failure-empties'], ''],
    ] as [string[], string][]) {
      const client = registry(hosts('a'))
      const { service } = make({ discovery: client }, { compat })
      await service.choose()
      client.says = down
      await errorOf(service.refresh())
      expect(hostsOf(service.instances())).toBe(left)
    }
  })

  it.each([
    ['30 s by default', {}, 30_000],
    ['the time that is configured', { 'service-discovery.timeout': '500ms' }, 500],
  ])('gives up after %s', async (_, properties, timeoutMs) => {
    let signal: AbortSignal | undefined
    const get = (_: string, options: { signal: AbortSignal }) => ((signal = options.signal), never())
    const { service } = makeSpring(properties, { discovery: { name: 'slow', get } })
    let error: { code?: string } | undefined
    service.choose().catch((thrown) => (error = thrown))
    await vi.advanceTimersByTimeAsync(timeoutMs - 1)
    expect([error, signal?.aborted]).toEqual([undefined, false])
    await vi.advanceTimersByTimeAsync(1)
    expect([error?.code, signal?.aborted]).toEqual(['EVENKEEL_DISCOVERY', true])
  })

  it('gives up on a registry that took too long, and keeps the list; where SCLB is asked for, nobody', async () => {
    for (const [compat, left] of [
      [[], 'a'],
      [['discovery-failure-empties'], ''],
    ] as [string[], string][]) {
      const client = registry(hosts('a'))
      const { service } = make({ discovery: client, discoveryTimeoutMs: 1_000 }, { compat })
      await service.choose()
      client.get = never
      const refresh = errorOf(service.refresh())
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await refresh).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
      expect(hostsOf(service.instances())).toBe(left)
    }
  })
})

describe.each([
  ['SimpleDiscoveryClientTests', (client: DiscoveryClient) => client],
  [
    'SimpleReactiveDiscoveryClientTests',
    (client: DiscoveryClient) => ({ ...client, get: async (id: string) => (await client.get?.(id, { signal })) ?? [] }),
  ],
])('%s', (_, as) => {
  const lists: Record<string, InstanceInit[]> = {
    service1: [{ host: 'host1', port: 8080 }],
    service2: [{ host: 'host2', port: 0, secure: true }],
  }

  it('gives the instances of a service, which are of its name', async () => {
    const lb = createLoadBalancer({ discovery: as(simpleDiscovery(lists)) })
    expect((await lb.choose('service1'))?.instance).toMatchObject({ serviceId: 'service1', host: 'host1', port: 8080 })
    expect(lb.service('service1').instances()).toHaveLength(1)
  })

  it('gives nobody for an unknown service: names are whole and in their case', async () => {
    const lb = createLoadBalancer({ discovery: as(simpleDiscovery(lists)) })
    for (const id of ['unknown', 'Service1', 'service', 'toString']) expect(await lb.choose(id)).toBeUndefined()
  })

  it('names its services', async () => {
    expect(await as(simpleDiscovery(lists)).services?.({ signal })).toEqual(['service1', 'service2'])
  })

  it('has order 0 unless it is told another', () => {
    expect([as(simpleDiscovery(lists)).order, as(simpleDiscovery(lists, { order: 3 })).order]).toEqual([0, 3])
  })

  it('reads the map each time', async () => {
    const own: Record<string, InstanceInit[]> = { s: hosts('a') }
    const { service } = make({ discovery: as(simpleDiscovery(own)), cache: false })
    await service.choose()
    own.s = hosts('b')
    await service.choose()
    expect(hostsOf(service.instances())).toBe('b')
  })
})

describe.each(['SimpleDiscoveryClientPropertiesMappingTests', 'SimpleReactiveDiscoveryClientPropertiesMappingTests'])(
  '%s',
  (name) => {
    const format = name.includes('Reactive') ? 'yaml' : 'properties'
    /** Keys of instances, as either kind of file. */
    const read = (properties: Record<string, string | number>) => {
      const lines = Object.entries(properties).map(
        ([key, value]) =>
          `spring.cloud.discovery.client.simple.instances.${key}${format === 'yaml' ? ': ' : '='}${value}`,
      )
      return fromSpring(lines.join('\n'), { format }).options
    }
    const instancesOf = (properties: Record<string, string | number>, service: string) =>
      createLoadBalancer(read(properties)).service(service).instances()

    it('a uri gives host, port and whether it is secure', () => {
      const listed = {
        'service1[0].uri': 'http://s11:8080',
        'service1[1].uri': 'https://s12:8443',
        'service1[2].uri': 'http://s13',
      }
      expect(instancesOf(listed, 'service1')).toMatchObject([
        { serviceId: 'service1', host: 's11', port: 8080, secure: false },
        { serviceId: 'service1', host: 's12', port: 8443, secure: true },
        { serviceId: 'service1', host: 's13', port: -1, secure: false },
      ])
    })

    it('host, port, secure, id and metadata can be given one by one', () => {
      const listed = {
        'service2[0].host': 'host2',
        'service2[0].port': 0,
        'service2[0].secure': 'true',
        'service2[0].instance-id': 'i2',
        'service2[0].metadata.zone': 'z1',
      }
      expect(instancesOf(listed, 'service2')).toMatchObject([
        { instanceId: 'i2', host: 'host2', port: 0, secure: true, metadata: { zone: 'z1' } },
      ])
    })

    it('a secure instance with port 0 is at https://host2:443, its port stays 0', async () => {
      const listed = { 'service2[0].host': 'host2', 'service2[0].port': 0, 'service2[0].secure': 'true' }
      const instances = [{ host: 'host2', port: 0, secure: true }]
      expect(read(listed).services?.service2).toMatchObject({ instances })
      const { service, sent } = make({ instances, healthCheck: { path: '/' } })
      const chosen = service.choose()
      await vi.advanceTimersByTimeAsync(0)
      expect([sent[0]?.url, (await chosen)?.instance.port]).toEqual(['https://host2:443/', 0])
    })

    it('whatever service-id says, the name of the service is the key', () => {
      const listed = { 'service3[0].uri': 'http://s31:80', 'service3[0].service-id': 'other' }
      expect(instancesOf(listed, 'service3')).toMatchObject([{ serviceId: 'service3' }])
    })

    it('without a host an entry is refused, with its key', () => {
      expect(() => read({ 'service4[0].port': 80 })).toThrow(
        expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringContaining('service4[0]') }),
      )
    })
  },
)

describe('CompositeDiscoveryClientTests', () => {
  it('names the services of all its clients, each once, in the order of first sight', async () => {
    const both = compositeDiscovery([simpleDiscovery({ a: [], b: [] }), simpleDiscovery({ c: [], a: [] })])
    expect(await both.services?.({ signal })).toEqual(['a', 'b', 'c'])
  })

  it('gives the list of whichever client has one', async () => {
    const discovery = [simpleDiscovery({ s: hosts('x') }), simpleDiscovery({ t: hosts('y') })]
    const lb = createLoadBalancer({ discovery })
    expect([(await lb.choose('s'))?.instance.host, (await lb.choose('t'))?.instance.host]).toEqual(['x', 'y'])
  })

  it('gives nobody for a service that none of them has', async () => {
    const lb = createLoadBalancer({ discovery: [simpleDiscovery({}), simpleDiscovery({})] })
    expect(await lb.choose('s')).toBeUndefined()
  })
})

describe('CompositeDiscoveryClientOrderTest', () => {
  it('asks in ascending order, equals as they are given', async () => {
    const asked: string[] = []
    const named = (name: string, order?: number): DiscoveryClient => ({
      name,
      ...(order !== undefined && { order }),
      get: async () => (asked.push(name), []),
    })
    const { service } = make({ discovery: [named('late', 5), named('none'), named('zero', 0), named('early', -1)] })
    await service.choose()
    expect(asked).toEqual(['early', 'none', 'zero', 'late'])
  })
})

describe('CompositeDiscoveryClientUnitTests', () => {
  it('takes the first list that is not empty, and asks nobody after it', async () => {
    const [empty, first, second] = [registry([]), registry(hosts('a')), registry(hosts('b'))]
    const { service } = make({ discovery: [empty, first, second] })
    await service.choose()
    expect([hostsOf(service.instances()), empty.asked, first.asked, second.asked]).toEqual(['a', 1, 1, 0])
  })

  it('asks all for the names of their services', async () => {
    const asked: string[] = []
    const named = (name: string) => registry([], { services: async () => (asked.push(name), [name]) })
    await compositeDiscovery([named('x'), named('y')]).services?.({ signal })
    expect(asked).toEqual(['x', 'y'])
  })

  it('passes over one that fails; where SCLB is asked for, its error is final', async () => {
    const own = make({ discovery: [registry(down), registry(hosts('a'))] })
    expect((await own.service.choose())?.instance.host).toBe('a')
    const final = make({ discovery: [registry(down), registry(hosts('a'))] }, { compat: ['composite-stops-at-error'] })
    expect(await errorOf(final.service.choose())).toMatchObject({ cause: down })
  })

  it('joins all lists where that is asked for', async () => {
    const { service } = make({ discovery: [registry(hosts('a')), registry(hosts('b'))] }, { discoveryMode: 'merge' })
    await service.choose()
    expect(hostsOf(service.instances())).toBe('ab')
  })
})

describe('ReactiveCompositeDiscoveryClientTests', () => {
  it('of clients that all say nobody, there is nobody', async () => {
    const { service } = make({ discovery: [registry([]), registry([])] })
    expect([await service.choose(), service.state]).toEqual([undefined, 'ready'])
  })

  it('of no clients there is none: that is refused', () => {
    expect(() => compositeDiscovery([])).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: 'discovery' }),
    )
  })

  it('names of services are gathered from those that can tell them', async () => {
    const mute: DiscoveryClient = { name: 'mute', get: async () => [] }
    expect(await compositeDiscovery([mute]).services?.({ signal })).toEqual([])
    expect(await compositeDiscovery([mute, simpleDiscovery({ a: [] })]).services?.({ signal })).toEqual(['a'])
  })
})

describe('FluxFirstNonEmptyEmittingTests', () => {
  const saying = (ms: number, says: InstanceInit[] | Error, order = 0): DiscoveryClient => ({
    name: `after ${ms} ms`,
    order,
    get: () =>
      new Promise((resolve, reject) => setTimeout(() => (says instanceof Error ? reject(says) : resolve(says)), ms)),
  })
  const race = { compat: ['composite-race'] }
  const outcome = async (clients: DiscoveryClient[], balancer: object) => {
    const chosen = make({ discovery: clients }, balancer).service.choose()
    const seen = chosen.then(
      (lease) => lease?.instance.host ?? 'nobody',
      (error) => String(error.cause?.message),
    )
    await vi.advanceTimersByTimeAsync(1_000)
    return seen
  }

  it.each([
    ['the order decides, not who is quick', [saying(100, hosts('a'), 1), saying(1, hosts('b'), 2)], 'a', 'b'],
    ['one that says nobody drops out', [saying(1, [], 1), saying(100, hosts('b'), 2)], 'b', 'b'],
    ['all say nobody', [saying(1, [], 1), saying(2, [], 2)], 'nobody', 'nobody'],
    ['a quick error is passed over, not final', [saying(1, down, 1), saying(100, hosts('b'), 2)], 'b', down.message],
    ['a slow error loses', [saying(100, down, 2), saying(1, hosts('b'), 1)], 'b', 'b'],
    ['nobody and an error are a failure', [saying(1, [], 1), saying(2, down, 2)], down.message, down.message],
    ['a single one is as if alone', [saying(5, hosts('a'))], 'a', 'a'],
  ])('%s (and in a race as SCLB has it)', async (_, clients, own, raced) => {
    expect([await outcome(clients, {}), await outcome(clients, race)]).toEqual([own, raced])
  })

  it('in a race who answers at once has won before the next is asked', async () => {
    const next = registry(hosts('b'))
    const { service } = make({ discovery: [simpleDiscovery({ s: hosts('a') }), next] }, race)
    expect((await service.choose())?.instance.host).toBe('a')
    expect(next.asked).toBe(0)
  })

  it('in a race those that have lost are ended', async () => {
    let lost: AbortSignal | undefined
    const slow: DiscoveryClient = { name: 'slow', get: (_, options) => ((lost = options.signal), never()) }
    const { service } = make({ discovery: [slow, registry(hosts('a'))] }, race)
    expect((await service.choose())?.instance.host).toBe('a')
    expect(lost?.aborted).toBe(true)
  })
})

describe('IdUtilsTests', () => {
  const idOf = (...properties: string[]) =>
    fromSpring(properties.join('\n'), { format: 'properties' }).options.instanceId
  const [host, app, port] = [
    'spring.cloud.client.hostname=myhost',
    'spring.application.name=myapp',
    'server.port=80',
  ] as const
  const instance = 'spring.application.instance_id=i7'

  it('there is none of nothing', () => {
    expect(idOf('a=b')).toBeUndefined()
  })

  it.each([
    [[host], 'myhost'],
    [[app], 'myapp'],
    [[port], '80'],
    [[host, app], 'myhost:myapp'],
    [[host, port], 'myhost:80'],
    [[host, app, port], 'myhost:myapp:80'],
    [[app, instance], 'myapp:i7'],
    [[host, app, instance, port], 'myhost:myapp:i7'],
    [['vcap.application.instance_id=v1'], 'v1'],
    [['vcap.application.instance_id=v1', host, app], 'v1'],
  ])('of %j it is %s', (properties, expected) => {
    expect(idOf(...properties)).toBe(expected)
  })
})
