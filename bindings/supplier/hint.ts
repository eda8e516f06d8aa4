/** @module Keeps the instances that a request's hint names. */

import { checkOptions, optionalBoolean, optionalText } from '../config/check.js'
import { headerOf } from '../request.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier, checkFallback, type Fallback } from './attribute.js'

export interface HintOptions {
  /** Default: `X-SC-LB-Hint`, matched ignoring case. */
  header?: string
  /** No instance with the hint: none at all. */
  strict?: boolean
  /** No instance with the hint: 'all' (default) or 'none', which is `strict`. */
  fallback?: Fallback
}

/**
 * Instances whose metadata `hint` is exactly the request's: its header, else its `hint`, else the service's
 * configured one. Without a hint, or if no instance has it, all of them.
 * @see SCLB 4.1 HintBasedServiceInstanceListSupplier
 * @example hint({ header: 'x-version', strict: true })
 */
export function hint(options: HintOptions = {}): Supplier {
  checkOptions('hint', options, ['header', 'strict', 'fallback'])
  const header = (optionalText('hint.header', options.header) ?? 'X-SC-LB-Hint').toLowerCase()
  const strict = optionalBoolean('hint.strict', options.strict) ?? false
  return attributeSupplier({
    name: 'hint',
    key: 'hint',
    fallback: strict ? 'none' : checkFallback(options.fallback ?? 'all', 'hint.fallback'),
    read: (instance) => instance.metadata.hint,
    wanted: (request, context) => headerOf(request, header) || request.hint || context.hint || undefined,
    fixed: false,
    unset: 'no hint',
  })
}
