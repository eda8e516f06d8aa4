/** The entry points: what they give, refuse and tell, and when a service is made. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { createLoadBalancer, type DiscoveryClient, type InstanceInit } from '../../bindings/index.js'
import {
  candidates,
  errorOf,
  failure,
  hosts,
  instance,
  layers,
  make,
  makeSpring,
  observer,
  registry,
  spring,
} from './kit.js'

afterEach(() => void vi.unstubAllGlobals())

const ab = hosts('a', 'b')

describe('BlockingLoadBalancerClientTests', () => {
  it('choose gives an instance', async () => {
    const { lb } = make({ instances: ab })
    expect((await lb.choose('s'))?.instance).toMatchObject({ instanceId: 'a', serviceId: 's' })
  })

  it('choose gives nothing for a service of which nobody knows an instance', async () => {
    const lb = createLoadBalancer({ discovery: async () => [] })
    expect(await lb.choose('missing')).toBeUndefined()
  })

  it('a call goes to the instance that was chosen', async () => {
    const { lb, service, sent } = make({ instances: ab })
    await lb.fetch('http://s/x')
    await lb.fetch('http://s/x')
    const lease = service.pick()
    await lease?.fetch('/y')
    expect(sent.map(({ url }) => url)).toEqual(['http://a:8080/x', 'http://b:8080/x', 'http://a:8080/y'])
    expect(lease?.instance.host).toBe('a')
  })

  it('a call without an instance is an error that names the service', async () => {
    const { lb, sent } = make({ instances: [] })
    const error = await errorOf(lb.fetch('http://s/x'))
    expect(error).toMatchObject({ name: 'NoInstanceError', code: 'EVENKEEL_NO_INSTANCE', serviceId: 's' })
    expect(error.message).toBe('no instance of "s" is available (its list is empty)')
    expect(sent).toEqual([])
  })

  it.each([failure('EPIPE'), new Error('checked'), new RangeError('unchecked')])(
    'an error of the transport is thrown as it was: %s',
    async (error) => {
      const { lb } = make({ instances: ab, retry: false }, {}, error)
      expect(await errorOf(lb.fetch('http://s/x'))).toBe(error)
    },
  )

  it('no observers are none', async () => {
    expect((await make({ instances: ab }).lb.fetch('http://s/')).status).toBe(200)
    expect((await make({ instances: ab }, { lifecycle: [] }).lb.fetch('http://s/')).status).toBe(200)
    const { lb } = make({ instances: ab }, { lifecycle: [{ onStart: () => {} }] })
    expect((await lb.fetch('http://s/')).status).toBe(200)
  })

  it('observers are told of start, sending and end, in that order, with instance and answer', async () => {
    const { lifecycle, order, onStart, onStartRequest, onComplete } = observer()
    const { lb, service } = make({ instances: ab }, { lifecycle: [lifecycle] })
    const response = await lb.fetch('http://s/x')
    expect(order).toEqual(['onStart', 'onStartRequest', 'SUCCESS'])
    expect(onStart[0]).toMatchObject({ serviceId: 's', attempt: 1, request: { method: 'GET', url: 'http://s/x' } })
    expect(onStartRequest[0]?.lease.instance).toBe(instance(service, 'a'))
    expect(onComplete[0]).toMatchObject({ serviceId: 's', instance: { host: 'a' }, status: 'SUCCESS' })
    expect(onComplete[0]?.response).toBe(response)
  })

  it('the hint of the properties reaches them', async () => {
    const { lifecycle, onStart, onStartRequest } = observer()
    const { lb } = makeSpring({ 'hint.s': 'test' }, { instances: ab }, { lifecycle: [lifecycle] })
    await lb.fetch('http://s/x')
    expect([onStart[0]?.request.hint, onStartRequest[0]?.request.hint]).toEqual(['test', 'test'])
  })

  it('the hint of the call reaches them', async () => {
    const { lifecycle, onStart, onStartRequest } = observer()
    const { lb } = make({ instances: ab }, { lifecycle: [lifecycle] })
    await lb.with({ hint: 'test' }).fetch('http://s/x')
    expect([onStart[0]?.request.hint, onStartRequest[0]?.request.hint]).toEqual(['test', 'test'])
  })

  it('a call with an instance of its own begins with its sending', async () => {
    const { lifecycle, order } = observer()
    const { service } = make({ instances: ab }, { lifecycle: [lifecycle] })
    await service.pick()?.fetch('/x')
    expect(order).toEqual(['onStartRequest', 'SUCCESS'])
  })

  it('a call that fails, and one without an instance, are told so', async () => {
    const failing = observer()
    const error = new Error('down')
    const { lb } = make({ instances: ab }, { lifecycle: [failing.lifecycle] }, error)
    await errorOf(lb.fetch('http://s/'))
    expect(failing.order).toEqual(['onStart', 'onStartRequest', 'FAILED'])
    expect(failing.onComplete[0]?.error).toBe(error)

    const nobody = observer()
    const empty = make({ instances: [] }, { lifecycle: [nobody.lifecycle] })
    await errorOf(empty.lb.fetch('http://s/'))
    expect(nobody.order).toEqual(['onStart', 'DISCARD'])
  })
})

describe.each([
  ['AbstractLoadBalancerExchangeFilterFunctionIntegrationTests', (id: string) => (id === 's' ? ab : [])],
  ['ReactorLoadBalancerExchangeFilterFunctionIntegrationTests', async (id: string) => (id === 's' ? ab : [])],
] as [string, (id: string) => Promise<InstanceInit[]> | InstanceInit[]][])('%s', (_, get) => {
  const filter = (balancer: Parameters<typeof make>[1] = {}) => {
    const client: DiscoveryClient = { name: 'registry', get }
    return make({ discovery: client }, { discovery: client, defaults: { noInstance: 'response' }, ...balancer })
  }

  it('a known service answers with 200', async () => {
    const { lb, sent } = filter()
    expect((await lb.fetch('http://s/hello')).status).toBe(200)
    expect(sent[0]?.url).toBe('http://a:8080/hello')
  })

  it('an unknown service answers with 503, which names it', async () => {
    const { lb, sent } = filter()
    const response = await lb.fetch('http://xxx/hello')
    expect([response.status, sent.length]).toEqual([503, 0])
    expect(await response.text()).toContain('"xxx"')
  })

  it('a URL without a host is refused, with the URL', async () => {
    const { lb } = filter()
    expect(await errorOf(lb.fetch('http:///hello'))).toMatchObject({
      code: 'EVENKEEL_CONFIG',
      message: expect.stringContaining('http:///hello'),
    })
  })

  it('no observers are none', async () => {
    expect((await filter({ lifecycle: [] }).lb.fetch('http://s/')).status).toBe(200)
  })

  it('observers are told of the request and the answer', async () => {
    const { lifecycle, order, onStart, onComplete } = observer()
    const { lb } = filter({ lifecycle: [lifecycle] })
    await lb.fetch('http://s/hello', { headers: { k: 'v' } })
    expect(order).toEqual(['onStart', 'onStartRequest', 'SUCCESS'])
    expect(onStart[0]?.request).toMatchObject({ method: 'GET', url: 'http://s/hello', headers: { k: 'v' } })
    expect(onComplete[0]?.response?.status).toBe(200)
  })

  it('observers are told of the hint that is configured', async () => {
    const { lifecycle, onStart, onStartRequest, onComplete } = observer()
    const { lb } = filter({ lifecycle: [lifecycle], defaults: { hints: { s: 'test' } } })
    await lb.fetch('http://s/hello')
    expect([onStart, onStartRequest, onComplete].map(([event]) => event?.request.hint)).toEqual(Array(3).fill('test'))
  })

  it('observers are told of a call that went nowhere, with the answer that it got', async () => {
    const { lifecycle, order, onComplete } = observer()
    const { lb } = filter({ lifecycle: [lifecycle] })
    const response = await lb.fetch('http://xxx/hello')
    expect([order, onComplete[0]?.serviceId]).toEqual([['onStart', 'DISCARD'], 'xxx'])
    expect(onComplete[0]?.response).toBe(response)
  })
})

describe('BlockingLoadBalancerClientAutoConfigurationTests', () => {
  it('a balancer with nothing but discovery is whole', async () => {
    const { lb } = make({ instances: ab })
    for (const name of ['fetch', 'pick', 'choose', 'explain'] as const) expect(lb[name]).toBeTypeOf('function')
    expect((await createLoadBalancer({ discovery: async () => ab }).choose('any'))?.instance.serviceId).toBe('any')
  })

  it('without services and discovery every call says that none is defined', async () => {
    const error = await errorOf(createLoadBalancer().fetch('http://s/'))
    expect(error).toMatchObject({
      code: 'EVENKEEL_UNKNOWN_SERVICE',
      message: expect.stringContaining('none is defined'),
    })
  })

  it('without a fetch in the runtime a call fails, a pick does not', async () => {
    vi.stubGlobal('fetch', undefined)
    const lb = createLoadBalancer({ services: { s: ab } })
    expect(lb.pick('s')?.instance.serviceId).toBe('s')
    expect(await errorOf(lb.fetch('http://s/'))).toBeInstanceOf(TypeError)
  })

  it('enabled=false is said to have no effect', () => {
    expect(spring({ enabled: 'false' }).warnings).toEqual([
      expect.objectContaining({ message: expect.stringContaining('make no balancer') }),
    ])
    expect(spring({ enabled: 'true' }).warnings).toEqual([])
  })
})

describe.each([
  'LoadBalancerAutoConfigurationTests',
  'LoadBalancedRestClientIntegrationTests',
  'LoadBalancedRestTemplateBuilderIntegrationTests',
  'ReactorLoadBalancerClientAutoConfigurationTests',
])('%s', () => {
  it('only the fetch of the balancer is balanced: the runtime’s stays what it was', async () => {
    const seen: string[] = []
    const plain = async (input: unknown) => (seen.push(String(input)), new Response())
    vi.stubGlobal('fetch', plain)
    const lb = createLoadBalancer({ services: { s: ab } })
    await fetch('http://s/x')
    await lb.fetch('http://s/x')
    expect(globalThis.fetch).toBe(plain)
    expect(seen[0]).toBe('http://s/x')
    expect(seen[1]).toMatch(/^http:\/\/[ab]:8080\/x$/)
  })

  it('several balancers and their fetches do not get in each other’s way', async () => {
    const [one, two] = [make({ instances: hosts('a') }), make({ instances: hosts('b') })]
    const [first, second] = [one.lb.fetch, two.lb.fetch]
    await Promise.all([first('http://s/'), second('http://s/')])
    expect([one.reached(), two.reached()]).toEqual(['a', 'b'])
  })
})

describe('RetryLoadBalancerAutoConfigurationTests', () => {
  it('with retries off a call is one attempt', async () => {
    const { lb, reached } = makeSpring({ 'retry.enabled': 'false' }, { instances: ab }, {}, failure('ECONNREFUSED'))
    await errorOf(lb.fetch('http://s/'))
    expect(reached()).toBe('a')
  })

  it('by default there is no pause between attempts', async () => {
    vi.useFakeTimers()
    const { lb, reached } = makeSpring({}, { instances: ab }, {}, failure('ECONNREFUSED'))
    await errorOf(lb.fetch('http://s/'))
    expect([reached(), vi.getTimerCount()]).toEqual(['ab', 0])
    vi.useRealTimers()
  })

  it('properties of one client lie over those of all', () => {
    const { options } = spring({
      'health-check.initial-delay': '1s',
      configurations: 'health-check',
      'clients.myclient.health-check.interval': '30s',
    })
    const lb = createLoadBalancer({ ...options, discovery: async () => ab })
    expect(lb.service('myclient').options().healthCheck?.value).toMatchObject({
      initialDelayMs: 1_000,
      intervalMs: 30_000,
    })
    expect(lb.service('other').options().healthCheck?.value).toMatchObject({
      initialDelayMs: 1_000,
      intervalMs: 25_000,
    })
  })

  it('their maps are merged, their lists replaced', () => {
    const { options } = spring({
      'hint.default': 'd',
      'hint.one': '1',
      'clients.one.hint.two': '2',
      'retry.retryable-status-codes': '500,503',
      'clients.one.retry.retryable-status-codes': '404',
    })
    const lb = createLoadBalancer({ ...options, discovery: async () => ab })
    expect(lb.service('one').options().hints?.value).toEqual({ default: 'd', one: '1', two: '2' })
    expect(lb.service('one').options().retry?.value).toMatchObject({ statusCodes: [404] })
    expect(lb.service('x').options().retry?.value).toMatchObject({ statusCodes: [500, 503] })
  })

  it('one client may switch retries off, not on where they are off for all', async () => {
    const off = makeSpring({ 'clients.s.retry.enabled': 'false' }, { instances: ab }, {}, failure('ECONNREFUSED'))
    await errorOf(off.lb.fetch('http://s/'))
    const gate = { 'retry.enabled': 'false', 'clients.s.retry.enabled': 'true' }
    const gated = makeSpring(gate, { instances: ab }, {}, failure('ECONNREFUSED'))
    await errorOf(gated.lb.fetch('http://s/'))
    expect([off.reached(), gated.reached()]).toEqual(['a', 'a'])
  })
})

describe('LoadBalancerEnvironmentPropertyUtilsTests', () => {
  const previous = ({ service }: ReturnType<typeof make>) => ({ previous: [instance(service, 'a')] })

  it('what a client says wins over what is said of all', async () => {
    const properties = { configurations: 'zone-preference', 'clients.s.configurations': 'weighted' }
    expect(await layers(makeSpring(properties, { instances: ab }).service)).toEqual(['discovery', 'weighted'])
    const { options } = spring(properties)
    const other = createLoadBalancer({ ...options, services: { other: ab } }).service('other')
    expect(await layers(other)).toEqual(['discovery', 'zone-preference'])
  })

  it('what is said of all counts where a client says nothing', async () => {
    const properties = { 'retry.avoid-previous-instance': 'false', 'clients.s.retry.enabled': 'true' }
    const made = makeSpring(properties, { instances: ab })
    expect(await candidates(made.service, previous(made))).toBe('ab')
    const own = makeSpring({ ...properties, 'clients.s.retry.avoid-previous-instance': 'true' }, { instances: ab })
    expect(await candidates(own.service, previous(own))).toBe('b')
  })

  it('where neither says anything, the previous instance is avoided', async () => {
    const made = makeSpring({}, { instances: ab })
    expect(await candidates(made.service, previous(made))).toBe('b')
  })
})

describe('LoadBalancerEagerContextInitializerTest', () => {
  it('an eager service asks for its list when the balancer is made, once', async () => {
    const client = registry(ab)
    const { options } = spring({ 'eager-load.clients': 's' })
    const lb = createLoadBalancer({ ...options, discovery: client })
    expect(client.asked).toBe(1)
    await lb.ready()
    expect(lb.pick('s')?.instance.serviceId).toBe('s')
    await lb.choose('s')
    expect(client.asked).toBe(1)
  })

  it('any other asks when it is first used', async () => {
    const client = registry(ab)
    const lb = createLoadBalancer({ discovery: client, services: { s: {} } })
    await lb.ready()
    expect([client.asked, lb.service('s').state]).toEqual([0, 'cold'])
    await lb.choose('s')
    expect(client.asked).toBe(1)
  })
})

describe('LoadBalancerChildContextInitializerTests', () => {
  it('services of the eager list and those with options of their own are there from the start', () => {
    const { options } = spring({ 'eager-load.clients': 'eager', 'clients.own.configurations': 'weighted' })
    const lb = createLoadBalancer({ ...options, discovery: async () => ab })
    expect(Object.keys(lb.stats()).sort()).toEqual(['eager', 'own'])
  })

  it('others are made when they are first named, once', () => {
    const lb = createLoadBalancer({ discovery: async () => ab })
    expect(Object.keys(lb.stats())).toEqual([])
    const service = lb.service('late')
    expect(lb.service('late')).toBe(service)
    lb.pick('late')
    expect(Object.keys(lb.stats())).toEqual(['late'])
  })

  it.each(['my-service', 'my_service', '-my_service-1', 'svc1.1'])('%s is a name like any other', async (name) => {
    const { lb, sent } = make({ instances: [] })
    lb.define(name, { instances: hosts('a') })
    expect((await lb.fetch(`http://${name}/x`)).status).toBe(200)
    expect(sent[0]?.url).toBe('http://a:8080/x')
    const { options } = spring({ [`clients[${name}].configurations`]: 'weighted' })
    expect(Object.keys(options.services ?? {})).toEqual([name])
  })
})
