/** @module etcd's client on every runtime, over the fake in process. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import { etcdDiscovery } from 'evenkeel/etcd'
import { FakeEtcd } from '../registries/fakes/etcd.js'
import { inProcess } from '../registries/in-process.js'
import type { Case } from './case.js'
import { rejected, thrown } from './errors-of.js'

const signal = () => new AbortController().signal

function setUp(options = {}) {
  const fake = new FakeEtcd()
  return { fake, client: etcdDiscovery({ fetch: inProcess(fake), ...options }) }
}

export const cases: Case[] = [
  {
    name: 'etcd: values of gRPC naming, JSON and host:port are instances, in the order of their keys',
    async run() {
      const { fake, client } = setUp()
      fake.put('orders/c', '10.0.0.3:8080')
      fake.put('orders/b', '{"host":"10.0.0.2","port":8443,"secure":true,"zone":"z1"}')
      fake.add('orders', { instanceId: 'a', host: '::1', port: 8080, weight: 2 })
      fake.put('orders2/d', '10.0.0.4:8080')
      expect(await client.get('orders', { signal: signal() })).to.deep.equal([
        { instanceId: 'a', host: '::1', port: 8080, secure: false, metadata: { weight: '2' } },
        { instanceId: 'b', host: '10.0.0.2', port: 8443, secure: true, metadata: { zone: 'z1' } },
        { instanceId: 'c', host: '10.0.0.3', port: 8080, secure: false, metadata: {} },
      ])
      expect(await client.services?.({ signal: signal() })).to.deep.equal(['orders', 'orders2'])
      fake.close()
    },
  },
  {
    name: 'etcd: a balancer picks from what is registered',
    async run() {
      const { fake, client } = setUp()
      fake.add('bücher', { instanceId: 'ü', host: '10.0.0.1', port: 8080 })
      const lb = createLoadBalancer({ services: { bücher: { discovery: client } } })
      const lease = await lb.service('bücher').choose()
      expect(lease?.instance.instanceId).to.equal('ü')
      lease?.done()
      await lb.close()
      fake.close()
    },
  },
  {
    name: 'etcd: no key is an empty list, a refusal is an error by its kind',
    async run() {
      const { fake, client } = setUp()
      expect(await client.get('orders', { signal: signal() })).to.deep.equal([])
      fake.noLeader = true
      const error = await rejected(client.get('orders', { signal: signal() }))
      expect(error).to.include({ code: 'EVENKEEL_DISCOVERY', failure: 'status', status: 503 })
      fake.close()
    },
  },
  {
    name: 'etcd: a token is had, and another when it has expired',
    async run() {
      const { fake, client } = setUp({ username: 'root', password: 'pässword' })
      fake.addUser('root', 'pässword')
      fake.put('orders/a', '10.0.0.1:80')
      expect(await client.get('orders', { signal: signal() })).to.have.length(1)
      fake.forgetTokens()
      expect(await client.get('orders', { signal: signal() })).to.have.length(1)
      fake.close()
    },
  },
  {
    name: 'etcd: an option is refused by its name, without its secret',
    run() {
      const error = thrown(() => etcdDiscovery({ url: 'http://root:secret@127.0.0.1:2379' }))
      expect(error).to.include({ code: 'EVENKEEL_CONFIG', option: 'etcdDiscovery.url' })
      expect(String(error)).not.to.contain('secret')
    },
  },
]
