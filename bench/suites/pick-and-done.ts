/** @module `pick()` and `done()` of a warm service, next to undici's selection and to the same policy over objects. */

import { emptyLease, oneClockRead } from '../contestants/clock.js'
import { balancerOf, occupy, throughBalancer, throughObjects, throughService } from '../contestants/public-picks.js'
import { excess, middle, ratio } from '../harness/median.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { ns, perSize, SIZES, times } from '../harness/text.js'
import {
  type Backend,
  backends,
  type Choose,
  leastRequest,
  peakEwma,
  random,
  roundRobin,
  weightedRoundRobin,
} from '../peers/object-policies.js'
import { scattered } from '../peers/scattered.js'
import { undiciSelection } from '../peers/undici-selection.js'

interface Policy {
  readonly choose: (list: readonly Backend[]) => Choose
  readonly timed?: true
  readonly weighted?: true
  /** Looks at requests in flight: some are made before. */
  readonly loaded?: true
}

const POLICIES: Record<string, Policy> = {
  'round-robin': { choose: roundRobin },
  'weighted-round-robin': { choose: weightedRoundRobin, weighted: true },
  random: { choose: random },
  'least-request': { choose: leastRequest, loaded: true },
  'peak-ewma': { choose: peakEwma, loaded: true, timed: true },
}

const UNDICI_ORIGINS = 10

export const pickAndDone: Suite = {
  cases: Object.keys(POLICIES).map((name) => ({ name })),
  effort: { rounds: 100, calls: 3, warmUpMs: 60 },
  async measure(caseName, effort) {
    const policy = POLICIES[caseName]
    if (policy === undefined) throw new Error(`there is no case "${caseName}"`)
    const contestants = SIZES.flatMap((n) => bothSides(n, caseName, policy))
    if (caseName === 'round-robin') contestants.push(undici(), throughBalancer('lb.pick 10', balancerOf(10, caseName)))
    if (policy.timed) contestants.push(oneClockRead, emptyLease)
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [
    againstUndici(found),
    overTheClock(found, 60),
    againstObjects(found, 'peak-ewma', 1),
    ...Object.keys(POLICIES).map((policy) => overview(found, policy)),
    ...others(found),
  ],
}

function bothSides(n: number, name: string, policy: Policy): Contestant[] {
  const weightOf = policy.weighted && ((i: number) => 1 + scattered(i, 10))
  const service = balancerOf(n, name.replace('weighted-', ''), weightOf).service('bench')
  const { contestant, balancer } = throughObjects(`objects ${n}`, policy.choose(backends(n, weightOf)), !!policy.timed)
  if (policy.loaded) {
    occupy(() => service.pick(), n)
    occupy(() => balancer.pick(), n)
  }
  return [throughService(`pick ${n}`, service), contestant]
}

function undici(): Contestant {
  const ops = 2_000
  const choose = undiciSelection(UNDICI_ORIGINS)
  let last = choose()
  return {
    name: 'undici',
    ops,
    run() {
      let moves = 0
      for (let op = 0; op < ops; op++) {
        const next = choose()
        if (next !== last) moves++
        last = next
      }
      return moves
    },
  }
}

function againstUndici(found: Found): Judgement {
  const { timings } = caseOf(found, 'round-robin')
  const value = ratio(timings, `pick ${UNDICI_ORIGINS}`, 'undici')
  return {
    what: "pick() + done(), round-robin, against undici BalancedPool's selection, 10 origins",
    budget: '≤ 0.7 ×',
    measured: `${times(value)} (${ns(middle(timings, 'pick 10'))} against ${ns(middle(timings, 'undici'))})`,
    met: value <= 0.7,
  }
}

function overTheClock(found: Found, mostNs: number): Judgement {
  const { timings } = caseOf(found, 'peak-ewma')
  const over = (n: number) => excess(timings, `pick ${n}`, 'one clock read', 'one clock read')
  return {
    what: `pick() + done(), peak-ewma, beyond two clock reads (${ns(middle(timings, 'one clock read'))} each)`,
    budget: `≤ ${mostNs} ns`,
    measured: perSize((n) => ns(over(n))),
    met: SIZES.every((n) => over(n) <= mostNs),
  }
}

function againstObjects(found: Found, policy: string, most: number): Judgement {
  const { timings } = caseOf(found, policy)
  const ratioAt = (n: number) => ratio(timings, `pick ${n}`, `objects ${n}`)
  return {
    what: `pick() + done(), ${policy}, against the same over objects`,
    budget: `≤ ${most} ×`,
    measured: perSize((n) => times(ratioAt(n))),
    met: SIZES.every((n) => ratioAt(n) <= most),
  }
}

function overview(found: Found, policy: string): Judgement {
  const { timings } = caseOf(found, policy)
  const show = (n: number) =>
    `${ns(middle(timings, `pick ${n}`))}, ${times(ratio(timings, `pick ${n}`, `objects ${n}`))}`
  return { what: `pick() + done(), ${policy}: time, and against objects`, measured: perSize(show) }
}

function others(found: Found): Judgement[] {
  const turns = caseOf(found, 'round-robin').timings
  const peak = caseOf(found, 'peak-ewma').timings
  return [
    {
      what: 'lb.pick(serviceId) against service.pick(), round-robin',
      measured: times(ratio(turns, 'lb.pick 10', 'pick 10')),
    },
    {
      what: 'an object with the fields of a lease, made and marked as done',
      measured: ns(middle(peak, 'empty lease')),
    },
  ]
}
