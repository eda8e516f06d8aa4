/** @module What a failure says of itself. */

/** Its message; never throws, whatever was thrown: a registry or a transport may reject with anything. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'an error that has no text'
  }
}
