/** What a file says in vain, or in another way than Spring's users think; and what other parts of Spring say. */

import { describe, expect, it } from 'vitest'
import { fromSpring } from '../../bindings/spring/index.js'

const PREFIX = 'spring.cloud.loadbalancer'
const SIMPLE = 'spring.cloud.discovery.client.simple'
const messages = (text: string) => fromSpring(text).warnings.map(({ message }) => message)

describe('an unknown key', () => {
  it.each([
    [`${PREFIX}.zoen`, `${PREFIX}.zone`],
    [`${PREFIX}.cache.tll`, `${PREFIX}.cache.ttl`],
    [`${PREFIX}.healthcheck.intervall`, `${PREFIX}.health-check.interval`],
    [`${PREFIX}.clients.orders.retry.enable`, `${PREFIX}.clients.orders.retry.enabled`],
    [`${PREFIX}.retry.max-retries-on-same-instance`, `${PREFIX}.retry.max-retries-on-same-service-instance`],
    // These stand in Spring's own documentation.
    ['spring.cloud-loadbalancer.eager-load.clients', `${PREFIX}.eager-load.clients`],
    [`${PREFIX}.instance-id-cookie-name`, `${PREFIX}.sticky-session.instance-id-cookie-name`],
    [`${PREFIX}.inventory-service.retry.enabled`, `${PREFIX}.clients.inventory-service.retry.enabled`],
    [`${PREFIX}[inventory-service].retry.enabled`, `${PREFIX}.clients.inventory-service.retry.enabled`],
    ['spring.cloud.loadbalaner.zone', `${PREFIX}.zone`],
    ['spring.loadbalancer.zone', `${PREFIX}.zone`],
  ])('%s is not read, and %s suggested', (key, suggestion) => {
    const { options, warnings } = fromSpring(`${key}=true`)
    expect(options.zone ?? options.defaults).toBeUndefined()
    expect(warnings).toEqual([
      { key, value: 'true', line: 1, message: expect.stringMatching(/^not read: .*no such key; did you mean /) },
    ])
    expect(warnings[0]?.message).toContain(`did you mean ${suggestion}?`)
  })

  it.each([
    // The fewest slips, part by part: a client named "retri" is none of them.
    [`${PREFIX}.retri.enabled`, `${PREFIX}.retry.enabled`],
    [`${PREFIX}.retry.enabeld`, `${PREFIX}.retry.enabled`],
    [`${PREFIX}.health.check.interval`, `${PREFIX}.health-check.interval`],
    [`${PREFIX}.helth-check.path.orders`, `${PREFIX}.health-check.path.orders`],
    [`${PREFIX}.api-version.media-type-parameter[a/b]`, `${PREFIX}.api-version.media-type-parameters[a/b]`],
    [`${PREFIX}.client.orders.retry.enabled`, `${PREFIX}.clients.orders.retry.enabled`],
    [`${PREFIX}.clients[billing.eu].retri.enabled`, `${PREFIX}.clients[billing.eu].retry.enabled`],
    [`${PREFIX}.clients.orders.interval`, `${PREFIX}.clients.orders.health-check.interval`],
    ['spring.cloud.loadbalaner.zoen', `${PREFIX}.zone`],
    ['spring.loadbalancer.orders.retry.enabled', `${PREFIX}.clients.orders.retry.enabled`],
  ])('%s is suggested to be %s, which is read', (key, suggestion) => {
    expect(messages(`${key}=1`)).toEqual([expect.stringMatching(/^not read: /)])
    expect(messages(`${key}=1`)[0]).toMatch(new RegExp(`did you mean ${suggestion.replace(/[[\]]/g, '\\$&')}\\?$`))
    expect(messages(`${suggestion}=1`).filter((message) => message.startsWith('not read'))).toEqual([])
  })

  it.each([
    [`${PREFIX}.clients.inventory.zonee`, `${PREFIX}.zone`],
    [`${PREFIX}.clients.inventory.cache.tll`, `${PREFIX}.cache.ttl`],
    [`${PREFIX}.clients.inventory.ttl`, `${PREFIX}.cache.ttl`],
    [`${PREFIX}.clients.billing.eu.zone`, `${PREFIX}.zone`],
    [`${PREFIX}.inventory.zone`, `${PREFIX}.zone`],
    ['spring.loadbalancer.clients.inventory.zone', `${PREFIX}.zone`],
  ])('%s is told that it is global', (key, suggestion) => {
    expect(messages(`${key}=1`)[0]).toContain(
      `no such key; did you mean ${suggestion}? It is global: SCLB reads it for all clients only`,
    )
  })

  it.each([
    [`${PREFIX}.clients.billing.eu.retry.enabled`, `${PREFIX}.clients[billing.eu].retry.enabled`],
    [`${PREFIX}.clients.billing.eu.hint.default`, `${PREFIX}.clients[billing.eu].hint.default`],
    [`${PREFIX}.clients.a.b.c.configurations`, `${PREFIX}.clients[a.b.c].configurations`],
    [`${PREFIX}.billing.eu.retry.enabled`, `${PREFIX}.clients[billing.eu].retry.enabled`],
  ])('%s has an id that needs brackets', (key, suggestion) => {
    const { options, warnings } = fromSpring(`${key}=true`)
    expect(options).toEqual({})
    expect(warnings.map(({ message }) => message)).toEqual([
      `not read: SCLB knows no such key; did you mean ${suggestion}? An id with dots stands in brackets`,
    ])
  })

  it('near one without effect says so', () => {
    const note = 'It has no effect here either'
    expect(messages(`${PREFIX}.cache.capacty=1`)[0]).toContain(`did you mean ${PREFIX}.cache.capacity? ${note}`)
    expect(messages(`${PREFIX}.enabeld=false`)[0]).toContain(`did you mean ${PREFIX}.enabled? ${note}`)
    expect(messages('ribbon.MaxTotalConnection=1')[0]).toContain('MaxTotalConnections? It is not translated either')
    expect(messages('ribbon.MaxAutoRetrys=1')[0]).toMatch(/did you mean MaxAutoRetries\?$/)
  })

  it.each(['something.of.ours', 'outlier.enabled', 'rate.enabled', 'clients.orders.outlier.enabled'])(
    '%s is far from all others and has no suggestion',
    (name) => {
      expect(messages(`${PREFIX}.${name}=1`)).toEqual(['not read: SCLB knows no such key'])
    },
  )

  it('under a prefix that is misspelt has the prefix for a suggestion', () => {
    expect(messages('spring.loadbalancer.something.of.ours=1')[0]).toContain(`did you mean one under ${PREFIX}?`)
    expect(messages('spring.loadbalancer=1')[0]).toContain(`did you mean one under ${PREFIX}?`)
  })

  it('may be a map without a key', () => {
    expect(messages(`${PREFIX}.hint=v1`)[0]).toContain(`did you mean ${PREFIX}.hint.<key>?`)
  })

  it('may have a known one within', () => {
    expect(messages(`${PREFIX}.cache.ttl.seconds=1`)).toEqual(['not read: SCLB knows no such key'])
  })

  it('of a client says where the key belongs', () => {
    expect(messages(`${PREFIX}.clients.orders=1`)[0]).toContain('clients.<id>.<key>')
  })

  it('is not one if only the prefix is written in another way', () => {
    const { options, warnings } = fromSpring('spring.cloud.load-balancer.clients.orders.configurations=weighted')
    expect(options.services).toEqual({ orders: { preset: 'weighted' } })
    expect(warnings.map(({ message }) => message)).toEqual([`read as ${PREFIX}, which is the name to write`])
  })
})

describe('a key without effect in Spring', () => {
  it.each([
    ['subset.size', '10', 'suppliers: [{"type":"subset","size":10}]'],
    ['sticky-session.instance-id-cookie-name', 'sid', 'suppliers: [{"type":"sticky-session","cookie":"sid"}]'],
    ['api-version.header', 'X-V', 'suppliers: [{"type":"api-version","header":"X-V"}]'],
    ['health-check.refetch-instances', 'false', 'healthCheck: {"refetchMs":Infinity}'],
    ['retry.backoff.min-backoff', '1s', 'retry.backoff.enabled'],
    ['stats.include-path', 'false', 'stats.micrometer.enabled'],
  ])('%s alone has none here, and the warning says what to add', (key, value, addition) => {
    const { options, warnings } = fromSpring(`${PREFIX}.${key}=${value}`)
    expect(options).toEqual({})
    expect(warnings).toEqual([expect.objectContaining({ key: `${PREFIX}.${key}`, value, line: 1 })])
    expect(warnings[0]?.message).toMatch(/^no effect: /)
    expect(warnings[0]?.message).toContain(addition)
  })

  it('is said once for keys that belong together, and again for a client that adds some', () => {
    const health = `${PREFIX}.health-check`
    const { warnings } = fromSpring(
      `${health}.interval=1s\n${health}.port=81\n${PREFIX}.clients.orders.health-check.path.default=/up`,
    )
    expect(warnings.map(({ line }) => line)).toEqual([1, 3])
    expect(warnings[1]?.message).toContain('healthCheck: {"path":"/up","intervalMs":1000,"port":81}')
  })

  it('is not said where one client makes use of it', () => {
    const { options, warnings } = fromSpring(
      `${PREFIX}.subset.size=10\n${PREFIX}.clients.orders.configurations=subset\nserver.port=1`,
    )
    expect(options.services).toEqual({ orders: { suppliers: [{ type: 'subset', size: 10 }] } })
    expect(warnings).toEqual([])
  })

  it('is not mended by switching backoff off, as some documentation has it', () => {
    const backoff = `${PREFIX}.retry.backoff`
    const { options, warnings } = fromSpring(`${backoff}.enabled=false\n${backoff}.min-backoff=1s`)
    expect(options.defaults?.retry).toEqual({ backoff: false })
    expect(warnings).toEqual([expect.objectContaining({ line: 2, message: expect.stringContaining('no effect') })])
  })
})

describe('a client without options', () => {
  const client = `${PREFIX}.clients.orders`

  it.each([`${client}.zonee=a`, `${client}.zone=a`, `${client}.retry.enabled=true`, `${client}.cache.ttl=1s`])(
    '%s gives no entry',
    (text) => {
      expect(fromSpring(text).options).toEqual({})
    },
  )

  it('is left out beside one that has some', () => {
    const { options } = fromSpring(
      `${PREFIX}.configurations=weighted\n${client}.configurations=weighted\n${PREFIX}.clients.stock.configurations=default`,
    )
    expect(options).toEqual({ defaults: { preset: 'weighted' }, services: { stock: { preset: 'default' } } })
  })

  it('is kept if it is eager', () => {
    expect(fromSpring(`${PREFIX}.eager-load.clients=orders`).options).toEqual({ services: { orders: { eager: true } } })
  })
})

describe('a subset', () => {
  const all = `${PREFIX}.configurations=subset`
  const one = `${PREFIX}.clients.orders.configurations=subset`
  const nameless = (text: string, environment = {}) =>
    fromSpring(text, { environment }).warnings.filter(({ message }) => message.includes('instanceId'))

  it.each([
    ['of all', all, [`${PREFIX}.configurations`]],
    ['of a client', one, [`${PREFIX}.clients.orders.configurations`]],
    ['of both', `${all}\n${one}`, [`${PREFIX}.configurations`, `${PREFIX}.clients.orders.configurations`]],
    ['of all, seen by a client', `${all}\n${PREFIX}.clients.orders.subset.size=3`, [`${PREFIX}.configurations`]],
    ['with a name that nothing defines', `${all}\n${PREFIX}.subset.instance-id=\${POD}`, [`${PREFIX}.configurations`]],
  ])('%s needs a name for this client', (_, text, keys) => {
    expect(nameless(text).map(({ key }) => key)).toEqual(keys)
    expect(nameless(text)[0]?.message).toContain('give createLoadBalancer an instanceId')
  })

  it.each<[string, string, Record<string, string>]>([
    ['the key', `${all}\n${PREFIX}.subset.instance-id=web-1`, {}],
    ["the client's key", `${one}\n${PREFIX}.clients.orders.subset.instance-id=web-1`, {}],
    ['the application', `${all}\nspring.application.name=web`, {}],
    ['the environment', all, { HOSTNAME: 'web-1' }],
  ])('has one from %s', (_, text, environment) => {
    expect(nameless(text, environment)).toEqual([])
  })
})

describe('a hint', () => {
  it('brings its supplier, which SCLB has from Java code only', () => {
    expect(messages(`${PREFIX}.hint.default=v1`)).toEqual([expect.stringContaining('withHints()')])
  })
})

describe('the cache', () => {
  const cache = `${PREFIX}.cache`
  const read = (text: string) => {
    const { options, warnings } = fromSpring(text)
    return { cache: options.defaults?.cache, warnings }
  }

  it('has a specification of Caffeine on top of the rest', () => {
    const { cache: options, warnings } = read(
      `${cache}.ttl=5s\n${cache}.caffeine.spec=expireAfterWrite=30s,maximumSize=9`,
    )
    expect(options).toEqual({ ttlMs: 30_000 })
    expect(warnings).toEqual([
      { key: `${cache}.ttl`, value: '5s', line: 1, message: `not used: ${cache}.caffeine.spec replaces it` },
    ])
  })

  it('does not expire after access, which would keep a dead list alive', () => {
    const { cache: options, warnings } = read(`${cache}.ttl=5s\n${cache}.caffeine.spec=expireAfterAccess=10s`)
    expect(options).toEqual({ ttlMs: 5_000 })
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('issue 1254'),
      expect.stringContaining(`here ${cache}.ttl holds`),
    ])
  })

  it('has the default where the specification says nothing of it', () => {
    const { cache: options, warnings } = read(`${cache}.caffeine.spec=softValues,recordStats`)
    expect(options).toBeUndefined()
    expect(warnings[0]?.message).toContain('the default of 35 s')
  })

  it('with a time of 0 is asked anew each time, and says so', () => {
    const { cache: options, warnings } = read(`${cache}.ttl=0`)
    expect(options).toEqual({ ttlMs: 0 })
    expect(warnings).toHaveLength(1)
  })

  it('switched off is off, whatever else is said', () => {
    expect(read(`${cache}.enabled=false\n${cache}.ttl=5s`).cache).toBe(false)
  })
})

describe('a load balancer that is off', () => {
  it('is told of', () => {
    expect(messages(`${PREFIX}.enabled=false`)).toEqual([expect.stringContaining('make no balancer')])
  })
})

describe('instances in the file', () => {
  const instance = (text: string) => {
    const { options, warnings } = fromSpring(text.replaceAll('@', `${SIMPLE}.instances.orders`))
    return { instances: (options.services?.orders as { instances: unknown })?.instances, warnings }
  }

  it('have an address, an id and metadata', () => {
    const { instances, warnings } = instance(`
@[0].uri=https://10.0.0.1:8443/base
@[0].instance-id=a
@[0].metadata.zone=shanghai
@[0].metadata.a.b=c
@[1].host=10.0.0.2
@[1].port=8080
@[1].secure=true
@[1].service-id=ignored
@[2].uri=http://plain
`)
    expect(instances).toEqual([
      { host: '10.0.0.1', port: 8443, secure: true, instanceId: 'a', metadata: { zone: 'shanghai', 'a.b': 'c' } },
      { host: '10.0.0.2', port: 8080, secure: true },
      { host: 'plain', secure: false },
    ])
    expect(warnings).toEqual([])
  })

  it.each([
    ['@[0].uri=not a uri', /must be a URI with a host/],
    ['@[0].port=high', /must be a whole number from -1 to 65535/],
    ['@[0].metadata.zone=a', /orders\[0\] needs a uri or a host/],
  ])('%s is an error', (text, message) => {
    expect(() => instance(text)).toThrow(message)
  })

  it('have no other keys', () => {
    expect(instance('@[0].host=a\n@[0].hots=b').warnings[0]?.message).toContain('did you mean host?')
    expect(instance('@[0].host=a\n@[0].metadta.zone=b').warnings[0]?.message).toContain('did you mean metadata.zone?')
    expect(instance('@[0].host=a\n@[0].metadata=b').warnings[0]?.message).toContain('did you mean metadata.<key>?')
    expect(instance('@[0].host=a\n@[0].servic-id=b').warnings[0]?.message).not.toContain('did you mean')
    expect(instance('@.host=a').warnings[0]?.message).toContain('<service id>[0].<key>')
  })

  it('come with keys that nothing corresponds to', () => {
    expect(messages(`${SIMPLE}.order=1\nspring.cloud.discovery.enabled=false`)).toHaveLength(2)
    expect(messages(`${SIMPLE}.order=0\nspring.cloud.discovery.enabled=true\n${SIMPLE}.local.host=me`)).toEqual([])
  })
})

describe('other parts of Spring', () => {
  it.each([
    ['eureka.client.service-url.defaultZone', "discovery: eurekaDiscovery({ … }) }), from 'evenkeel/eureka'"],
    ['spring.cloud.nacos.discovery.server-addr', "discovery: nacosDiscovery({ … }) }), from 'evenkeel/nacos'"],
    ['spring.cloud.consul.host', "discovery: consulDiscovery({ … }) }), from 'evenkeel/consul'"],
    ['spring.cloud.kubernetes.discovery.all-namespaces', "kubernetesDiscovery({ … }) }), from 'evenkeel/kubernetes'"],
    ['spring.cloud.zookeeper.connect-string', 'write one, { name, get(serviceId) }'],
  ])('%s is told once where registries go', (key, advice) => {
    const { options, warnings } = fromSpring(`${key}=x\n${key}2=y\nserver.port=1`)
    expect(options).toEqual({ instanceId: '1' })
    expect(warnings).toEqual([{ key, value: 'x', line: 1, message: expect.stringContaining(advice) }])
  })

  it('may import other files, which are not followed', () => {
    expect(messages('spring.config.import=optional:configserver:')).toEqual([expect.stringContaining('not followed')])
  })

  it("know the client's zone", () => {
    expect(fromSpring('eureka.instance.metadata-map.zone=a').options.zone).toBe('a')
    expect(fromSpring(`eureka.instance.metadata-map.zone=a\n${PREFIX}.zone=b`).options.zone).toBe('b')
  })
})

it('lists warnings in the order of the file', () => {
  const lines = fromSpring(`${PREFIX}.subset.size=1\neureka.a=1\n${PREFIX}.zoen=1`).warnings.map(({ line }) => line)
  expect(lines).toEqual([1, 2, 3])
})
