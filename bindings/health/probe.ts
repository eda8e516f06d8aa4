/** @module One question to one instance: is it alive? */

import { messageOf } from '../discovery/message-of.js'
import { isBrowser, startTimer } from '../runtime/host.js'
import { waitFor } from '../runtime/wait.js'
import type { Ping } from '../types/extension.js'
import type { FetchLike, ServiceInstance } from '../types/instance.js'

export interface Verdict {
  readonly alive: boolean
  /** Why it is not. */
  readonly reason: string | undefined
}

export const ALIVE: Verdict = Object.freeze({ alive: true, reason: undefined })

/**
 * The answer to `ask`. Whatever goes wrong, or takes longer than `timeoutMs` (Infinity: no limit), is a bad answer:
 * never rejects.
 * @param request ends what is asked; also for who does not want the answer any more
 */
export async function probe(
  ask: (signal: AbortSignal) => Promise<Verdict>,
  timeoutMs: number,
  request: AbortController,
): Promise<Verdict> {
  const { signal } = request
  const isLimited = timeoutMs < Number.POSITIVE_INFINITY
  const cancelTimer = isLimited ? startTimer(() => request.abort(new Error('timed out')), timeoutMs) : () => {}
  try {
    return await waitFor(ask(signal), { signal }, 'a check')
  } catch (error) {
    return { alive: false, reason: reasonOf(error) }
  } finally {
    cancelTimer()
  }
}

export interface GetOptions {
  readonly url: string
  /** Not a balanced one, or it takes the instance's host for a service. */
  readonly transport: FetchLike
  readonly accept: (response: Response) => boolean | Promise<boolean>
}

/**
 * Sends the instance a GET and gives its answer to `accept`. Also an answer that comes when nobody waits any more, so
 * that its body is let go.
 */
export async function askByGet(
  instance: ServiceInstance,
  { url, transport, accept }: GetOptions,
  signal: AbortSignal,
): Promise<Verdict> {
  const response = await send(instance, url, transport, signal)
  try {
    return (await accept(response)) ? ALIVE : { alive: false, reason: `status ${response.status}` }
  } finally {
    letGo(response)
  }
}

/** Asks a ping; the answers that it has not read are let go. */
export async function askByPing(
  instance: ServiceInstance,
  ping: Ping,
  { transport, quirks }: { transport: FetchLike; quirks: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Verdict> {
  const responses: Response[] = []
  const redirect = quirks.has('ribbon-ping-follows-redirects') ? 'follow' : 'manual'
  const fetch = async (url: string) => {
    const response = await send(instance, url, transport, signal, redirect)
    responses.push(response)
    return response
  }
  try {
    const answer = await ping.isAlive(instance, { signal, fetch, quirks })
    const { alive, reason } = typeof answer === 'object' && answer !== null ? answer : { alive: answer }
    return alive ? ALIVE : { alive: false, reason: reason ?? `ping "${ping.name}" says no` }
  } finally {
    for (const response of responses) letGo(response)
  }
}

/** A redirect is not followed: where it leads is another's health. */
async function send(
  instance: ServiceInstance,
  url: string,
  transport: FetchLike,
  signal: AbortSignal,
  redirect: RequestRedirect = 'manual',
): Promise<Response> {
  // A browser might answer from its cache. Elsewhere there is none, and some refuse the option.
  const init: RequestInit = { redirect, signal, ...(isBrowser() && { cache: 'no-store' }) }
  const { fetcher } = instance
  return fetcher === undefined ? transport(url, init) : fetcher.fetch(new Request(url, init))
}

function letGo(response: Response): void {
  response.body?.cancel().catch(() => {})
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
