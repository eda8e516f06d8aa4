/** @module The subset supplier: which part of a list a client keeps. */

import { expect } from 'chai'
import { createLoadBalancer, type Service, subset } from 'evenkeel'
import golden from '../vectors/golden.json'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { serviceWith } from './services.js'

/** Instances `n00`, `n01`, … whose order by id is that of their numbers. */
const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ instanceId: `n${String(i).padStart(3, '0')}`, host: 'h' }))

const idsOf = async (service: Service) => (await service.explain()).candidates.map(({ instanceId }) => instanceId)

export const cases: Case[] = [
  {
    name: 'subset: clients that are told of the same instances in another order agree',
    async run() {
      for (const { instanceId, n, size, picked } of golden.subset.filter((one) => one.instanceId !== '')) {
        const list = numbered(n)
        const expected = picked.map((i) => list[i]?.instanceId)
        for (const instances of [
          list,
          list.toReversed(),
          list.toSorted(() => 1),
          [...list.slice(3), ...list.slice(0, 3)],
        ]) {
          const service = serviceWith({ instances, suppliers: [subset({ instanceId, size })] })
          if (n > size) expect(await idsOf(service)).to.deep.equal(expected)
          else expect(await idsOf(service)).to.deep.equal(instances.map((one) => one.instanceId))
        }
      }
    },
  },
  {
    name: 'subset, quirk subset-unsorted: the list as it comes',
    async run() {
      const shuffled = (compat: string[]) =>
        idsOf(
          serviceWith(
            { instances: numbered(10).toReversed(), suppliers: [subset({ instanceId: 'foobar', size: 3 })] },
            { compat },
          ),
        )
      expect(await shuffled([])).to.deep.equal(['n005', 'n000', 'n006'])
      expect(await shuffled(['subset-unsorted'])).to.deep.equal(['n004', 'n009', 'n003'])
    },
  },
  {
    name: 'subset: of a list that other suppliers have cut, weights and all',
    async run() {
      const service = serviceWith(
        {
          instances: numbered(20)
            .toReversed()
            .map((one, i) => ({ ...one, weight: i, zone: i % 2 ? 'here' : 'there' })),
          suppliers: ['zone-preference', 'weighted', subset({ instanceId: 'foobar', size: 3 })],
        },
        { zone: 'here' },
      )
      const here = numbered(20).filter((_, i) => i % 2 === 0)
      expect(await idsOf(service)).to.deep.equal([5, 0, 6].map((i) => here[i]?.instanceId))
      const counted = new Map<string, number>()
      for (let i = 0; i < 90; i++) {
        const id = service.pick()?.instance.instanceId as string
        counted.set(id, (counted.get(id) ?? 0) + 1)
      }
      // Weights 9, 19 and 7 of 35.
      expect(counted.get('n000')).to.be.within(46, 52)
    },
  },
  {
    name: 'subset: without an id of its own it goes by the balancer’s',
    async run() {
      const instances = numbered(101)
      const own = serviceWith(
        { instances, suppliers: [subset({ instanceId: 'foobar1', size: 5 })] },
        { instanceId: 'x' },
      )
      const inherited = serviceWith({ instances, suppliers: [{ type: 'subset', size: 5 }] }, { instanceId: 'foobar1' })
      expect(await idsOf(inherited)).to.deep.equal(await idsOf(own))
    },
  },
  {
    name: 'subset: without any id the service is refused',
    run() {
      const make = () =>
        createLoadBalancer({ services: { orders: { instances: ['http://h:1'], suppliers: ['subset'] } } })
      expect(thrown(make)).to.include({ code: 'EVENKEEL_CONFIG', option: 'subset.instanceId', serviceId: 'orders' })
    },
  },
]
