/** @module What was tried behind a response or an error, kept beside it: neither is ever changed. */

import type { Attempt } from '../types/request.js'

const byResult = new WeakMap<object, readonly Attempt[]>()

export function rememberAttempts(result: unknown, attempts: readonly Attempt[]): void {
  if (typeof result === 'object' && result !== null) byResult.set(result, attempts)
}

/** The attempts behind a response or an error of `lb.fetch`, in order; empty if it is not from there. */
export function attemptsOf(result: unknown): readonly Attempt[] {
  return (typeof result === 'object' && result !== null && byResult.get(result)) || []
}
