/** @module One question to a registry over `fetch`: with a time limit, a size limit, no redirects, and no secrets told. */

import { msOf } from '../../config/duration.js'
import { ConfigError, DiscoveryError } from '../../errors.js'
import { isConnectionError } from '../../runtime/connection-errors.js'
import { isBrowser } from '../../runtime/host.js'
import { messageOf } from '../message-of.js'
import { stopWith } from '../stop-with.js'
import { limited } from './limited.js'
import type { RegistryAddress } from './registry-address.js'
import type { RegistryTransportOptions } from './transport-options.js'

const REQUEST_TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 8 * 2 ** 20

/** Of what a registry says with a refusal, in characters. */
const MOST_SAID = 200

/** What is shorter is no secret, and hiding it would blot out ports and addresses. */
const LEAST_SECRET = 4

export interface RegistryQuestion {
  readonly address: RegistryAddress
  /** Begins with a slash; what is in it is encoded already. */
  readonly path: string
  /** Undefined ones are left out; of an array each is sent. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** How long the registry itself may wait before it answers. Default 0. */
  readonly waitMs?: number
}

export interface RegistryAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Which question was answered, for errors. */
  readonly from: string
}

export interface OpenAnswer {
  readonly body: ReadableStream<Uint8Array>
  /** Which question is answered, for errors. */
  readonly from: string
  /** Closes the connection. */
  close(): void
}

export class RegistryHttp {
  readonly #name: string
  readonly #options: RegistryTransportOptions
  readonly #limitMs: number
  readonly #maxBytes: number
  readonly #secrets = new Set<string>()

  /**
   * @param name of the registry, for errors
   * @param maxAnswerBytes where the registry's answers are larger than most
   */
  constructor(name: string, options: RegistryTransportOptions, maxAnswerBytes = MAX_ANSWER_BYTES) {
    this.#name = name
    this.#options = options
    this.#limitMs = msOf(options.requestTimeoutMs) ?? REQUEST_TIMEOUT_MS
    this.#maxBytes = options.maxAnswerBytes ?? maxAnswerBytes
    for (const value of Object.values(options.headers ?? {})) {
      this.keepSecret(value)
      if (value.length < LEAST_SECRET) this.unhide(value)
    }
  }

  /**
   * Sees to it that no error tells this.
   * @throws EVENKEEL_CONFIG, without telling it, for what can't be sent in a header
   */
  keepSecret(secret: string | undefined, option = 'headers'): void {
    if (secret === undefined || secret === '') return
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(secret)) {
      throw new ConfigError(`${option} has characters that no header takes`, { option })
    }
    this.hide(secret)
  }

  /** As `keepSecret`, for what goes in no header, whatever its characters. */
  hide(secret: string): void {
    if (secret === '') return
    this.#secrets.add(secret)
    for (const part of partsOf(secret)) this.#secrets.add(part)
  }

  /** Of a secret that has been replaced: what is renewed for ever must not add up. */
  unhide(secret: string): void {
    this.#secrets.delete(secret)
    for (const part of partsOf(secret)) this.#secrets.delete(part)
  }

  /** A text without the secrets. */
  redacted(text: string): string {
    let told = text
    // One may be the beginning of another.
    const longestFirst = [...this.#secrets].sort((a, b) => b.length - a.length)
    for (const secret of longestFirst) told = told.replaceAll(secret, '…')
    return told
  }

  /** What a registry says, as it may be told: without the secrets, and then only as much as one reads. */
  quoted(text: string): string {
    return this.redacted(text).slice(0, MOST_SAID)
  }

  /**
   * The whole answer, whatever its status.
   * @throws EVENKEEL_DISCOVERY: unreachable, timeout, redirect, too-large; the signal's reason
   */
  async ask(question: RegistryQuestion): Promise<RegistryAnswer> {
    const from = this.#nameOf(question)
    return this.#within(question, from, async (signal) => {
      const response = await this.#send(question, signal)
      this.#refuseRedirect(response, from)
      const text = await this.#textOf(response, from)
      return { status: response.status, headers: response.headers, text, from }
    })
  }

  /**
   * An answer whose body is read as it comes; `signal` ends the body too. Whoever has read enough calls `close`.
   * @throws as `ask`; EVENKEEL_DISCOVERY: denied, limited or status for one that is no success
   */
  async open(question: RegistryQuestion): Promise<OpenAnswer> {
    const from = this.#nameOf(question)
    const { stop, leave } = stopWith(question.signal)
    const close = () => {
      leave()
      stop.abort()
    }
    try {
      const response = await this.#within(question, from, (signal) => {
        signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true })
        return this.#send(question, stop.signal)
      })
      this.#refuseRedirect(response, from)
      if (response.ok && response.body !== null) return { body: response.body, from, close }
      const text = await this.#within(question, from, () => this.#textOf(response, from))
      throw this.refusal({ status: response.status, headers: response.headers, text, from })
    } catch (error) {
      close()
      throw error
    }
  }

  /**
   * The answer's JSON.
   * @throws EVENKEEL_DISCOVERY: malformed; denied, limited or status for a status that is not among `statuses`
   */
  json(answer: RegistryAnswer, statuses: readonly number[] = [200]): unknown {
    const { text, from } = this.accepted(answer, statuses)
    try {
      return JSON.parse(text)
    } catch (cause) {
      const what = /^\s*</.test(text) ? 'a page of HTML or XML' : text.trim() === '' ? 'nothing' : 'no JSON'
      const details = { failure: 'malformed', status: answer.status, cause: this.#withoutSecrets(cause) } as const
      throw new DiscoveryError(`${from} answered ${what}`, details)
    }
  }

  /** The answer itself. @throws EVENKEEL_DISCOVERY: denied, limited or status for one that is not among `statuses` */
  accepted(answer: RegistryAnswer, statuses: readonly number[] = [200]): RegistryAnswer {
    if (!statuses.includes(answer.status)) throw this.refusal(answer)
    return answer
  }

  /** What an answer is that says no. */
  refusal({ status, headers, text, from }: RegistryAnswer): DiscoveryError {
    const failure = status === 401 || status === 403 ? 'denied' : status === 429 ? 'limited' : 'status'
    const line = /^\s*</.test(text) ? '' : text.trim().split('\n', 1)[0]
    const said = line ? `: ${this.quoted(line)}` : ''
    const retryAfterMs = status === 429 || status === 503 ? retryAfterOf(headers) : undefined
    return new DiscoveryError(`${from} answered status ${status}${said}`, {
      failure,
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }

  #nameOf({ address, path, method = 'GET' }: RegistryQuestion): string {
    return this.redacted(`${this.#name}: ${method} ${address.base}${path}`)
  }

  async #send(question: RegistryQuestion, signal: AbortSignal): Promise<Response> {
    const { address, path, query, method = 'GET', body } = question
    const { fetch: send = fetch, init, headers } = this.#options
    if (address.authorization !== undefined) this.hide(address.authorization)
    const response = await send(`${address.base}${path}${queryOf(query)}`, {
      ...init,
      method,
      headers: {
        ...(address.authorization !== undefined && { authorization: address.authorization }),
        ...lowerCased(headers),
        ...lowerCased(question.headers),
      },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      // Other runtimes have no cache, and Workers with an older date refuse the word.
      ...(isBrowser() && { cache: 'no-store' as const }),
      signal,
    })
    // A transport of the user's that does not listen to the signal: nobody reads this any more.
    if (signal.aborted) void response.body?.cancel().catch(() => {})
    return response
  }

  /** What `work` says in time. What is no error of ours, nor of who asks, is the transport's. */
  async #within<T>(
    { signal, waitMs = 0 }: RegistryQuestion,
    from: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await limited({ signal, limitMs: this.#limitMs + waitMs, what: `${from} gave no answer` }, work)
    } catch (error) {
      if (signal.aborted || error instanceof DiscoveryError) throw error
      throw this.#unreachable(error, from)
    }
  }

  #unreachable(error: unknown, from: string): DiscoveryError {
    const cause = (error as { cause?: unknown } | null | undefined)?.cause
    // Node's own words never say why: a certificate that is not trusted, for one, is no failed connection.
    const isVague = isConnectionError(error) || messageOf(error) === 'fetch failed'
    const reason = isVague && cause instanceof Error && cause.message !== '' ? cause : error
    const message = `${from}: ${this.redacted(messageOf(reason))}`
    return new DiscoveryError(message, { failure: 'unreachable', cause: this.#withoutSecrets(error) })
  }

  #refuseRedirect(response: Response, from: string): void {
    const isRedirect = response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)
    if (!isRedirect) return
    void response.body?.cancel().catch(() => {})
    throw new DiscoveryError(`${from} answered a redirect, which is not followed: name the registry itself`, {
      failure: 'redirect',
      ...(response.status !== 0 && { status: response.status }),
    })
  }

  async #textOf(response: Response, from: string): Promise<string> {
    const tooLarge = () => {
      const message = `${from} answered more than ${this.#maxBytes} bytes; see maxAnswerBytes`
      return new DiscoveryError(message, { failure: 'too-large', status: response.status })
    }
    const { body } = response
    if (body === null) return ''
    if (Number(response.headers.get('content-length') ?? 0) > this.#maxBytes) {
      void body.cancel().catch(() => {})
      throw tooLarge()
    }
    const reader = body.getReader()
    const decoder = new TextDecoder()
    const pieces: string[] = []
    let bytes = 0
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      bytes += value.byteLength
      if (bytes > this.#maxBytes) {
        void reader.cancel().catch(() => {})
        throw tooLarge()
      }
      pieces.push(decoder.decode(value, { stream: true }))
    }
    pieces.push(decoder.decode())
    return pieces.join('')
  }

  /** A transport's error as it is, or one that says as much of it as may be told. */
  #withoutSecrets(error: unknown): unknown {
    let told = ''
    for (let each = error, depth = 0; each instanceof Error && depth < 10; each = each.cause, depth++) {
      told += `${messageOf(each)}\n${each.stack}\n`
    }
    if (!(error instanceof Error)) told = messageOf(error)
    if (this.redacted(told) === told) return error
    return new Error(this.redacted(messageOf(error)))
  }
}

/** What of an `Authorization` is the secret: a registry may repeat the token, or the password, without the rest. */
function partsOf(secret: string): string[] {
  const [, scheme = '', token = ''] = /^([\w-]+) +(\S+)$/.exec(secret) ?? []
  const parts = [token]
  if (scheme.toLowerCase() === 'basic') {
    try {
      const bytes = Uint8Array.from(atob(token), (character) => character.charCodeAt(0))
      parts.push(new TextDecoder().decode(bytes).replace(/^[^:]*:/, ''))
    } catch {
      // No base64: whoever takes it knows what it is.
    }
  }
  return parts.filter((part) => part.length >= LEAST_SECRET)
}

/** Header names as they are compared: of two that differ in case only `fetch` would send both. */
function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** RFC 9110: seconds, or a date. */
function retryAfterOf(headers: Headers): number | undefined {
  const said = headers.get('retry-after') ?? ''
  const ms = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

function queryOf(query: RegistryQuestion['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const each of value) search.append(name, each)
    else if (value !== undefined) search.append(name, String(value))
  }
  return search.size === 0 ? '' : `?${search}`
}
