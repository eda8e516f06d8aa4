/** @module Questions to etcd's JSON gateway: a POST each, with a token where the cluster wants one. */

import { isObject } from '../../config/check.js'
import { DiscoveryError } from '../../errors.js'
import { objectAt } from '../registry/reading.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import type { OpenAnswer, RegistryAnswer, RegistryHttp, RegistryQuestion } from '../registry/registry-http.js'
import { deniedBy, isStaleToken } from './refusals.js'
import type { Token } from './token.js'

export interface GatewayQuestion {
  readonly address: RegistryAddress
  /** After the version, as `/kv/range`. */
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

export interface GatewayAnswer {
  readonly value: Record<string, unknown>
  /** Which question was answered, for errors. */
  readonly from: string
}

export class Gateway {
  readonly #http: RegistryHttp
  readonly #api: string
  readonly #token: Token

  constructor(http: RegistryHttp, api: string, token: Token) {
    this.#http = http
    this.#api = api
    this.#token = token
  }

  /** @throws EVENKEEL_DISCOVERY with what the server said */
  async ask(question: GatewayQuestion): Promise<GatewayAnswer> {
    let token = await this.#tokenFor(question)
    let answer = await this.#http.ask(this.#questionOf(question, token))
    if (answer.status !== 200 && this.#token.isWanted && isStaleToken(answer.text)) {
      this.#token.drop(token)
      token = await this.#tokenFor(question)
      answer = await this.#http.ask(this.#questionOf(question, token))
    }
    return this.#read(answer)
  }

  /** As `ask`, of an answer that goes on. A token that has expired is renewed by the next question. */
  async open(question: GatewayQuestion): Promise<OpenAnswer> {
    const token = await this.#tokenFor(question)
    return this.#http.open(this.#questionOf(question, token))
  }

  /** What the server says, as it may be told. */
  quoted(said: unknown): string {
    return this.#http.quoted(String(said))
  }

  async #tokenFor(question: GatewayQuestion): Promise<string> {
    return this.#token.get(async (body) => {
      const { value } = this.#read(
        await this.#http.ask(this.#questionOf({ ...question, path: '/auth/authenticate', body }, '')),
      )
      return value.token
    })
  }

  #questionOf({ address, path, body, signal }: GatewayQuestion, token: string): RegistryQuestion {
    return {
      address,
      path: this.#api + path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: token }) },
      body: JSON.stringify(body),
      signal,
    }
  }

  /** A stream's first message has its value in `result`. */
  #read(answer: RegistryAnswer): GatewayAnswer {
    if (answer.status !== 200) throw this.#refusal(answer)
    const { from } = answer
    const value = objectAt(this.#http.json(answer), from)
    if (value.error !== undefined) throw this.#refusal(answer)
    return { value: value.result === undefined ? value : objectAt(value.result, `${from}: result`), from }
  }

  /** With the server's own words for what it has in JSON. */
  #refusal(answer: RegistryAnswer): DiscoveryError {
    const said = saidIn(answer.text)
    const plain = this.#http.refusal(said === undefined ? answer : { ...answer, text: said })
    if (plain.failure === 'denied' || !deniedBy(said ?? '')) return plain
    return new DiscoveryError(plain.message, { failure: 'denied', status: answer.status })
  }
}

/** `{"error","code","message"}`; before 3.4 and in streams it is an object in `error`. */
function saidIn(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text)
    if (!isObject(answer)) return undefined
    const { error, message } = isObject(answer.error) ? { error: undefined, ...answer.error } : answer
    if (typeof message === 'string') return message
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
