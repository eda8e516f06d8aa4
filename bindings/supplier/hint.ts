/** @module Keeps the instances that a request's hint names. */

import { boolean, object, text } from '../config/check.js'
import { headerOf } from '../request.js'
import type { Supplier } from '../types/extension.js'
import { attributeSupplier, type Fallback, fallback } from './attribute.js'

export interface HintOptions {
  /** Default: `X-SC-LB-Hint`, matched ignoring case. */
  header?: string
  /** No instance with the hint: none at all. */
  strict?: boolean
  /** No instance with the hint: 'all' (default) or 'none', which is `strict`. */
  fallback?: Fallback
}

const check = object({ header: text, strict: boolean, fallback })

/**
 * Instances whose metadata `hint` is exactly the request's: its header, else its `hint`, else the service's
 * configured one. Without a hint, or if no instance has it, all of them.
 * @see SCLB 4.1 HintBasedServiceInstanceListSupplier
 * @example hint({ header: 'x-version', strict: true })
 */
export function hint(options: HintOptions = {}): Supplier {
  check(options, 'hint')
  const header = (options.header ?? 'X-SC-LB-Hint').toLowerCase()
  return attributeSupplier({
    name: 'hint',
    key: 'hint',
    fallback: options.strict ? 'none' : (options.fallback ?? 'all'),
    read: (instance) => instance.metadata.hint,
    wanted: (request, context) => headerOf(request, header) || request.hint || context.hint || undefined,
    fixed: false,
    unset: 'no hint',
  })
}
