/** @module A transport for Node with a limit on how long a connection may take to open, which `fetch` has none of. */

import { Agent, FormData, fetch, Request, type RequestInfo, type RequestInit as UndiciInit } from 'undici'
import { ConfigError } from '../index.js'
import type { FetchLike } from '../types/instance.js'

export interface UndiciFetchOptions {
  /** DNS, TCP and TLS together. Default 2 000: enough for a SYN that is lost once. */
  connectTimeoutMs?: number
  /** Sockets an origin may have open. Default: as many as there are requests at a time. */
  connections?: number
  /** How long a socket without a request stays open. Default 4 000. */
  keepAliveTimeoutMs?: number
  /** From the last byte of the request to the headers of the response. Default 300 000; 0: no limit. */
  headersTimeoutMs?: number
  /** Between two pieces of a response's body. Default 300 000; 0: no limit. */
  bodyTimeoutMs?: number
}

export interface UndiciFetch extends FetchLike {
  /** Resolves when the requests under way have ended; later ones are refused. */
  close(): Promise<void>
}

const LEAST = {
  connectTimeoutMs: 1,
  connections: 1,
  keepAliveTimeoutMs: 1,
  headersTimeoutMs: 0,
  bodyTimeoutMs: 0,
} satisfies Record<keyof UndiciFetchOptions, number>

/**
 * A `fetch` over a pool of undici's, with its own limits. An instance whose host is gone drops packets instead of
 * refusing them; here that is a connection error after `connectTimeoutMs`, and the next instance is tried, a POST's too
 * where those are retried: nothing has been sent. Responses are undici's, not instances of the global `Response`.
 * Not needed where instances answer or refuse, and not for Deno, Bun or Workers, whose sockets are not undici's.
 * @throws EVENKEEL_CONFIG naming the option at fault
 * @example
 * const transport = undiciFetch({ connectTimeoutMs: 500 })
 * const lb = createLoadBalancer({ fetch: transport, services })
 * // at the end: await lb.close(), then await transport.close()
 */
export function undiciFetch(options: UndiciFetchOptions = {}): UndiciFetch {
  check(options)
  const { connectTimeoutMs = 2_000, connections, keepAliveTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = options
  const dispatcher = new Agent({
    connect: { timeout: connectTimeoutMs },
    ...(connections !== undefined && { connections }),
    ...(keepAliveTimeoutMs !== undefined && { keepAliveTimeout: keepAliveTimeoutMs }),
    ...(headersTimeoutMs !== undefined && { headersTimeout: headersTimeoutMs }),
    ...(bodyTimeoutMs !== undefined && { bodyTimeout: bodyTimeoutMs }),
  })
  let closing: Promise<void> | undefined
  const send: FetchLike = async (input, init) => {
    const [url, own] = readable(input, init)
    return (await fetch(url, { ...own, dispatcher })) as unknown as Response
  }
  return Object.assign(send, { close: () => (closing ??= dispatcher.close()) })
}

/** undici reads its own classes alone: of the runtime's Request and FormData, which look the same, it makes a text. */
function readable(input: string | URL | globalThis.Request, init: RequestInit | undefined): [RequestInfo, UndiciInit] {
  const own = { ...init, ...(init?.body instanceof globalThis.FormData && { body: ownForm(init.body) }) }
  if (typeof input === 'string' || input instanceof URL) return [input, own as UndiciInit]
  if ((input as unknown) instanceof Request) return [input as unknown as Request, own as UndiciInit]
  const { url, method, headers, body, redirect, signal, integrity, keepalive } = input
  const fields = { method, headers: [...headers], body, redirect, signal, integrity, keepalive, duplex: 'half' }
  return [url, { ...fields, ...own } as unknown as UndiciInit]
}

function ownForm(form: globalThis.FormData): FormData {
  const copy = new FormData()
  for (const [name, value] of form) {
    if (typeof value === 'string') copy.append(name, value)
    else copy.append(name, value, value.name)
  }
  return copy
}

function check(options: UndiciFetchOptions): void {
  for (const [name, value] of Object.entries(options)) {
    const least = LEAST[name as keyof UndiciFetchOptions] as number | undefined
    if (least === undefined) {
      const known = Object.keys(LEAST).join(', ')
      throw new ConfigError(`undiciFetch has no option "${name}"; accepted: ${known}`, {
        option: `undiciFetch.${name}`,
      })
    }
    if (value === undefined || (Number.isInteger(value) && value >= least && value < 2 ** 31)) continue
    throw new ConfigError(`undiciFetch.${name} must be a whole number from ${least} to 2147483647, not ${value}`, {
      option: `undiciFetch.${name}`,
    })
  }
}
