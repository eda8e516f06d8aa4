/** @module The same-instance-preference supplier: a client stays where it was. */

import { expect } from 'chai'
import { roundRobin, type Service, type Supplier, sameInstancePreference } from 'evenkeel'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { addresses, picks, serviceWith } from './services.js'

const listOf = (count: number, metadata: Record<string, string> = {}) =>
  addresses(count).map((url) => ({ url, metadata }))

const staying = (compat: string[] = []): Service =>
  serviceWith(
    { instances: listOf(3), suppliers: ['same-instance-preference'], policy: roundRobin({ start: 0 }) },
    { compat },
  )

async function reasonOf(service: Service): Promise<string | undefined> {
  return (await service.explain()).layers[1]?.reason
}

export const cases: Case[] = [
  {
    name: 'same-instance-preference: what was picked is picked again, and nothing counts as a fallback',
    async run() {
      const service = staying()
      expect(await reasonOf(service)).to.equal('no instance is remembered')
      expect(picks(service, 4)).to.deep.equal([1, 1, 1, 1])
      expect(await reasonOf(service)).to.equal('keeps "10.0.0.1:8080", which was picked last')
      expect(service.stats().fallbacks).to.deep.equal({})
    },
  },
  {
    name: 'same-instance-preference: one that is gone is forgotten by the next pick, not by explain',
    async run() {
      const service = staying()
      const all = listOf(3)
      picks(service, 1)
      service.update([all[0] ?? '', all[2] ?? ''])
      expect(await reasonOf(service)).to.equal('"10.0.0.1:8080" was picked last and is not here')
      service.update(all)
      expect(picks(service, 1)).to.deep.equal([1])
      service.update([all[0] ?? '', all[2] ?? ''])
      const [next] = picks(service, 1)
      service.update(all)
      expect(picks(service, 2)).to.deep.equal(next === 0 ? [0, 0] : [2, 2])
    },
  },
  {
    name: 'same-instance-preference: an empty list forgets',
    async run() {
      const service = staying()
      picks(service, 2)
      service.update([])
      expect(picks(service, 1)).to.deep.equal([-1])
      service.update(listOf(3))
      expect(await reasonOf(service)).to.equal('no instance is remembered')
    },
  },
  {
    name: 'same-instance-preference: new metadata is the same instance',
    run() {
      const service = staying()
      picks(service, 1)
      service.update(listOf(3, { heartbeat: '2' }))
      expect(picks(service, 3)).to.deep.equal([1, 1, 1])
    },
  },
  {
    name: 'same-instance-preference, quirk same-instance-by-metadata: new metadata is another instance',
    async run() {
      const service = staying(['same-instance-by-metadata'])
      expect(picks(service, 2)).to.deep.equal([1, 1])
      service.update(listOf(3, { heartbeat: '2' }))
      expect(await reasonOf(service)).to.contain('is not here')
      expect(picks(service, 2)).to.deep.equal([2, 2])
      service.update(listOf(3, { heartbeat: '2' }).reverse())
      expect(picks(service, 2)).to.deep.equal([0, 0])
    },
  },
  {
    name: 'same-instance-preference, quirk same-instance-by-metadata: stays at the same one once it was picked anew',
    async run() {
      const service = staying(['same-instance-by-metadata'])
      picks(service, 1)
      const [a = '', b = '', c = ''] = listOf(3, { heartbeat: '2' })
      service.update([a, c, b])
      expect(await reasonOf(service)).to.contain('is not here')
      expect(picks(service, 3)).to.deep.equal([2, 2, 2])
    },
  },
  {
    name: 'same-instance-preference: may hide the request from what is inside of it',
    run() {
      const service = (callGetWithRequestOnDelegates: boolean) =>
        serviceWith({
          instances: addresses(3).map((url, i) => ({ url, version: `${i}` })),
          suppliers: ['version', 'same-instance-preference'],
          policy: roundRobin({ start: -1 }),
          callGetWithRequestOnDelegates,
        })
      const request = { headers: { 'x-service-version': '2' } }
      expect(picks(service(true), 2, request)).to.deep.equal([2, 2])
      expect(picks(service(false), 2, request)).to.deep.equal([0, 0])
    },
  },
  {
    name: 'same-instance-preference: each service has a memory of its own',
    run() {
      const supplier = sameInstancePreference()
      const make = (start: number) =>
        serviceWith({ instances: addresses(3), suppliers: [supplier], policy: roundRobin({ start }) })
      const [first, second] = [make(0), make(1)]
      picks(first, 1)
      expect(picks(second, 2)).to.deep.equal([2, 2])
      expect(picks(first, 2)).to.deep.equal([1, 1])
    },
  },
  {
    name: 'same-instance-preference: forgets what an inner supplier leaves out, whoever asks',
    run() {
      const odd: Supplier = {
        name: 'odd',
        memoKey: (request) => String(request.attributes?.odd),
        filter: (list, request) => (request.attributes?.odd ? list.filter((_, i) => i % 2 === 1) : list),
      }
      const service = serviceWith({
        instances: addresses(4),
        suppliers: [odd, 'same-instance-preference'],
        policy: roundRobin({ start: 1 }),
      })
      expect(picks(service, 2)).to.deep.equal([2, 2])
      const [chosen] = picks(service, 1, { attributes: { odd: true } })
      expect([1, 3]).to.include(chosen)
      expect(picks(service, 2)).to.deep.equal([chosen, chosen])
    },
  },
  {
    name: 'same-instance-preference: takes no options',
    run() {
      expect(thrown(() => sameInstancePreference({ size: 1 } as object))).to.include({ code: 'EVENKEEL_CONFIG' })
    },
  },
]
