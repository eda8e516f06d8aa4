/** @module Which candidates the built-in suppliers leave to the policy. */

import { expect } from 'chai'
import { hint, type InstanceInit, type PickRequest, type Service, subset, weighted, zonePreference } from 'evenkeel'
import golden from '../vectors/golden.json'
import type { Case } from './case.js'
import { addresses, counts, picks, serviceWith, weighing } from './services.js'

const zoned = (...zones: (string | undefined)[]): InstanceInit[] =>
  addresses(zones.length).map((url, i) => ({ url, ...(zones[i] !== undefined && { zone: zones[i] as string }) }))

const hinted = (...hints: (string | undefined)[]): InstanceInit[] =>
  addresses(hints.length).map((url, i) => ({ url, ...(hints[i] !== undefined && { hint: hints[i] as string }) }))

/** Who is picked in many picks, in ascending order. */
function reached(service: Service, request: PickRequest = {}): number[] {
  return [...new Set(picks(service, 40, request))].sort((a, b) => a - b)
}

const zones: Case[] = [
  {
    name: 'zone-preference: the own zone, ignoring case',
    run() {
      const service = serviceWith(
        { instances: zoned('Shanghai', 'beijing', 'SHANGHAI', undefined), suppliers: ['zone-preference'] },
        { zone: 'shanghai' },
      )
      expect(reached(service)).to.deep.equal([0, 2])
    },
  },
  {
    name: 'zone-preference: everything, and a counted fallback, if the zone has nobody',
    run() {
      const service = serviceWith({ instances: zoned('a', 'b'), suppliers: [zonePreference({ zone: 'c' })] })
      const told: unknown[] = []
      service.on('fallback', (event) => told.push(event))
      expect(reached(service)).to.deep.equal([0, 1])
      expect(service.stats().fallbacks).to.deep.equal({ 'zone-preference': 40 })
      expect(told[0]).to.deep.equal({ supplier: 'zone-preference', reason: 'no instance has zone "c"' })
    },
  },
  {
    name: 'zone-preference, strict: nobody if the zone has nobody',
    run() {
      for (const given of [
        zonePreference({ zone: 'c', strict: true }),
        { type: 'zone-preference', fallback: 'none' },
      ]) {
        const service = serviceWith({ instances: zoned('a', 'b'), suppliers: [given] }, { zone: 'c' })
        expect(service.pick()).to.equal(undefined)
        expect(service.stats().noInstance).to.equal(1)
      }
    },
  },
  {
    name: 'zone-preference: everything without an own zone',
    run() {
      expect(reached(serviceWith({ instances: zoned('a', 'b'), suppliers: ['zone-preference'] }))).to.deep.equal([0, 1])
    },
  },
  {
    name: 'zone-preference: over 200 instances, more than one bitset word',
    run() {
      const service = serviceWith({
        instances: zoned(...Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? 'near' : `far-${i}`))),
        suppliers: [zonePreference({ zone: 'NEAR' })],
      })
      const expected = Array.from({ length: 67 }, (_, i) => i * 3)
      expect([...new Set(picks(service, 67))].sort((a, b) => a - b)).to.deep.equal(expected)
    },
  },
]

const hints: Case[] = [
  {
    name: 'hint: header before request before configuration',
    run() {
      const service = serviceWith({
        instances: hinted('header', 'request', 'configured', undefined),
        suppliers: ['hint'],
        hints: { orders: 'configured', default: 'other' },
      })
      const headers = { 'x-sc-lb-hint': 'header' }
      expect(reached(service, { headers, hint: 'request' })).to.deep.equal([0])
      expect(reached(service, { hint: 'request' })).to.deep.equal([1])
      expect(reached(service)).to.deep.equal([2])
    },
  },
  {
    name: 'hint: the header in any case and in every form of headers',
    run() {
      const service = serviceWith({ instances: hinted('v1', 'v2'), suppliers: ['hint'] })
      const forms: HeadersInit[] = [
        { 'X-SC-LB-HINT': 'v2' },
        [
          ['accept', '*/*'],
          ['X-Sc-Lb-Hint', 'v2'],
        ],
        new Headers({ 'X-SC-LB-Hint': 'v2' }),
      ]
      for (const headers of forms) expect(reached(service, { headers })).to.deep.equal([1])
    },
  },
  {
    name: 'hint: a header of the user’s own choice',
    run() {
      const service = serviceWith({ instances: hinted('v1', 'v2'), suppliers: [hint({ header: 'X-Version' })] })
      expect(reached(service, { headers: { 'x-version': 'v1' } })).to.deep.equal([0])
      expect(reached(service, { headers: { 'x-sc-lb-hint': 'v1' } })).to.deep.equal([0, 1])
    },
  },
  {
    name: 'hint: compared exactly; unmatched it falls back, strict it does not',
    run() {
      const instances = hinted('v1', 'v2')
      expect(reached(serviceWith({ instances, suppliers: ['hint'] }), { hint: 'V1' })).to.deep.equal([0, 1])
      const strict = serviceWith({ instances, suppliers: [hint({ strict: true })] })
      expect(strict.pick({ hint: 'V1' })).to.equal(undefined)
      expect(reached(strict)).to.deep.equal([0, 1])
    },
  },
  {
    name: 'hint: a hundred keys in turn, more than are memoised',
    run() {
      const values = Array.from({ length: 100 }, (_, i) => `v${i}`)
      const service = serviceWith({ instances: hinted(...values), suppliers: ['hint'] })
      for (let round = 0; round < 3; round++) {
        values.forEach((value, i) => {
          expect(picks(service, 1, { hint: value })).to.deep.equal([i])
        })
      }
    },
  },
]

const weights: Case[] = [
  {
    name: 'weighted: 0 drains while any weight is positive',
    run() {
      const service = serviceWith({ instances: weighing([0, 2, 1]), suppliers: ['weighted'] })
      expect(counts(picks(service, 30), 3)).to.deep.equal([0, 20, 10])
      expect(service.update(weighing([0, 0, 0])).changed.length).to.equal(2)
      expect(counts(picks(service, 30), 3)).to.deep.equal([10, 10, 10])
    },
  },
  {
    name: 'weighted: an unreadable weight in metadata counts as 1 and is named by explain',
    async run() {
      const service = serviceWith({
        instances: [
          { url: 'http://10.0.0.1:80', metadata: { weight: 'heavy' } },
          { url: 'http://10.0.0.2:80', metadata: { weight: '3' } },
          { url: 'http://10.0.0.3:80', metadata: { weight: '-2' } },
        ],
        suppliers: ['weighted'],
      })
      expect(counts(picks(service, 50), 3)).to.deep.equal([10, 30, 10])
      const notes = (await service.explain()).notes.join('\n')
      expect(notes).to.contain('"10.0.0.1:80"').and.to.contain('"10.0.0.3:80"').and.not.to.contain('10.0.0.2')
    },
  },
  {
    name: 'weighted: a weight function that throws nothing and returns nonsense counts as 1',
    run() {
      const service = serviceWith({ instances: addresses(2), suppliers: [weighted({ weight: () => Number.NaN })] })
      expect(counts(picks(service, 10), 2)).to.deep.equal([5, 5])
    },
  },
  {
    name: 'suppliers narrow one after the other, innermost first',
    run() {
      const service = serviceWith(
        {
          instances: [
            { url: 'http://10.0.0.1:80', zone: 'here', hint: 'v1', weight: 3 },
            { url: 'http://10.0.0.2:80', zone: 'here', hint: 'v2', weight: 2 },
            { url: 'http://10.0.0.3:80', zone: 'there', hint: 'v2', weight: 9 },
            { url: 'http://10.0.0.4:80', zone: 'here', hint: 'v2', weight: 1 },
          ],
          suppliers: ['hint', 'zone-preference', 'weighted'],
        },
        { zone: 'here' },
      )
      expect(counts(picks(service, 30, { hint: 'v2' }), 4)).to.deep.equal([0, 20, 0, 10])
    },
  },
]

const subsets: Case[] = golden.subset
  .filter(({ instanceId }) => instanceId !== '')
  .map(({ instanceId, n, size, picked }) => ({
    name: `subset: SCLB's ${size} of ${n} for ${JSON.stringify(instanceId)}`,
    async run() {
      const instances = addresses(n)
      const service = serviceWith(
        { instances, suppliers: [subset({ instanceId, size })] },
        { compat: ['subset-unsorted'] },
      )
      const { candidates } = await service.explain()
      const indexes = new Map(service.instances().map((instance, i) => [instance, i]))
      expect(candidates.map((instance) => indexes.get(instance))).to.deep.equal(picked)
    },
  }))

const explained: Case[] = [
  {
    name: 'explain: layers, exclusions and reasons, without moving the rotation',
    async run() {
      const service = serviceWith(
        {
          instances: zoned('here', 'there', 'here'),
          suppliers: ['zone-preference'],
          policy: { type: 'round-robin', start: -1 },
        },
        { zone: 'here' },
      )
      for (let i = 0; i < 3; i++) {
        const { layers, excluded, candidates } = await service.explain()
        expect(layers.map(({ name, in: before, out }) => [name, before, out])).to.deep.equal([
          ['discovery', 3, 3],
          ['zone-preference', 3, 2],
        ])
        expect(excluded.map(({ instanceId, by }) => [instanceId, by])).to.deep.equal([
          ['10.0.0.1:8080', 'zone-preference'],
        ])
        expect(candidates.length).to.equal(2)
      }
      expect(picks(service, 3)).to.deep.equal([0, 2, 0])
    },
  },
]

export const cases: Case[] = [...zones, ...hints, ...weights, ...subsets, ...explained]
