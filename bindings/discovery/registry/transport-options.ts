/** @module The options that all registries share: how they are spoken to. */

import { type Check, duration, func, isObject, number } from '../../config/check.js'
import { ConfigError } from '../../errors.js'
import { show } from '../../show.js'
import type { FetchLike } from '../../types/instance.js'

export interface RegistryTransportOptions {
  /** Speaks to the registry. Default: the runtime's `fetch`, looked up at each call. */
  fetch?: FetchLike
  /**
   * Given to `fetch` with each request, for TLS and proxies: undici's `dispatcher` on Node, `client` of
   * `Deno.createHttpClient`, Bun's `tls`. What makes the request itself has no place here.
   */
  init?: Readonly<Record<string, unknown>>
  /** Sent with each request; none of them is told by an error. */
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

/** RFC 9110, token. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Never shows a value: it may be a secret, in the wrong shape too. */
const headers: Check = (value, where) => {
  const accepted = (at: string, what: string) => new ConfigError(`${at} must be ${what}`, { option: at })
  // Of a `Headers` nothing would be sent.
  if (!isObject(value) || Symbol.iterator in value) throw accepted(where, 'a plain object of strings')
  for (const [name, each] of Object.entries(value)) {
    if (!HEADER_NAME.test(name))
      throw accepted(where, `an object whose keys are names of headers, unlike ${show(name)}`)
    if (typeof each !== 'string') throw accepted(`${where}.${name}`, 'a string')
  }
}

const init: Check = (value, where) => {
  if (!isObject(value)) throw new ConfigError(`${where} must be an object`, { option: where })
  if (value.headers === undefined) return
  // They would be lost beside those of the question.
  throw new ConfigError(`${where} takes no headers: use the option headers`, { option: `${where}.headers` })
}

/** For the `object` check of a registry's options. */
export const TRANSPORT_CHECKS = {
  fetch: func('a function like fetch'),
  init,
  headers,
  requestTimeoutMs: duration(1),
  maxAnswerBytes: number({ least: 1, whole: true }),
  order: number({ least: Number.MIN_SAFE_INTEGER }),
  random: func('a function that returns a number in [0, 1)'),
  clock: func('a function that returns milliseconds'),
} satisfies Record<keyof RegistryTransportOptions, Check>
