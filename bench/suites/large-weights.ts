/** @module Weights whose sum is 10⁹, next to weights of 1 and to small ones: the time of a pick, the core's memory. */

import { ORDER_INTERLEAVED } from '../../assembly/layout.js'
import { balancerOf, throughService } from '../contestants/public-picks.js'
import { middle, ratio } from '../harness/median.js'
import { createRawService, instantiateCore, pagesOf } from '../harness/raw-core.js'
import { inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ns, times } from '../harness/text.js'
import { scattered } from '../peers/scattered.js'

const INSTANCES = 1_000
/** Long enough for several pages. */
const INSTANCES_FOR_MEMORY = 100_000

const WEIGHTS: Record<string, (i: number, n: number) => number> = {
  'weights of 1': () => 1,
  'weights of 1 to 10': (i) => 1 + scattered(i, 10),
  'weights with a sum of 10^9': (i, n) => 1 + scattered(i, (2 * 10 ** 9) / n),
}
const [ONE, SMALL, LARGE] = Object.keys(WEIGHTS) as [string, string, string]

export const largeWeights: Suite = {
  cases: [{ name: 'round-robin' }, { name: 'random' }],
  effort: { rounds: 60, calls: 3, warmUpMs: 60 },
  async measure(policy, effort) {
    const contestants = Object.entries(WEIGHTS).map(([name, weightOf]) =>
      throughService(name, balancerOf(INSTANCES, policy, (i) => weightOf(i, INSTANCES)).service('bench')),
    )
    const figures: Record<string, number> = {}
    for (const [name, weightOf] of Object.entries(WEIGHTS)) {
      const core = instantiateCore()
      createRawService(core, INSTANCES_FOR_MEMORY, {
        of: (i) => weightOf(i, INSTANCES_FOR_MEMORY),
        order: ORDER_INTERLEAVED,
      })
      figures[name] = pagesOf(core)
    }
    return { timings: await inRounds(contestants, effort), figures }
  },
  judge: (found) => [
    time(found, 'round-robin', ONE, 1.2),
    time(found, 'round-robin', SMALL),
    time(found, 'random', ONE),
    time(found, 'random', SMALL),
    memory(found),
  ],
}

function time(found: Found, policy: string, other: string, most?: number): Judgement {
  const { timings } = caseOf(found, policy)
  const value = ratio(timings, LARGE, other)
  return {
    what: `pick() + done(), weighted ${policy}, weights with a sum of 10⁹ against ${other}`,
    measured: `${times(value)} (${ns(middle(timings, LARGE))} against ${ns(middle(timings, other))})`,
    ...(most !== undefined && { budget: `same (≤ ${most} ×)`, met: value <= most }),
  }
}

function memory(found: Found): Judgement {
  const pages = (name: string) => caseOf(found, 'round-robin').figures?.[name] ?? Number.NaN
  return {
    what: 'core memory with 100 000 instances, weights with a sum of 10⁹ against weights of 1',
    budget: 'same (≤ 1.2 ×)',
    measured: `${times(pages(LARGE) / pages(ONE))} (${pages(LARGE)} against ${pages(ONE)} pages of 64 KiB; ${SMALL}: ${pages(SMALL)})`,
    met: pages(LARGE) / pages(ONE) <= 1.2,
  }
}
