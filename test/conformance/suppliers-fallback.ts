/** @module What suppliers offer where nobody is what was asked for, and how it is told. */

import { expect } from 'chai'
import {
  apiVersion,
  canary,
  type Fallback,
  hint,
  type InstanceInit,
  type PickRequest,
  type Service,
  type Supplier,
  stickySession,
  version,
  zonePreference,
} from 'evenkeel'
import type { Case } from './case.js'
import { thrown } from './errors-of.js'
import { addresses, indexer, picks, serviceWith } from './services.js'

/** Nobody is in zone "c", has hint "c", version "c", API version 3 or this cookie's id. */
const ASKS: PickRequest = {
  headers: { 'x-sc-lb-hint': 'c', 'x-service-version': 'c', 'x-api-version': '3', cookie: 'sc-lb-instance-id=gone' },
}
const SUPPLIERS: [name: string, make: (fallback?: Fallback) => Supplier, byDefault: 'all' | 'none', reason: string][] =
  [
    [
      'zone-preference',
      (fallback) => zonePreference({ zone: 'c', ...given(fallback) }),
      'all',
      'no instance has zone "c"',
    ],
    ['hint', (fallback) => hint(given(fallback)), 'all', 'no instance has hint "c"'],
    ['version', (fallback) => version(given(fallback)), 'all', 'no instance has version "c"'],
    ['sticky-session', (fallback) => stickySession(given(fallback)), 'all', 'no instance "gone"'],
    ['api-version', (fallback) => apiVersion(given(fallback)), 'none', 'no instance has API_VERSION "3"'],
    [
      'canary',
      (fallback) => canary({ percent: 0, match: () => true, ...given(fallback) }),
      'none',
      'only canary instances',
    ],
  ]

function given(fallback: Fallback | undefined): { fallback?: Fallback } {
  return fallback === undefined ? {} : { fallback }
}

/** Four instances that have what the suppliers look at, each with this metadata besides. */
function listOf(...marks: Record<string, string>[]): InstanceInit[] {
  return addresses(4).map((url, i) => ({
    url,
    metadata: { zone: 'a', hint: 'a', version: 'a', API_VERSION: '1', ...marks[i] },
  }))
}

async function offered(service: Service): Promise<number[]> {
  return (await service.explain(ASKS)).candidates.map(indexer(service))
}

const STABLE = { stable: 'true' }
const CANARY = { canary: 'true' }

export const cases: Case[] = [
  ...SUPPLIERS.flatMap(([name, make, byDefault, reason]): Case[] => [
    {
      name: `fallback of ${name}: '${byDefault}' unless another is asked for`,
      async run() {
        const everybody = [0, 1, 2, 3]
        for (const [fallback, expected] of [
          [undefined, byDefault === 'all' ? everybody : []],
          ['all', everybody],
          ['none', []],
        ] as [Fallback | undefined, number[]][]) {
          const service = serviceWith({ instances: listOf(), suppliers: [make(fallback)] })
          expect(await offered(service), String(fallback)).to.deep.equal(expected)
        }
      },
    },
    {
      name: `fallback of ${name}: 'stable' is the marked, without a mark those that are no canaries`,
      async run() {
        for (const [marks, expected] of [
          [
            [{}, STABLE, CANARY, { ...STABLE, ...CANARY }],
            [1, 3],
          ],
          [
            [CANARY, {}, { stable: 'yes', canary: 'false' }, CANARY],
            [1, 2],
          ],
          [[CANARY, CANARY, CANARY, CANARY], []],
        ] as [Record<string, string>[], number[]][]) {
          const service = serviceWith({ instances: listOf(...marks), suppliers: [make('stable')] })
          expect(await offered(service)).to.deep.equal(expected)
        }
      },
    },
    {
      name: `fallback of ${name}: one that offers somebody is explained, counted and told; nobody is no fallback`,
      async run() {
        const service = serviceWith({ instances: listOf(STABLE), suppliers: [make('stable')] })
        const told: unknown[] = []
        service.on('fallback', (event) => told.push(event))
        expect(picks(service, 3, ASKS)).to.deep.equal([0, 0, 0])
        expect(service.stats().fallbacks).to.deep.equal({ [name]: 3 })
        expect(told).to.deep.equal([1, 2, 3].map(() => ({ supplier: name, reason })))
        expect((await service.explain(ASKS)).layers[1]).to.deep.equal({ name, in: 4, out: 1, fellBack: true, reason })
        const strict = serviceWith({ instances: listOf(), suppliers: [make('none')] })
        expect(picks(strict, 1, ASKS)).to.deep.equal([-1])
        expect(strict.stats().fallbacks).to.deep.equal({})
        expect((await strict.explain(ASKS)).layers[1]).to.deep.equal({ name, in: 4, out: 0, reason })
      },
    },
    {
      name: `fallback of ${name}: a function sees list and request, and is asked for each pick`,
      run() {
        const seen: unknown[] = []
        const fallback: Fallback = (list, request) => {
          seen.push(request.attributes?.at, list.length)
          return list.filter((_, i) => i === request.attributes?.at)
        }
        const service = serviceWith({ instances: listOf(), suppliers: [make(fallback)] })
        const at = [2, 0, 2]
        expect(at.flatMap((at) => picks(service, 1, { ...ASKS, attributes: { at } }))).to.deep.equal(at)
        expect(seen).to.deep.equal([2, 4, 0, 4, 2, 4])
        expect(service.stats().fallbacks).to.deep.equal({ [name]: 3 })
      },
    },
    {
      name: `fallback of ${name}: a function that returns what it was not given is a typed error`,
      run() {
        const copies: Fallback = (list) => list.map((instance) => ({ ...instance }))
        for (const wrong of [copies, () => undefined, () => 'all'] as unknown[] as Fallback[]) {
          const service = serviceWith({ instances: listOf(), suppliers: [make(wrong)] })
          const error = thrown(() => service.pick(ASKS))
          expect(error).to.include({ code: 'EVENKEEL_CONFIG', option: 'suppliers', serviceId: 'orders' })
          expect((error as Error).message).to.contain(`"${name}"`)
        }
      },
    },
  ]),
  {
    name: 'fallback: what is none is refused, and so is one beside strict',
    run() {
      for (const [name, make] of Object.entries({ zonePreference, hint, version })) {
        expect(thrown(() => make({ fallback: 'some' as 'all' }))).to.include({ option: `${name}.fallback` })
        expect(thrown(() => make({ strict: true, fallback: 'stable' }))).to.include({ code: 'EVENKEEL_CONFIG' })
        make({ strict: true, fallback: 'none' })
        make({ strict: false, fallback: 'all' })
      }
    },
  },
]
