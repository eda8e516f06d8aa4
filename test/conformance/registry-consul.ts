/** @module Consul on every runtime: over a fake that is in the same process. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import { consulDiscovery } from 'evenkeel/consul'
import { FakeConsul } from '../registries/fakes/consul.js'
import { inProcess } from '../registries/in-process.js'
import type { Case } from './case.js'
import { rejected } from './errors-of.js'

const entry = (n: number, more: object = {}) => ({
  instanceId: `orders-${n}`,
  host: `10.0.0.${n}`,
  port: 8080,
  ...more,
})

function setup(options: object = {}) {
  const fake = new FakeConsul()
  const discovery = consulDiscovery({ fetch: inProcess(fake), token: 'the-token', ...options })
  const lb = createLoadBalancer({ services: { orders: { discovery } } })
  const service = lb.service('orders')
  const ids = () => service.instances().map(({ instanceId }) => instanceId)
  const end = async () => {
    await lb.close()
    fake.close()
  }
  return { fake, discovery, service, ids, end }
}

export const cases: Case[] = [
  {
    name: 'consul: the instances that may be asked, with their weight and zone, in the order of ids',
    async run() {
      const { fake, service, ids, end } = setup()
      fake.add('orders', entry(2, { weight: 7, zone: 'z1' }))
      fake.add('orders', entry(1, { status: 'warning' }))
      fake.add('orders', entry(3, { status: 'critical' }))
      expect(await service.choose()).not.to.equal(undefined)
      expect(ids()).to.deep.equal(['orders-1', 'orders-2'])
      expect(service.instances()[1]?.metadata).to.include({ weight: '7', zone: 'z1', status: 'UP' })
      expect(fake.requests[0]?.token).to.equal('the-token')
      await end()
    },
  },
  {
    name: 'consul: refresh sees what has changed, and keeps the objects of who has not',
    async run() {
      const { fake, service, ids, end } = setup()
      fake.add('orders', entry(1))
      await service.choose()
      const [kept] = service.instances()
      fake.add('orders', entry(2))
      await service.refresh()
      expect(ids()).to.deep.equal(['orders-1', 'orders-2'])
      expect(service.instances()[0]).to.equal(kept)
      fake.remove('orders', 'orders-2')
      await service.refresh()
      expect(ids()).to.deep.equal(['orders-1'])
      await end()
    },
  },
  {
    name: 'consul: a failure leaves the list, an unknown service is one of nobody',
    async run() {
      const { fake, service, ids, end } = setup()
      fake.add('orders', entry(1))
      await service.choose()
      fake.fault = () => new Response('<html>', { status: 502 })
      const error = await rejected(service.refresh())
      expect(error).to.include({ code: 'EVENKEEL_DISCOVERY' })
      expect(String(error)).not.to.contain('the-token')
      expect(ids()).to.deep.equal(['orders-1'])
      fake.fault = undefined
      fake.remove('orders', 'orders-1')
      await service.refresh()
      expect(ids()).to.deep.equal([])
      await end()
    },
  },
  {
    name: 'consul: a watch sees a change without being asked',
    async run(context) {
      // Workers end what outlives a request: there each refresh asks.
      if (context.runtime.startsWith('workerd')) return
      const { fake, service, ids, end } = setup()
      fake.add('orders', entry(1))
      await service.choose()
      const changed = new Promise((resolve) => service.on('change', resolve))
      fake.add('orders', entry(2))
      await changed
      expect(ids()).to.deep.equal(['orders-1', 'orders-2'])
      await end()
    },
  },
  {
    name: 'consul: registers, goes out of service and deregisters; on Workers it says why it can not',
    async run(context) {
      const { fake, discovery, end } = setup()
      const init = { serviceId: 'orders', instanceId: 'orders-1', host: '10.0.0.1', port: 8080 }
      if (context.runtime.startsWith('workerd')) {
        expect(() => discovery.register(init)).to.throw('Workers')
        return end()
      }
      const registration = discovery.register(init)
      await registration.ready()
      expect(fake.listed('orders')).to.deep.equal(['orders-1'])
      await registration.setStatus('OUT_OF_SERVICE')
      expect(fake.listed('orders')).to.deep.equal([])
      await registration.close()
      expect(fake.catalog.of('orders')).to.deep.equal([])
      await end()
    },
  },
  {
    name: 'consul: options are checked, and no error shows the token',
    run() {
      expect(() => consulDiscovery({ token: 'se\ncret' }))
        .to.throw(/token/)
        .and.not.to.match(/cret/)
      expect(() => consulDiscovery({ health: 'all' as never })).to.throw('consulDiscovery.health')
    },
  },
]
