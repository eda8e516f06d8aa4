/** Which layers a service has, and in which order. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type DiscoveryClient, hint, type Supplier } from '../../bindings/index.js'
import { candidates, hosts, instance, layers, make, makeSpring, picks, registry, tagged } from './kit.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const abc = hosts('a', 'b', 'c')

describe('LoadBalancerClientConfigurationTests', () => {
  const registries: [string, DiscoveryClient['get']][] = [
    ['that answers later', async () => abc],
    ['that answers at once', () => abc],
  ]
  const chains: [string, Record<string, string>, string[]][] = [
    ['nothing', {}, ['discovery', 'cache']],
    ['default', { configurations: 'default' }, ['discovery', 'cache']],
    ['zone-preference', { configurations: 'zone-preference' }, ['discovery', 'cache', 'zone-preference']],
    ['health-check', { configurations: 'health-check' }, ['discovery', 'health-check']],
    ['weighted', { configurations: 'weighted' }, ['discovery', 'cache', 'weighted']],
    ['sticky', { configurations: 'request-based-sticky-session' }, ['discovery', 'cache', 'sticky-session']],
    ['same', { configurations: 'same-instance-preference' }, ['discovery', 'cache', 'same-instance-preference']],
    ['subset', { configurations: 'subset', 'subset.instance-id': 'i' }, ['discovery', 'cache', 'subset']],
    [
      'api-version',
      { configurations: 'api-version', 'api-version.header': 'v' },
      ['discovery', 'cache', 'api-version'],
    ],
    ['a name in capitals', { configurations: 'Zone-Preference' }, ['discovery', 'cache', 'zone-preference']],
  ]

  describe.each(registries)('with a registry %s', (_, get) => {
    it.each(chains)('configured with %s, has its layers in their order', async (_, properties, expected) => {
      const { lb, service } = makeSpring(properties, { discovery: { name: 'registry', ...(get && { get }) } })
      await service.choose()
      expect(await layers(service)).toEqual(expected)
      await lb.close()
    })

    it('leaves out last of all what the call has tried', async () => {
      const zoned = { configurations: 'zone-preference', zone: 'z' }
      const { service } = makeSpring(zoned, { discovery: { name: 'registry', ...(get && { get }) } })
      await service.choose()
      const previous = [instance(service, 'a')]
      expect(await layers(service, { previous })).toEqual(['discovery', 'cache', 'zone-preference', 'retry-aware'])
      expect(await candidates(service, { previous })).toBe('bc')
    })

    it('does not where avoid-previous-instance is false', async () => {
      const { service } = makeSpring(
        { 'retry.avoid-previous-instance': 'false' },
        { discovery: { name: 'registry', ...(get && { get }) } },
      )
      await service.choose()
      const previous = [instance(service, 'a')]
      expect(await layers(service, { previous })).toEqual(['discovery', 'cache'])
      expect(await candidates(service, { previous })).toBe('abc')
    })
  })

  it('refuses a configuration that it does not know, with those that it knows', () => {
    expect(() => make({ instances: abc, preset: 'zone' })).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringMatching(/"zone".*zone-preference/) }),
    )
    expect(picks(make({ instances: abc, preset: 'zone' }, { compat: ['preset-unknown-empty'] }).service, 2)).toBe('--')
  })

  it('checks health by the transport of the balancer', async () => {
    const { service, sent } = make({ instances: hosts('a'), preset: 'health-check' })
    expect((await service.choose())?.instance.host).toBe('a')
    expect(sent.map(({ url }) => url)).toEqual(['http://a:8080/actuator/health'])
  })

  it('checks health by the fetch of the runtime where no other is given', async () => {
    const asked: string[] = []
    vi.stubGlobal('fetch', async (url: string) => (asked.push(url), new Response('UP')))
    const lb = createLoadBalancer({ services: { s: { instances: hosts('a'), preset: 'health-check' } } })
    expect((await lb.choose('s'))?.instance.host).toBe('a')
    expect(asked).toEqual(['http://a:8080/actuator/health'])
    await lb.close()
  })

  it('checks the health of a binding by the binding, though there is a transport too', async () => {
    const asked: string[] = []
    const fetcher = { fetch: async (request: unknown) => (asked.push((request as Request).url), new Response('UP')) }
    const { service, sent } = make({ instances: [{ instanceId: 'bound', fetcher }], preset: 'health-check' })
    expect((await service.choose())?.instance.instanceId).toBe('bound')
    expect([asked.length, sent.length]).toEqual([1, 0])
  })
})

describe('ServiceInstanceListSupplierBuilderTests', () => {
  it('nests in the order in which suppliers are listed, the first one innermost', async () => {
    const seen: string[] = []
    const named = (name: string): Supplier => ({
      name,
      filter: (list) => (seen.push(`${name}${list.length}`), list.slice(1)),
    })
    const { service } = make({ instances: abc, suppliers: [named('inner'), named('outer')] })
    expect(await candidates(service)).toBe('c')
    expect(seen).toEqual(['inner3', 'outer2'])
  })

  it('has weights outside of health checks outside of discovery', async () => {
    const { service } = make({ discovery: registry(abc), healthCheck: {}, suppliers: ['weighted'] })
    await service.choose()
    expect(await layers(service)).toEqual(['discovery', 'health-check', 'weighted'])
  })

  it('puts suppliers that are listed beside a preset outside of its own', async () => {
    const { service } = make({ instances: abc, preset: 'zone-preference', suppliers: [hint(), 'weighted'] })
    expect(await layers(service)).toEqual(['discovery', 'zone-preference', 'hint', 'weighted'])
  })

  it('refuses a service without instances and without discovery', () => {
    expect(() => createLoadBalancer({ services: { s: { suppliers: ['weighted'] } } })).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: 'services.s needs instances or discovery' }),
    )
  })

  it('refuses a supplier that is none', () => {
    expect(() => make({ instances: abc, suppliers: [null as never] })).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', message: expect.stringContaining('services.s.suppliers[0]') }),
    )
  })

  it('has no caching layer where there is no cache', async () => {
    const client = registry(abc)
    const { service } = make({ discovery: client, cache: false, suppliers: ['weighted'] })
    await service.choose()
    expect(await layers(service)).toEqual(['discovery', 'weighted'])
    expect(await layers(make({ instances: abc }).service)).toEqual(['discovery'])
  })

  it('keeps a service of its own for each id: suppliers, hints and zones do not mix', async () => {
    const instances = tagged({ a: { hint: 'x' }, b: { hint: 'y' } })
    const lb = createLoadBalancer({
      services: {
        s: { instances, suppliers: ['hint'], hints: { s: 'x', t: 'y' } },
        t: { instances, suppliers: ['hint'], hints: { s: 'x', t: 'y' } },
      },
    })
    expect([lb.pick('s')?.instance.host, lb.pick('t')?.instance.host]).toEqual(['a', 'b'])
  })
})
