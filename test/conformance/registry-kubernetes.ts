/** @module Kubernetes as a source of instances, over a fake API server in memory. */

import { expect } from 'chai'
import { createLoadBalancer } from 'evenkeel'
import { kubernetesDiscovery } from 'evenkeel/kubernetes'
import { FakeKubernetes } from '../registries/fakes/kubernetes.js'
import { inProcess } from '../registries/in-process.js'
import type { Case } from './case.js'
import { rejected } from './errors-of.js'

const POD = { instanceId: 'pod-a', host: '10.1.0.1', port: 8080, zone: 'z1' }

function setup(options: Parameters<typeof kubernetesDiscovery>[0] = {}) {
  const fake = new FakeKubernetes({ endpointsPerSlice: 1 })
  const discovery = kubernetesDiscovery({ url: 'http://api.test', fetch: inProcess(fake), ...options })
  const lb = createLoadBalancer({ services: { orders: { discovery } } })
  return { fake, discovery, lb, service: lb.service('orders') }
}

const idsOf = (list: readonly { instanceId: string }[]) => list.map(({ instanceId }) => instanceId)

export const cases: Case[] = [
  {
    name: 'kubernetes: the ready pods of all slices and pages, with zone and status',
    async run() {
      const { fake, lb, service } = setup({ limit: 2 })
      for (let i = 1; i <= 5; i++) fake.add('orders', { ...POD, instanceId: `pod-${i}`, host: `10.1.0.${i}` })
      fake.change('orders', 'pod-3', { ready: false })
      expect((await service.choose())?.instance.metadata).to.include({ zone: 'z1', status: 'UP' })
      expect(idsOf(service.instances())).to.deep.equal(['pod-1', 'pod-2', 'pod-4', 'pod-5'])
      await lb.close()
      fake.close()
    },
  },
  {
    name: 'kubernetes: a refresh lists what has changed',
    async run() {
      const { fake, lb, service } = setup()
      fake.add('orders', POD)
      await service.choose()
      fake.add('orders', { ...POD, instanceId: 'pod-b', host: '10.1.0.2' })
      await service.refresh()
      expect(idsOf(service.instances())).to.deep.equal(['pod-a', 'pod-b'])
      await lb.close()
      fake.close()
    },
  },
  {
    name: 'kubernetes: a watch brings what changes',
    async run({ runtime }) {
      // Workers end what outlives a request: there the list is asked for.
      if (runtime.startsWith('workerd')) return
      const { fake, lb, service } = setup()
      fake.chunkBytes = 50
      fake.add('orders', POD)
      await service.choose()
      while (fake.watches === 0) await new Promise((resolve) => setTimeout(resolve, 0))
      const changed = new Promise((resolve) => service.on('change', resolve))
      fake.add('orders', { ...POD, instanceId: 'pod-b', host: '10.1.0.2' })
      await changed
      expect(idsOf(service.instances())).to.deep.equal(['pod-a', 'pod-b'])
      await lb.close()
      fake.close()
    },
  },
  {
    name: 'kubernetes: a token that is refused is asked for once more',
    async run() {
      const tokens = ['old', 'new']
      const { fake, discovery } = setup({ token: async () => String(tokens.shift()) })
      fake.tokens = ['new']
      fake.add('orders', POD)
      const list = await discovery.get('orders', { signal: new AbortController().signal })
      expect(list.length).to.equal(1)
      expect(fake.requests.map(({ authorization }) => authorization)).to.deep.equal(['Bearer old', 'Bearer new'])
    },
  },
  {
    name: 'kubernetes: failures are typed errors of the main entry',
    async run() {
      const { fake, lb, service } = setup({ token: 'hush' })
      fake.tokens = ['another']
      const error = await rejected(service.choose())
      expect(error).to.include({ code: 'EVENKEEL_DISCOVERY' })
      expect((error as Error).cause).to.include({ failure: 'denied', status: 401 })
      expect(String((error as Error).message)).not.to.contain('hush')
      expect(() => kubernetesDiscovery({ url: 'ftp://x' })).to.throw(/url must be an http or https URL/)
      await lb.close()
      fake.close()
    },
  },
]
