/**
 * @module What each policy costs beyond round robin, `pick()` and `done()`, beside what the third article says of
 * Ribbon's rules: there a rule's mean latency against RoundRobinRule's, of requests that take 2 ms. Here the same
 * percentage is of such a request; the time itself is what is measured.
 */

import { POLICY_NAMES } from '../../bindings/config/names.js'
import { pickOf, requestsOf, serviceOf } from '../contestants/choices.js'
import { excess, middle, ratio } from '../harness/median.js'
import { ownLoop } from '../harness/own-loop.js'
import { type Contestant, inRounds } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { count, ms, ns, times } from '../harness/text.js'
import { keysOf, MANY_KEYS } from '../peers/keys.js'

const SIZES = [10, 100, 1_000] as const
const OPS = 2_000
const REQUESTS = requestsOf(keysOf(MANY_KEYS))
const REQUEST_NS = 2e6

/** The article's, section 性能分析, table 2: RandomRule, WeightedResponseTime, AvailabilityFiltering, ZoneAvoidanceRule. */
const ARTICLE: Readonly<Record<string, string>> = {
  'round-robin': 'the base',
  random: '+0.1 %',
  'weighted-response-time': '+2.3 %',
  'availability-filtering': '+1.8 %',
  'zone-avoidance': '+3.5 %',
}

const BUILD = 'maglev table'
const others = POLICY_NAMES.filter((name) => name !== 'round-robin')
const hasMaglev = POLICY_NAMES.includes('maglev')

export const policies: Suite = {
  cases: [...others, ...(hasMaglev ? [BUILD] : [])].map((name) => ({ name })),
  effort: { rounds: 40, calls: 3, warmUpMs: 60 },
  async measure(caseName, effort) {
    const contestants =
      caseName === BUILD
        ? [relisted('maglev', 1_000), relisted('round-robin', 1_000)]
        : SIZES.flatMap((n) =>
            [caseName, 'round-robin'].map((policy) =>
              ownLoop(`${policy} ${n}`, OPS, pickOf(serviceOf(policy, n), REQUESTS)),
            ),
          )
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => [...others.map((policy) => overRoundRobin(found, policy)), ...(hasMaglev ? [build(found)] : [])],
}

/** A list in which one instance has another id each time, and the first pick from it. */
function relisted(policy: string, n: number): Contestant {
  const service = serviceOf(policy, n)
  const instances = Array.from({ length: n }, (_, i) => ({ host: `10.0.${i >> 8}.${i & 255}`, port: 8080 }))
  let turn = 0
  return {
    name: policy,
    ops: 1,
    run() {
      turn++
      service.update([...instances.slice(1), { host: `10.1.0.${turn & 1}`, port: 8080 }])
      const lease = service.pick({ key: 'user' })
      lease?.done()
      return lease?.instance.port as number
    },
  }
}

function overRoundRobin(found: Found, policy: string): Judgement {
  const { timings } = caseOf(found, policy)
  const at = (n: number) => {
    const share = (100 * excess(timings, `${policy} ${n}`, `round-robin ${n}`)) / REQUEST_NS
    const cost = `${ns(middle(timings, `${policy} ${n}`))}, ${times(ratio(timings, `${policy} ${n}`, `round-robin ${n}`))}`
    return `${cost}, ${share < 0 ? '' : '+'}${share.toFixed(4)} % (${count(n)})`
  }
  const article = ARTICLE[policy]
  return {
    what: `${policy} against round-robin, pick() + done(): time, ratio, share of 2 ms${article === undefined ? '' : `; the article: ${article}`}`,
    measured: SIZES.map(at).join('; '),
  }
}

function build(found: Found): Judgement {
  const { timings } = caseOf(found, BUILD)
  const tookMs = excess(timings, 'maglev', 'round-robin') / 1e6
  return {
    what: 'Maglev table of 65 537 for 1 000 instances (a changed list and its first pick, less that of round-robin)',
    budget: '≤ 10 ms',
    measured: ms(tookMs),
    met: tookMs <= 10,
  }
}
