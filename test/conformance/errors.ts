/** @module Bad input: a typed error that names what and where, and nothing left half made. */

import { expect } from 'chai'
import { createLoadBalancer, EvenkeelError, hint, type LoadBalancerOptions, peakEwma, weighted } from 'evenkeel'
import type { Case } from './case.js'
import { rejected, thrown } from './errors-of.js'
import { addresses, picks, serviceWith } from './services.js'

const at = (instance: object) => ({ services: { orders: { instances: ['http://10.0.0.1:80', instance] } } })
const withOptions = (options: object) => ({ services: { orders: { instances: addresses(1), ...options } } })

/** What is wrong, the options that have it, the path that the error names, the words it uses if not the path's end. */
const REFUSED: [string, unknown, string, string?][] = [
  ['an unknown option of the balancer', { servces: {} }, 'createLoadBalancer.servces'],
  ['an unknown option of a service', withOptions({ polcy: 'random' }), 'services.orders.polcy'],
  ['an unknown option of retry', withOptions({ retry: { retries: 1 } }), 'services.orders.retry.retries'],
  ['an unknown option of the cache', withOptions({ cache: { ttl: 1 } }), 'services.orders.cache.ttl'],
  ['an unknown option in defaults', { defaults: { polcy: 'random' } }, 'defaults.polcy'],
  ['an unknown policy', withOptions({ policy: 'rounb-robin' }), 'services.orders.policy'],
  ['an unknown supplier', withOptions({ suppliers: ['hint', 'zones'] }), 'services.orders.suppliers[1]'],
  ['an empty service id', { services: { '': addresses(1) } }, 'services', 'service id'],
  ['a service without a source', { services: { orders: {} } }, 'services.orders'],
  [
    'repeated instance ids',
    at({ url: 'http://10.0.0.1:80' }),
    'services.orders.instances[1].instanceId',
    'services.orders.instances[1] repeats the instance id "10.0.0.1:80"',
  ],
  ['an empty instance id', at({ host: 'x', instanceId: '' }), 'services.orders.instances[1].instanceId'],
  ['port 65536', at({ host: 'x', port: 65_536 }), 'services.orders.instances[1].port'],
  ['port -2', at({ host: 'x', port: -2 }), 'services.orders.instances[1].port'],
  ['port 80.5', at({ host: 'x', port: 80.5 }), 'services.orders.instances[1].port'],
  ['port 65536 in a URL', at({ url: 'http://x:65536' }), 'services.orders.instances[1].url'],
  ['a URL without host', at({ url: 'http://' }), 'services.orders.instances[1].url'],
  ['a URL with a path', at({ url: 'http://x/path' }), 'services.orders.instances[1].url'],
  ['an instance without an address', at({}), 'services.orders.instances[1]'],
  ['a weight that is NaN', at({ host: 'x', weight: Number.NaN }), 'services.orders.instances[1].weight'],
  ['a negative weight', at({ host: 'x', weight: -1 }), 'services.orders.instances[1].weight'],
  ['an infinite weight', at({ host: 'x', weight: Number.POSITIVE_INFINITY }), 'services.orders.instances[1].weight'],
  ['metadata that is no string', at({ host: 'x', metadata: { n: 1 } }), 'services.orders.instances[1].metadata.n'],
  ['a fetcher that fetches nothing', at({ instanceId: 'x', fetcher: {} }), 'services.orders.instances[1].fetcher'],
  ['a negative cache time', withOptions({ cache: { ttlMs: -1 } }), 'services.orders.cache.ttlMs'],
  ['a time limit of 0', withOptions({ timeoutMs: 0 }), 'services.orders.timeoutMs'],
  ['a release that is neither', withOptions({ release: 'never' }), 'services.orders.release'],
  [
    'half a retry',
    withOptions({ retry: { maxRetriesOnNextServiceInstance: 0.5 } }),
    'services.orders.retry.maxRetriesOnNextServiceInstance',
  ],
  ['a clock that is no function', { clock: 5 }, 'clock'],
  ['a seed that is not finite', { seed: Number.NaN }, 'seed'],
  ['a module that is none', { module: {} }, 'module'],
]

const UNUSABLE_ARGUMENTS: [string, () => unknown, string][] = [
  ['an unknown option of a policy', () => peakEwma({ decay: 1 } as object), 'peakEwma.decay'],
  ['a decay of 0', () => peakEwma({ decayMs: 0 }), 'peakEwma.decayMs'],
  ['an empty header name', () => hint({ header: '' }), 'hint.header'],
  ['an unknown weighted order', () => weighted({ order: 'random' as 'block' }), 'weighted.order'],
]

export const cases: Case[] = [
  ...REFUSED.map(([what, options, option, words = option.split('.').at(-1)]) => ({
    name: `refused: ${what}`,
    run() {
      const error = thrown(() => createLoadBalancer(options as LoadBalancerOptions))
      expect(error).to.be.instanceOf(EvenkeelError)
      expect(error).to.include({ code: 'EVENKEEL_CONFIG', option })
      expect((error as Error).message).to.contain(words)
    },
  })),
  ...UNUSABLE_ARGUMENTS.map(([what, make, option]) => ({
    name: `refused: ${what}`,
    run() {
      expect(thrown(make)).to.include({ code: 'EVENKEEL_CONFIG', option })
    },
  })),
  {
    name: 'refused: a URL that names no service',
    async run() {
      const lb = createLoadBalancer({ services: { orders: addresses(1) } })
      for (const url of ['/path', 'orders/x', 'http:///x', '']) {
        expect(await rejected(lb.fetch(url)), url).to.include({ code: 'EVENKEEL_CONFIG', option: 'url' })
      }
    },
  },
  {
    name: 'refused: an unknown override',
    run() {
      const lb = createLoadBalancer({ services: { orders: addresses(1) } })
      expect(thrown(() => lb.with({ timeout: 5 } as object))).to.include({
        code: 'EVENKEEL_CONFIG',
        option: 'with.timeout',
      })
    },
  },
  {
    name: 'refused: an unknown event',
    run() {
      const service = serviceWith({ instances: addresses(1) })
      expect(thrown(() => service.on('changed' as 'change', () => {}))).to.include({ code: 'EVENKEEL_CONFIG' })
    },
  },
  {
    name: 'a service with no instances: pick gives undefined, fetch EVENKEEL_NO_INSTANCE or a 503 by option',
    async run() {
      const lb = createLoadBalancer({
        services: {
          empty: [],
          answering: { instances: [], noInstance: 'response' },
          teapot: { instances: [], noInstance: 'response', noInstanceStatus: 418 },
        },
      })
      expect(lb.pick('empty')).to.equal(undefined)
      expect(await lb.choose('empty')).to.equal(undefined)
      const error = await rejected(lb.fetch('http://empty/x'))
      expect(error).to.include({ code: 'EVENKEEL_NO_INSTANCE', serviceId: 'empty' })
      expect((error as Error).message).to.contain('"empty"')
      expect((await lb.fetch('http://answering/x')).status).to.equal(503)
      expect((await lb.fetch('http://teapot/x')).status).to.equal(418)
      expect(lb.stats().empty?.noInstance).to.equal(3)
    },
  },
  {
    name: 'a refused update leaves the old list in force, with all that is known of it',
    run() {
      const service = serviceWith({ instances: addresses(3), policy: { type: 'round-robin', start: -1 } })
      const before = service.instances()
      const held = service.pick()
      for (const wrong of [{ host: 'x', port: 65_536 }, { url: 'http://10.0.0.0:8080' }, 'http://', 5]) {
        const list = [...addresses(1), 'http://10.8.8.8:80', wrong] as string[]
        expect(thrown(() => service.update(list))).to.include({ code: 'EVENKEEL_CONFIG' })
      }
      expect(service.instances()).to.equal(before)
      expect(service.stats().instances.map(({ inFlight }) => inFlight)).to.deep.equal([1, 0, 0])
      held?.done()
      expect(picks(service, 3)).to.deep.equal([1, 2, 0])
    },
  },
  {
    name: 'a refused define leaves nothing behind; a name can be defined once until removed',
    async run() {
      const lb = createLoadBalancer({})
      expect(thrown(() => lb.define('orders', { instances: ['http://'] }))).to.include({ code: 'EVENKEEL_CONFIG' })
      expect(thrown(() => lb.pick('orders'))).to.include({ code: 'EVENKEEL_UNKNOWN_SERVICE' })
      lb.define('orders', { instances: addresses(1) })
      expect(thrown(() => lb.define('orders', { instances: addresses(1) }))).to.include({ code: 'EVENKEEL_CONFIG' })
      await lb.remove('orders')
      expect(thrown(() => lb.pick('orders'))).to.include({ code: 'EVENKEEL_UNKNOWN_SERVICE' })
      lb.define('orders', { instances: addresses(1) })
      expect(lb.pick('orders')).not.to.equal(undefined)
    },
  },
  {
    name: 'update of a discovered list, refresh of a static one: refused',
    async run() {
      const discovered = serviceWith({ discovery: { name: 'registry', get: () => addresses(1) } })
      expect(thrown(() => discovered.update([]))).to.include({ code: 'EVENKEEL_CONFIG', serviceId: 'orders' })
      const fixed = serviceWith({ instances: addresses(1) })
      expect(await rejected(fixed.refresh())).to.include({ code: 'EVENKEEL_CONFIG', serviceId: 'orders' })
    },
  },
  {
    name: 'a closed balancer answers everything with EVENKEEL_CLOSED, and closing again is no error',
    async run() {
      const lb = createLoadBalancer({ services: { orders: addresses(2) } })
      const service = lb.service('orders')
      await lb.close()
      await lb.close()
      const closed = { code: 'EVENKEEL_CLOSED' }
      const now = [
        () => lb.pick('orders'),
        () => lb.service('orders'),
        () => lb.stats(),
        () => lb.define('more', { instances: [] }),
        () => service.pick(),
        () => service.update([]),
        () => service.stats(),
        () => service.pickMany(new Int32Array(1)),
      ]
      for (const call of now) expect(thrown(call), String(call)).to.include(closed)
      const later = [
        () => lb.fetch('http://orders/x'),
        () => lb.choose('orders'),
        () => lb.explain('orders'),
        () => lb.ready(),
        () => lb.remove('orders'),
        () => service.fetch('/x'),
        () => service.choose(),
        () => service.explain(),
      ]
      for (const call of later) expect(await rejected(call()), String(call)).to.include(closed)
      expect(service.state).to.equal('closed')
    },
  },
  {
    name: 'a listener that throws breaks no call',
    run() {
      const service = serviceWith({ instances: addresses(1) })
      const { error: report } = console
      const reported: unknown[] = []
      console.error = (...args) => reported.push(args)
      try {
        service.on('change', () => {
          throw new Error('listener')
        })
        service.update(addresses(2))
        service.update(addresses(3))
      } finally {
        console.error = report
      }
      expect(service.instances().length).to.equal(3)
      expect(reported.length).to.equal(1)
    },
  },
]
