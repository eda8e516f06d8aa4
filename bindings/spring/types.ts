/** @module What goes into fromSpring beside the text, and what comes out. */

import type { LoadBalancerOptions } from '../types/options.js'

export interface SpringOptions {
  /** Default: told from the text. */
  format?: 'yaml' | 'properties'
  /** The active profiles. Documents for other profiles are left out. Default: none, which is Spring's `default`. */
  profiles?: readonly string[]
  /** What `${…}` may name beside the file's own keys, and wins over them: environment variables, system properties. */
  environment?: Readonly<Record<string, string | undefined>>
}

/** Something of the file that the options don't say, or say otherwise. */
export interface SpringWarning {
  /** As it is written in the file. */
  readonly key: string
  readonly value?: string
  readonly message: string
  /** In the text, from 1. */
  readonly line?: number
}

export interface SpringTranslation {
  readonly options: LoadBalancerOptions
  /** In the order of the file. */
  readonly warnings: readonly SpringWarning[]
}
