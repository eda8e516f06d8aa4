/** @module Ribbon's server list filters: zone affinity, and the subset whose members change. */

import { expect } from 'chai'
import {
  createLoadBalancer,
  type InstanceInit,
  type Lease,
  type Service,
  type ServiceOptions,
  serverListSubset,
  type ZoneAffinityOptions,
  zoneAffinity,
} from 'evenkeel'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { leaseOn, trip } from './server-stats.js'
import { addresses, handClock, picks, serviceWith } from './services.js'

const zoned = (zones: string): InstanceInit[] =>
  addresses(zones.length).map((url, i) => ({ url, zone: zones[i] as string }))

/** Of zone a, over instances of these zones, a letter each. */
function affine(zones: string, options: ZoneAffinityOptions = {}, compat: string[] = []) {
  const clock = handClock()
  const service = serviceWith(
    { instances: zoned(zones), suppliers: [zoneAffinity(options)] },
    { zone: 'A', clock: clock.now, compat },
  )
  return { service, ...clock }
}

async function told(service: Service): Promise<[number, string | undefined, boolean]> {
  const { candidates, layers } = await service.explain()
  const { reason, fellBack = false } = layers.at(-1) ?? {}
  return [candidates.length, reason, fellBack]
}

const KEEPS = 'keeps zone "a"'

const affinity: Case[] = [
  {
    name: 'zone-affinity: the own zone while it is well',
    async run() {
      expect(await told(affine('aab').service)).to.deep.equal([2, KEEPS, false])
    },
  },
  {
    name: 'zone-affinity: everybody where the own zone has nobody, or is not known',
    async run() {
      expect(await told(affine('bb').service)).to.deep.equal([2, 'no instance has zone "a"', true])
      const { service } = affine('aab', { zone: 'B', exclusive: true })
      expect(await told(service)).to.deep.equal([1, 'keeps zone "b"', false])
      const unset = serviceWith({ instances: zoned('ab'), suppliers: ['zone-affinity'] })
      expect(await told(unset)).to.deep.equal([2, 'own zone unset', false])
      expect((await unset.explain()).notes).to.deep.equal(['own zone unset: zone-affinity keeps everything'])
    },
  },
  {
    name: 'zone-affinity: everybody once fewer than two servers of the zone are left, as Ribbon counts',
    async run() {
      expect(await told(affine('abb').service)).to.deep.equal([3, 'zone "a" has 1 servers with a closed breaker', true])
      expect(await told(affine('abb', { minAvailable: 1 }).service)).to.deep.equal([1, KEEPS, false])
    },
  },
  {
    name: 'zone-affinity: everybody from 0.6 requests in flight for each server on; looked at each 30 s',
    async run() {
      const { service, advance } = affine('aaaaab')
      const leases = [0, 1, 2].map((index) => leaseOn(service, index))
      expect(await told(service), 'not at each pick').to.deep.equal([5, KEEPS, false])
      advance(29_999)
      picks(service, 1)
      expect(await told(service)).to.deep.equal([5, KEEPS, false])
      advance(1)
      picks(service, 1)
      expect(await told(service)).to.deep.equal([6, 'zone "a" has 0.6 requests in flight for each server', true])
      expect(service.stats().fallbacks).to.deep.equal({ 'zone-affinity': 1 })
      for (const lease of leases) lease.done()
      advance(30_000)
      picks(service, 1)
      expect(await told(service)).to.deep.equal([5, KEEPS, false])
    },
  },
  {
    name: 'zone-affinity: looked at when a list comes, also one that says the same',
    async run() {
      const { service } = affine('aab')
      const leases = [leaseOn(service, 0), leaseOn(service, 1)]
      service.update(zoned('aab'))
      expect((await told(service))[0]).to.equal(3)
      for (const lease of leases) lease.done()
      service.update(zoned('aab'))
      expect((await told(service))[0]).to.equal(2)
    },
  },
  {
    name: 'zone-affinity: a zone whose breakers are open is left',
    async run() {
      const { service } = affine('aab')
      trip(service, 0)
      trip(service, 1)
      service.update(zoned('aab'))
      expect(await told(service)).to.deep.equal([3, 'zone "a" has 2 of 2 breakers open', true])
      const share = affine('aaaaab').service
      for (const index of [0, 1, 2]) trip(share, index)
      share.update(zoned('aaaaab'))
      expect((await told(share))[0], 'three of five are below 0.8').to.equal(5)
      trip(share, 3)
      share.update(zoned('aaaaab'))
      expect(await told(share), 'four of five are not').to.deep.equal([6, 'zone "a" has 4 of 5 breakers open', true])
    },
  },
  {
    name: 'zone-affinity: exclusive stays whatever the zone’s state, and with nobody there is nobody',
    async run() {
      const { service } = affine('ab', { exclusive: true })
      trip(service, 0)
      service.update(zoned('ab'))
      expect(await told(service)).to.deep.equal([1, KEEPS, false])
      service.update(zoned('bb'))
      expect(service.pick()).to.equal(undefined)
    },
  },
  {
    name: 'zone-affinity, prefer: a zone that is only small stays, one in a bad way does not',
    async run() {
      const { service } = affine('abb', { prefer: true })
      expect(await told(service)).to.deep.equal([1, KEEPS, false])
      trip(service, 0)
      service.update(zoned('abb'))
      expect((await told(service))[0]).to.equal(3)
      const half = affine('aab', { prefer: true }).service
      trip(half, 0)
      half.update(zoned('aab'))
      expect(await told(half)).to.deep.equal([3, 'zone "a" has 1 servers with a closed breaker', true])
    },
  },
  {
    name: 'zone-affinity, quirk ribbon-zone-preference-again: it stays in the zone that is in a bad way',
    async run() {
      const { service } = affine('aab', { prefer: true }, ['ribbon-zone-preference-again'])
      trip(service, 0)
      trip(service, 1)
      service.update(zoned('aab'))
      expect(await told(service)).to.deep.equal([2, KEEPS, false])
      const plain = affine('aab', {}, ['ribbon-zone-preference-again']).service
      trip(plain, 0)
      trip(plain, 1)
      plain.update(zoned('aab'))
      expect((await told(plain))[0], 'without prefer there is nothing to apply again').to.equal(3)
    },
  },
  {
    name: 'zone-affinity: goes by the service’s own statistics settings',
    async run() {
      const service = serviceWith(
        { instances: zoned('aab'), suppliers: ['zone-affinity'], serverStats: { connectionFailureThreshold: 1 } },
        { zone: 'a' },
      )
      trip(service, 0, 1)
      trip(service, 1, 1)
      service.update(zoned('aab'))
      expect((await told(service))[0]).to.equal(3)
    },
  },
]

const ids = async (service: Service) => (await service.explain()).candidates.map(({ instanceId }) => instanceId)

function subsetted(options: Parameters<typeof serverListSubset>[0], more: Partial<ServiceOptions> = {}, n = 50) {
  const clock = handClock()
  const make = (compat: string[] = []) =>
    serviceWith(
      { instances: addresses(n), suppliers: [serverListSubset(options)], ...more },
      { clock: clock.now, compat },
    )
  return { service: make(), make, ...clock }
}

const goneFrom = (before: string[], after: string[]) => before.filter((id) => !after.includes(id))

const subsets: Case[] = [
  {
    name: 'server-list-subset: 20 of the list, two of them exchanged each 30 s',
    async run() {
      const { service, advance } = subsetted({})
      const before = await ids(service)
      expect(before.length).to.equal(20)
      picks(service, 40)
      advance(29_999)
      picks(service, 1)
      expect(await ids(service)).to.deep.equal(before)
      advance(1)
      picks(service, 1)
      const after = await ids(service)
      expect([after.length, goneFrom(before, after).length]).to.deep.equal([20, 2])
      expect(await told(service)).to.deep.equal([20, 'keeps 20 of 50; 2 left it, 2 of them by force', false])
    },
  },
  {
    name: 'server-list-subset: who is gone, busy or failing leaves and does not come back at once',
    async run() {
      const { service } = subsetted({ size: 5 }, { serverStats: { failureWindowMs: 60_000 } })
      const before = await ids(service)
      const at = (id: string) => service.instances().findIndex(({ instanceId }) => instanceId === id)
      const [busy, failing, gone] = before as [string, string, string]
      const lease = leaseOn(service, at(busy))
      trip(service, at(failing), 1)
      service.update(service.instances().filter(({ instanceId }) => instanceId !== gone))
      const after = await ids(service)
      expect(goneFrom(before, after).toSorted()).to.deep.equal([busy, failing, gone].toSorted())
      expect(after.length).to.equal(5)
      lease.done()
    },
  },
  {
    name: 'server-list-subset: thresholds let busy and failing ones stay, the worst go by force',
    async run() {
      const options = { size: 4, forceEliminatePercent: 0.25, connectionThreshold: 9, failureThreshold: 9 }
      const { service } = subsetted(options, { serverStats: { failureWindowMs: 60_000 } })
      const before = await ids(service)
      const at = (id: string | undefined) => service.instances().findIndex(({ instanceId }) => instanceId === id)
      const leases: Lease[] = [leaseOn(service, at(before[2]))]
      service.update(service.instances())
      const second = await ids(service)
      expect(goneFrom(before, second), 'the busy one').to.deep.equal([before[2]])
      trip(service, at(second[1]), 1)
      leases.push(leaseOn(service, at(second[0])), leaseOn(service, at(second[0])))
      service.update(service.instances())
      expect(goneFrom(second, await ids(service)), 'the failing one before the busy one').to.deep.equal([second[1]])
      for (const lease of leases) lease.done()
    },
  },
  {
    name: 'server-list-subset: a short list stays whole, though all are eliminated',
    async run() {
      const { service, advance } = subsetted({ size: 20 }, {}, 6)
      for (let i = 0; i < 6; i++) service.pick()
      advance(30_000)
      picks(service, 1)
      expect((await ids(service)).length).to.equal(6)
    },
  },
  {
    name: 'server-list-subset: to be explained changes nothing',
    async run() {
      const { make, advance } = subsetted({ size: 8 }, { policy: 'random' })
      const [explained, other] = [make(), make()]
      for (let round = 0; round < 4; round++) {
        await explained.explain()
        expect(picks(explained, 20)).to.deep.equal(picks(other, 20))
        advance(30_000)
        await explained.explain()
      }
    },
  },
  {
    name: 'server-list-subset: drains and retries don’t change it; without anybody of it everybody is offered',
    async run() {
      const { service } = subsetted({ size: 3 })
      const before = await ids(service)
      service.drain(before[0] as string)
      expect(await ids(service)).to.deep.equal(before.slice(1))
      const previous = service.instances().filter(({ instanceId }) => before.includes(instanceId))
      expect(before).to.not.include(service.pick({ previous })?.instance.instanceId)
      for (const id of before) service.drain(id)
      expect((await ids(service)).length).to.equal(47)
      for (const id of before) service.restore(id)
      expect(await ids(service)).to.deep.equal(before)
    },
  },
  {
    name: 'server-list-subset, quirk ribbon-subset-biased-shuffle: other draws',
    async run() {
      const { make } = subsetted({ size: 8 })
      expect(await ids(make(['ribbon-subset-biased-shuffle']))).to.not.deep.equal(await ids(make()))
    },
  },
  {
    name: 'server-list-subset: must come before what goes by the request',
    run() {
      const make = () =>
        createLoadBalancer({
          services: { orders: { instances: addresses(3), suppliers: ['hint', 'server-list-subset'] } },
        })
      expect(thrown(make)).to.include({ code: 'EVENKEEL_CONFIG', option: 'suppliers', serviceId: 'orders' })
    },
  },
]

export const cases: Case[] = [...affinity, ...subsets]
