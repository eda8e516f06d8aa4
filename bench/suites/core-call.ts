/**
 * @module One call into the core, next to the same choice over objects and to an export that does nothing.
 * Both sides end with the chosen object in hand.
 */

import { ORDER_INTERLEAVED } from '../../assembly/layout.js'
import type { CoreExports } from '../../bindings/core/exports.js'
import { loaded, unloaded } from '../contestants/core-picks.js'
import { middle, ratio } from '../harness/median.js'
import { createRawService, instantiateCore } from '../harness/raw-core.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ns, perSize, SIZES, times } from '../harness/text.js'
import { backends, leastRequest, peakEwma, random, roundRobin, weightedRoundRobin } from '../peers/object-policies.js'
import { scattered } from '../peers/scattered.js'

const OPS = 20_000

/** For each policy two contestants over a list of n: the core and objects. */
const POLICIES: Record<string, (core: CoreExports, n: number) => readonly Contestant[]> = {
  'round-robin'(core, n) {
    const instances = backends(n)
    return unloaded(n, core.pickRoundRobin, createRawService(core, n), instances, roundRobin(instances))
  },
  'weighted-round-robin'(core, n) {
    const weightOf = (i: number) => 1 + scattered(i, 10)
    const service = createRawService(core, n, { of: weightOf, order: ORDER_INTERLEAVED })
    const instances = backends(n, weightOf)
    return unloaded(n, core.pickRoundRobin, service, instances, weightedRoundRobin(instances))
  },
  random(core, n) {
    const instances = backends(n)
    return unloaded(n, core.pickRandom, createRawService(core, n), instances, random(instances))
  },
  'least-request'(core, n) {
    const instances = backends(n)
    return loaded(n, core, createRawService(core, n), instances, leastRequest(instances), false)
  },
  'peak-ewma'(core, n) {
    const instances = backends(n)
    return loaded(n, core, createRawService(core, n), instances, peakEwma(instances), true)
  },
}

const ON_BUN = 'round-robin on Bun'

export const coreCall: Suite = {
  cases: [...Object.keys(POLICIES).map((name) => ({ name })), { name: ON_BUN, on: 'bun' }],
  effort: { rounds: 100, calls: 3, warmUpMs: 60 },
  async measure(caseName, effort) {
    const core = instantiateCore()
    const policy = POLICIES[caseName === ON_BUN ? 'round-robin' : caseName]
    if (policy === undefined) throw new Error(`there is no case "${caseName}"`)
    const contestants = [emptyCall(core), ...SIZES.flatMap((n) => policy(core, n))]
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [
    againstObjects(found, 'round-robin', 2),
    againstObjects(found, ON_BUN, 2.5),
    ...Object.keys(POLICIES).map((policy) => overview(found, policy)),
  ],
}

function emptyCall({ empty, ...core }: CoreExports): Contestant {
  const block = core.createBlock()
  const list = core.createList(0)
  return {
    name: 'empty call',
    ops: OPS,
    run() {
      let sum = 0
      for (let op = 0; op < OPS; op++) sum += empty(block, list)
      return sum
    },
  }
}

function againstObjects(found: Found, name: string, most: number): Judgement {
  const { timings } = caseOf(found, name)
  const ratioAt = (n: number) => ratio(timings, `instance ${n}`, `objects ${n}`)
  return {
    what: `core pick, ${name}, and its instance, against list[i++ % n]`,
    budget: `≤ ${most} ×`,
    measured: perSize((n) => times(ratioAt(n))),
    met: SIZES.every((n) => ratioAt(n) <= most),
  }
}

function overview(found: Found, policy: string): Judgement {
  const { timings } = caseOf(found, policy)
  const show = (n: number) =>
    `${ns(middle(timings, `core ${n}`))}, ${times(ratio(timings, `instance ${n}`, `objects ${n}`))}`
  return {
    what: `core, ${policy}: time, and with its instance against objects (an empty call: ${ns(middle(timings, 'empty call'))})`,
    measured: perSize(show),
  }
}
