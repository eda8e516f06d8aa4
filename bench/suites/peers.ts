/**
 * @module Policies next to the npm packages that do the same, at 10, 100 and 1 000 instances. Both sides choose and end
 * with the chosen object in hand. On ours the request before ends too (`choice`: counted in flight, with a latency where
 * the policy asks for times), which none of the packages keeps count of; `pick` is `pick()` and `done()`, with leases and
 * clock. Where a package knows nothing of requests (rotations), or only counts what it chose (load-balancers), `core` is
 * the call into the core that does as much, and its instance.
 */

import { ORDER_DRAW, ORDER_INTERLEAVED } from '../../assembly/layout.js'
import { POLICY_NAMES } from '../../bindings/config/names.js'
import type { CoreExports } from '../../bindings/core/exports.js'
import { choiceOf, pickOf, requestsOf, serviceOf } from '../contestants/choices.js'
import { middle, ratio } from '../harness/median.js'
import { ownLoop } from '../harness/own-loop.js'
import { createRawService, instantiateCore, type RawService } from '../harness/raw-core.js'
import { type Contestant, inRounds, type Timings } from '../harness/rounds.js'
import { caseOf, type Found, type Judgement, type Suite } from '../harness/suite.js'
import { count, ns, times } from '../harness/text.js'
import { CONTESTS, type Contest } from '../peers/by-policy.js'
import { installPeers } from '../peers/installed.js'
import { keysOf, MANY_KEYS } from '../peers/keys.js'
import { type Backend, backends } from '../peers/object-policies.js'
import type { Peer } from '../peers/peer.js'
import { scattered } from '../peers/scattered.js'

const SIZES = [10, 100, 1_000] as const
/** Where rotations must cost what they cost at 10. */
const FAR = 100_000
const OPS = 5_000

const weightOf = (i: number) => 1 + scattered(i, 10)
const contests = Object.entries(CONTESTS).filter(([, { policy }]) => POLICY_NAMES.includes(policy))

export const peers: Suite = {
  cases: contests.map(([name]) => ({ name })),
  effort: { rounds: 60, calls: 3, warmUpMs: 60 },
  prepare: installPeers,
  async measure(caseName, effort) {
    const contest = CONTESTS[caseName]
    if (contest === undefined) throw new Error(`there is no case "${caseName}"`)
    // One for all sizes: calls into several are calls to several functions.
    const core = instantiateCore()
    const contestants = SIZES.flatMap((n) => [...ours(n, contest, core), ...theirs(n, contest)])
    if (contest.judged === 'walk') contestants.push(coreOf(FAR, contest, core))
    return { timings: await inRounds(contestants, effort) }
  },
  judge: (found) => contests.flatMap(([name, contest]) => judged(found, name, contest)),
}

function ours(n: number, contest: Contest, core: CoreExports): Contestant[] {
  const { policy, options, weighted } = contest
  const requests = requestsOf(keysOf(contest.keys ?? MANY_KEYS))
  const make = () => serviceOf({ type: policy, ...options }, n, weighted && weightOf)
  return [
    ownLoop(`choice ${n}`, OPS, choiceOf(make(), requests)),
    ownLoop(`pick ${n}`, OPS, pickOf(make(), requests)),
    ...(comparesCore(contest) ? [coreOf(n, contest, core)] : []),
  ]
}

function theirs(n: number, { peers, keys = MANY_KEYS }: Contest): Contestant[] {
  return peers.map(({ name, ops, of }) => ownLoop(`${name} ${n}`, ops?.(n) ?? OPS, of(n, weightOf, keysOf(keys))))
}

function comparesCore({ unloaded, peers }: Contest): boolean {
  return unloaded || peers.some(({ endsNothing }) => endsNothing)
}

/** What the core is asked for where a package does no more, by policy. */
const CALLS: Record<string, { order: number; of(core: CoreExports, raw: RawService): () => number }> = {
  'round-robin': {
    order: ORDER_INTERLEAVED,
    of:
      ({ pickRoundRobin }, { block, list }) =>
      () =>
        pickRoundRobin(block, list),
  },
  random: {
    order: ORDER_DRAW,
    of:
      ({ pickRandom }, { block, list }) =>
      () =>
        pickRandom(block, list),
  },
  'least-request': {
    order: ORDER_DRAW,
    of:
      ({ leaseLeastRequest }, { block, list }) =>
      () =>
        leaseLeastRequest(block, list, 2),
  },
}

/** The call into the core, and the instance. */
function coreOf(n: number, { policy, weighted }: Contest, core: CoreExports): Contestant {
  const call = CALLS[policy]
  if (call === undefined) throw new Error(`there is no call into the core for "${policy}"`)
  const choose = call.of(core, createRawService(core, n, weighted && { of: weightOf, order: call.order }))
  const instances = backends(n)
  return ownLoop(`core ${n}`, OPS, () => (instances[choose()] as Backend).id)
}

function judged(found: Found, name: string, contest: Contest): Judgement[] {
  const { timings } = caseOf(found, name)
  const sideFor = ({ endsNothing }: Peer) => (contest.unloaded || endsNothing ? 'core' : 'choice')
  const against = (peer: Peer, n: number) => ratio(timings, `${sideFor(peer)} ${n}`, `${peer.name} ${n}`)
  const each = (peer: Peer) =>
    SIZES.map((n) => `${times(against(peer, n))} of ${ns(middle(timings, `${peer.name} ${n}`))} (${count(n)})`).join(
      ', ',
    )
  const most = (peer: Peer) => (contest.judged === 'each' ? 1 : peer.name === 'loadbalance' ? 3 : undefined)
  return [
    ...contest.peers.map((peer) => {
      const limit = contest.judged && most(peer)
      return {
        what: `${SIDES[sideFor(peer)]}, ${name}, against ${peer.name}${peer.note === undefined ? '' : ` (${peer.note})`}`,
        measured: each(peer),
        ...(limit !== undefined && { budget: `≤ ${limit} ×`, met: SIZES.every((n) => against(peer, n) <= limit) }),
      }
    }),
    ...(contest.judged === 'walk' ? [flatness(timings, name)] : []),
    {
      what: `${name}: choice and end; pick() + done()`,
      measured: SIZES.map(
        (n) => `${ns(middle(timings, `choice ${n}`))}; ${ns(middle(timings, `pick ${n}`))} (${count(n)})`,
      ).join(', '),
    },
  ]
}

const SIDES = { core: 'core call and its instance', choice: 'choice and end' }

function flatness(timings: Timings, name: string): Judgement {
  const value = ratio(timings, `core ${FAR}`, 'core 10')
  return {
    what: `core call and its instance, ${name}, ${count(FAR)} instances against 10`,
    budget: 'flat (≤ 1.5 ×)',
    measured: times(value),
    met: value <= 1.5,
  }
}
