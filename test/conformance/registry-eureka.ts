/** @module Eureka on every runtime: a fake server as `fetch`, asked and watched, told of an instance. */

import { expect } from 'chai'
import { createLoadBalancer, type InstanceInit } from 'evenkeel'
import { type EurekaDiscoveryOptions, eurekaDiscovery } from 'evenkeel/eureka'
import { EurekaFake } from '../registries/fakes/eureka.js'
import { inProcess } from '../registries/in-process.js'
import type { Case } from './case.js'
import { rejected } from './errors-of.js'

function fakeAndClient(options: Partial<EurekaDiscoveryOptions> = {}) {
  const fake = new EurekaFake()
  const client = eurekaDiscovery({ url: 'http://user:secret@eureka.test/eureka', fetch: inProcess(fake), ...options })
  return { fake, client }
}

const entry = (n: number) => ({ instanceId: `n${n}`, host: `10.0.0.${n}`, port: 8080, zone: `z${n}`, weight: n })

const idsOf = (list: readonly InstanceInit[]) => list.map((each) => (each as { instanceId: string }).instanceId)

const asking = () => ({ signal: new AbortController().signal })

export const cases: Case[] = [
  {
    name: 'eureka: a balancer lists who is UP, with zone and weight, and sends credentials as a header',
    async run() {
      const { fake, client } = fakeAndClient()
      for (const n of [2, 1, 3]) fake.add('orders', entry(n))
      fake.override('orders', 'n3', 'OUT_OF_SERVICE')
      const lb = createLoadBalancer({ discovery: client })
      expect(await lb.choose('orders')).not.to.equal(undefined)
      const instances = lb.service('orders').instances()
      expect(instances.map(({ instanceId }) => instanceId)).to.deep.equal(['n1', 'n2'])
      expect(instances[1]?.metadata).to.deep.equal({ zone: 'z2', weight: '2', status: 'UP' })
      expect(fake.log[0]?.headers.authorization).to.equal(`Basic ${btoa('user:secret')}`)
      expect(JSON.stringify(await lb.service('orders').explain())).not.to.contain('secret')
      await lb.close()
    },
  },
  {
    name: 'eureka: a refresh asks for the one application; one that is not there is empty',
    async run() {
      const { fake, client } = fakeAndClient()
      fake.add('orders', entry(1))
      expect(idsOf(await client.get('Orders', asking()))).to.deep.equal(['n1'])
      expect(await client.get('nobody', asking())).to.deep.equal([])
      expect(fake.log.map(({ path }) => path)).to.deep.equal(['/apps/ORDERS', '/apps/NOBODY'])
    },
  },
  {
    name: 'eureka: by VIP address, and all names',
    async run() {
      const { fake, client } = fakeAndClient({ lookup: 'vip' })
      fake.add('orders', entry(1))
      expect(idsOf(await client.get('orders', asking()))).to.deep.equal(['n1'])
      expect(await client.services(asking())).to.deep.equal(['orders'])
    },
  },
  {
    name: 'eureka: a watch begins with everything and goes on with changes',
    async run(context) {
      // Watches are for runtimes where something lives on between requests.
      if (context.runtime.startsWith('workerd')) return
      const { fake, client } = fakeAndClient({ registryFetchIntervalMs: 1 })
      fake.add('orders', entry(1))
      const stop = new AbortController()
      const seen: string[][] = []
      for await (const list of client.watch('orders', { signal: stop.signal })) {
        seen.push(idsOf(list))
        if (seen.length === 1) fake.add('orders', entry(2))
        else if (seen.length === 2) fake.remove('orders', 'n1')
        else stop.abort()
      }
      expect(seen).to.deep.equal([['n1'], ['n1', 'n2'], ['n2']])
      expect(fake.log.filter(({ path }) => path === '/apps/').length).to.equal(1)
    },
  },
  {
    name: 'eureka: refusals, pages and silence are errors that say which',
    async run() {
      const { fake, client } = fakeAndClient({ requestTimeoutMs: 20 })
      fake.ready = false
      expect(await rejected(client.services(asking()))).to.include({ code: 'EVENKEEL_DISCOVERY', failure: 'denied' })
      fake.fault = () => new Response('<html>')
      expect(await rejected(client.get('orders', asking()))).to.include({ failure: 'malformed' })
      fake.fault = () => new Promise(() => {})
      expect(await rejected(client.get('orders', asking()))).to.include({ failure: 'timeout' })
    },
  },
  {
    name: 'eureka: an instance is registered, taken out of service, put back, and gone after close',
    async run(context) {
      const { fake, client } = fakeAndClient()
      const register = () => client.register({ serviceId: 'orders', host: '10.0.0.1', port: 8080 })
      if (context.runtime.startsWith('workerd')) {
        expect(register).to.throw(/Workers/)
        return
      }
      const registration = register()
      await registration.ready()
      expect(fake.listed('orders')).to.deep.equal(['10.0.0.1:8080'])
      await registration.setStatus('OUT_OF_SERVICE')
      expect(fake.listed('orders')).to.deep.equal([])
      await registration.setStatus('UP')
      expect(fake.listed('orders')).to.deep.equal(['10.0.0.1:8080'])
      await registration.close()
      expect(fake.listed('orders')).to.deep.equal([])
    },
  },
]
