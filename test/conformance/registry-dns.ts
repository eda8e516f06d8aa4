/** @module DNS as a registry, over a name server that speaks DNS over HTTPS: the same lists on every runtime. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import { type DnsDiscoveryOptions, dnsDiscovery } from 'evenkeel/dns'
import { FakeDoh } from '../registries/fakes/doh.js'
import { inProcess } from '../registries/in-process.js'
import type { Case } from './case.js'
import { rejected } from './errors-of.js'

const SRV = '_http._tcp.orders.lan'

function serviceOn(fake: FakeDoh, options: DnsDiscoveryOptions = {}) {
  const clock = { ms: 0 }
  const discovery = dnsDiscovery({
    name: '_http._tcp.{service}.lan',
    resolver: { doh: 'http://name.server/dns-query' },
    fetch: inProcess(fake),
    clock: () => clock.ms,
    ...options,
  })
  const lb = createLoadBalancer({ services: { orders: { discovery } } })
  const service = lb.service('orders')
  const ids = () => service.instances().map(({ instanceId }) => instanceId)
  return { lb, service, ids, clock }
}

export const cases: Case[] = [
  {
    name: 'dns: SRV records of the lowest priority are the list, with their weights',
    async run() {
      const fake = new FakeDoh()
      fake.put(SRV, [
        { type: 'SRV', data: '10 3 8080 n2.lan.' },
        { type: 'SRV', data: '10 1 8080 n1.lan.' },
        { type: 'SRV', data: '20 1 8080 n3.lan.' },
      ])
      const { lb, service, ids } = serviceOn(fake)
      await service.choose()
      expect(ids()).to.deep.equal(['n1.lan:8080', 'n2.lan:8080'])
      expect(service.instances().map(({ metadata }) => metadata.weight)).to.deep.equal(['1', '3'])
      await lb.close()
    },
  },
  {
    name: 'dns: address records with a port, IPv6 among them',
    async run() {
      const fake = new FakeDoh()
      fake.put('orders', [
        { type: 'A', data: '10.0.0.1' },
        { type: 'AAAA', data: 'FD00::0:1' },
      ])
      const { lb, service, ids } = serviceOn(fake, { name: '{service}', record: 'A+AAAA', port: 80 })
      await service.choose()
      expect(ids()).to.deep.equal(['10.0.0.1:80', 'fd00::1:80'])
      await lb.close()
    },
  },
  {
    name: 'dns: a name that is gone is nobody, a name server that fails leaves the list',
    async run() {
      const fake = new FakeDoh()
      fake.put(SRV, [{ type: 'SRV', data: '0 0 80 n1.lan.' }])
      const { lb, service, ids, clock } = serviceOn(fake)
      await service.choose()
      fake.rcode = 2
      clock.ms += 5_000
      const error = await rejected(service.refresh())
      expect(error).to.have.property('code', 'EVENKEEL_DISCOVERY')
      expect(error).to.have.property('failure', 'status')
      expect(ids()).to.deep.equal(['n1.lan:80'])
      fake.rcode = undefined
      fake.put(SRV, [])
      clock.ms += 5_000
      await service.refresh()
      expect(ids()).to.deep.equal([])
      await lb.close()
    },
  },
  {
    name: 'dns: refreshes within minTtlMs ask once',
    async run() {
      const fake = new FakeDoh()
      fake.put(SRV, [{ type: 'SRV', data: '0 0 80 n1.lan.' }])
      const { lb, service } = serviceOn(fake)
      await service.choose()
      for (let i = 0; i < 5; i++) await service.refresh()
      expect(fake.asked.length).to.equal(1)
      await lb.close()
    },
  },
  {
    name: 'dns: targets by their addresses; the next priority where none has any',
    async run() {
      const fake = new FakeDoh()
      fake.put(SRV, [
        { type: 'SRV', data: '10 1 8080 gone.lan.' },
        { type: 'SRV', data: '20 1 8080 n1.lan.' },
      ])
      fake.put('n1.lan', [{ type: 'A', data: '10.0.0.1' }])
      const { lb, service, ids } = serviceOn(fake, { resolveTargets: true })
      await service.choose()
      expect(ids()).to.deep.equal(['10.0.0.1:8080'])
      await lb.close()
    },
  },
]
