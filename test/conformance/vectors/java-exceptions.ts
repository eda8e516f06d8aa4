/** @module What stands for exceptions of Java's in calls: errors by their names, with their causes. */

/** `Outer<Inner>`: an exception and its cause. */
export function thrownAs(text: string): Error {
  const [, name = '', cause] = /^(\w+)(?:<(.*)>)?$/.exec(text) ?? []
  const error = new Error(text, cause === undefined ? undefined : { cause: thrownAs(cause) })
  error.name = name
  return error
}

/** Whether it, or one of its causes as far down as is looked, has one of these names. */
export function isCaught(error: unknown, names: readonly string[], depth: number): boolean {
  if (depth === 0 || !(error instanceof Error)) return false
  return names.includes(error.name) || isCaught(error.cause, names, depth - 1)
}
