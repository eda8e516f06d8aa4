/** SCLB's meters. */

import { describe, expect, it } from 'vitest'
import type { Answer } from './kit.js'
import { errorOf, failure, hosts, make, makeSpring, registry } from './kit.js'

const on = { 'stats.micrometer.enabled': 'true' }

/** A service by properties over one instance, whose answers take 10 ms. */
function metered(properties: Record<string, string> = on, answer: Answer = 200, list = hosts('a')) {
  const made = makeSpring(properties, { instances: list, retry: false }, {}, (request) => {
    made.time.now += 10
    if (answer instanceof Error) throw answer
    return typeof answer === 'number' ? new Response('', { status: answer }) : answer(request)
  })
  const meters = (name?: string) =>
    made.service
      .stats()
      .meters.filter((series) => name === undefined || series.name === `loadbalancer.requests.${name}`)
  return { ...made, meters }
}

const A = {
  serviceId: 's',
  'serviceInstance.instanceId': 'a',
  'serviceInstance.host': 'a',
  'serviceInstance.port': '8080',
}

describe('MicrometerStatsLoadBalancerLifecycleTests', () => {
  it('there are no meters unless they are switched on', async () => {
    const { lb, meters } = metered({})
    await lb.fetch('http://s/x')
    expect(meters()).toEqual([])
  })

  it('an answer is timed under instance, method, path, outcome and status', async () => {
    const { lb, meters } = metered()
    await lb.fetch('http://s/test?x=1')
    expect(meters('success')).toEqual([
      {
        name: 'loadbalancer.requests.success',
        tags: { ...A, method: 'GET', uri: '/test', outcome: 'SUCCESS', status: '200' },
        count: 1,
        totalMs: 10,
        maxMs: 10,
      },
    ])
  })

  it('a request is active from its start to its end', async () => {
    let during = 0
    const { lb, meters } = metered(on, () => ((during = meters('active')[0]?.count ?? -1), new Response()))
    await lb.fetch('http://s/test')
    expect([during, meters('active')]).toEqual([1, [{ name: 'loadbalancer.requests.active', tags: A, count: 0 }]])
  })

  it.each([
    [204, 'SUCCESS'],
    [302, 'REDIRECTION'],
    [404, 'CLIENT_ERROR'],
    [500, 'SERVER_ERROR'],
  ])('any answer is a success, %i too: its outcome is %s', async (status, outcome) => {
    const { lb, meters } = metered(on, () => new Response(null, { status }))
    await lb.fetch('http://s/')
    expect(meters('success')[0]?.tags).toMatchObject({ outcome, status: String(status) })
    expect(meters('failed')).toEqual([])
  })

  it('include-path=false leaves the path out', async () => {
    const { lb, meters } = metered({ ...on, 'stats.include-path': 'false' })
    await lb.fetch('http://s/test')
    expect(meters('success')[0]?.tags.uri).toBe('UNKNOWN')
  })

  it('a failure is timed under instance, method, path and the class of its error', async () => {
    const { lb, meters } = metered(on, failure('ECONNREFUSED'))
    await errorOf(lb.fetch('http://s/test'))
    expect(meters('failed')).toEqual([
      {
        name: 'loadbalancer.requests.failed',
        tags: { ...A, exception: 'TypeError', method: 'GET', uri: '/test' },
        count: 1,
        totalMs: 10,
        maxMs: 10,
      },
    ])
    expect([meters('success'), meters('active')[0]?.count]).toEqual([[], 0])
  })

  it('what found no instance is only counted, under method, path and service', async () => {
    const { lb, meters } = metered(on, 200, [])
    await errorOf(lb.fetch('http://s/test', { method: 'POST' }))
    await errorOf(lb.fetch('http://s/test', { method: 'POST' }))
    expect(meters()).toEqual([
      { name: 'loadbalancer.requests.discard', tags: { serviceId: 's', method: 'POST', uri: '/test' }, count: 2 },
    ])
  })

  it('without a registry’s list it is counted too', async () => {
    const { service, lb } = make({ discovery: registry(new Error('down')), metrics: {} })
    expect(await errorOf(lb.fetch('http://s/test'))).toMatchObject({ code: 'EVENKEEL_DISCOVERY' })
    expect(service.stats().meters.map(({ name, count }) => [name, count])).toEqual([
      ['loadbalancer.requests.discard', 1],
    ])
  })

  it('what was picked but never sent is not timed', () => {
    const { service, meters } = metered()
    service.pick()?.done()
    service.pick()?.done({ error: new Error('gone') })
    expect(meters()).toEqual([])
  })

  it('what is missing of an instance is UNKNOWN', async () => {
    const { lb, meters } = metered(on, 200, [{ instanceId: 'bound', fetcher: { fetch: async () => new Response() } }])
    await lb.fetch('http://s/test')
    expect(meters('success')[0]?.tags).toMatchObject({
      'serviceInstance.instanceId': 'bound',
      'serviceInstance.host': 'UNKNOWN',
    })
  })

  it('a selection that throws fails without an instance: all of it is UNKNOWN', async () => {
    const broken = {
      name: 'broken',
      filter() {
        throw new RangeError('broken')
      },
    }
    const { lb, service } = make({ instances: hosts('a'), suppliers: [broken], metrics: {} })
    await errorOf(lb.fetch('http://s/test'))
    expect(service.stats().meters).toEqual([
      {
        name: 'loadbalancer.requests.failed',
        tags: {
          serviceId: 's',
          'serviceInstance.instanceId': 'UNKNOWN',
          'serviceInstance.host': 'UNKNOWN',
          'serviceInstance.port': 'UNKNOWN',
          exception: 'RangeError',
          method: 'GET',
          uri: '/test',
        },
        count: 1,
        totalMs: 0,
        maxMs: 0,
      },
    ])
  })

  it('an error that is nothing has the class None', async () => {
    const { lb, meters } = metered(on, () => Promise.reject(undefined))
    await errorOf(lb.fetch('http://s/test').catch((error) => Promise.reject(error ?? {})))
    expect(meters('failed')[0]?.tags.exception).toBe('None')
  })

  it('where the answer to no instance is a response, it is a discard all the same', async () => {
    const { lb, service } = make({ instances: [], noInstance: 'response', metrics: {} })
    expect((await lb.fetch('http://s/test')).status).toBe(503)
    expect(service.stats().meters.map(({ name, count }) => [name, count])).toEqual([
      ['loadbalancer.requests.discard', 1],
    ])
  })
})
