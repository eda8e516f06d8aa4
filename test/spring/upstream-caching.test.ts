/** How long a list from a registry is kept, and where. */

import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type InstanceInit } from '../../bindings/index.js'
import { candidates, errorOf, hosts, layers, make, makeSpring, picks, registry, spring } from './kit.js'

describe('CaffeineBasedLoadBalancerCacheManagerTests', () => {
  it('a second look within the time of the specification takes the kept list', async () => {
    const client = registry(hosts('a'))
    const { service, time } = makeSpring({ 'cache.caffeine.spec': 'expireAfterWrite=3s' }, { discovery: client })
    await service.choose()
    time.now = 2_999
    await service.choose()
    expect(client.asked).toBe(1)
  })

  it('one after that time asks again, and the new list comes into force', async () => {
    const client = registry(hosts('a'))
    const { service, time } = makeSpring({ 'cache.caffeine.spec': 'expireAfterWrite=3s' }, { discovery: client })
    await service.choose()
    client.says = hosts('b')
    time.now = 4_000
    await service.choose()
    expect(client.asked).toBe(2)
    expect(await candidates(service)).toBe('b')
    expect(client.asked).toBe(2)
  })

  it('with SCLB’s cache, that look itself gets the new list', async () => {
    const client = registry(hosts('a'))
    const { service, time } = makeSpring(
      { 'cache.caffeine.spec': 'expireAfterWrite=3s' },
      { discovery: client },
      { compat: ['cache-no-stale'] },
    )
    await service.choose()
    client.says = hosts('b')
    time.now = 4_000
    expect((await service.choose())?.instance.host).toBe('b')
  })
})

describe('DefaultLoadBalancerCacheManagerTests', () => {
  it('reads a time to live of 5m as 300000 ms', () => {
    expect(spring({ 'cache.ttl': '5m' }).options.defaults?.cache).toEqual({ ttlMs: 300_000 })
  })

  it('keeps a list that long, and no longer', async () => {
    const client = registry(hosts('a'))
    const { service, time } = makeSpring({ 'cache.ttl': '5m' }, { discovery: client })
    await service.choose()
    time.now = 299_999
    await service.choose()
    expect(client.asked).toBe(1)
    time.now = 300_000
    await service.choose()
    expect(client.asked).toBe(2)
  })

  it('makes one service of a name that stands twice', async () => {
    const { options } = spring({ 'eager-load.clients': 's,s', 'clients.s.retry.enabled': 'false' })
    expect(Object.keys(options.services ?? {})).toEqual(['s'])
    const client = registry(hosts('a'))
    const lb = createLoadBalancer({ ...options, discovery: client })
    await lb.ready()
    expect([Object.keys(lb.stats()), client.asked]).toEqual([['s'], 1])
  })

  it('keeps one list for each name', async () => {
    const asked: string[] = []
    const discovery = async (serviceId: string): Promise<InstanceInit[]> => (asked.push(serviceId), hosts(serviceId))
    const lb = createLoadBalancer({ discovery })
    for (const id of ['x', 'y', 'x', 'y']) expect((await lb.choose(id))?.instance.host).toBe(id)
    expect(asked).toEqual(['x', 'y'])
  })
})

describe('DefaultLoadBalancerCacheTests', () => {
  it('null is no list: the error names the registry and the service', async () => {
    const { service } = make({ discovery: { name: 'consul', get: () => null as never } })
    const error = await errorOf(service.choose())
    expect(error).toMatchObject({ code: 'EVENKEEL_DISCOVERY', serviceId: 's' })
    expect(error.message).toMatch(/"consul".*"s".*null/)
  })

  it('null is nobody where that is asked for', async () => {
    const discovery = { name: 'consul', get: () => null as never }
    const { service } = make({ discovery }, { compat: ['no-list-no-response'] })
    expect(await service.choose()).toBeUndefined()
  })

  it('null does not replace the list that is kept', async () => {
    const client = registry(hosts('a'))
    const { service } = make({ discovery: client })
    await service.choose()
    client.says = null as never
    await errorOf(service.refresh())
    expect(picks(service, 1)).toBe('a')
  })

  it('a list that was written is never evicted', () => {
    const { service, time } = make({ instances: hosts('a') })
    time.now = Number.MAX_SAFE_INTEGER
    expect([picks(service, 1), service.state]).toEqual(['a', 'ready'])
  })

  it('a time to live of 0 keeps nothing, and the file is warned of', async () => {
    const { warnings } = spring({ 'cache.ttl': '0' })
    expect(warnings).toEqual([expect.objectContaining({ key: 'spring.cloud.loadbalancer.cache.ttl' })])
    const client = registry(hosts('a'))
    const { service } = makeSpring({ 'cache.ttl': '0' }, { discovery: client })
    await service.choose()
    await service.choose()
    await service.choose()
    expect(client.asked).toBe(3)
  })

  it('time runs from when a list was put, not from when it was looked at', async () => {
    const client = registry(hosts('a'))
    const { service, time } = make({ discovery: client, cache: { ttlMs: 1_000 } })
    await service.choose()
    for (time.now = 100; time.now < 1_000; time.now += 100) await service.choose()
    expect([client.asked, service.stats().listAgeMs]).toEqual([1, 1_000])
    await service.choose()
    expect(client.asked).toBe(2)
  })
})

describe('LoadBalancerCacheAutoConfigurationTests', () => {
  it('a Caffeine specification wins over ttl, and the file is warned of', () => {
    const { options, warnings } = spring({ 'cache.ttl': '10s', 'cache.caffeine.spec': 'expireAfterWrite=3s' })
    expect(options.defaults?.cache).toEqual({ ttlMs: 3_000 })
    expect(warnings.map(({ key }) => key)).toEqual(['spring.cloud.loadbalancer.cache.ttl'])
  })

  it('without either a list is kept for 35 s', async () => {
    const client = registry(hosts('a'))
    const { service, time } = makeSpring({}, { discovery: client })
    await service.choose()
    expect(service.options().cache).toEqual({ value: { ttlMs: 35_000, staleMs: 35_000 }, from: 'default' })
    time.now = 34_999
    await service.choose()
    expect(client.asked).toBe(1)
    time.now = 35_000
    await service.choose()
    expect(client.asked).toBe(2)
  })

  it('two balancers over one registry keep lists of their own', async () => {
    const client = registry(hosts('a'))
    const [first, second] = [make({ discovery: client }), make({ discovery: client })]
    await first.service.choose()
    client.says = hosts('b')
    await second.service.choose()
    expect([picks(first.service, 1), picks(second.service, 1), client.asked]).toEqual(['a', 'b', 2])
  })

  it('cache.enabled=false asks each time', async () => {
    const client = registry(hosts('a'))
    const { service } = makeSpring({ 'cache.enabled': 'false' }, { discovery: client })
    for (const host of ['a', 'b', 'c']) {
      client.says = hosts(host)
      expect((await service.choose())?.instance.host).toBe(host)
    }
    expect(client.asked).toBe(3)
    expect(await layers(service)).not.toContain('cache')
  })

  it('enabled=false is not translated, and the file is warned of', () => {
    const { options, warnings } = spring({ enabled: 'false', 'cache.ttl': '10s' })
    expect(options.defaults?.cache).toEqual({ ttlMs: 10_000 })
    expect(warnings.map(({ key }) => key)).toEqual(['spring.cloud.loadbalancer.enabled'])
  })
})

describe('CachingServiceInstanceListSupplierTests', () => {
  async function* endless(): AsyncGenerator<InstanceInit[]> {
    yield hosts('a')
    await new Promise(() => {})
  }

  it('a registry that pushes and never ends does not keep choose waiting', async () => {
    const { service } = make({ discovery: { name: 'pushing', watch: endless } })
    expect((await service.choose())?.instance.host).toBe('a')
  })

  it('nor does a function that answers with such a stream', async () => {
    const { service } = make({ discovery: () => endless() })
    expect((await service.choose())?.instance.host).toBe('a')
  })

  it('nor does one among others', async () => {
    const { service } = make({ discovery: [registry([]), { name: 'pushing', watch: endless }] })
    expect((await service.choose())?.instance.host).toBe('a')
  })
})
