/** @module Complaints about the user's own code that must not break a call: each source is heard once. */

const heard = new WeakSet<object>()

export function reportOnce(source: object, what: string, error: unknown): void {
  if (heard.has(source)) return
  heard.add(source)
  console.error(`evenkeel: ${what} threw`, error)
}

/**
 * Runs a callback of the user's own. What it throws, or what its promise rejects with, is reported once for `source`
 * and goes no further; undefined is its answer then. Nobody waits for the promise.
 */
export function guarded<T>(source: object, what: string, callback: () => T): T | undefined {
  try {
    const answer = callback()
    if (isThenable(answer)) answer.then(undefined, (error) => reportOnce(source, what, error))
    return answer
  } catch (error) {
    reportOnce(source, what, error)
    return undefined
  }
}

/** As `guarded`, for yes or no: only true is yes. Undefined: it threw, or answered with a promise, which is reported too. */
export function guardedVerdict(source: object, what: string, callback: () => unknown): boolean | undefined {
  let threw = true
  const answer = guarded(source, what, () => {
    const given = callback()
    threw = false
    return given
  })
  return threw ? undefined : verdictOf(source, what, answer)
}

/** Whether the answer is true; undefined for a promise, which is none and is reported once. */
export function verdictOf(source: object, what: string, answer: unknown): boolean | undefined {
  if (!isThenable(answer)) return answer === true
  answer.then(undefined, () => {})
  reportOnce(source, what, new TypeError('a promise is no answer: true or false is'))
  return undefined
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
}
