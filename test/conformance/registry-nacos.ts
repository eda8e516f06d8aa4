/** @module Nacos on every runtime: a fake server without a network. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import { nacosDiscovery } from 'evenkeel/nacos'
import { FakeNacos } from '../registries/fakes/nacos.js'
import { inProcess } from '../registries/in-process.js'
import type { Case } from './case.js'
import { rejected, thrown } from './errors-of.js'

type Options = Omit<Parameters<typeof nacosDiscovery>[0], 'url'>

function setup(options: Options = {}) {
  const fake = new FakeNacos()
  const client = nacosDiscovery({ url: 'http://nacos:8848', fetch: inProcess(fake), ...options })
  const add = (instanceId: string, last: number, weight = 1) =>
    fake.add('orders', { instanceId, host: `10.0.0.${last}`, port: 80, weight, zone: 'z1' })
  const get = () => client.get('orders', { signal: new AbortController().signal })
  return { fake, client, add, get }
}

export const cases: Case[] = [
  {
    name: 'nacos: a balancer picks from the list, by the weights of the registry',
    async run() {
      const { fake, client, add } = setup()
      add('a', 1, 1)
      add('b', 2, 3)
      add('c', 3, 0)
      const lb = createLoadBalancer({
        services: { orders: { discovery: client, policy: 'round-robin', suppliers: ['weighted'] } },
      })
      const service = lb.service('orders')
      await service.refresh()
      const picks: Record<string, number> = {}
      for (let i = 0; i < 400; i++) {
        const lease = service.pick()
        const id = lease?.instance.instanceId ?? 'none'
        picks[id] = (picks[id] ?? 0) + 1
        lease?.done()
      }
      expect(picks).to.deep.equal({ a: 100, b: 300 })
      await lb.close()
      fake.close()
    },
  },
  {
    name: 'nacos: the same list in v3, v2 and v1, found by trying',
    async run() {
      for (const api of ['v3', 'v2', 'v1'] as const) {
        const { fake, client, add, get } = setup()
        fake.apis = new Set([api])
        add('a', 1)
        const list = await get()
        expect(list).to.have.length(1)
        expect(list[0]).to.deep.include({ instanceId: 'a', host: '10.0.0.1', port: 80, secure: false })
        expect((list[0] as { metadata: object }).metadata).to.include({ weight: '1', zone: 'z1', status: 'UP' })
        expect(client.describe('orders')).to.include({ api, group: 'DEFAULT_GROUP', namespace: 'public' })
        expect(await get()).to.equal(list)
      }
    },
  },
  {
    name: 'nacos: nobody is empty, a failure is an error with its kind',
    async run() {
      const { fake, get } = setup()
      expect(await get()).to.deep.equal([])
      const failures = {
        status: () => new Response('server is DOWN now', { status: 503 }),
        malformed: () => new Response('{"code":0,"da'),
        denied: () => new Response('', { status: 403 }),
        unreachable: () => {
          throw new TypeError('fetch failed')
        },
      }
      for (const [failure, fault] of Object.entries(failures)) {
        fake.fault = fault
        expect(await rejected(get())).to.include({ code: 'EVENKEEL_DISCOVERY', failure })
      }
    },
  },
  {
    name: 'nacos: logs in, and again when its token is no longer good',
    async run() {
      let nowMs = 0
      const { fake, add, get } = setup({ username: 'app', password: 'sécret', clock: () => nowMs })
      fake.logins.user = { username: 'app', password: 'sécret', ttlMs: 60_000 }
      add('a', 1)
      expect(await get()).to.have.length(1)
      nowMs = 10_000
      fake.logins.forget()
      expect(await get()).to.have.length(1)
      expect(fake.logins.given).to.equal(2)
    },
  },
  {
    name: 'nacos: registers, goes out of service and ends; not on Workers',
    async run({ runtime }) {
      const { fake, client, get } = setup()
      const init = { serviceId: 'orders', host: '10.0.0.9', port: 80 }
      if (runtime.startsWith('workerd')) {
        expect(thrown(() => client.register(init))).to.include({ code: 'EVENKEEL_CONFIG' })
        return
      }
      const registration = client.register(init)
      await registration.ready()
      expect(await get()).to.have.length(1)
      await registration.setStatus('OUT_OF_SERVICE')
      expect(await get()).to.have.length(0)
      await registration.close()
      fake.close()
    },
  },
  {
    name: 'nacos: options are refused by name, without their secrets',
    run() {
      const error = thrown(() => nacosDiscovery({ url: 'ftp://user:hunter2@nacos' })) as { message: string }
      expect(error).to.include({ code: 'EVENKEEL_CONFIG', option: 'nacosDiscovery.url' })
      expect(error.message).not.to.contain('hunter2')
    },
  },
]
