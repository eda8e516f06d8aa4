/**
 * @module A registry of which only the answers count: made once, handed out again and again, with no more of a
 * `Response` than is read. For very many clients, and for what a client itself leaves in memory: the runtime's own
 * requests and responses cost more than both.
 */

import type { FetchLike } from '../../bindings/index.js'

/** What a question is answered with. */
export type ConstantAnswer =
  /** A body at once. */
  | { body: Uint8Array; headers?: Headers }
  /** A body as soon as the registry has something new, or the registry's end. */
  | { waitsFor: () => { body: Uint8Array; headers?: Headers } }
  /** A body that goes on: this first, then what is sent. */
  | { streams: Uint8Array }

export type AnswerTo = (url: URL, init: RequestInit) => ConstantAnswer

const encoder = new TextEncoder()

export function bytesOf(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value))
}

export function lineOf(value: unknown): Uint8Array {
  return encoder.encode(`${JSON.stringify(value)}\n`)
}

const NO_HEADERS = new Headers()

export class ConstantRegistry {
  /** Is told of each question that reaches it, and how it is answered. */
  onQuestion: (answer: ConstantAnswer) => void = () => {}
  readonly #answerTo: AnswerTo
  readonly #waiting = new Set<{ tell(): void; fail(error: Error): void }>()
  readonly #streams = new Set<OpenBody>()
  #isDown = false

  constructor(answerTo: AnswerTo) {
    this.#answerTo = answerTo
  }

  readonly fetch: FetchLike = async (input, init = {}) => {
    if (this.#isDown) throw refused()
    const answer = this.#answerTo(new URL(String(input)), init)
    this.onQuestion(answer)
    const signal = init.signal as AbortSignal
    if ('body' in answer) return wholeResponse(answer)
    if ('waitsFor' in answer) return this.#later(answer.waitsFor, signal)
    const body = new OpenBody(answer.streams, signal, () => this.#streams.delete(body))
    this.#streams.add(body)
    return responseOf(body, NO_HEADERS)
  }

  get openStreams(): number {
    return this.#streams.size
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Ends the waits: there is something new. */
  tell(): void {
    for (const each of [...this.#waiting]) each.tell()
  }

  send(line: Uint8Array): void {
    for (const stream of [...this.#streams]) stream.send(line)
  }

  /** Connections and all; new ones are refused. */
  stop(): void {
    this.#isDown = true
    for (const each of [...this.#waiting]) each.fail(refused())
    for (const stream of [...this.#streams]) stream.fail(refused())
  }

  start(): void {
    this.#isDown = false
  }

  #later(answer: () => { body: Uint8Array; headers?: Headers }, signal: AbortSignal): Promise<Response> {
    return new Promise((resolve, reject) => {
      const onAbort = () => wait.fail(signal.reason)
      const end = () => {
        this.#waiting.delete(wait)
        signal.removeEventListener('abort', onAbort)
      }
      const wait = {
        tell() {
          end()
          resolve(wholeResponse(answer()))
        },
        fail(error: Error) {
          end()
          reject(error)
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(wait)
    })
  }
}

function refused(): Error {
  return new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
}

interface Reader {
  read(): Promise<{ value?: Uint8Array; done: boolean }>
  cancel(): Promise<void>
}

function responseOf(body: { getReader(): Reader }, headers: Headers): Response {
  return { status: 200, ok: true, type: 'basic', headers, body } as unknown as Response
}

function wholeResponse({ body, headers = NO_HEADERS }: { body: Uint8Array; headers?: Headers }): Response {
  const pieces: { value?: Uint8Array; done: boolean }[] = [{ done: true }, { value: body, done: false }]
  const reader: Reader = {
    read: async () => pieces.pop() ?? { done: true },
    cancel: async () => {},
  }
  return responseOf({ getReader: () => reader }, headers)
}

/** A body with one reader, that ends with its signal or its registry. */
class OpenBody {
  readonly #queue: Uint8Array[]
  #reading: { resolve(piece: { value?: Uint8Array; done: boolean }): void; reject(error: unknown): void } | undefined
  #failure: { error: unknown } | undefined
  readonly #ended: () => void

  constructor(first: Uint8Array, signal: AbortSignal, ended: () => void) {
    this.#queue = first.length === 0 ? [] : [first]
    this.#ended = ended
    signal.addEventListener('abort', () => this.fail(signal.reason), { once: true })
  }

  getReader(): Reader {
    return {
      read: () => {
        const value = this.#queue.shift()
        if (value !== undefined) return Promise.resolve({ value, done: false })
        if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
        return new Promise((resolve, reject) => {
          this.#reading = { resolve, reject }
        })
      },
      cancel: async () => this.fail(new Error('canceled')),
    }
  }

  send(value: Uint8Array): void {
    const reading = this.#reading
    this.#reading = undefined
    if (reading === undefined) this.#queue.push(value)
    else reading.resolve({ value, done: false })
  }

  fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = { error }
    this.#ended()
    this.#reading?.reject(error)
    this.#reading = undefined
  }
}
