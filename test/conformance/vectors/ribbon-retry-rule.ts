/** @module Ribbon's RetryRule over a rule that takes its time. */

import { expect } from 'chai'
import { createLoadBalancer, type Policy, retryRule } from 'evenkeel'
import file from '../../vectors/ribbon-retry-rule.json'
import { placed } from './replay.js'
import { type RibbonVector, replayedRibbon } from './ribbon.js'

interface RetryRuleVector extends RibbonVector {
  readonly maxRetryMillis?: number
  readonly eachMs: number
  /** A server that is down is no candidate of ours: the rule has nobody. */
  readonly answers: readonly ('up' | 'down' | 'none')[]
  readonly picked: boolean
  readonly asked: number
  readonly afterMs: number
}

export const cases = replayedRibbon<RetryRuleVector>(file, async (vector) => {
  const { maxRetryMillis, eachMs, answers } = vector
  // A pick asks no more often than there are candidates: once more than it should.
  const instances = placed(new Array(vector.asked + 1).fill({}))
  let nowMs = 0
  let asked = 0
  const below: Policy = {
    name: 'answers',
    pick() {
      const answer = answers[Math.min(asked++, answers.length - 1)]
      nowMs += eachMs
      return answer === 'up' ? 0 : -1
    },
  }
  const policy = retryRule({ policy: below, ...(maxRetryMillis !== undefined && { maxRetryMs: maxRetryMillis }) })
  const lb = createLoadBalancer({
    compat: 'ribbon',
    seed: 1,
    clock: () => nowMs,
    services: { svc: { instances, policy } },
  })
  const lease = lb.service('svc').pick()
  const afterMs = nowMs
  lease?.done({ cancelled: true })
  await lb.close()
  expect({ picked: lease !== undefined, asked, afterMs }).to.deep.equal({
    picked: vector.picked,
    asked: vector.asked,
    afterMs: vector.afterMs,
  })
})
