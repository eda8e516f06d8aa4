import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createLoadBalancer,
  type FetchLike,
  type LoadBalancerOptions,
  type MeterSeries,
  type MetricsOptions,
  roundRobin,
  type ServiceOptions,
} from '../../bindings/index.js'

const refused = () =>
  Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) })

/** A metered service whose transport takes `tookMs` for each answer. */
function metered(
  metrics: MetricsOptions = {},
  options: Partial<ServiceOptions> = {},
  balancer: Partial<LoadBalancerOptions> = {},
) {
  const time = { now: 0, tookMs: 10 }
  const script: { answer: FetchLike } = { answer: async () => new Response() }
  const lb = createLoadBalancer({
    clock: () => time.now,
    seed: 1,
    fetch(input, init) {
      time.now += time.tookMs
      return script.answer(input, init)
    },
    ...balancer,
    services: {
      s: {
        instances: ['http://a:1', 'http://b:2'],
        policy: roundRobin({ start: -1 }),
        metrics,
        retry: false,
        ...options,
      },
    },
  })
  const service = lb.service('s')
  const meters = (name: string) =>
    service.stats().meters.filter((series) => series.name === `loadbalancer.requests.${name}`)
  return { lb, service, time, script, meters }
}

const total = (series: readonly MeterSeries[]) => series.reduce((sum, { count }) => sum + count, 0)

const A = {
  serviceId: 's',
  'serviceInstance.instanceId': 'a:1',
  'serviceInstance.host': 'a',
  'serviceInstance.port': '1',
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('meters', () => {
  it('are none where nobody asked for them', async () => {
    const { service } = metered(undefined, { metrics: false })
    expect(service.stats().meters).toEqual([])
  })

  it('time answers by instance, method, path, outcome and status', async () => {
    const { lb, time, meters } = metered({}, { instances: ['http://a:1'] })
    await lb.fetch('http://s/stock/42?x=1#f', { method: 'put' })
    time.tookMs = 30
    await lb.fetch('http://s/stock/42?x=2', { method: 'PUT' })
    expect(meters('success')).toEqual([
      {
        name: 'loadbalancer.requests.success',
        tags: { ...A, method: 'PUT', uri: '/stock/42', outcome: 'SUCCESS', status: '200' },
        count: 2,
        totalMs: 40,
        maxMs: 30,
      },
    ])
    expect(meters('active')).toEqual([{ name: 'loadbalancer.requests.active', tags: A, count: 0 }])
    expect([meters('failed'), meters('discard')]).toEqual([[], []])
  })

  it.each([
    [200, 'SUCCESS'],
    [302, 'REDIRECTION'],
    [404, 'CLIENT_ERROR'],
    [503, 'SERVER_ERROR'],
  ])('say of status %i: %s', async (status, outcome) => {
    const { lb, script, meters } = metered()
    script.answer = async () => new Response(null, { status })
    await lb.fetch('http://s')
    expect(meters('success')[0]?.tags).toMatchObject({ outcome, status: String(status), uri: '/' })
  })

  it('say UNKNOWN of a status that is none, as of an opaque answer', async () => {
    const { lb, script, meters } = metered()
    script.answer = async () => Response.error()
    await lb.fetch('http://s')
    expect(meters('success')[0]?.tags).toMatchObject({ outcome: 'UNKNOWN', status: '0' })
  })

  it('time failures by the class of the error', async () => {
    class OwnError extends Error {}
    const { lb, script, meters } = metered({}, { instances: ['http://a:1'] })
    for (const error of [refused(), new OwnError(), new DOMException('', 'NotSupportedError'), 'text', undefined]) {
      script.answer = () => Promise.reject(error)
      await lb.fetch('http://s/x').catch(() => {})
    }
    expect(meters('failed').map(({ tags, totalMs }) => [tags.exception, tags.method, tags.uri, totalMs])).toEqual([
      ['TypeError', 'GET', '/x', 10],
      ['OwnError', 'GET', '/x', 10],
      ['NotSupportedError', 'GET', '/x', 10],
      ['String', 'GET', '/x', 10],
      ['None', 'GET', '/x', 10],
    ])
    expect(meters('failed')[0]?.tags).toMatchObject(A)
    expect(meters('success')).toEqual([])
  })

  it('count what found no instance, and time nothing of it', async () => {
    const { lb, meters } = metered({}, { instances: [] })
    await lb.fetch('http://s/x').catch(() => {})
    expect(meters('discard')).toEqual([
      { name: 'loadbalancer.requests.discard', tags: { method: 'GET', uri: '/x', serviceId: 's' }, count: 1 },
    ])
    expect([meters('active'), meters('success'), meters('failed')]).toEqual([[], [], []])
  })

  it('know no instance of a selection that threw', async () => {
    const policy = {
      name: 'throwing',
      pick() {
        throw new RangeError('mistake')
      },
    }
    const { lb, meters } = metered({}, { policy })
    await lb.fetch('http://s/x').catch(() => {})
    expect(meters('failed')[0]?.tags).toEqual({
      serviceId: 's',
      'serviceInstance.instanceId': 'UNKNOWN',
      'serviceInstance.host': 'UNKNOWN',
      'serviceInstance.port': 'UNKNOWN',
      exception: 'RangeError',
      method: 'GET',
      uri: '/x',
    })
  })

  it('count an attempt as active until it ends, also where it is cancelled', async () => {
    const { lb, script, meters } = metered({}, { instances: ['http://a:1'] })
    const stop = new AbortController()
    script.answer = (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
    const call = lb.fetch('http://s/', { signal: stop.signal })
    expect(meters('active')[0]?.count).toBe(1)
    stop.abort()
    await expect(call).rejects.toThrow()
    expect(meters('active')[0]?.count).toBe(0)
    expect([meters('success'), meters('failed'), meters('discard')]).toEqual([[], [], []])
  })

  it('count the attempts of a lease', async () => {
    const { service, meters } = metered()
    await service.pick()?.fetch('/x')
    expect(meters('success')[0]?.tags).toMatchObject({ ...A, uri: '/x' })
  })

  it('leave the path out where told to', async () => {
    const { lb, meters } = metered({ includePath: false })
    await lb.fetch('http://s/x')
    expect(meters('success')[0]?.tags).toMatchObject({ method: 'GET', uri: 'UNKNOWN' })
  })

  it('know neither method nor path of an answer with the quirk meters-without-uri', async () => {
    const { lb, script, meters } = metered({}, {}, { compat: ['meters-without-uri'] })
    await lb.fetch('http://s/x')
    script.answer = () => Promise.reject(refused())
    await lb.fetch('http://s/x').catch(() => {})
    expect(meters('success')[0]?.tags).toMatchObject({ method: 'UNKNOWN', uri: 'UNKNOWN', status: '200' })
    expect(meters('failed')[0]?.tags).toMatchObject({ method: 'GET', uri: '/x' })
  })
})

describe('series', () => {
  it('are never more than so many a meter: then the path is OTHER, then the instance, and no call is lost', async () => {
    const instances = Array.from({ length: 60 }, (_, i) => `http://i${i}:1`)
    const { lb, meters } = metered({ maxSeries: 20 }, { instances })
    for (let i = 0; i < 14; i++) await lb.service('s').fetch(`/path/${i}`)
    expect(meters('success')).toHaveLength(14)
    await lb.fetch('http://s/path/14')
    await lb.fetch('http://s/path/15')
    const sixteenth = meters('success').at(-1)?.tags
    expect(sixteenth).toMatchObject({ uri: 'OTHER', 'serviceInstance.host': 'i15', status: '200' })
    for (let i = 16; i < 60; i++) await lb.fetch(`http://s/path/${i}`)
    expect(meters('success').at(-1)?.tags).toMatchObject({
      uri: 'OTHER',
      'serviceInstance.host': 'OTHER',
      status: '200',
    })
    for (let i = 0; i < 60; i++) await lb.fetch(`http://s/`, { method: `M${i}` })
    expect(meters('success').at(-1)?.tags).toMatchObject({ serviceId: 's', method: 'OTHER', status: 'OTHER' })
    expect(meters('success')).toHaveLength(20)
    expect(total(meters('success'))).toBe(120)
    expect([meters('active').length, total(meters('active'))]).toEqual([18, 0])
    // Three name no instance: they stay when all of them leave.
    lb.service('s').update([])
    const left = meters('success').map(({ tags }) => tags['serviceInstance.host'])
    expect([left.length, new Set(left)]).toEqual([3, new Set(['OTHER'])])
  })

  it('are 200 by default, and at least one', async () => {
    const many = metered()
    for (let i = 0; i < 300; i++) await many.lb.fetch(`http://s/${i}`)
    expect(many.meters('success').length).toBeLessThanOrEqual(200)
    expect(total(many.meters('success'))).toBe(300)
    const one = metered({ maxSeries: 1 })
    await one.lb.fetch('http://s/1')
    await one.lb.fetch('http://s/2')
    expect(one.meters('success').map(({ count, tags }) => [count, tags.uri])).toEqual([[2, 'OTHER']])
  })

  it('leave with their instance; its gauge when the last request has ended, which is counted under OTHER', async () => {
    const { lb, service, script, meters } = metered()
    await lb.fetch('http://s/')
    await lb.fetch('http://s/')
    let answer!: (response: Response) => void
    script.answer = () => new Promise((resolve) => (answer = resolve))
    const last = lb.fetch('http://s/')
    const ids = (name: string) => meters(name).map(({ tags }) => tags['serviceInstance.instanceId'])
    expect([ids('success'), ids('active')]).toEqual([
      ['a:1', 'b:2'],
      ['a:1', 'b:2'],
    ])
    service.update([])
    expect([ids('success'), ids('active'), total(meters('active'))]).toEqual([[], ['a:1'], 1])
    answer(new Response())
    await last
    expect([ids('success'), ids('active')]).toEqual([['OTHER'], []])
  })

  it('of an instance stay where a refresh lists it again', async () => {
    const { lb, service, meters } = metered()
    await lb.fetch('http://s/')
    service.update([{ url: 'http://a:1', zone: 'z' }])
    await lb.fetch('http://s/')
    expect(meters('success')).toMatchObject([{ tags: A, count: 2 }])
  })
})

describe('tags of the user’s own', () => {
  it('stand beside SCLB’s in every meter, which win', async () => {
    const { lb, meters, script } = metered(
      {
        tags: ({ serviceId, instance, response }) => ({
          of: serviceId,
          zone: instance?.metadata.zone ?? 'none',
          cached: response?.headers.get('x-cached') ?? 'no',
          status: 'mine',
        }),
      },
      { instances: [{ url: 'http://a:1', zone: 'z1' }] },
    )
    script.answer = async () => new Response('', { headers: { 'x-cached': 'yes' } })
    await lb.fetch('http://s/')
    expect(meters('success')[0]?.tags).toMatchObject({ of: 's', zone: 'z1', cached: 'yes', status: '200' })
    expect(meters('active')[0]?.tags).toMatchObject({ of: 's', zone: 'z1', cached: 'no' })
  })

  it('are none where the function throws, which is reported once', async () => {
    const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { lb, meters } = metered({
      tags() {
        throw new Error('mistake')
      },
    })
    await lb.fetch('http://s/')
    await lb.fetch('http://s/')
    expect(total(meters('success'))).toBe(2)
    expect(complaints).toHaveBeenCalledTimes(1)
  })

  it('may come from a call of their own, which is not metered', async () => {
    const inner: Promise<unknown>[] = []
    const { lb, meters } = metered({
      tags() {
        inner.push(lb.fetch('http://s/inner'))
        return {}
      },
    })
    await lb.fetch('http://s/')
    await Promise.all(inner)
    expect(total(meters('success'))).toBe(1)
    expect(total(meters('active'))).toBe(0)
  })
})

it('the mean time of a selection is told once one was timed', async () => {
  const { lb, service, time } = metered({}, { policy: { name: 'slow', pick: () => ((time.now += 4), 0) } })
  expect(service.stats().selectionMs).toBe(Number.NaN)
  await lb.fetch('http://s/')
  await lb.fetch('http://s/')
  expect(service.stats().selectionMs).toBe(4)
})

it('so it is by a trace, without meters and observers', () => {
  const { service, time } = metered(
    {},
    { metrics: false, trace: { sample: 1 }, policy: { name: 'slow', pick: () => ((time.now += 4), 0) } },
  )
  service.pick()?.done()
  expect(service.stats().selectionMs).toBe(4)
})
