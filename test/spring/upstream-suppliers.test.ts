/** What each supplier keeps of a list. */

import { describe, expect, it, vi } from 'vitest'
import {
  apiVersion,
  createLoadBalancer,
  hint,
  type InstanceInit,
  random,
  roundRobin,
  type ServiceInstance,
  type Supplier,
  sameInstancePreference,
  stickySession,
  subset,
  weighted,
  zonePreference,
} from '../../bindings/index.js'
import {
  candidates,
  hosts,
  hostsOf,
  instance,
  layers,
  make,
  makeSpring,
  picks,
  registry,
  spring,
  tagged,
} from './kit.js'

const abc = hosts('a', 'b', 'c')

/** An instance of this weight; `undefined`: without metadata. */
const weighing = (weights: (string | undefined)[]) =>
  tagged(
    Object.fromEntries(
      weights.map((weight, i) => [String.fromCharCode(97 + i), weight === undefined ? {} : { weight }]),
    ),
  )

describe.each([
  ['BlockingApiVersionServiceInstanceListSupplierTests', () => versions],
  ['ReactiveApiVersionServiceInstanceListSupplierTests', async () => versions],
])('%s', (_, get) => {
  /** By properties, over a registry that answers at once, or later. */
  async function versioned(properties: Record<string, string>, compat: readonly string[] = []) {
    const all = { configurations: 'api-version', 'api-version.header': 'X-Api-Version', ...properties }
    const { service } = makeSpring(all, { discovery: { name: 'registry', get } }, { compat })
    await service.choose().catch(() => {})
    return service
  }
  const asks = (version: string) => ({ headers: { 'X-Api-Version': version } })

  it('keeps the instances of the version that the header names', async () => {
    const service = await versioned({})
    expect(await candidates(service, asks('1.0'))).toBe('1')
    expect(await candidates(service, asks('v2'))).toBe('2')
  })

  it('keeps nobody for a request without a version', async () => {
    expect(await candidates(await versioned({}))).toBe('')
  })

  it('keeps everybody for one if it may fall back to the available instances', async () => {
    const service = await versioned({ 'api-version.fallback-to-available-instances': 'true' })
    expect(await candidates(service)).toBe('123')
    expect(await candidates(service, asks('9'))).toBe('123')
  })

  it('keeps nobody for a version that no instance has', async () => {
    expect(await candidates(await versioned({}), asks('9'))).toBe('')
  })

  it('takes the default version where there is no request', async () => {
    const service = await versioned({ 'api-version.default': '2' })
    expect(await candidates(service)).toBe('2')
    expect(await candidates(service, asks('1'))).toBe('1')
  })

  it('serves nobody whose version can’t be read, and fails the call as SCLB does if asked to', async () => {
    const service = await versioned({})
    expect(service.pick(asks('one'))).toBeUndefined()
    expect((await service.explain(asks('one'))).layers.at(-1)?.reason).toContain('"one"')
    const asSpring = await versioned({}, ['api-version-bad-request'])
    expect(() => asSpring.pick(asks('one'))).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', serviceId: 's', message: expect.stringContaining('"one"') }),
    )
  })

  it('looks in the header, then the query, the path and the media type', async () => {
    const service = await versioned({
      'api-version.query-parameter': 'v',
      'api-version.path-segment': '0',
      'api-version.media-type-parameters[application/json]': 'version',
    })
    const json = (version: string) => ({ accept: `application/json;version=${version}` })
    expect(
      await candidates(service, { url: 'http://s/2/x?v=2', headers: { ...json('2'), 'x-api-version': '1' } }),
    ).toBe('1')
    expect(await candidates(service, { url: 'http://s/2/x?v=1', headers: json('2') })).toBe('1')
    expect(await candidates(service, { url: 'http://s/1/x', headers: json('2') })).toBe('1')
    expect(await candidates(service, { url: 'http://s/', headers: json('2') })).toBe('2')
  })
})

const versions = tagged({ 1: { API_VERSION: '1' }, 2: { API_VERSION: '2' }, 3: {} })

describe('HintBasedServiceInstanceListSupplierTests', () => {
  const hinted = tagged({ a: { hint: 'one' }, b: { hint: 'two' }, c: {}, d: { hint: 'two' } })
  const make2 = (hints?: Record<string, string>) =>
    make({ instances: hinted, suppliers: [hint()], ...(hints && { hints }) }).service
  const header = (value: string) => ({ headers: { 'x-sc-lb-hint': value } })

  it('the header wins over the property', async () => {
    expect(await candidates(make2({ s: 'one' }), header('two'))).toBe('bd')
  })

  it('the property of the service counts without a header', async () => {
    expect(await candidates(make2({ s: 'one', default: 'two' }))).toBe('a')
    expect(await candidates(make2({ default: 'two' }), { headers: {} })).toBe('bd')
  })

  it('a blank header is none', async () => {
    expect(await candidates(make2({ s: 'one' }), header(' '))).toBe('a')
  })

  it('a header of another name counts if the property says so', async () => {
    const { service } = makeSpring({ 'hint-header-name': 'X-Test', 'hint.s': 'two' }, { instances: hinted })
    expect(await candidates(service, { headers: { 'x-test': 'one' } })).toBe('a')
    expect(await candidates(service, header('one'))).toBe('bd')
  })

  it('all are kept without any hint', async () => {
    expect(await candidates(make2(), { headers: { accept: '*/*' } })).toBe('abcd')
  })

  it('all are kept if nobody has the hint, and only whole words in the same case match', async () => {
    for (const hint of ['three', 'ONE', 'on']) expect(await candidates(make2(), header(hint))).toBe('abcd')
  })

  it('all are kept of a request without headers, and without a request', async () => {
    expect(await candidates(make2(), {})).toBe('abcd')
    expect(picks(make2(), 4)).toBe('abcd')
  })
})

describe('RequestBasedStickySessionServiceInstanceListSupplierTests', () => {
  const sticky = () => make({ instances: abc, suppliers: [stickySession()] }).service
  const cookie = (id: string) => ({ headers: { cookie: `sc-lb-instance-id=${id}` } })

  it('keeps the instance that the cookie names', async () => {
    expect(await candidates(sticky(), cookie('b'))).toBe('b')
    expect(await candidates(sticky(), { cookies: { 'sc-lb-instance-id': 'c' } })).toBe('c')
  })

  it('keeps all if there is no such instance', async () => {
    expect(await candidates(sticky(), cookie('z'))).toBe('abc')
  })

  it('keeps all without the cookie', async () => {
    expect(await candidates(sticky(), { headers: { cookie: 'other=b' } })).toBe('abc')
    expect(await candidates(sticky(), { cookies: {} })).toBe('abc')
  })

  it('keeps all of a request without headers, and without a request', async () => {
    expect(await candidates(sticky(), { hint: 'b', key: 'b' })).toBe('abc')
    expect(picks(sticky(), 3)).toBe('abc')
  })

  it('reads a cookie among others', async () => {
    expect(await candidates(sticky(), { headers: { cookie: 'k=v==; sc-lb-instance-id=b; l=1' } })).toBe('b')
  })

  it('reads the cookie of the configured name', async () => {
    const { service } = makeSpring(
      { configurations: 'request-based-sticky-session', 'sticky-session.instance-id-cookie-name': 'node' },
      { instances: abc },
    )
    expect(await candidates(service, { headers: { cookie: 'sc-lb-instance-id=a; node=c' } })).toBe('c')
  })
})

describe('RetryAwareServiceInstanceListSupplierTests', () => {
  const tried = (...names: string[]) => {
    const { service } = make({ instances: abc })
    return { service, request: { previous: names.map((name) => instance(service, name)) } }
  }

  it('nobody stays nobody', async () => {
    const { request } = tried('a')
    const { service } = make({ instances: [] })
    expect(await candidates(service, request)).toBe('')
    expect(service.pick(request)).toBeUndefined()
  })

  it('the previous instance is left out', async () => {
    const { service, request } = tried('b')
    expect(await candidates(service, request)).toBe('ac')
    expect(picks(service, 4, request)).toBe('acac')
  })

  it('every instance that was tried is left out', async () => {
    const { service, request } = tried('a', 'c')
    expect(await candidates(service, request)).toBe('b')
  })

  it('if nobody else is left, the previous one is kept', async () => {
    const { service } = make({ instances: hosts('a') })
    const request = { previous: [instance(service, 'a')] }
    expect(picks(service, 2, request)).toBe('aa')
    const { layers } = await service.explain(request)
    expect(layers.at(-1)).toMatchObject({ name: 'retry-aware', in: 1, out: 1, fellBack: true })
  })

  it('one that is not in the list changes nothing', async () => {
    const { request } = tried('a')
    expect(await candidates(make({ instances: hosts('b', 'c') }).service, request)).toBe('bc')
  })

  it('suppliers are told of the pick of a retry too', () => {
    const told: string[] = []
    const supplier: Supplier = { name: 'told', filter: (list) => list, selected: ({ host }) => void told.push(host) }
    const { service } = make({ instances: abc, suppliers: [supplier] })
    picks(service, 1, { previous: [instance(service, 'a')] })
    expect(told).toEqual(['b'])
  })
})

describe('SameInstancePreferenceServiceInstanceListSupplierTests', () => {
  const same = (...outer: (Supplier | string)[]) =>
    make({ instances: abc, suppliers: [sameInstancePreference(), ...outer] }).service

  it('only the remembered instance is kept', async () => {
    const service = same()
    expect(picks(service, 3)).toBe('aaa')
    expect(await candidates(service)).toBe('a')
  })

  it('all are kept while none is remembered', async () => {
    expect(await candidates(same())).toBe('abc')
  })

  it('all are kept if the remembered one has gone, and the next pick is remembered', async () => {
    const service = same()
    picks(service, 1)
    service.update(hosts('b', 'c'))
    expect(await candidates(service)).toBe('bc')
    const next = picks(service, 1)
    expect(picks(service, 3)).toBe(next.repeat(3))
    service.update(abc)
    expect(picks(service, 3)).toBe(next.repeat(3))
  })

  it('an empty list forgets it', () => {
    const service = same()
    expect(picks(service, 2)).toBe('aa')
    service.update([])
    expect(picks(service, 1)).toBe('-')
    service.update(abc)
    expect(picks(service, 2)).toBe('bb')
  })

  it.each([
    [true, 'b'],
    [false, 'abc'],
  ])('with callGetWithRequestOnDelegates: %s what is inside keeps %s', async (callGetWithRequestOnDelegates, kept) => {
    const { service } = make({
      instances: tagged({ a: { hint: 'x' }, b: { hint: 'y' }, c: {} }),
      suppliers: [hint(), sameInstancePreference()],
      callGetWithRequestOnDelegates,
    })
    expect(await candidates(service, { hint: 'y' })).toBe(kept)
  })

  it('suppliers inside of it are told of the pick', () => {
    const told: string[] = []
    const inner: Supplier = { name: 'inner', filter: (list) => list, selected: ({ host }) => void told.push(host) }
    const { service } = make({ instances: abc, suppliers: [inner, sameInstancePreference()] })
    expect(picks(service, 2)).toBe('aa')
    expect(told).toEqual(['a', 'a'])
  })
})

describe('SubsetServiceInstanceListSupplierTest', () => {
  /** In the order of their ids, for places in the list to be what the golden values count. */
  const many = (count: number) => hosts(...Array.from({ length: count }, (_, i) => `i${String(i).padStart(3, '0')}`))
  const kept = async (service: Parameters<typeof candidates>[0]) => {
    const places = (await service.explain()).candidates.map(({ instanceId }) => Number(instanceId.slice(1)))
    return places
  }
  const subsetOf = (instanceId: string, count: number, size: number) =>
    kept(make({ instances: many(count), suppliers: [subset({ instanceId, size })] }).service)

  it('an id with placeholders is resolved', async () => {
    const properties = {
      configurations: 'subset',
      'subset.instance-id': `\${HOSTNAME}\${NUMBER:}`,
      'subset.size': '5',
    }
    const { options } = spring(properties, { HOSTNAME: 'foobar', NUMBER: '2' })
    const lb = createLoadBalancer({ ...options, services: { s: many(101) } })
    expect(await kept(lb.service('s'))).toEqual([27, 43, 97, 60, 30])
  })

  it('without an id the client’s own is taken', async () => {
    const { service } = make({ instances: many(101), suppliers: [subset({ size: 5 })] }, { instanceId: 'foobar1' })
    expect(await kept(service)).toEqual([9, 67, 76, 31, 91])
    expect(() => make({ instances: many(101), suppliers: ['subset'] })).toThrow(
      expect.objectContaining({ code: 'EVENKEEL_CONFIG', option: 'subset.instanceId' }),
    )
  })

  it('nobody stays nobody', async () => {
    expect(await subsetOf('foobar', 0, 5)).toEqual([])
  })

  it.each([
    ['foobar', 10, 3, [5, 0, 6]],
    ['a', 10, 3, [8, 2, 1]],
    ['polygenelubricants', 10, 3, [4, 8, 9]],
    ['foobar', 6, 5, [3, 2, 5, 4, 1]],
    ['foobar', 101, 5, [0, 74, 10, 72, 62]],
    ['\u{1F600}', 7, 2, [6, 1]],
  ])('%s of %i instances keeps %i: %j', async (id, count, size, places) => {
    expect(await subsetOf(id, count, size)).toEqual(places)
  })

  it('a list that is not longer is kept as it is', async () => {
    expect(await subsetOf('foobar', 5, 5)).toEqual([0, 1, 2, 3, 4])
    expect(await subsetOf('foobar', 3, 5)).toEqual([0, 1, 2])
    const { service } = make({ instances: hosts('c', 'a', 'b'), suppliers: [subset({ instanceId: 'x', size: 3 })] })
    expect(await candidates(service)).toBe('cab')
  })

  it('100 are kept where no size is said', async () => {
    const { service } = make({ instances: many(250), suppliers: [subset({ instanceId: 'x' })] })
    expect(await kept(service)).toHaveLength(100)
  })

  it('the same id keeps the same ones, whatever their order', async () => {
    const kept = async (instances: InstanceInit[]) =>
      candidates(make({ instances, suppliers: [subset({ instanceId: 'foobar', size: 5 })] }).service)
    expect(await kept(many(101).reverse())).toBe(await kept(many(101)))
  })

  it('ids that differ keep others', async () => {
    const subsets = await Promise.all(['foobar', 'foobar1', 'foobar2'].map((id) => subsetOf(id, 101, 5)))
    expect(new Set(subsets.flat()).size).toBe(15)
  })

  it('what is inside of it sees the request', async () => {
    const instances = tagged({ a: { hint: 'x' }, b: { hint: 'y' }, c: { hint: 'y' }, d: {} })
    const { service } = make({ instances, suppliers: [hint(), subset({ instanceId: 'foobar', size: 2 })] })
    expect(await candidates(service, { hint: 'y' })).toBe('bc')
  })
})

describe('WeightedServiceInstanceListSupplierTests', () => {
  const cycle = (weights: (string | undefined)[], count: number, compat: string[] = []) =>
    picks(make({ instances: weighing(weights), suppliers: [weighted()] }, { compat }).service, count)

  it('nobody stays nobody', async () => {
    const { service } = make({ instances: [], suppliers: [weighted()] })
    expect([await candidates(service), service.pick()]).toEqual(['', undefined])
  })

  it.each([
    [['1', '2', '3'], 'abcbcc'],
    [['10', '20', '30'], 'abcbcc'],
    [['5', '1', '1'], 'abcaaaa'],
    [['3', '2', '1'], 'abcaba'],
    [['100', '50', '75'], 'abcabcaca'],
  ])('weights %j are picked in the order %s, again and again', (weights, expected) => {
    expect(cycle(weights, expected.length * 2)).toBe(expected.repeat(2))
  })

  it('an instance without a weight counts as 1', () => {
    expect(cycle([undefined, '2'], 6)).toBe('abbabb')
  })

  it.each(['Infinity', 'NaN', 'heavy', '', '-1', '1e99'])(
    'a weight of %j counts as 1, and explain names it',
    async (weight) => {
      const { service } = make({ instances: weighing([weight, '2']), suppliers: [weighted()] })
      expect(picks(service, 6)).toBe('abbabb')
      expect((await service.explain()).notes).toContain('the weight of "a" can\'t be read and counts as 1')
    },
  )

  it('a weight of 0 drains; where SCLB is asked for, it counts as 1', () => {
    expect(cycle(['0', '2'], 3)).toBe('bbb')
    expect(cycle(['0', '2'], 6, ['weighted-java-int'])).toBe('abbabb')
  })

  it('a weight function that throws counts as 1, and is complained of once', () => {
    const complaint = vi.spyOn(console, 'error').mockImplementation(() => {})
    const weight = ({ host }: ServiceInstance) => {
      if (host === 'a') throw new Error('no weight')
      return 2
    }
    const { service } = make({ instances: hosts('a', 'b', 'c'), suppliers: [weighted({ weight })] })
    expect(picks(service, 5)).toBe('abcbc')
    service.update(hosts('a', 'b'))
    expect(complaint).toHaveBeenCalledTimes(1)
    complaint.mockRestore()
  })

  it.each([0, -1, Number.NaN])('a weight function that gives %d: 0 drains, anything else counts as 1', (given) => {
    const weight = ({ host }: ServiceInstance) => (host === 'a' ? given : 2)
    const { service } = make({ instances: hosts('a', 'b'), suppliers: [weighted({ weight })] })
    expect(picks(service, 6)).toBe(given === 0 ? 'bbbbbb' : 'abbabb')
    const java = make(
      { instances: hosts('a', 'b'), suppliers: [weighted({ weight })] },
      { compat: ['weighted-java-int'] },
    )
    expect(picks(java.service, 6)).toBe('abbabb')
  })

  it.each([
    [true, 'b'],
    [false, 'abc'],
  ])('with callGetWithRequestOnDelegates: %s what is inside keeps %s', async (callGetWithRequestOnDelegates, kept) => {
    const { service } = make({
      instances: tagged({ a: { hint: 'x' }, b: { hint: 'y' }, c: {} }),
      suppliers: [hint(), weighted()],
      callGetWithRequestOnDelegates,
    })
    expect(await candidates(service, { hint: 'y' })).toBe(kept)
  })
})

describe('LazyWeightedServiceInstanceListTest', () => {
  it('a cycle is as long as the sum of the weights over their common divisor', () => {
    const { service } = make({ instances: weighing(['10', '20', '30']), suppliers: [weighted()] })
    const seen = picks(service, 60)
    const period = [1, 2, 3, 4, 5, 6, 7].find((length) => seen === seen.slice(0, length).repeat(60 / length))
    expect(period).toBe(6)
  })

  it('as a list of SCLB’s, the candidates are as many', async () => {
    const { service } = make(
      { instances: weighing(['10', '20', '30']), suppliers: [weighted()] },
      { compat: ['weighted-expanded'] },
    )
    expect(await candidates(service)).toBe('abcbcc')
  })

  it('nothing is computed up front: the largest weights cost no more than others', async () => {
    const { service } = make({ instances: weighing(['2147483647', '2147483646', '1']), suppliers: [weighted()] })
    expect(await candidates(service)).toBe('abc')
    expect(picks(service, 7)).toBe('abcabab')
  })

  it('a weight function is called once for an instance and a list, however many the picks', () => {
    const weight = vi.fn(() => 2)
    const { service } = make({ instances: abc, suppliers: [weighted({ weight })] })
    const before = weight.mock.calls.length
    picks(service, 100)
    expect(weight.mock.calls.length - before).toBeLessThanOrEqual(3)
    expect(weight.mock.calls.length).toBeLessThanOrEqual(3)
  })

  it('to the last place of the cycle each instance has had its share', () => {
    const { service } = make({ instances: weighing(['997', '2', '1']), suppliers: [weighted()] })
    const out = new Int32Array(1_000)
    expect(service.pickMany(out)).toBe(1_000)
    expect([0, 1, 2].map((place) => out.filter((picked) => picked === place).length)).toEqual([997, 2, 1])
    expect(picks(service, 4)).toBe('abca')
  })

  it('counts are right when many take at the same time', async () => {
    const { service } = make({ discovery: registry(weighing(['1', '2', '3'])), suppliers: [weighted()] })
    const leases = await Promise.all(Array.from({ length: 600 }, () => service.choose()))
    const counts = ['a', 'b', 'c'].map((host) => leases.filter((lease) => lease?.instance.host === host).length)
    expect(counts).toEqual([100, 200, 300])
  })

  it('random draws are by weight', () => {
    const { service } = make({ instances: weighing(['1', '2', '3']), suppliers: [weighted()], policy: random() })
    const seen = picks(service, 6_000)
    const chiSquare = ['a', 'b', 'c'].reduce((sum, host, i) => {
      const expected = 1_000 * (i + 1)
      return sum + (seen.split(host).length - 1 - expected) ** 2 / expected
    }, 0)
    // 2 degrees of freedom, p = 0.001.
    expect(chiSquare).toBeLessThan(13.82)
  })

  it('a single instance is one place, whatever its weight: the position does not move', () => {
    const { service } = make({ instances: hosts('a', 'b'), policy: roundRobin({ start: -1 }), suppliers: [weighted()] })
    expect(picks(service, 1)).toBe('a')
    service.update(weighing(['9']))
    expect(picks(service, 3)).toBe('aaa')
    service.update(hosts('a', 'b'))
    expect(picks(service, 2)).toBe('ba')
  })
})

describe('ZonePreferenceServiceInstanceListSupplierTests', () => {
  const zoned = tagged({
    a: { zone: 'zone1' },
    b: { zone: 'zone1' },
    c: { zone: 'zone2' },
    d: { zone: 'zone3' },
    e: {},
  })
  const inZone = (zone: string | undefined, instances = zoned) =>
    candidates(make({ instances, suppliers: ['zone-preference'] }, zone === undefined ? {} : { zone }).service)

  it('keeps the instances of the own zone, in their order', async () => {
    expect(await inZone('zone1')).toBe('ab')
  })

  it('ignores case', async () => {
    expect(await inZone('ZONE1')).toBe('ab')
    expect(await inZone('zone2', tagged({ a: { zone: 'Zone2' }, b: {} }))).toBe('a')
  })

  it('keeps all if nobody is in the zone', async () => {
    expect(await inZone('zone1', tagged({ c: { zone: 'zone2' }, d: { zone: 'zone3' } }))).toBe('cd')
  })

  it('keeps all if there is no own zone', async () => {
    expect(await inZone(undefined)).toBe('abcde')
  })

  it('takes instances without metadata for some of no zone', async () => {
    expect(await inZone('zone1', [...hosts('x'), ...tagged({ a: { zone: 'zone1' } })])).toBe('a')
    expect(await inZone('zone1', hosts('x', 'y'))).toBe('xy')
  })

  it('takes its zone from the property, or from the supplier’s own option', async () => {
    const { service } = makeSpring({ configurations: 'zone-preference', zone: 'zone3' }, { instances: zoned })
    expect(await candidates(service)).toBe('d')
    const own = make({ instances: zoned, suppliers: [zonePreference({ zone: 'zone2' })] }, { zone: 'zone1' })
    expect(await candidates(own.service)).toBe('c')
  })

  it.each([
    [true, 'b'],
    [false, 'ab'],
  ])('with callGetWithRequestOnDelegates: %s what is inside keeps %s', async (callGetWithRequestOnDelegates, kept) => {
    const instances = tagged({ a: { zone: 'z', hint: 'x' }, b: { zone: 'z', hint: 'y' }, c: { hint: 'y' } })
    const { service } = make(
      { instances, suppliers: ['hint', 'zone-preference'], callGetWithRequestOnDelegates },
      { zone: 'z' },
    )
    expect(await candidates(service, { hint: 'y' })).toBe(kept)
    expect(await layers(service)).toEqual(['discovery', 'hint', 'zone-preference'])
  })

  it('sees the version of a request inside of it, or not', async () => {
    const instances = tagged({ a: { API_VERSION: '1' }, b: { API_VERSION: '2' } })
    const service = (passes: boolean) =>
      make({
        instances,
        suppliers: [apiVersion({ header: 'v', default: '1' }), 'zone-preference'],
        callGetWithRequestOnDelegates: passes,
      }).service
    expect(await candidates(service(true), { headers: { v: '2' } })).toBe('b')
    expect(await candidates(service(false), { headers: { v: '2' } })).toBe('a')
  })

  it('gives what the list had, the same objects', async () => {
    const { service } = make({ instances: zoned, suppliers: ['zone-preference'] }, { zone: 'zone2' })
    const [kept] = (await service.explain()).candidates
    expect(kept).toBe(service.instances()[2])
    expect(hostsOf(service.instances())).toBe('abcde')
  })
})
