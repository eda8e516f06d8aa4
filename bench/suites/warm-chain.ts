/**
 * @module What a warm chain of suppliers adds to a pick: the built-in ones, and with them as many of the user's own.
 * All requests ask for one key, or four keys in turn.
 */

import {
  createLoadBalancer,
  hint,
  type Lease,
  type PickRequest,
  type Service,
  type Supplier,
  subset,
  zonePreference,
} from 'evenkeel'
import { excess } from '../harness/median.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ns } from '../harness/text.js'
import { scattered } from '../peers/scattered.js'

const OPS = 5_000
const HINTS = ['canary', 'stable', 'nightly', 'legacy'] as const

const INSTANCES = Array.from({ length: 1_000 }, (_, i) => ({
  host: `10.0.${i >> 8}.${i & 255}`,
  hint: HINTS[scattered(i, HINTS.length)] as string,
  zone: scattered(i * 31, 2) === 0 ? 'a' : 'b',
}))

// After hint nothing is the same for all requests, so zone preference and subset are asked at each pick too.
const BUILT_IN = [hint(), zonePreference({ zone: 'a' }), subset({ instanceId: 'client-7', size: 100 })]
const OWN = [own('first'), own('second'), own('third')]

const CHAINS: Record<string, readonly Supplier[]> = {
  '3 built-in suppliers': BUILT_IN,
  '3 suppliers of the user': OWN,
  '6 suppliers, 3 built-in and 3 of the user': [...BUILT_IN, ...OWN],
}
const [THREE, OWN_THREE, SIX] = Object.keys(CHAINS) as [string, string, string]

export const warmChain: Suite = {
  cases: Object.keys(CHAINS).map((name) => ({ name })),
  effort: { rounds: 100, calls: 3, warmUpMs: 60 },
  async measure(caseName, effort) {
    const contestants = [[], CHAINS[caseName] ?? []].flatMap((suppliers) => {
      const name = suppliers.length === 0 ? 'bare' : 'chain'
      return [
        picks(
          `${name}, one key`,
          serviceWith(suppliers),
          HINTS.map(() => ({ hint: HINTS[0] })),
        ),
        picks(
          `${name}, four keys`,
          serviceWith(suppliers),
          HINTS.map((hint) => ({ hint })),
        ),
      ]
    })
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [
    onTop(found, THREE, 'one key', 25),
    onTop(found, SIX, 'one key', 60),
    onTop(found, THREE, 'four keys', 100),
    onTop(found, SIX, 'four keys', 240),
    onTop(found, OWN_THREE, 'one key'),
    onTop(found, OWN_THREE, 'four keys'),
  ],
}

/** Keyed by the request's hint; keeps all but its first candidate, so that each stage answers a list of its own. */
function own(name: string): Supplier {
  return { name, memoKey: (request) => request.hint, filter: (list) => list.slice(1) }
}

function serviceWith(suppliers: readonly Supplier[]): Service {
  return createLoadBalancer({ seed: 42, services: { bench: { instances: INSTANCES, suppliers } } }).service('bench')
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

function onTop(found: Found, chain: string, keys: string, most?: number): Judgement {
  const added = excess(caseOf(found, chain).timings, `chain, ${keys}`, `bare, ${keys}`)
  return {
    what: `warm chain of ${chain}, ${keys === 'one key' ? keys : `${keys} in turn`}, on top of the pick`,
    measured: ns(added),
    ...(most !== undefined && { budget: `≤ ${most} ns`, met: added <= most }),
  }
}
