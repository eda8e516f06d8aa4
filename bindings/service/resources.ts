/** @module What a service holds in the core, given back even if nobody closes it. */

import type { CandidateTree } from './candidates.js'
import type { Members } from './members.js'

/** Must not refer to the service, or it would never be collected. Both undefined: given back already. */
export interface Resources {
  members: Members | undefined
  tree: CandidateTree | undefined
}

let registry: FinalizationRegistry<Resources> | undefined

export function freeWhenCollected(service: object, resources: Resources): void {
  // Workers before compatibility date 2025-05-05 have none: there the isolate's end is the only other moment.
  if (typeof FinalizationRegistry === 'undefined') return
  registry ??= new FinalizationRegistry(giveBack)
  registry.register(service, resources)
}

export function giveBack(resources: Resources): void {
  const { members, tree } = resources
  resources.members = resources.tree = undefined
  if (members === undefined) return
  if (tree === undefined) members.free()
  else tree.drop(() => members.free())
}
