/** @module Consistent hashing: the same key, the same instance, on every runtime. */

import { expect } from 'chai'
import { createLoadBalancer, type PickRequest, type Service } from 'evenkeel'
import type { Case } from './case.js'
import { addresses, picks, serviceWith } from './services.js'

const POLICIES = ['ring-hash', 'maglev', 'rendezvous', 'jump'] as const

/** Where each of the keys goes among eight instances. Worked out by test/model/hashing.ts. */
const HOMES: Record<(typeof POLICIES)[number], readonly number[]> = {
  'ring-hash': [4, 6, 0, 2, 6, 2, 7, 7],
  maglev: [6, 1, 3, 2, 7, 7, 0, 6],
  rendezvous: [5, 2, 0, 5, 6, 0, 6, 1],
  jump: [6, 5, 0, 5, 4, 4, 1, 7],
}
const KEYS: readonly (string | number | bigint)[] = [
  'user-1',
  'user-2',
  'größe',
  '日本',
  '🐟',
  'x\ud800',
  42,
  2n ** 70n,
]

const homeOf = (service: Service, request: PickRequest) => picks(service, 1, request)[0] as number

const perPolicy: Case[] = POLICIES.flatMap((policy) => [
  {
    name: `${policy}: text of any script, numbers and bigints go where they go everywhere`,
    run() {
      const service = serviceWith({ instances: addresses(8), policy })
      expect(KEYS.map((key) => homeOf(service, { key }))).to.deep.equal(HOMES[policy])
    },
  },
  {
    name: `${policy}: a call's tries go to one instance after the other, its key's own first`,
    run() {
      const service = serviceWith({ instances: addresses(5), policy })
      for (const key of KEYS) {
        const leases = [...service.plan({ key })]
        for (const lease of leases) lease.done()
        expect(new Set(leases.map(({ instance }) => instance)).size).to.equal(5)
        expect(service.instances().indexOf(leases[0]?.instance as never)).to.equal(homeOf(service, { key }))
      }
    },
  },
  {
    name: `${policy}: the order of the list does not matter`,
    run() {
      const list = addresses(8)
      const [one, other] = [list, [...list].reverse()].map((instances) => serviceWith({ instances, policy })) as [
        Service,
        Service,
      ]
      for (const key of KEYS) expect(7 - homeOf(other, { key })).to.equal(homeOf(one, { key }))
    },
  },
  {
    name: `${policy}: explain and pickMany go by the key`,
    async run() {
      const service = serviceWith({ instances: addresses(8), policy })
      const { policy: name, candidates } = await service.explain({ key: 'user-1' })
      expect([name, candidates.length]).to.deep.equal([policy, 8])
      const out = new Int32Array(2)
      service.pickMany(out, { key: 'user-1' })
      expect([...out]).to.deep.equal(new Array(2).fill(homeOf(service, { key: 'user-1' })))
    },
  },
])

const bounded: Case[] = ['ring-hash', 'maglev', 'rendezvous'].map((policy) => ({
  name: `${policy}: with a load factor one key alone fills nobody above it`,
  run() {
    const service = serviceWith({ instances: addresses(4), policy: { type: policy, loadFactor: 1.25 } })
    for (let i = 0; i < 40; i++) {
      service.pick({ key: 'hot' })
      const loads = service.stats().instances.map(({ inFlight }) => inFlight)
      expect(Math.max(...loads)).to.be.at.most(Math.ceil((1.25 * (i + 1)) / 4))
    }
  },
}))

const others: Case[] = [
  {
    name: 'source-hash: a client is known by its address, however it is written',
    run() {
      const service = serviceWith({ instances: addresses(30), policy: 'source-hash' })
      const from = (value: string) => homeOf(service, { headers: { 'X-Forwarded-For': value } })
      expect(from('203.0.113.7:4711, 10.1.1.1')).to.equal(from('203.0.113.7'))
      expect(from('::ffff:203.0.113.7')).to.equal(from('203.0.113.7'))
      expect(from('[2001:DB8::0:1]:443')).to.equal(from('2001:db8::1'))
      expect(homeOf(service, { attributes: { clientAddress: '203.0.113.7' } })).to.equal(from('203.0.113.7'))
    },
  },
  {
    name: 'lb.with({ key }): fetch goes where a pick by the key goes',
    async run() {
      const sent: string[] = []
      const lb = createLoadBalancer({
        seed: 1,
        services: { orders: { instances: addresses(8), policy: 'maglev' } },
        fetch: async (input) => {
          sent.push(new URL(input instanceof Request ? input.url : input).host)
          return new Response()
        },
      })
      for (const key of KEYS) await lb.with({ key }).fetch('http://orders/')
      expect(sent).to.deep.equal(HOMES.maglev.map((index) => `10.0.0.${index}:8080`))
    },
  },
]

export const cases: Case[] = [...perPolicy, ...bounded, ...others]
