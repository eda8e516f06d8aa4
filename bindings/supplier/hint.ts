/** @module Keeps the instances that a request's hint names. */

import { boolean, object, text } from '../config/check.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier, headerTextOf } from './attribute.js'
import { type Fallback, fallback, fallbackOf } from './fallback.js'
import { HIDDEN_REQUEST } from './stage.js'

export interface HintOptions {
  /** Default: `X-SC-LB-Hint`, matched ignoring case. */
  header?: string
  /** No instance with the hint: none at all. */
  strict?: boolean
  /** No instance with the hint: 'all' by default; 'none' is `strict`. */
  fallback?: Fallback
}

const check = object({ header: text, strict: boolean, fallback })

/**
 * Instances whose metadata `hint` is exactly the request's: its header, else its `hint`, else the service's
 * configured one; if none has it, the fallback. All of them without a hint.
 * Breaks when hints are meant to reserve: requests without one reach the hinted instances too.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see SCLB 4.1 HintBasedServiceInstanceListSupplier
 * @example hint({ header: 'x-version', strict: true })
 */
export function hint(options: HintOptions = {}): Supplier {
  check(options, 'hint')
  const header = (options.header ?? 'X-SC-LB-Hint').toLowerCase()
  return attributeSupplier({
    name: 'hint',
    key: 'hint',
    fallback: fallbackOf(options, 'all', 'hint'),
    read: (instance) => instance.metadata.hint,
    wanted: (context) => (request) =>
      request === HIDDEN_REQUEST
        ? undefined
        : headerTextOf(request, header) || request.hint || context.hint || undefined,
    unset: 'no hint',
    memo: 'keyed',
  })
}
