/** @module The canary supplier: a share of the requests for a part of the instances. */

import { expect } from 'chai'
import { type CanaryOptions, canary, type InstanceInit, type Service } from 'evenkeel'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { addresses, indexer, picks, serviceWith } from './services.js'

/** Instance 0 and 1 are canaries, of version v2. */
const MIXED: InstanceInit[] = addresses(5).map((url, i) => ({
  url,
  metadata: i < 2 ? { canary: 'true', version: 'v2' } : { version: 'v1' },
}))

const splitting = (options: CanaryOptions, instances = MIXED): Service =>
  serviceWith({ instances, suppliers: [canary(options)] })

const isCanary = (index: number) => index < 2

/** How many of a hundred picks reach canaries. */
function percentOf(indexes: readonly number[]): number {
  return (indexes.filter(isCanary).length / indexes.length) * 100
}

async function explained(service: Service, request = {}): Promise<number[]> {
  return (await service.explain(request)).candidates.map(indexer(service))
}

const KEYS = Array.from({ length: 20_000 }, (_, i) => `user-${i}`)

function keysAtCanaries(percent: number): Set<string> {
  const service = splitting({ percent })
  return new Set(KEYS.filter((key) => isCanary(picks(service, 1, { key })[0] as number)))
}

export const cases: Case[] = [
  {
    name: 'canary: 5 % of 100 000 seeded picks, to within 0.2 points',
    run() {
      expect(percentOf(picks(splitting({ percent: 5 }), 100_000))).to.be.closeTo(5, 0.2)
    },
  },
  {
    name: 'canary: 0 and 100 percent are nobody and everybody; fractions count',
    run() {
      expect(percentOf(picks(splitting({ percent: 0 }), 1_000))).to.equal(0)
      expect(percentOf(picks(splitting({ percent: 100 }), 1_000))).to.equal(100)
      expect(percentOf(picks(splitting({ percent: 0.5 }), 100_000))).to.be.closeTo(0.5, 0.07)
    },
  },
  {
    name: 'canary: a key keeps its side, in every service and with every seed',
    run() {
      for (const key of ['user-1', 'user-2', 42, 42n, '']) {
        const one = picks(splitting({ percent: 50 }), 20, { key }).map(isCanary)
        const other = serviceWith({ instances: MIXED, suppliers: [canary({ percent: 50 })] }, { seed: 99 })
        expect(new Set([...one, ...picks(other, 20, { key }).map(isCanary)]).size).to.equal(1)
      }
    },
  },
  {
    name: 'canary: keys are shared out by the percentage, and none leaves the canaries when it grows',
    run() {
      let before = new Set<string>()
      for (const percent of [1, 5, 20, 60, 100]) {
        const now = keysAtCanaries(percent)
        // Four standard deviations of a binomial share.
        const tolerance = 4 * Math.sqrt((percent * (100 - percent)) / KEYS.length)
        expect((now.size / KEYS.length) * 100).to.be.closeTo(percent, tolerance)
        for (const key of before) expect(now.has(key), key).to.equal(true)
        before = now
      }
    },
  },
  {
    name: 'canary: explain draws nothing and shows the larger side',
    async run() {
      const service = splitting({ percent: 5 })
      const twin = splitting({ percent: 5 })
      for (let i = 0; i < 10; i++) expect(await explained(service)).to.deep.equal([2, 3, 4])
      expect(picks(service, 500)).to.deep.equal(picks(twin, 500))
      expect(await explained(splitting({ percent: 70 }))).to.deep.equal([0, 1])
      expect(await explained(splitting({ percent: 100 }))).to.deep.equal([0, 1])
      expect(await explained(splitting({ percent: 0 }))).to.deep.equal([2, 3, 4])
    },
  },
  {
    name: 'canary: by metadata of any kind, or by a function',
    async run() {
      for (const match of [
        { version: 'v2' },
        ({ metadata }: { metadata: Record<string, string> }) => metadata.version === 'v2',
      ]) {
        expect(await explained(splitting({ percent: 100, match } as CanaryOptions))).to.deep.equal([0, 1])
      }
      expect(await explained(splitting({ percent: 100, match: { version: 'v2', canary: 'false' } }))).to.have.length(5)
    },
  },
  {
    name: 'canary: without canaries their requests go to the others, counted; the others’ requests as ever',
    run() {
      const service = splitting({ percent: 30 }, addresses(3))
      expect(picks(service, 1_000)).not.to.include(-1)
      expect(service.stats().fallbacks.canary).to.be.within(240, 360)
    },
  },
  {
    name: 'canary: with canaries only, the others’ requests get nobody unless a fallback is asked for',
    async run() {
      const only = MIXED.slice(0, 2)
      const service = splitting({ percent: 5 }, only)
      expect(await explained(service)).to.deep.equal([])
      expect((await service.explain()).layers[1]?.reason).to.equal('only canary instances')
      const lenient = splitting({ percent: 5, fallback: 'all' }, only)
      expect(picks(lenient, 1_000)).not.to.include(-1)
      expect(lenient.stats().fallbacks.canary).to.be.within(900, 990)
    },
  },
  {
    name: 'canary: beside a fallback function requests are drawn and keyed all the same',
    run() {
      const service = splitting({ percent: 30, fallback: (list) => list })
      expect(percentOf(picks(service, 4_000))).to.be.closeTo(30, 3)
      expect(new Set(picks(service, 50, { key: 'one' }).map(isCanary)).size).to.equal(1)
      expect(service.stats().fallbacks).to.deep.equal({})
    },
  },
  {
    name: 'canary: hidden by an outer supplier, a key counts for nothing',
    run() {
      const service = serviceWith(
        {
          instances: MIXED.map((one) => ({ ...(one as { url: string }), zone: 'here' })),
          suppliers: [canary({ percent: 50 }), 'zone-preference'],
          callGetWithRequestOnDelegates: false,
        },
        { zone: 'here' },
      )
      expect(percentOf(picks(service, 400, { key: 'one' }))).to.be.within(35, 65)
    },
  },
  {
    name: 'canary: options that can’t be used are named',
    run() {
      for (const [options, option] of [
        [{}, 'percent'],
        [{ percent: 101 }, 'percent'],
        [{ percent: Number.NaN }, 'percent'],
        [{ percent: 5, match: {} }, 'match'],
        [{ percent: 5, match: { canary: true } }, 'match.canary'],
        [{ percent: 5, strict: true }, 'strict'],
      ] as [CanaryOptions, string][]) {
        expect(thrown(() => canary(options))).to.include({ option: `canary.${option}` })
      }
    },
  },
]
