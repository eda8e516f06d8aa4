/** @module Weights by mean response time and error rate of the last minute, as an article on SCLB works them out. */

import { duration, object } from '../config/check.js'
import { msOf } from '../config/duration.js'
import type { Policy } from '../types/extension.js'
import { corePolicy, DEFAULT_DECAY_MS, leased } from './engine.js'
import type { Recorder } from './recorder.js'

export interface DynamicWeightOptions {
  /** How often weights are worked out, at the earliest: at the first pick after this long. Default 1 000. */
  updateMs?: number
}

const check = object({ updateMs: duration(1) })

/** With more instances, outcomes are sampled. */
const ALL_RECORDED = 10_000

const windows: Recorder = {
  name: 'windows',
  open(core, block) {
    core.openWindows(block)
    core.sampleWindows(block, 1)
  },
  ended(core, block, row, { outcome, failed, latencyMs, nowMs }) {
    if (outcome.cancelled || !(latencyMs >= 0 && latencyMs < Number.POSITIVE_INFINITY)) return
    core.recordInWindow(block, row, nowMs, latencyMs, failed ? 1 : 0)
  },
}

/**
 * Draws by weight = attached weight × e^(−mean ms / 1000) × max(0.01, 1 − 2 × error rate), over a window of 60 s in
 * buckets of one second; a window without traffic counts as 100 ms without errors. The article leaves the following
 * open:
 *
 * * An update, new = 0.7 × old + 0.3 × computed, is made at the first pick after each `updateMs`, one however long
 *   that took; the attached weight is not smoothed, `rampMs` of `weighted` does that.
 * * Its `isExpired` is not written out: here a bucket counts while its second is one of the last sixty.
 * * A new instance has the mean weight of those with 100 samples until its own 100th; where nobody has, each has its
 *   attached weight × 0.905, that of an empty window.
 * * Of n > 10 000 instances every ⌈n / 10 000⌉-th outcome of each is recorded. A window takes 1 000 bytes an instance.
 *
 * Use it where the article's figures have to be met. Breaks when instances differ by less than hundreds of ms (10 ms
 * against 50 ms is 51 : 49), and when requests go unanswered; a failing instance keeps its traffic for half a minute.
 * `relativeWeight` is the repaired form.
 * @see "Spring Cloud LoadBalancer 与服务实例筛选策略：从随机到权重的负载均衡", sections 三 and 四
 * @example dynamicWeight({ updateMs: 1000 })
 */
export function dynamicWeight(options: DynamicWeightOptions = {}): Policy {
  check(options, 'dynamicWeight')
  const updateMs = msOf(options.updateMs) ?? 1_000
  return corePolicy('dynamic-weight', {
    timed: true,
    weights: 'plan',
    decayMs: DEFAULT_DECAY_MS,
    recorders: [windows],
    prepare({ tree }) {
      tree.core.exports.sampleWindows(tree.members.block, Math.ceil(tree.root.length / ALL_RECORDED))
    },
    ...leased((core, block, list, nowMs) => core.pickDynamicWeight(block, list, nowMs, updateMs)),
  })
}
