/** @module What a service takes from its balancer. */

import type { Quirks } from '../compat/quirks.js'
import type { Core } from '../core/core.js'
import type { AsyncScope } from '../runtime/async-scope.js'
import type { Lifecycle, RequestTransformer } from '../types/extension.js'
import type { FetchLike } from '../types/instance.js'

export interface ServiceHost {
  readonly core: Core
  readonly zone: string | undefined
  readonly instanceId: string | undefined
  readonly quirks: Quirks
  readonly observers: readonly Lifecycle[]
  /** Entered while an observer runs. */
  readonly observing: AsyncScope
  readonly transformers: readonly RequestTransformer[]
  readonly clock: () => number
  /** Undefined: the runtime's own entropy, taken at the first pick. */
  readonly seed: number | undefined
  readonly transport: FetchLike
  /** It is the runtime's own fetch, which ends when its signal says so. */
  readonly honoursSignals: boolean
}
