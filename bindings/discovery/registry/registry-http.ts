/** @module One question to a registry over `fetch`: with a time limit, a size limit, no redirects, and no secrets told. */

import { msOf } from '../../config/duration.js'
import { ConfigError, DiscoveryError } from '../../errors.js'
import { isConnectionError } from '../../runtime/connection-errors.js'
import { isBrowser, startTimer } from '../../runtime/host.js'
import { messageOf } from '../message-of.js'
import type { RegistryAddress } from './registry-address.js'
import type { RegistryTransportOptions } from './transport-options.js'

const REQUEST_TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 8 * 2 ** 20

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
    for (const value of Object.values(options.headers ?? {})) this.keepSecret(value)
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
    this.#secrets.add(secret)
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
    const stop = new AbortController()
    const onAbort = () => stop.abort(question.signal.reason)
    question.signal.addEventListener('abort', onAbort, { once: true })
    const close = () => {
      question.signal.removeEventListener('abort', onAbort)
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
      throw new DiscoveryError(`${from} answered ${what}`, { failure: 'malformed', status: answer.status, cause })
    }
  }

  /** The answer itself. @throws EVENKEEL_DISCOVERY: denied, limited or status for one that is not among `statuses` */
  accepted(answer: RegistryAnswer, statuses: readonly number[] = [200]): RegistryAnswer {
    if (!statuses.includes(answer.status)) throw this.refusal(answer)
    return answer
  }

  /** What an answer is that says no. */
  refusal({ status, text, from }: RegistryAnswer): DiscoveryError {
    const failure = status === 401 || status === 403 ? 'denied' : status === 429 ? 'limited' : 'status'
    const line = /^\s*</.test(text) ? '' : text.trim().split('\n', 1)[0]
    const said = line ? `: ${this.#redacted(line.slice(0, 200))}` : ''
    return new DiscoveryError(`${from} answered status ${status}${said}`, { failure, status })
  }

  #nameOf({ address, path, method = 'GET' }: RegistryQuestion): string {
    return this.#redacted(`${this.#name}: ${method} ${address.base}${path}`)
  }

  #send(question: RegistryQuestion, signal: AbortSignal): Promise<Response> {
    const { address, path, query, method = 'GET', body } = question
    const { fetch: send = fetch, init, headers } = this.#options
    if (address.authorization !== undefined) this.#secrets.add(address.authorization)
    return send(`${address.base}${path}${queryOf(query)}`, {
      ...init,
      method,
      headers: {
        ...(address.authorization !== undefined && { authorization: address.authorization }),
        ...headers,
        ...question.headers,
      },
      ...(body !== undefined && { body }),
      redirect: 'manual',
      // Other runtimes have no cache, and Workers with an older date refuse the word.
      ...(isBrowser() && { cache: 'no-store' as const }),
      signal,
    })
  }

  /** Runs `work` with a signal that aborts when the question's does, or the time is up. */
  async #within<T>(
    { signal, waitMs = 0 }: RegistryQuestion,
    from: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted) throw signal.reason
    const stop = new AbortController()
    const onAbort = () => stop.abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const limitMs = this.#limitMs + waitMs
    const cancel = startTimer(() => {
      stop.abort(new DiscoveryError(`${from} gave no answer within ${limitMs} ms`, { failure: 'timeout' }))
    }, limitMs)
    // A transport of the user's may not listen to the signal.
    const ended = new Promise<never>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true })
    })
    try {
      return await Promise.race([work(stop.signal), ended])
    } catch (error) {
      if (stop.signal.aborted) throw stop.signal.reason
      if (error instanceof DiscoveryError) throw error
      throw this.#unreachable(error, from)
    } finally {
      cancel()
      signal.removeEventListener('abort', onAbort)
    }
  }

  #unreachable(error: unknown, from: string): DiscoveryError {
    const { cause } = error as { cause?: unknown }
    const reason = isConnectionError(error) && cause instanceof Error && cause.message !== '' ? cause : error
    const message = `${from}: ${this.#redacted(messageOf(reason))}`
    return new DiscoveryError(message, { failure: 'unreachable', cause: error })
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

  #redacted(text: string): string {
    let told = text
    for (const secret of this.#secrets) told = told.replaceAll(secret, '…')
    return told
  }
}

function queryOf(query: RegistryQuestion['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const each of value) search.append(name, each)
    else if (value !== undefined) search.append(name, String(value))
  }
  return search.size === 0 ? '' : `?${search}`
}
