/** @module Rendezvous subsets and apertures: the same part of a list on every runtime, as the tests' BigInt XXH64 orders it. */

import { expect } from 'chai'
import { aperture, rendezvousSubset, type Service } from 'evenkeel'
import type { Case } from './case.js'
import { counts, picks, serviceWith } from './services.js'

const numbered = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ instanceId: `n${String(i).padStart(2, '0')}`, host: 'h' }))

const idsOf = async (service: Service) => (await service.explain()).candidates.map(({ instanceId }) => instanceId)

export const cases: Case[] = [
  {
    name: 'rendezvous-subset: the lowest hashes, in the order of the list; one goes, one comes',
    async run() {
      const suppliers = [rendezvousSubset({ instanceId: 'web-7', size: 4 })]
      const of = (instances: ReturnType<typeof numbered>) => idsOf(serviceWith({ instances, suppliers }))
      const before = await of(numbered(20))
      expect(before).to.deep.equal(['n07', 'n11', 'n15', 'n18'])
      expect(await of(numbered(20).toReversed())).to.deep.equal(before.toReversed())
      const after = await of(numbered(20).filter(({ instanceId }) => instanceId !== before[1]))
      expect(after).to.include.members(before.filter((_, i) => i !== 1))
      expect(after).to.have.lengthOf(4)
    },
  },
  {
    name: 'rendezvous-subset: of names beyond ASCII',
    async run() {
      const instances = ['größe', '東京', '😀', 'a'].map((instanceId) => ({ instanceId, host: 'h' }))
      const suppliers = [rendezvousSubset({ instanceId: 'wäb', size: 2 })]
      expect(await idsOf(serviceWith({ instances, suppliers }))).to.deep.equal(['東京', 'a'])
    },
  },
  {
    name: 'aperture: five clients see all of twelve instances alike',
    async run() {
      const instances = numbered(12)
      const total = new Array<number>(12).fill(0)
      for (let index = 0; index < 5; index++) {
        const service = serviceWith({ instances, suppliers: [aperture({ clients: 5, index, minAperture: 3 })] })
        // Width 2 of 5: a rotation is 24 picks, in fifths of an instance.
        counts(picks(service, 240), 12).forEach((count, i) => {
          total[i] = (total[i] as number) + count
        })
      }
      expect(total).to.deep.equal(new Array(12).fill(100))
      const second = serviceWith({ instances, suppliers: [aperture({ clients: 5, index: 1, minAperture: 3 })] })
      expect(await idsOf(second)).to.deep.equal(['n02', 'n03', 'n04', 'n05', 'n07', 'n10'])
    },
  },
]
