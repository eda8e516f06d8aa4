/** @module Health checks against real servers. Workers run them by hand: there every case begins with `check`. */

import { expect } from 'chai'
import {
  constantPing,
  createLoadBalancer,
  type HealthCheckOptions,
  type InstanceInit,
  type Service,
  urlPing,
} from 'evenkeel'
import type { Case, Context } from './case.js'
import { control, newToken } from './servers.js'
import { picks, serviceWith } from './services.js'

/** Not on Workers, which has none. */
const runsByItself = (context: Context) => !context.runtime.startsWith('workerd')

function checked(instances: readonly InstanceInit[], healthCheck: HealthCheckOptions): Service {
  return serviceWith({ instances, healthCheck: { repeat: false, ...healthCheck } })
}

const reached = (service: Service) => [...new Set(picks(service, 30))].sort((a, b) => a - b)

const reasons = async (service: Service) =>
  (await service.explain()).excluded.map(({ by, reason }) => `${by}: ${reason}`)

export const cases: Case[] = [
  {
    name: 'health check: who answers with 200 is picked, and it is told why the others are not',
    async run({ backends: { a, b, c, refused } }) {
      const service = checked([a, b, c, refused], { path: '/status/503?on=b' })
      await service.check()
      expect(reached(service)).to.deep.equal([0, 2])
      const [first, second] = await reasons(service)
      expect(first).to.equal('health-check: health check: status 503')
      expect(second).to.match(/^health-check: health check: ./)
      expect(service.stats()).to.include({ discovered: 4, candidates: 2, healthChecks: 4, healthFailures: 2 })
    },
  },
  {
    name: 'health check: one that does not answer in time is out, and its request is ended',
    async run(context) {
      const token = newToken(context)
      const service = checked([context.backends.a], { path: `/hang?token=${token}`, timeoutMs: 100 })
      await service.check()
      expect(reached(service)).to.deep.equal([-1])
      expect(await reasons(service)).to.deep.equal(['health-check: health check: timed out'])
      await control(context, 'closed', token)
    },
  },
  {
    name: 'health check: a redirect is not followed, and `accept` decides what is a good answer',
    async run({ backends: { a, b } }) {
      const strict = checked([a, b], { path: '/redirect?on=a' })
      await strict.check()
      expect(reached(strict)).to.deep.equal([1])
      const lenient = checked([a, b], {
        path: 'status/418?on=a',
        accept: async (response) => response.status === 418 && (await response.text()) === 'status 418',
      })
      await lenient.check()
      expect(reached(lenient)).to.deep.equal([0])
    },
  },
  {
    name: 'health check: through the binding of an instance that has one',
    async run({ backends: { refused }, binding }) {
      const own = { fetch: async (request: Request | string | URL) => new Response((request as Request).url) }
      const service = checked(
        [
          { instanceId: 'own', fetcher: own },
          { url: refused, instanceId: 'bound', fetcher: binding ?? own },
        ],
        {},
      )
      await service.check()
      expect(reached(service)).to.deep.equal([0, 1])
    },
  },
  {
    name: 'health check: events when an instance goes and comes back',
    async run({ backends: { a } }) {
      let wanted = 200
      const service = checked([a], { accept: ({ status }) => status === wanted })
      const told: string[] = []
      service.on('eject', ({ reason }) => told.push(reason))
      service.on('restore', () => told.push('back'))
      await service.check()
      wanted = 201
      await service.check()
      expect(service.pick()).to.equal(undefined)
      wanted = 200
      await service.check()
      expect(told).to.deep.equal(['health check: status 200', 'back'])
      expect(reached(service)).to.deep.equal([0])
    },
  },
  {
    name: 'health check: calls wait for the first round; on Workers everybody counts as alive until then',
    async run(context) {
      const { a, b } = context.backends
      const service = checked([a, b], { path: '/status/503?on=a' })
      if (!runsByItself(context)) {
        expect(reached(service)).to.deep.equal([0, 1])
        return
      }
      expect(service.pick()).to.equal(undefined)
      expect((await service.choose())?.instance).to.equal(service.instances()[1])
      expect((await service.fetch('/x')).headers.get('x-instance')).to.equal('b')
    },
  },
  {
    name: 'ping: a GET with the content that is expected',
    async run({ backends: { a, b, refused } }) {
      const ping = urlPing({ path: '/status/200?on=a', expectedContent: 'status 200' })
      const service = checked([a, b, refused], { ping })
      await service.check()
      expect(reached(service)).to.deep.equal([0])
    },
  },
  {
    name: 'ping: without a request, and one of your own that is ended in time',
    async run({ backends: { refused } }) {
      const constant = checked([refused], { ping: constantPing() })
      await constant.check()
      expect(reached(constant)).to.deep.equal([0])
      const hanging = { name: 'hanging', isAlive: () => new Promise<never>(() => {}) }
      const own = checked([refused], { ping: hanging, timeoutMs: 50 })
      await own.check()
      expect(await reasons(own)).to.deep.equal(['health-check: health check: timed out'])
    },
  },
  {
    name: 'prime: who has answered, whatever it said, is picked; on Workers everybody is',
    async run(context) {
      const { a, refused } = context.backends
      const prime = { path: '/status/404', attempts: 2, pauseMs: 1 }
      const lb = createLoadBalancer({ services: { orders: { instances: [a, refused], prime } } })
      const service = lb.service('orders')
      if (runsByItself(context)) {
        expect(service.pick()).to.equal(undefined)
        expect((await service.choose())?.instance).to.equal(service.instances()[0])
        expect(reached(service)).to.deep.equal([0])
      } else expect(reached(service)).to.deep.equal([0, 1])
      // Or it goes on trying who does not answer.
      await lb.close()
    },
  },
  {
    name: 'health check: many instances, a few at a time',
    async run() {
      let inFlight = 0
      let most = 0
      const fetcher = {
        async fetch() {
          most = Math.max(most, ++inFlight)
          await Promise.resolve()
          inFlight--
          return new Response()
        },
      }
      const instances = Array.from({ length: 200 }, (_, i) => ({ instanceId: `i${i}`, fetcher }))
      const service = checked(instances, { maxConcurrent: 16 })
      await service.check()
      expect(most).to.equal(16)
      expect(service.stats()).to.include({ healthChecks: 200, candidates: 200 })
    },
  },
]
