/** @module Waiting for something while a signal or a time limit may end the wait. */

import { duration, isObject, refuse } from '../config/check.js'
import { msOf } from '../config/duration.js'
import { TimeoutError } from '../errors.js'
import type { WaitOptions } from '../types/request.js'
import { MOST_MS } from './host.js'

/**
 * Settles as `promise` does, unless the signal aborts first (its reason) or the time is up (EVENKEEL_TIMEOUT).
 * `promise` itself goes on. Rejects with EVENKEEL_CONFIG for options that `checkWait` refuses.
 */
export function waitFor<T>(promise: Promise<T>, options: WaitOptions, what: string): Promise<T> {
  const { signal, timeoutMs } = options
  if (signal === undefined && timeoutMs === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const onAbort = () => settle(() => reject(signal?.reason))
    const settle = (end: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      end()
    }
    // Before anything ends the wait: a rejection that comes later must have been seen to.
    promise.then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    )
    checkWait(options)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    const limitMs = msOf(timeoutMs) ?? Number.POSITIVE_INFINITY
    if (limitMs === Number.POSITIVE_INFINITY) return
    // A timer that somebody waits on must keep the process alive, so it is not unref'ed.
    timer = setTimeout(() => settle(() => reject(new TimeoutError(`${what} took longer than ${limitMs} ms`))), limitMs)
  })
}

const limit = duration()

/**
 * Where waits enter, before anything is begun for them; a call that need not wait refuses the same. A `timeoutMs` of
 * Infinity is no limit.
 * @throws EVENKEEL_CONFIG naming `timeoutMs` or `signal`
 */
export function checkWait({ signal, timeoutMs }: WaitOptions): void {
  if (signal !== undefined && !isSignal(signal)) refuse('signal', signal, 'an AbortSignal')
  if (timeoutMs !== undefined && timeoutMs !== Number.POSITIVE_INFINITY) limit(timeoutMs, 'timeoutMs')
}

/** Of whichever realm. */
function isSignal(value: unknown): value is AbortSignal {
  return isObject(value) && typeof value.aborted === 'boolean' && typeof value.addEventListener === 'function'
}

/** As `wait`, which only timers that keep no process alive may bring to an end; somebody who waits for it does. */
export async function holding<T>(wait: Promise<T>): Promise<T> {
  const hold = setTimeout(() => {}, MOST_MS)
  try {
    return await wait
  } finally {
    clearTimeout(hold)
  }
}

/** Resolves after `ms`; rejects with the signal's reason if that comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
