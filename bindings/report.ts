/** @module Complaints about the user's own code that must not break a call: each source is heard once. */

const heard = new WeakSet<object>()

export function reportOnce(source: object, what: string, error: unknown): void {
  if (heard.has(source)) return
  heard.add(source)
  console.error(`evenkeel: ${what} threw`, error)
}
