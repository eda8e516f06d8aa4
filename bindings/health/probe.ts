/** @module One check of one instance. */

import { messageOf } from '../discovery/message-of.js'
import { isBrowser, startTimer } from '../runtime/host.js'
import { waitFor } from '../runtime/wait.js'
import type { FetchLike, ServiceInstance } from '../types/instance.js'

export interface ProbeOptions {
  readonly url: string
  /** Not a balanced one, or it takes the instance's host for a service. */
  readonly transport: FetchLike
  readonly timeoutMs: number
  readonly accept: (response: Response) => boolean | Promise<boolean>
  /** Ends the request; also for who does not want the answer any more. */
  readonly request: AbortController
}

export interface Verdict {
  readonly alive: boolean
  /** Why it is not. */
  readonly reason: string | undefined
}

export const ALIVE: Verdict = Object.freeze({ alive: true, reason: undefined })

/**
 * Asks the instance with a GET and gives its answer to `accept`. Whatever goes wrong, or takes longer than
 * `timeoutMs`, is a bad answer: never rejects. A redirect is not followed: where it leads is another's health.
 */
export async function probe(instance: ServiceInstance, options: ProbeOptions): Promise<Verdict> {
  const { timeoutMs, accept, request } = options
  const { signal } = request
  const cancelTimer = startTimer(() => request.abort(new Error('timed out')), timeoutMs)
  try {
    return await waitFor(judged(send(instance, options, signal), accept), { signal }, 'a check')
  } catch (error) {
    return { alive: false, reason: reasonOf(error) }
  } finally {
    cancelTimer()
  }
}

async function send(
  instance: ServiceInstance,
  { url, transport }: ProbeOptions,
  signal: AbortSignal,
): Promise<Response> {
  // A browser might answer from its cache. Elsewhere there is none, and some refuse the option.
  const init: RequestInit = { redirect: 'manual', signal, ...(isBrowser() && { cache: 'no-store' }) }
  const { fetcher } = instance
  return fetcher === undefined ? transport(url, init) : fetcher.fetch(new Request(url, init))
}

/** Also of an answer that comes when nobody waits any more, so that its body is let go. */
async function judged(sent: Promise<Response>, accept: ProbeOptions['accept']): Promise<Verdict> {
  const response = await sent
  try {
    return (await accept(response)) ? ALIVE : { alive: false, reason: `status ${response.status}` }
  } finally {
    response.body?.cancel().catch(() => {})
  }
}

/** The message; of a `fetch` that only says that it failed, with what its cause says. Never throws. */
function reasonOf(error: unknown): string {
  const message = messageOf(error)
  try {
    const { cause } = error as { cause?: { code?: unknown; message?: unknown } }
    const detail = cause?.code ?? cause?.message
    return typeof detail === 'string' ? `${message} (${detail})` : message
  } catch {
    return message
  }
}
