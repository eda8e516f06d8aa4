/** Health checks, on fake timers. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { HealthCheckOptions, InstanceInit, ServiceOptions } from '../../bindings/index.js'
import { type Answer, candidates, failure, hosts, layers, make, makeSpring, picks, registry, type Sent } from './kit.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const passMs = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** Answers by host: a status, after so many ms; never; or an error. */
type Behaviours = Record<string, number | 'never' | Error | { status: number; afterMs: number }>

function answering(behaviours: Behaviours): (request: Sent) => Promise<Response> {
  return ({ host, signal }) =>
    new Promise((resolve, reject) => {
      const behaviour = behaviours[host] ?? 200
      signal?.addEventListener('abort', () => reject(signal.reason))
      if (behaviour instanceof Error) reject(behaviour)
      else if (typeof behaviour === 'number') resolve(new Response('', { status: behaviour }))
      else if (behaviour !== 'never') {
        setTimeout(() => resolve(new Response('', { status: behaviour.status })), behaviour.afterMs)
      }
    })
}

function checked(
  list: InstanceInit[],
  healthCheck: HealthCheckOptions = {},
  behaviours: Behaviours = {},
  rest: ServiceOptions = {},
) {
  const listed = rest.discovery === undefined ? { instances: list } : {}
  return make({ ...listed, ...rest, healthCheck }, { clock: Date.now }, answering(behaviours))
}

/** A service by properties, whose checks are answered so. */
function bySpring(properties: Record<string, string>, list: InstanceInit[], ...answers: Answer[]) {
  return makeSpring({ configurations: 'health-check', ...properties }, { instances: list }, {}, ...answers)
}

describe('HealthCheckServiceInstanceListSupplierTests', () => {
  it.each([
    [{}, '/actuator/health'],
    [{ 'health-check.path.default': '/up' }, '/up'],
    [{ 'health-check.path.default': '/up', 'health-check.path.s': '/of/s' }, '/of/s'],
    [{ 'health-check.path.other': '/of/other' }, '/actuator/health'],
    [{ 'health-check.path.s': 'no/slash' }, '/no/slash'],
  ])('with %j asks at %s', async (properties, path) => {
    const { service, sent } = bySpring(properties, hosts('a'))
    await service.choose()
    expect(sent.map(({ url, method }) => [method, url])).toEqual([['GET', `http://a:8080${path}`]])
  })

  it('with an empty path takes everybody for alive, and asks nobody', async () => {
    const { service, sent } = bySpring({ 'health-check.path.s': '' }, hosts('a', 'b'), 500)
    expect((await service.choose())?.instance.host).toBe('a')
    await passMs(100_000)
    expect([await candidates(service), sent.length]).toEqual(['ab', 0])
  })

  it.each([
    [200, 'a'],
    [404, ''],
    [204, ''],
    [302, ''],
    [503, ''],
  ])('takes status %i for: "%s" is alive', async (status, alive) => {
    const { service } = checked(hosts('a'), {}, { a: status })
    await service.choose()
    expect(await candidates(service)).toBe(alive)
  })

  it('gives only those who are alive', async () => {
    const { service } = checked(hosts('a', 'b', 'c'), {}, { b: 404 })
    await service.choose()
    expect(await candidates(service)).toBe('ac')
    expect(picks(service, 4)).toBe('cacac'.slice(0, 4))
  })

  it('gives one after the other as they answer, where that is asked for', async () => {
    const late = (afterMs: number) => ({ status: 200, afterMs })
    const { service } = checked(hosts('a', 'b', 'c'), { publish: 'each' }, { a: late(30), b: late(10), c: late(20) })
    service.pick()
    const seen: string[] = []
    for (const ms of [10, 10, 10]) {
      await passMs(ms)
      seen.push(await candidates(service))
    }
    expect(seen).toEqual(['b', 'bc', 'bca'])
  })

  it('gives all of a round at once otherwise', async () => {
    const late = (afterMs: number) => ({ status: 200, afterMs })
    const { service } = checked(hosts('a', 'b', 'c'), {}, { a: late(30), b: late(10), c: late(20) })
    expect(service.pick()).toBeUndefined()
    await passMs(29)
    expect([service.state, service.pick()]).toEqual(['cold', undefined])
    await passMs(1)
    expect(await candidates(service)).toBe('abc')
  })

  it.each([
    ['true', 'each'],
    ['false', 'round'],
  ])('update-results-list=%s is publish: %s', (given, publish) => {
    const { service } = bySpring({ 'health-check.update-results-list': given }, hosts('a'))
    expect(service.options().healthCheck?.value).toMatchObject({ publish })
  })

  it('takes an error for a bad answer, and goes on', async () => {
    const behaviours: Behaviours = { a: failure('ECONNREFUSED') }
    const { service } = checked(hosts('a', 'b'), {}, behaviours)
    await service.choose()
    expect(await candidates(service)).toBe('b')
    behaviours.a = 200
    await passMs(25_000)
    expect(await candidates(service)).toBe('ab')
  })

  it('gives nobody if all checks fail, or everybody if that is asked for', async () => {
    const { service } = checked(hosts('a', 'b'), {}, { a: 500, b: 500 })
    expect(await service.choose()).toBeUndefined()
    expect(await candidates(service)).toBe('')
    const lenient = checked(hosts('a', 'b'), { allUnhealthy: 'all' }, { a: 500, b: 500 })
    expect((await lenient.service.choose())?.instance.host).toBe('a')
    expect(await candidates(lenient.service)).toBe('ab')
  })

  it('waits for the initial delay', async () => {
    const { service, sent } = bySpring({ 'health-check.initial-delay': '1s' }, hosts('a'))
    service.pick()
    await passMs(999)
    expect(sent).toHaveLength(0)
    await passMs(1)
    expect(sent).toHaveLength(1)
  })

  it('repeats for ever, an interval after the end of each round', async () => {
    const { service, sent } = checked(hosts('a'), { intervalMs: 1_000 }, { a: { status: 200, afterMs: 500 } })
    service.pick()
    await passMs(1_499)
    expect(sent).toHaveLength(1)
    await passMs(1)
    expect(sent).toHaveLength(2)
    await passMs(150_000)
    expect(sent).toHaveLength(102)
  })

  it('keeps the timeline: a never-answering instance is given up after the interval, which is the limit of a check', async () => {
    const behaviours: Behaviours = { a: 'never' }
    const { service } = checked(hosts('a'), { initialDelayMs: 1_000, intervalMs: 25_000 }, behaviours)
    const seen: [number, string][] = []
    const at = async (second: number) => seen.push([second, service.state === 'cold' ? '-' : await candidates(service)])
    service.pick()
    await passMs(1_000 + 24_999)
    await at(25)
    await passMs(1)
    await at(26)
    behaviours.a = 200
    await passMs(25_000)
    await at(51)
    await passMs(25_000)
    await at(76)
    expect(seen).toEqual([
      [25, '-'],
      [26, ''],
      [51, 'a'],
      [76, 'a'],
    ])
  })

  it('a list that changes ends the round that is under way, and begins one of its own', async () => {
    const behaviours: Behaviours = { a: 'never' }
    const { service, sent } = checked(hosts('a'), {}, behaviours)
    service.pick()
    await passMs(5_000)
    service.update(hosts('b'))
    await passMs(0)
    expect(sent.map(({ host }) => host)).toEqual(['a', 'b'])
    expect(sent[0]?.signal?.aborted).toBe(true)
    expect(await candidates(service)).toBe('b')
  })

  it('refetches the list, and checks who is in it then', async () => {
    const client = registry(hosts('a'))
    const { service } = checked([], { intervalMs: 10_000, refetchMs: 30_000 }, {}, { discovery: client })
    await service.choose()
    client.says = hosts('a', 'b')
    await passMs(29_999)
    expect([client.asked, await candidates(service)]).toEqual([1, 'a'])
    await passMs(1)
    expect([client.asked, await candidates(service)]).toEqual([2, 'ab'])
  })

  it('refetches without repeating: each list is checked once', async () => {
    const client = registry(hosts('a'))
    const { service, sent } = checked([], { repeat: false, refetchMs: 1_000 }, {}, { discovery: client })
    await service.choose()
    await passMs(999)
    expect(sent).toHaveLength(1)
    await passMs(1)
    expect([client.asked, sent.length]).toEqual([2, 2])
  })

  it('neither refetches nor repeats if told so', async () => {
    const client = registry(hosts('a'))
    const never = { repeat: false, refetchMs: Number.POSITIVE_INFINITY }
    const { service, sent } = checked([], never, {}, { discovery: client })
    await service.choose()
    await passMs(1_000_000)
    expect([client.asked, sent.length]).toEqual([1, 1])
  })

  it('refetch-instances=false fetches the list once, its default is refetched every 25 s', async () => {
    const once = bySpring({ 'health-check.refetch-instances': 'false' }, hosts('a'))
    expect(once.service.options().healthCheck?.value).toMatchObject({ refetchMs: Number.POSITIVE_INFINITY })
    const client = registry(hosts('a'))
    const { service } = checked([], {}, {}, { discovery: client })
    await service.choose()
    await passMs(24_999)
    expect(client.asked).toBe(1)
    await passMs(1)
    expect(client.asked).toBe(2)
  })

  it('checks once for all who ask', async () => {
    const { service, lb, sent } = checked(hosts('a'), {}, { a: { status: 200, afterMs: 50 } })
    const all = Promise.all([service.choose(), service.choose(), lb.choose('s')])
    await passMs(50)
    expect((await all).map((lease) => lease?.instance.host)).toEqual(['a', 'a', 'a'])
    expect(sent).toHaveLength(1)
  })

  it('ends with the balancer: what is under way is aborted, and nothing follows', async () => {
    const { service, lb, sent } = checked(hosts('a'), { intervalMs: 1_000 }, { a: 'never' })
    service.pick()
    await passMs(500)
    await lb.close()
    expect(sent[0]?.signal?.aborted).toBe(true)
    await passMs(10_000)
    expect([sent.length, vi.getTimerCount()]).toEqual([1, 0])
  })

  it('keeps the query of a path', async () => {
    const { service, sent } = bySpring({ 'health-check.path.default': '/health?x=y' }, hosts('a'))
    await service.choose()
    expect(sent[0]?.url).toBe('http://a:8080/health?x=y')
  })

  it('asks at a port of its own; the traffic goes to the instance’s', async () => {
    const { service, lb, sent } = bySpring({ 'health-check.port': '8888' }, hosts('a'))
    await service.choose()
    await lb.fetch('http://s/x')
    expect(sent.map(({ url }) => url)).toEqual(['http://a:8888/actuator/health', 'http://a:8080/x'])
  })

  it('asks a secure instance by https', async () => {
    const { service, sent } = checked([{ host: 'a', port: 8443, secure: true }])
    await service.choose()
    expect(sent[0]?.url).toBe('https://a:8443/actuator/health')
  })

  it('stands right above discovery', async () => {
    const { service } = checked([], {}, {}, { discovery: registry(hosts('a')), suppliers: ['zone-preference'] })
    await service.choose()
    expect(await layers(service)).toEqual(['discovery', 'health-check', 'zone-preference'])
  })
})
