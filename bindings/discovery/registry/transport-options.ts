/** @module The options that all registries share: how they are spoken to. */

import { type Check, duration, func, isObject, map, number, refuse } from '../../config/check.js'
import type { FetchLike } from '../../types/instance.js'

export interface RegistryTransportOptions {
  /** Speaks to the registry. Default: the runtime's `fetch`, looked up at each call. */
  fetch?: FetchLike
  /**
   * Given to `fetch` with each request, for TLS and proxies: undici's `dispatcher` on Node, `client` of
   * `Deno.createHttpClient`, Bun's `tls`.
   */
  init?: Readonly<Record<string, unknown>>
  /** Sent with each request. */
  headers?: Readonly<Record<string, string>>
  /** How long an answer may take, beyond what the question itself waits. Default 5 000. */
  requestTimeoutMs?: number
  /** A longer answer is refused. Default 8 MiB. */
  maxAnswerBytes?: number
  /** Among several clients; see `DiscoveryClient.order`. */
  order?: number
  /** Uniform in [0, 1): spreads the questions of many clients over time. Default: `Math.random`. */
  random?: () => number
  /** Milliseconds that never go back. Default: `performance.now`. */
  clock?: () => number
}

const text: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a string')
}

const anyObject: Check = (value, where) => {
  if (!isObject(value)) refuse(where, value, 'an object')
}

/** For the `object` check of a registry's options. */
export const TRANSPORT_CHECKS = {
  fetch: func('a function like fetch'),
  init: anyObject,
  headers: map(text),
  requestTimeoutMs: duration(1),
  maxAnswerBytes: number({ least: 1, whole: true }),
  order: number({ least: Number.MIN_SAFE_INTEGER }),
  random: func('a function that returns a number in [0, 1)'),
  clock: func('a function that returns milliseconds'),
} satisfies Record<keyof RegistryTransportOptions, Check>
