import { describe, expect, it } from 'vitest'
import { toMs } from '../../bindings/config/duration.js'
import {
  createLoadBalancer,
  EvenkeelError,
  hint,
  leastRequest,
  peakEwma,
  roundRobin,
  subset,
  weighted,
  zonePreference,
} from '../../bindings/index.js'
import type { BalancedService } from '../../bindings/service/service.js'

/** The error that `act` throws. */
function errorOf(act: () => unknown): EvenkeelError {
  try {
    act()
  } catch (error) {
    if (error instanceof EvenkeelError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

// biome-ignore lint/suspicious/noExplicitAny: the point is what types would refuse
const make = (options: any) => () => createLoadBalancer(options)
// biome-ignore lint/suspicious/noExplicitAny: as above
const service = (options: any) => make({ services: { s: options } })
const ok = ['http://h:1']

describe('each bad option is an error that names it', () => {
  it.each<[string, () => unknown, string, RegExp]>([
    ['unknown balancer option', make({ sevices: {} }), 'createLoadBalancer.sevices', /accepted: services/],
    ['unknown service option', service({ instances: ok, polcy: 'random' }), 'services.s.polcy', /accepted: .*policy/],
    ['unknown default', make({ defaults: { ttl: 1 } }), 'defaults.ttl', /accepted/],
    ['unknown cache option', service({ instances: ok, cache: { ttl: 1 } }), 'services.s.cache.ttl', /ttlMs/],
    ['unknown retry option', service({ instances: ok, retry: { times: 1 } }), 'services.s.retry.times', /methods/],
    [
      'unknown policy option',
      service({ instances: ok, policy: { type: 'peak-ewma', decay: 1 } }),
      'services.s.policy.decay',
      /decayMs/,
    ],
    [
      'unknown supplier option',
      service({ instances: ok, suppliers: [{ type: 'hint', headers: 'x' }] }),
      'services.s.suppliers[0].headers',
      /header/,
    ],
    ['null defaults', make({ defaults: null }), 'defaults', /object/],
    ['a null lifecycle', make({ lifecycle: null }), 'lifecycle', /array/],
    ['transformers that are none', make({ transformers: 5 }), 'transformers', /array/],
    ['a null policy', service({ instances: ok, policy: null }), 'services.s.policy', /given/],
    ['null health checks', service({ instances: ok, healthCheck: null }), 'services.s.healthCheck', /object/],
    ['a null discovery', service({ instances: ok, discovery: null }), 'services.s.discovery', /name and a get/],
    ['a null service', make({ services: { s: null } }), 'services.s', /object/],
    ['a null URL', service([{ url: null }]), 'services.s.instances[0].url', /a URL, not null/],
    ['a URL that is a number', service([{ url: 5 }]), 'services.s.instances[0].url', /a URL, not 5/],
    [
      'an unknown field of an instance',
      service([{ host: 'h', wieght: 3 }]),
      'services.s.instances[0].wieght',
      /weight/,
    ],
    ['a zone that is a number', service([{ host: 'h', zone: 5 }]), 'services.s.instances[0].zone', /string/],
    [
      'a scheme that is a number',
      service([{ host: 'h', scheme: 5 }]),
      'services.s.instances[0].scheme',
      /a scheme such as/,
    ],
    [
      'a scheme with a colon',
      service([{ host: 'h', scheme: 'https:' }]),
      'services.s.instances[0].scheme',
      /without a colon/,
    ],
    [
      'a url and secure',
      service([{ url: 'http://h:1', secure: true }]),
      'services.s.instances[0].secure',
      /also secure/,
    ],
    ['a url and a port', service([{ url: 'http://h:1', port: 2 }]), 'services.s.instances[0].port', /also port/],
    ['unknown policy', service({ instances: ok, policy: 'round-robbin' }), 'services.s.policy', /known: round-robin/],
    [
      'unknown supplier',
      service({ instances: ok, suppliers: ['zone'] }),
      'services.s.suppliers[0]',
      /known: zone-preference/,
    ],
    [
      'a policy of a later version',
      service({ instances: ok, policy: 'prequal' }),
      'services.s.policy',
      /not supported yet/,
    ],
    [
      'an unknown preset',
      service({ instances: ok, preset: 'weigthed' }),
      'services.s.preset',
      /no preset "weigthed"; known: default, zone-/,
    ],
    [
      'an option of health checks',
      service({ instances: ok, healthCheck: { interval: 5 } }),
      'services.s.healthCheck.interval',
      /accepted: path, port, intervalMs/,
    ],
    [
      'health checks without time',
      service({ instances: ok, healthCheck: { timeoutMs: 0 } }),
      'services.s.healthCheck.timeoutMs',
      /1 or more|from 1/,
    ],
    [
      'a sample of more than all',
      service({ instances: ok, trace: { sample: 2 } }),
      'services.s.trace.sample',
      /from 0 to 1/,
    ],
    [
      'an empty list that is doubted',
      service({ instances: ok, emptyList: 'doubt' }),
      'services.s.emptyList',
      /'trust' or \{ protectMs \}/,
    ],
    [
      'a breaker with a threshold below zero',
      service({ instances: ok, serverStats: { connectionFailureThreshold: -1 } }),
      'services.s.serverStats.connectionFailureThreshold',
      /a whole number, from 0/,
    ],
    [
      'percentiles of no samples',
      service({ instances: ok, serverStats: { percentiles: { samples: 0 } } }),
      'services.s.serverStats.percentiles.samples',
      /from 1/,
    ],
    [
      'statistics under a name',
      service({ instances: ok, serverStats: 'on' }),
      'services.s.serverStats',
      /an object of options/,
    ],
    ['an unknown quirk', make({ compat: ['hint-defualt'] }), 'compat[0]', /no quirk "hint-defualt"; known: /],
    [
      'an unknown compat',
      make({ compat: 'springs' }),
      'compat',
      /'spring', 'ribbon' or an array of these and quirk ids/,
    ],
    [
      'an observer that observes nothing',
      make({ lifecycle: [{}] }),
      'lifecycle[0]',
      /onStart, onStartRequest or onComplete/,
    ],
    ['a transformer that is none', make({ transformers: [{}] }), 'transformers[0]', /functions/],
    ['a way to combine discovery', make({ discoveryMode: 'union' }), 'discoveryMode', /'first' or 'merge'/],
    ['empty service id', make({ services: { '': ok } }), 'services', /non-empty string/],
    ['neither instances nor discovery', service({}), 'services.s', /needs instances or discovery/],
    [
      'instances and discovery',
      service({ instances: ok, discovery: { name: 'a', get: () => [] } }),
      'services.s',
      /one or the other/,
    ],
    ['duplicate instance ids', service(['http://h:1', 'http://h:1']), 'services.s.instances[1].instanceId', /"h:1"/],
    ['port 65536', service([{ host: 'h', port: 65536 }]), 'services.s.instances[0].port', /65535.*65536/],
    ['a port that is text', service([{ host: 'h', port: '80' }]), 'services.s.instances[0].port', /whole number/],
    ['a URL with a bad port', service(['http://h:65536']), 'services.s.instances[0]', /not a URL/],
    ['a URL with a path', service(['http://h:1/api']), 'services.s.instances[0]', /alone/],
    ['no host', service([{ port: 1 }]), 'services.s.instances[0]', /needs a url, a host or a fetcher/],
    ['a host that is a URL', service([{ host: 'http://h' }]), 'services.s.instances[0].host', /host name/],
    ['weight NaN', service([{ host: 'h', weight: Number.NaN }]), 'services.s.instances[0].weight', /NaN/],
    ['weight −1', service([{ host: 'h', weight: -1 }]), 'services.s.instances[0].weight', /from 0/],
    ['weight 2^31', service([{ host: 'h', weight: 2 ** 31 }]), 'services.s.instances[0].weight', /2147483647/],
    [
      'metadata that is no string',
      service([{ host: 'h', metadata: { a: 1 } }]),
      'services.s.instances[0].metadata.a',
      /string/,
    ],
    ['a fetcher without an id', service([{ fetcher: { fetch } }]), 'services.s.instances[0].instanceId', /fetcher/],
    ['instances that are no array', service({ instances: 'http://h:1' }), 'services.s.instances', /array/],
    [
      'a cache time that is text',
      service({ instances: ok, cache: { ttlMs: 'soon' } }),
      'services.s.cache.ttlMs',
      /number of ms/,
    ],
    ['an attempt timeout of 0', service({ instances: ok, attemptTimeoutMs: 0 }), 'services.s.attemptTimeoutMs', /1/],
    [
      'a no-instance status of 200',
      service({ instances: ok, noInstanceStatus: 200 }),
      'services.s.noInstanceStatus',
      /400 to 599/,
    ],
    ['release', service({ instances: ok, release: 'never' }), 'services.s.release', /'headers' or 'body'/],
    ['a seed that is text', make({ seed: 'x' }), 'seed', /finite number/],
    ['a clock that is none', make({ clock: 5 }), 'clock', /function/],
    ['a module that is none', make({ module: {} }), 'module', /WebAssembly.Module/],
    ['unknownService', make({ unknownService: 'ignore' }), 'unknownService', /'error' or 'passthrough'/],
    [
      'two weighted suppliers',
      service({ instances: ok, suppliers: ['weighted', 'weighted'] }),
      'services.s.suppliers',
      /once/,
    ],
    [
      'subset without an id',
      service({ instances: ok, suppliers: ['subset'] }),
      'subset.instanceId',
      /names this client/,
    ],
    ['subset of size 0', () => subset({ instanceId: 'a', size: 0 }), 'subset.size', /1/],
    ['round robin start', () => roundRobin({ start: 0.5 }), 'roundRobin.start', /whole number/],
    ['eleven choices', () => leastRequest({ choices: 11 }), 'leastRequest.choices', /2 to 10/],
    ['a decay of 0', () => peakEwma({ decayMs: 0 }), 'peakEwma.decayMs', /1/],
    ['a weight that is no function', () => weighted({ weight: 3 as never }), 'weighted.weight', /function/],
    ['a fallback', () => hint({ fallback: 'some' as never }), 'hint.fallback', /'all', 'none', 'stable' or a function/],
    ['an empty zone', () => zonePreference({ zone: '' }), 'zonePreference.zone', /non-empty/],
    ['a policy without pick', service({ instances: ok, policy: {} }), 'services.s.policy', /policy, its name/],
    ['a discovery client without get', service({ discovery: { name: 'x' } }), 'services.s.discovery', /get or watch/],
    ['an override', () => createLoadBalancer({}).with({ retries: 1 } as never), 'with.retries', /retry/],
  ])('%s', (_, act, option, message) => {
    const error = errorOf(act)
    expect(error).toMatchObject({ code: 'EVENKEEL_CONFIG', option })
    expect(error.message).toMatch(message)
  })
})

it('a service that can not be defined leaves nothing behind', () => {
  const lb = createLoadBalancer({})
  expect(errorOf(() => lb.define('s', { instances: ['http://h:1', 'http://h:1'] })).code).toBe('EVENKEEL_CONFIG')
  expect(errorOf(() => lb.pick('s')).code).toBe('EVENKEEL_UNKNOWN_SERVICE')
  lb.define('s', { instances: ok })
  expect(errorOf(() => lb.define('s', { instances: ok })).message).toMatch(/defined already/)
  expect(lb.pick('s')?.instance.instanceId).toBe('h:1')
})

it('a refused update leaves the old list in force', () => {
  const s = createLoadBalancer({ services: { s: ok } }).service('s')
  const before = s.instances()
  expect(errorOf(() => s.update(['http://new:1', { host: 'h', port: -5 }])).option).toBe('services.s.instances[1].port')
  expect(s.instances()).toBe(before)
  expect(s.pick()?.instance.instanceId).toBe('h:1')
})

it('an update is checked as the first list was, also where it says what stands there', () => {
  const s = createLoadBalancer({ services: { s: [{ url: 'http://h:1' }] } }).service('s')
  expect(errorOf(() => s.update([{ url: 'http://h:1', port: 99 }])).option).toBe('services.s.instances[0].port')
  expect(errorOf(() => s.update([{ url: 'http://h:1', metadata: [] as never }])).option).toBe(
    'services.s.instances[0].metadata',
  )
})

it('overrides take durations as text', async () => {
  const lb = createLoadBalancer({
    services: { s: ok },
    fetch: (_, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
  })
  await expect(lb.with({ timeoutMs: '5ms' as never }).fetch('http://s/')).rejects.toMatchObject({
    message: expect.stringContaining('longer than 5 ms'),
  })
})

it('names suggest themselves when only their case is wrong', () => {
  const lb = createLoadBalancer({ services: { Stock: ok } })
  expect(errorOf(() => lb.pick('stock' as never)).message).toBe('there is no service "stock"; did you mean "Stock"?')
})

it('tells each effective option and where it comes from', () => {
  const lb = createLoadBalancer({
    defaults: { retry: { maxRetriesOnNextServiceInstance: 3 }, policy: 'random', hints: { a: '1' } },
    services: { s: { instances: ok, policy: 'round-robin', hints: { b: '2' } } },
  })
  expect(lb.service('s').options()).toMatchObject({
    policy: { value: 'round-robin', from: 'service' },
    hints: { value: { a: '1', b: '2' }, from: 'service' },
    retry: { value: { maxRetriesOnNextServiceInstance: 3, maxRetriesOnSameServiceInstance: 0 }, from: 'balancer' },
    release: { value: 'headers', from: 'default' },
  })
})

it('takes durations as text, as JSON has them', () => {
  const lb = createLoadBalancer({
    services: {
      s: {
        discovery: { name: 'd', get: () => ok },
        cache: { ttlMs: '35s', staleMs: 'PT1M30.5S' } as never,
        policy: { type: 'peak-ewma', decayMs: '10s' },
      },
    },
  })
  const { freshness } = (lb.service('s') as BalancedService).settings
  expect(freshness).toEqual({ ttlMs: 35_000, staleMs: 90_500 })
})

it.each([
  ['500ms', 500],
  ['2m', 120_000],
  ['1h', 3_600_000],
  ['1d', 86_400_000],
  ['42', 42],
  ['PT5S', 5_000],
  ['PT1H2M', 3_720_000],
  ['P1DT1S', 86_401_000],
  ['P1D', 86_400_000],
  ['soon', 'soon'],
  ['PT', 'PT'],
  ['', ''],
  ['5 s', '5 s'],
])('the duration %j is %j', (text, ms) => {
  expect(toMs(text)).toBe(ms)
})

describe('presets and maps lie over each other', () => {
  const optionsOf = (defaults: object, service: object) =>
    createLoadBalancer({ defaults, services: { s: { instances: ok, ...service } } })
      .service('s')
      .options()

  it('a service’s preset takes the place of the balancer’s', () => {
    const { healthCheck, suppliers } = optionsOf(
      { preset: 'health-check', suppliers: ['hint'] },
      { preset: 'weighted' },
    )
    expect([healthCheck?.value, suppliers?.value]).toEqual([false, ['weighted']])
  })

  it('what is listed beside a preset, or by the service, comes after its own', () => {
    expect(optionsOf({ preset: 'weighted', suppliers: ['hint'] }, {}).suppliers?.value).toEqual(['weighted', 'hint'])
    expect(optionsOf({ preset: 'weighted', suppliers: ['hint'] }, { suppliers: ['version'] }).suppliers?.value).toEqual(
      ['weighted', 'version'],
    )
  })

  it('undefined within a map leaves the balancer’s value', () => {
    const retry = { maxRetriesOnNextServiceInstance: 3 }
    const given = optionsOf({ retry }, { retry: { maxRetriesOnNextServiceInstance: undefined, statusCodes: [503] } })
    expect(given.retry?.value).toMatchObject({ maxRetriesOnNextServiceInstance: 3, statusCodes: [503] })
  })
})
