/**
 * @module What a pick among 100 000 instances costs against one among 10. Each call makes enough picks for the long list to
 * be as warm as it gets: what remains is what the processor's caches cannot hold.
 */

import { ENDED_SUCCESS, ORDER_INTERLEAVED } from '../../assembly/layout.js'
import type { CoreExports } from '../../bindings/core/exports.js'
import { balancerOf, occupy, throughService } from '../contestants/public-picks.js'
import { middle, ratio } from '../harness/median.js'
import { createRawService, instantiateCore } from '../harness/raw-core.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Suite } from '../harness/suite.js'
import { ns, times } from '../harness/text.js'
import { scattered } from '../peers/scattered.js'

const SHORT = 10
const LONG = 100_000
const CORE_OPS = 200_000
const PUBLIC_OPS = 100_000

const weightOf = (i: number) => 1 + scattered(i, 10)

/** What is measured, and the most that it may grow. */
const CASES: Record<string, { readonly most?: number; at(core: CoreExports, n: number): Contestant }> = {
  'core, round-robin': {
    most: 1.2,
    at(core, n) {
      const { block, list } = createRawService(core, n)
      return picks(n, () => core.pickRoundRobin(block, list))
    },
  },
  'core, weighted round-robin': {
    most: 1.5,
    at(core, n) {
      const { block, list } = createRawService(core, n, { of: weightOf, order: ORDER_INTERLEAVED })
      return picks(n, () => core.pickRoundRobin(block, list))
    },
  },
  'core, least-request, pick': {
    at(core, n) {
      const { block, list } = occupied(core, n)
      return picks(n, () => core.pickLeastRequest(block, list, 2))
    },
  },
  'core, least-request, lease and complete': {
    most: 1.5,
    at(core, n) {
      const { block, list } = occupied(core, n)
      let row = core.leaseLeastRequest(block, list, 2)
      return picks(n, () => {
        const next = core.leaseLeastRequest(block, list, 2)
        core.complete(block, row, ENDED_SUCCESS)
        row = next
        return row
      })
    },
  },
  'pick() + done(), round-robin': { most: 1.2, at: (_, n) => publicPicks('round-robin', n) },
  'pick() + done(), weighted round-robin': { most: 1.5, at: (_, n) => publicPicks('round-robin', n, weightOf) },
  'pick() + done(), least-request': { most: 3, at: (_, n) => publicPicks('least-request', n) },
  'pick() + done(), peak-ewma': { at: (_, n) => publicPicks('peak-ewma', n) },
}

export const growth: Suite = {
  cases: Object.keys(CASES).map((name) => ({ name })),
  effort: { rounds: 15, calls: 3, warmUpMs: 100 },
  async measure(caseName, effort) {
    const core = instantiateCore()
    const contestants = [SHORT, LONG].map((n) => CASES[caseName]?.at(core, n) as Contestant)
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) =>
    Object.entries(CASES).map(([name, { most }]) => {
      const { timings } = caseOf(found, name)
      const grown = ratio(timings, String(LONG), String(SHORT))
      const both = `${ns(middle(timings, String(LONG)))} against ${ns(middle(timings, String(SHORT)))}`
      return {
        what: `growth from 10 to 100 000 instances: ${name}`,
        measured: `${times(grown)} (${both})`,
        ...(most !== undefined && { budget: `≤ ${most} ×`, met: grown <= most }),
      }
    }),
}

function picks(n: number, pick: () => number): Contestant {
  return {
    name: String(n),
    ops: CORE_OPS,
    run() {
      let sum = 0
      for (let op = 0; op < CORE_OPS; op++) sum += pick()
      return sum
    },
  }
}

/** Up to three requests in flight at each. */
function occupied(core: CoreExports, n: number) {
  const service = createRawService(core, n)
  for (let row = 0; row < n; row++) {
    for (let held = scattered(row, 4); held > 0; held--) core.acquireRow(service.block, row)
  }
  return service
}

function publicPicks(policy: string, n: number, weights?: (i: number) => number): Contestant {
  const service = balancerOf(n, policy, weights).service('bench')
  occupy(() => service.pick(), n)
  return throughService(String(n), service, PUBLIC_OPS)
}
