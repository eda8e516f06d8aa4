/** @module Runs every case once, one after the other, and reports. The same on every runtime. */

import type { Case, Context, Report } from './case.js'
import { cases as connectionErrors } from './connection-errors.js'
import { digestCases } from './digest.js'
import { cases as discovery } from './discovery.js'
import { cases as errors } from './errors.js'
import { cases as extensions } from './extensions.js'
import { describe } from './failure-text.js'
import { cases as fetchBinding } from './fetch-binding.js'
import { cases as fetchLimits } from './fetch-limits.js'
import { cases as fetchOutgoing } from './fetch-outgoing.js'
import { cases as fetchRequest } from './fetch-request.js'
import { cases as fetchResponse } from './fetch-response.js'
import { cases as fetchRetry } from './fetch-retry.js'
import { cases as fetchUrl } from './fetch-url.js'
import { cases as filters } from './filters.js'
import { cases as hashing } from './hashing.js'
import { cases as health } from './health.js'
import { cases as leases } from './leases.js'
import { cases as lifecycle } from './lifecycle.js'
import { cases as picks } from './picks.js'
import { cases as consul } from './registry-consul.js'
import { cases as dns } from './registry-dns.js'
import { cases as etcd } from './registry-etcd.js'
import { cases as eureka } from './registry-eureka.js'
import { cases as kubernetes } from './registry-kubernetes.js'
import { cases as nacos } from './registry-nacos.js'
import { cases as scenarios } from './scenarios.js'
import { cases as serverStats } from './server-stats.js'
import { cases as apiVersions } from './suppliers-api-version.js'
import { cases as canaries } from './suppliers-canary.js'
import { cases as fallbacks } from './suppliers-fallback.js'
import { cases as ribbonFilters } from './suppliers-ribbon.js'
import { cases as sameInstance } from './suppliers-same-instance.js'
import { cases as sticky } from './suppliers-sticky.js'
import { cases as subsets } from './suppliers-subset.js'
import { cases as subsetting } from './suppliers-subsetting.js'
import { cases as versions } from './suppliers-version.js'
import { cases as vectors } from './vectors/all.js'

/** A case that hangs must not take the others' results with it. */
const CASE_LIMIT_MS = 10_000

/** `begins` hears of each case before it runs: the only trace of one that never gives back control. */
export async function runAll(context: Context, begins: (name: string) => void = () => {}): Promise<Report> {
  const digests: Record<string, string> = {}
  const report: Report = { runtime: context.runtime, passed: 0, failed: [], skipped: [], digests }
  const cases: Case[] = [
    ...picks,
    ...hashing,
    ...leases,
    ...filters,
    ...fallbacks,
    ...versions,
    ...apiVersions,
    ...sticky,
    ...sameInstance,
    ...canaries,
    ...subsets,
    ...subsetting,
    ...serverStats,
    ...ribbonFilters,
    ...extensions,
    ...discovery,
    ...consul,
    ...dns,
    ...etcd,
    ...eureka,
    ...kubernetes,
    ...nacos,
    ...health,
    ...errors,
    ...fetchUrl,
    ...fetchRequest,
    ...fetchOutgoing,
    ...fetchResponse,
    ...fetchRetry,
    ...fetchLimits,
    ...fetchBinding,
    ...lifecycle,
    ...connectionErrors,
    ...scenarios,
    ...vectors,
    ...digestCases(digests),
  ]
  for (const one of cases) {
    const reason = one.needs && context.lacks[one.needs]
    if (reason !== undefined) {
      report.skipped.push({ name: one.name, reason })
      continue
    }
    begins(one.name)
    try {
      await withinLimit(one, context)
      report.passed++
    } catch (error) {
      report.failed.push({ name: one.name, error: textOf(error) })
    }
  }
  return report
}

async function withinLimit(one: Case, context: Context): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${CASE_LIMIT_MS} ms`)), CASE_LIMIT_MS)
  })
  try {
    await Promise.race([one.run(context), limit])
  } finally {
    clearTimeout(timer)
  }
}

/** The error, its causes, and where it came from: not every engine has the message in its stack. */
function textOf(error: unknown): string {
  const stack = String((error as Error | undefined)?.stack ?? '')
  const places = stack.split('\n').filter((line) => /^\s*at |@/.test(line))
  return [describe(error), ...places].join('\n')
}
