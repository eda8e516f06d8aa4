/** @module What a service's options say beyond the defaults, which evenkeel lays under them. */

import type { ServiceOptions } from '../types/options.js'
import { isConnectionErrorOrTimeout } from './exceptions.js'
import { LONGEST_MS } from './readers.js'

type Options = Readonly<Record<string, unknown>>

/** Merged entry by entry; all other options are replaced. */
const MERGED = ['cache', 'polling', 'healthCheck', 'prime', 'serverStats', 'retry', 'hints', 'metrics']

/** What undoes an option of the defaults. */
const UNDONE: Options = {
  policy: 'round-robin',
  polling: false,
  prime: false,
  attemptTimeoutMs: LONGEST_MS,
  exceptions: isConnectionErrorOrTimeout,
}

export function difference(own: ServiceOptions, defaults: ServiceOptions): ServiceOptions {
  const { preset, suppliers, ...rest } = own
  const { preset: defaultPreset, suppliers: defaultSuppliers, ...defaultRest } = defaults
  const chain = { ...(preset && { preset }), ...(suppliers && { suppliers }) }
  const sameChain = preset === defaultPreset && same(suppliers, defaultSuppliers)
  return {
    ...(!sameChain && (Object.keys(chain).length > 0 ? chain : { preset: 'default' })),
    ...beyond(rest, defaultRest, MERGED),
    ...(isChecked(defaults) && !isChecked(own) && { healthCheck: false }),
  }
}

function isChecked({ preset, healthCheck }: ServiceOptions): boolean {
  return preset === 'health-check' || isRecord(healthCheck)
}

function beyond(own: Options, base: Options, merged: readonly string[]): Options {
  const result: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(own), ...Object.keys(base)])) {
    const [ours, theirs] = [own[key], base[key]]
    if (same(ours, theirs)) continue
    result[key] =
      merged.includes(key) && isRecord(ours) && isRecord(theirs) ? beyond(ours, theirs, []) : (ours ?? UNDONE[key])
  }
  return result
}

/** Plain data, and functions by identity. */
function same(a: unknown, b: unknown): boolean {
  if (!isRecord(a) || !isRecord(b)) return Object.is(a, b)
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => same(a[key], b[key]))
}

function isRecord(value: unknown): value is Options {
  return typeof value === 'object' && value !== null
}
