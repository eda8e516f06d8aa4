/**
 * @module What a warm chain of suppliers adds to a pick, by its depth: the built-in ones, and some of the user's own.
 * All requests ask for one key, or four keys in turn; and what a hint of 100 000 values keeps in memory.
 */

import {
  apiVersion,
  createLoadBalancer,
  hint,
  type Lease,
  type PickRequest,
  type Service,
  type Supplier,
  stickySession,
  subset,
  version,
  zonePreference,
} from 'evenkeel'
import { excess } from '../harness/median.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ns } from '../harness/text.js'
import { scattered } from '../peers/scattered.js'

const OPS = 5_000
const HINTS = ['canary', 'stable', 'nightly', 'legacy'] as const
const MANY_HINTS = 100_000

const instancesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    host: `10.0.${i >> 8}.${i & 255}`,
    hint: HINTS[scattered(i, HINTS.length)] as string,
    zone: scattered(i * 31, 2) === 0 ? 'a' : 'b',
    version: 'v1',
    metadata: { API_VERSION: '1' },
  }))

// After hint nothing is the same for all requests, so whatever follows is asked at each pick too.
const ONE = [hint()]
const THREE = [...ONE, zonePreference({ zone: 'a' }), subset({ instanceId: 'client-7', size: 100 })]
const SIX = [...THREE, version(), stickySession(), apiVersion({ header: 'x-api-version', fallback: 'all' })]
const OWN = ['first', 'second', 'third'].map(own)

interface Chain {
  readonly suppliers: readonly Supplier[]
  readonly instances: number
  /** The most that it may add to a pick, in ns: for one key, and for four in turn. */
  readonly most?: readonly [number, number]
}

const CHAINS: Record<string, Chain> = {
  '1 supplier': { suppliers: ONE, instances: 1_000 },
  '3 suppliers': { suppliers: THREE, instances: 1_000, most: [25, 100] },
  '6 suppliers': { suppliers: SIX, instances: 1_000, most: [60, 240] },
  '3 suppliers, 10 000 instances': { suppliers: THREE, instances: 10_000, most: [25, 100] },
  '6 suppliers, 10 000 instances': { suppliers: SIX, instances: 10_000, most: [60, 240] },
  '3 suppliers of the user': { suppliers: OWN, instances: 1_000 },
}
const CARDINALITY = 'a hint of 100 000 values'

export const warmChain: Suite = {
  cases: [...Object.keys(CHAINS), CARDINALITY].map((name) => ({ name })),
  effort: { rounds: 100, calls: 3, warmUpMs: 60 },
  async measure(caseName, effort) {
    const chain = CHAINS[caseName]
    if (chain === undefined) return manyHints(effort.rounds)
    const instances = instancesOf(chain.instances)
    const contestants = [[], chain.suppliers].flatMap((suppliers) => {
      const name = suppliers.length === 0 ? 'bare' : 'chain'
      return [
        picks(
          `${name}, one key`,
          serviceWith(instances, suppliers),
          HINTS.map(() => ({ hint: HINTS[0] })),
        ),
        picks(
          `${name}, four keys`,
          serviceWith(instances, suppliers),
          HINTS.map((hint) => ({ hint })),
        ),
      ]
    })
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [
    ...Object.entries(CHAINS).flatMap(([name, { most }]) => [
      onTop(found, name, 'one key', most?.[0]),
      onTop(found, name, 'four keys', most?.[1]),
    ]),
    kept(found),
  ],
}

/** Keyed by the request's hint; keeps all but its first candidate, so that each stage answers a list of its own. */
function own(name: string): Supplier {
  return { name, memoKey: (request) => request.hint, filter: (list) => list.slice(1) }
}

function serviceWith(instances: readonly { host: string }[], suppliers: readonly Supplier[]): Service {
  return createLoadBalancer({ seed: 42, services: { bench: { instances, suppliers } } }).service('bench')
}

function picks(name: string, service: Service, requests: readonly PickRequest[]): Contestant {
  let lease = service.pick() as Lease
  return {
    name,
    ops: OPS,
    run() {
      let sum = 0
      for (let op = 0; op < OPS; op++) {
        const next = service.pick(requests[op & 3]) as Lease
        lease.done()
        lease = next
        sum += lease.attempt
      }
      return sum
    },
  }
}

/** Asks for one value after the other, as often as there are rounds, and counts what the second supplier is asked. */
function manyHints(rounds: number) {
  let asked = 0
  const counting: Supplier = {
    name: 'counting',
    memoKey: (request) => request.hint,
    filter(list) {
      asked++
      return list
    },
  }
  const service = serviceWith(instancesOf(10_000), [counting])
  const values = Math.min(MANY_HINTS, rounds * 1_000)
  for (let i = 0; i < values; i++) service.pick({ hint: `${i}` })?.done()
  const before = asked
  // What is still kept is answered without being asked again.
  for (let i = values - 1; i >= 0; i--) {
    service.pick({ hint: `${i}` })?.done()
    if (asked > before) return { timings: {}, figures: { values, kept: values - 1 - i } }
  }
  return { timings: {}, figures: { values, kept: values } }
}

function kept(found: Found): Judgement {
  const { values = Number.NaN, kept = Number.NaN } = caseOf(found, CARDINALITY).figures ?? {}
  return {
    what: `answers that a supplier keeps of ${values.toLocaleString('en')} values`,
    measured: String(kept),
    budget: '≤ 1 024',
    met: kept <= 1_024,
  }
}

function onTop(found: Found, chain: string, keys: string, most?: number): Judgement {
  const added = excess(caseOf(found, chain).timings, `chain, ${keys}`, `bare, ${keys}`)
  return {
    what: `warm chain of ${chain}, ${keys === 'one key' ? keys : `${keys} in turn`}, on top of the pick`,
    measured: ns(added),
    ...(most !== undefined && { budget: `≤ ${most} ns`, met: added <= most }),
  }
}
