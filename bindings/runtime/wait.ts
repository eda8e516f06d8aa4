/** @module Waiting for something while a signal or a time limit may end the wait. */

import { TimeoutError } from '../errors.js'
import type { WaitOptions } from '../types/request.js'

/**
 * Settles as `promise` does, unless the signal aborts first (its reason) or the time is up (EVENKEEL_TIMEOUT).
 * `promise` itself goes on.
 */
export function waitFor<T>(promise: Promise<T>, options: WaitOptions, what: string): Promise<T> {
  const { signal, timeoutMs } = options
  if (signal === undefined && timeoutMs === undefined) return promise
  return new Promise<T>((resolve, reject) => {
    // A timer that somebody waits on must keep the process alive, so it is not unref'ed.
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(
            () => settle(() => reject(new TimeoutError(`${what} took longer than ${timeoutMs} ms`))),
            timeoutMs,
          )
    const onAbort = () => settle(() => reject(signal?.reason))
    const settle = (end: () => void) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      end()
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort, { once: true })
    promise.then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    )
  })
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
