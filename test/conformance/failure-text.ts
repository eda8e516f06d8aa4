/** @module An error and its causes as text, as far as a report needs them. */

export function describe(error: unknown): string {
  const parts: string[] = []
  let cause = error
  for (let depth = 0; depth < 4 && cause !== undefined; depth++) {
    if (!(cause instanceof Error) && !isErrorLike(cause)) {
      parts.push(String(cause))
      break
    }
    const { name, message, code } = cause as Error & { code?: unknown }
    parts.push(`${name}: ${message}${code === undefined ? '' : ` (${String(code)})`}`)
    cause = (cause as Error).cause
  }
  return parts.join(' ← ')
}

/** Errors of another realm are no instances of this one's Error. */
function isErrorLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'message' in value
}
