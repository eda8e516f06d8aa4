/** @module SCLB's suppliers by their names, as evenkeel's. */

import type { ServiceOptions, Supplier, TypedOptions } from 'evenkeel'

/** What a chain of these suppliers is here: retry-aware and caching are options of a service. */
export function chainOf(
  suppliers: readonly string[],
  subset: { instanceId: string; size: number } | undefined,
): ServiceOptions {
  const own: Record<string, (Supplier | string | TypedOptions)[]> = {
    'retry-aware': [],
    caching: [],
    'request-based-sticky-session': ['sticky-session'],
    subset: [{ type: 'subset', ...subset }],
  }
  return {
    suppliers: suppliers.flatMap((name) => own[name] ?? [name]),
    retry: { avoidPreviousInstance: suppliers.includes('retry-aware') },
  }
}
