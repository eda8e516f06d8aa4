/** @module The suites, in the order of the report. A case's process loads none but its own. */

import type { Suite } from './harness/suite.js'

export const SUITES: Readonly<Record<string, () => Promise<Suite>>> = {
  core: async () => (await import('./suites/core-call.js')).coreCall,
  pick: async () => (await import('./suites/pick-and-done.js')).pickAndDone,
  leaves: async () => (await import('./suites/pick-leaves.js')).pickLeaves,
  growth: async () => (await import('./suites/growth.js')).growth,
  chain: async () => (await import('./suites/warm-chain.js')).warmChain,
  weights: async () => (await import('./suites/large-weights.js')).largeWeights,
  filter: async () => (await import('./suites/cold-filter.js')).coldFilter,
  subset: async () => (await import('./suites/subset.js')).subset,
  refresh: async () => (await import('./suites/list-refresh.js')).listRefresh,
  'registry-refresh': async () => (await import('./suites/registry-refresh.js')).registryRefresh,
  fetch: async () => (await import('./suites/fetch.js')).fetchThroughput,
  'first-pick': async () => (await import('./suites/first-pick.js')).firstPick,
  peers: async () => (await import('./suites/peers.js')).peers,
  policies: async () => (await import('./suites/policies.js')).policies,
  sizes: async () => (await import('./suites/sizes.js')).sizes,
}
