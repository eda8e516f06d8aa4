/** @module Keeps the instances of the version that a request names. */

import { boolean, object, text } from '../config/check.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier, headerTextOf } from './attribute.js'
import { type Fallback, fallback, fallbackOf } from './fallback.js'

export interface VersionOptions {
  /** Where a request names its version. Default: `X-Service-Version`, matched ignoring case. */
  header?: string
  /** Where an instance has its version. Default: `version`. */
  metadata?: string
  /** No instance of the version: none at all, never everything. */
  strict?: boolean
  /** No instance of the version: 'all' by default; 'none' is `strict`. */
  fallback?: Fallback
}

const check = object({ header: text, metadata: text, strict: boolean, fallback })

/**
 * Instances whose version is exactly the request's, letter by letter: "1" is not "1.0" (`apiVersion` compares
 * numbers). If none has it, the fallback. All of them for a request without a version.
 * Breaks when versions are meant to reserve: requests without one reach every version.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see SCLB 4.1 HintBasedServiceInstanceListSupplier, whose rule it follows
 * @example version({ strict: true })
 */
export function version(options: VersionOptions = {}): Supplier {
  check(options, 'version')
  const header = (options.header ?? 'X-Service-Version').toLowerCase()
  const { metadata = 'version' } = options
  return attributeSupplier({
    name: 'version',
    key: metadata,
    fallback: fallbackOf(options, 'all', 'version'),
    read: (instance) => instance.metadata[metadata],
    wanted: () => (request) => headerTextOf(request, header),
    unset: 'no version',
    memo: 'keyed',
  })
}
