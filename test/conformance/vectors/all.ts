/** @module Every vector of Spring Cloud LoadBalancer and of Ribbon that has a counterpart, by topic. */

import type { Case } from '../case.js'
import { cases as apiVersion } from './api-version.js'
import { cases as binding } from './binding.js'
import { cases as caching } from './caching.js'
import { cases as chain } from './chain.js'
import { cases as cookies } from './cookies.js'
import { cases as healthUrl } from './health-url.js'
import { cases as hint } from './hint.js'
import { cases as leftOut } from './left-out.js'
import { cases as retry } from './retry.js'
import { cases as retryAware } from './retry-aware.js'
import { cases as retryPolicy } from './retry-policy.js'
import { cases as ribbonAvailability } from './ribbon-availability.js'
import { cases as ribbonBestAvailable } from './ribbon-best-available.js'
import { cases as ribbonCommand } from './ribbon-command.js'
import { cases as ribbonLeftOut } from './ribbon-left-out.js'
import { cases as ribbonPing } from './ribbon-ping.js'
import { cases as ribbonPredicate } from './ribbon-predicate.js'
import { cases as ribbonRandom } from './ribbon-random.js'
import { cases as ribbonRetryHandler } from './ribbon-retry-handler.js'
import { cases as ribbonRetryRule } from './ribbon-retry-rule.js'
import { cases as ribbonRoundRobin } from './ribbon-round-robin.js'
import { cases as ribbonServer } from './ribbon-server.js'
import { cases as ribbonServerList } from './ribbon-server-list.js'
import { cases as ribbonServerStats } from './ribbon-server-stats.js'
import { cases as ribbonWeightedResponseTime } from './ribbon-weighted-response-time.js'
import { cases as ribbonZoneAvoidance } from './ribbon-zone-avoidance.js'
import { cases as ribbonZoneFilter } from './ribbon-zone-filter.js'
import { cases as ribbonZones } from './ribbon-zones.js'
import { cases as roundRobin } from './round-robin.js'
import { cases as sameInstance } from './same-instance.js'
import { cases as sticky } from './sticky.js'
import { cases as subset } from './subset.js'
import { cases as transformers } from './transformers.js'
import { cases as uri } from './uri.js'
import { cases as weighted } from './weighted.js'
import { cases as zone } from './zone.js'

export const cases: Case[] = [
  ...roundRobin,
  ...weighted,
  ...subset,
  ...zone,
  ...hint,
  ...sticky,
  ...sameInstance,
  ...retryAware,
  ...chain,
  ...uri,
  ...apiVersion,
  ...cookies,
  ...transformers,
  ...caching,
  ...healthUrl,
  ...binding,
  ...retry,
  ...retryPolicy,
  ...leftOut,
  ...ribbonRoundRobin,
  ...ribbonBestAvailable,
  ...ribbonAvailability,
  ...ribbonZoneAvoidance,
  ...ribbonCommand,
  ...ribbonPing,
  ...ribbonPredicate,
  ...ribbonRandom,
  ...ribbonRetryHandler,
  ...ribbonRetryRule,
  ...ribbonServerList,
  ...ribbonServer,
  ...ribbonServerStats,
  ...ribbonWeightedResponseTime,
  ...ribbonZoneFilter,
  ...ribbonZones,
  ...ribbonLeftOut,
]
