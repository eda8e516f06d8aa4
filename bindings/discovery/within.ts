/** @module One time limit and one signal for several waits in a row. */

import { checkWait, waitFor } from '../runtime/wait.js'
import type { WaitOptions } from '../types/request.js'

/**
 * Settles as `steps` does, unless the limits of `options` come first; `steps` hears of the end by its signal, so that
 * nothing goes on waiting for nobody.
 */
export async function within(
  options: WaitOptions,
  what: string,
  steps: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  checkWait(options)
  const leave = new AbortController()
  try {
    await waitFor(steps(leave.signal), options, what)
  } finally {
    leave.abort()
  }
}
