/** @module One question to a discovery client, whichever way it answers. */

import type { Quirks } from '../compat/quirks.js'
import { DiscoveryError } from '../errors.js'
import { show } from '../show.js'
import type { DiscoveryClient } from '../types/extension.js'
import type { InstanceInit } from '../types/instance.js'

export type List = readonly InstanceInit[]
export type ListStream = AsyncIterable<List>

/** What a question says beside its service. */
export interface AskOptions {
  signal: AbortSignal
  /** When `signal` will abort because it took too long; a composite shares that time out. Undefined: never. */
  timeoutMs: number | undefined
  partlyFailed?: (error: unknown) => void
}

/** What the client's `get` answers, or its `watch` where it has nothing else. A function may answer either. */
export function ask(
  client: DiscoveryClient,
  serviceId: string,
  { signal, timeoutMs, partlyFailed = () => {} }: AskOptions,
): Promise<List> | List | ListStream {
  if (client.get === undefined) return (client as Required<DiscoveryClient>).watch(serviceId, { signal })
  const options = { signal, partlyFailed, ...(timeoutMs !== undefined && { timeoutMs }) }
  return client.get(serviceId, options)
}

/** As `ask`, but for one list: of a client that pushes, its first. */
export function askForList(client: DiscoveryClient, serviceId: string, options: AskOptions): Promise<List> | List {
  const answer = ask(client, serviceId, options)
  return isStream(answer) ? firstOf(answer, client.name, serviceId) : answer
}

/** The first list of a stream, which is ended then. */
export async function firstOf(stream: ListStream, name: string, serviceId: string): Promise<List> {
  for await (const list of stream) return list
  throw endedWithoutList(name, serviceId)
}

export function endedWithoutList(name: string, serviceId: string): DiscoveryError {
  return new DiscoveryError(`discovery "${name}" ended its watch of "${serviceId}" without a list`, { serviceId })
}

/**
 * A client's answer as a list. Whether its entries can be read is not looked at here.
 * @throws EVENKEEL_DISCOVERY for null and undefined, which SCLB takes for an answer that never comes
 */
export function listIn(answer: List, name: string, serviceId: string, quirks: Quirks): List {
  if (answer !== undefined && answer !== null) return answer
  if (quirks.has('no-list-no-response')) return []
  throw new DiscoveryError(
    `discovery "${name}" answered ${show(answer)} for "${serviceId}": a list was expected, [] if there is nobody`,
    { serviceId },
  )
}

export function tooLate(name: string, serviceId: string, limitMs: number): DiscoveryError {
  const message = `discovery "${name}" did not answer within ${limitMs} ms`
  return new DiscoveryError(message, { serviceId, failure: 'timeout' })
}

export function isStream(answer: unknown): answer is ListStream {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
}

export function isPromise<T>(answer: Promise<T> | T): answer is Promise<T> {
  return typeof (answer as { then?: unknown } | undefined | null)?.then === 'function'
}

/** At once where the answer is there. */
export function andThen<T, U>(answer: Promise<T> | T, next: (answer: T) => Promise<U> | U): Promise<U> | U {
  return isPromise(answer) ? answer.then(next) : next(answer)
}
