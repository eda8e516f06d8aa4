/** @module Ribbon's retry rule: asks another policy again while it chooses nobody. */

import { anything, duration, object } from '../config/check.js'
import { msOf } from '../config/duration.js'
import { policyOf } from '../config/names.js'
import type { CandidateList } from '../service/candidates.js'
import type { Policy } from '../types/extension.js'
import type { PolicyName, TypedOptions } from '../types/options.js'
import { corePolicy, type Engine, leased } from './engine.js'
import { hearingFor, subEngineOf } from './foreign.js'

export interface RetryRuleOptions {
  /** The policy that is asked, in any of its forms. Default round robin. */
  policy?: Policy | PolicyName | (string & {}) | TypedOptions
  /** How long `choose` and `fetch` wait for somebody to choose. Default 500. */
  maxRetryMs?: number
}

const check = object({ policy: anything, maxRetryMs: duration(1) })

/** Nothing changes while a pick is made, so a policy is asked again only where it may answer otherwise: this often. */
const MOST_TRIES = 256

/**
 * Another policy, asked again where it chooses nobody. `pick` asks at once, up to 256 times, no more often than there
 * are candidates and not when `maxRetryMs` are over; `choose` and the first pick of a `fetch` also look again every now and then for up to `maxRetryMs`,
 * within their own time limits and signals.
 * Use it where instances come and go so fast that for a moment there is none. Breaks by making calls wait that have
 * nobody to wait for.
 * @see Ribbon 2.7 RetryRule, which spins
 * @example retryRule({ policy: 'availability-filtering', maxRetryMs: 200 })
 */
export function retryRule(options: RetryRuleOptions = {}): Policy {
  check(options, 'retryRule')
  const patienceMs = msOf(options.maxRetryMs) ?? 500
  const policy = policyOf(options.policy ?? 'round-robin', 'retryRule.policy')
  const isUp = (list: CandidateList, index: number) => index >= 0 && !list.isDown(index)
  const rule = corePolicy('retry-rule', (context) => {
    const sub = subEngineOf(policy, context)
    const mayChange = sub.seesDown === true || sub.foreign === true
    const pick: Engine['pick'] = (core, block, handle, nowMs, request, list, tried) => {
      const index = sub.pick(core, block, handle, nowMs, request, list, tried)
      if (isUp(list, index)) return index
      for (let tries = mayChange ? Math.min(list.length, MOST_TRIES) - 1 : 0; tries > 0; tries--) {
        // Those built in take no time, and may not have been told what it is.
        if (sub.foreign === true && context.clock() >= nowMs + patienceMs) break
        const again = sub.pick(core, block, handle, nowMs, request, list, tried)
        if (isUp(list, again)) return again
      }
      return -1
    }
    return {
      ...sub,
      patienceMs,
      picksDown: false,
      ...leased(pick),
    }
  })
  return hearingFor(rule, policy)
}
