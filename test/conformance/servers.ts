/** @module The launcher's servers as the cases see them: what they echo, and what they know of a request. */

import type { Context } from './case.js'

/** What a server says of a request, see test/runtime/backends.ts. */
export interface Echo {
  instance: string
  method: string
  /** Path and query as they came over the wire. */
  target: string
  headers: Record<string, string>
  body: string
}

export async function echoOf(response: Response): Promise<Echo> {
  return JSON.parse(await response.text()) as Echo
}

let lastToken = 0

/** A name for one request, to ask the servers about it. */
export function newToken(context: Context): string {
  return `${context.runtime}-${++lastToken}`
}

/** Ends when the request with this token has reached that state. Or, for 'go', tells it to go on. */
export async function control(
  context: Context,
  event: 'arrived' | 'received' | 'closed' | 'go',
  token: string,
): Promise<void> {
  // Instance c takes no part in what the cases hang or abort: its connections are free.
  await (await fetch(`${context.backends.c}/control/${event}?token=${token}`)).text()
}
