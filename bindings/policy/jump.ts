/** @module The numbered shard of a key. */

import { object } from '../config/check.js'
import type { Policy } from '../types/extension.js'
import { byNumber } from './identities.js'
import { keyedPolicy } from './keyed-engine.js'
import { checkKeySource, type KeySource } from './request-key.js'

export interface JumpOptions {
  /** Default: the request's `key`. */
  key?: KeySource
}

const check = object({ key: checkKeySource })

/**
 * Requests with the same key go to the same shard. Shards are the instances in the order of their ids, by number:
 * `shard-2` before `shard-10`; the order of the list does not matter. One more shard at the end takes 1/(n + 1) of the
 * keys and moves no other. Needs no table, and is as even as keys are. Weights do not count. A request without a key
 * goes to a random shard; a retry goes to the shard after it.
 * Use it for shards that are numbered through and only ever added or taken away at the end. Breaks when any other goes,
 * be it only ejected: all shards after it change their number, and most keys move. Weight 0 drains a shard and is the
 * same: those after it are renumbered.
 * @see Lamping, Veach, arXiv 1406.2294
 * @throws EVENKEEL_CONFIG for a bad option
 * @example jump({ key: (request) => request.attributes?.customer as number })
 */
export function jump(options: JumpOptions = {}): Policy {
  check(options, 'jump')
  const { key } = options
  return keyedPolicy('jump', key, byNumber, {
    build: (core, block, list, identities) => core.buildJump(block, list, identities),
    pick: (core, block, list, keyLength) => core.pickJump(block, list, keyLength),
    lease: (core, block, list, keyLength) => core.leaseJump(block, list, keyLength),
  })
}
