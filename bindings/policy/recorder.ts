/** @module What the core keeps of each instance beside its requests in flight and their latency, fed by every lease. */

import type { CoreExports, Pointer } from '../core/exports.js'
import type { Outcome } from '../types/request.js'

/** One per kind of record: a service that needs the same twice keeps it once. */
export interface Recorder {
  readonly name: string
  /** Makes room in the service's block, before anything is recorded. */
  open(core: CoreExports, block: Pointer): void
  /** A request to the row begins. */
  started?(core: CoreExports, block: Pointer, row: number, nowMs: number): void
  ended?(core: CoreExports, block: Pointer, row: number, ending: Ended): void
}

/** How a request to a row ended. */
export interface Ended {
  readonly outcome: Outcome
  /** An error, 5xx or 429; false too where it was cancelled. */
  readonly failed: boolean
  /** NaN where nobody measured. */
  readonly latencyMs: number
  readonly nowMs: number
}
