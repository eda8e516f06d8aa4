/** @module A question to whichever server answers, in whichever API it has, with the token. */

import { DiscoveryError } from '../../errors.js'
import { Endpoints } from '../registry/endpoints.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import { type RegistryAnswer, RegistryHttp } from '../registry/registry-http.js'
import { APIS, type ApiQuestion, isAbsent, isDenied, type NacosApi } from './api.js'
import { Login } from './login.js'
import type { NacosDiscoveryOptions } from './options.js'

export interface ApiAnswer {
  readonly api: NacosApi
  readonly answer: RegistryAnswer
}

interface Asked {
  readonly address: RegistryAddress
  readonly question: (api: NacosApi) => ApiQuestion
  readonly token: string | undefined
  readonly signal: AbortSignal
}

export class Servers {
  readonly http: RegistryHttp
  readonly #login: Login
  readonly #endpoints: Endpoints
  readonly #apis: readonly NacosApi[]
  /** Which API a server has answered in. */
  readonly #known = new Map<RegistryAddress, NacosApi>()
  /** The user's own `authorization`, of the headers or the URL, is left to whom it is meant for. */
  readonly #ownAuthorization: boolean
  readonly #tokenInQuery: boolean

  constructor(addresses: readonly RegistryAddress[], options: NacosDiscoveryOptions, clock: () => number) {
    const { api = 'auto', headers = {}, tokenIn = 'header' } = options
    this.http = new RegistryHttp('nacos', options)
    this.#login = new Login(options, this.http, clock)
    this.#endpoints = new Endpoints('Nacos', addresses)
    this.#apis = api === 'auto' ? APIS : [api]
    this.#ownAuthorization = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
    this.#tokenInQuery = tokenIn === 'query'
  }

  get shown(): string {
    return this.#endpoints.shown
  }

  /** The API that was last answered in; undefined before the first answer. */
  get api(): NacosApi | undefined {
    return this.#known.get(this.#endpoints.current)
  }

  /**
   * What `read` makes of the first server's answer that can be read.
   * @throws EVENKEEL_DISCOVERY
   */
  ask<T>(
    signal: AbortSignal,
    question: (api: NacosApi) => ApiQuestion,
    read: (api: NacosApi, answer: RegistryAnswer) => T,
  ): Promise<T> {
    return this.#ask(signal, question, read, async (asked) => {
      const said = await this.#inKnownApi(asked)
      return { ...said, proven: () => this.#known.set(asked.address, said.api) }
    })
  }

  /**
   * As `ask`, in the oldest API that answers, whichever the server answers other questions in.
   * @throws EVENKEEL_DISCOVERY
   */
  askOldest<T>(
    signal: AbortSignal,
    question: (api: NacosApi) => ApiQuestion,
    read: (api: NacosApi, answer: RegistryAnswer) => T,
  ): Promise<T> {
    return this.#ask(signal, question, read, (asked) => this.#inFirstOf(this.#apis.toReversed(), asked))
  }

  #ask<T>(
    signal: AbortSignal,
    question: (api: NacosApi) => ApiQuestion,
    read: (api: NacosApi, answer: RegistryAnswer) => T,
    inSomeApi: (asked: Asked) => Promise<ApiAnswer & { proven?: () => void }>,
  ): Promise<T> {
    return this.#endpoints.ask(signal, async (address) => {
      const token = await this.#login.current(address, signal)
      let said = await inSomeApi({ address, question, token, signal })
      if (isDenied(said.answer)) {
        // Once: a server that refuses a new token too is asked again when the next question is due.
        const other = await this.#login.inPlaceOf(token, address, signal)
        if (other !== undefined) said = await inSomeApi({ address, question, token: other, signal })
      }
      const value = read(said.api, said.answer)
      said.proven?.()
      return value
    })
  }

  /** In the API that the server is known to have, or the first that it turns out to have. */
  async #inKnownApi(asked: Asked): Promise<ApiAnswer> {
    const { address } = asked
    const known = this.#known.get(address)
    if (known !== undefined) {
      const answer = await this.#askIn(known, asked)
      if (!isAbsent(answer)) return { api: known, answer }
      this.#known.delete(address)
    }
    const others = this.#apis.filter((api) => api !== known)
    return this.#inFirstOf(others.length > 0 ? others : this.#apis, asked)
  }

  /** Denied is no proof that the server has an API: proxies, and some servers, refuse every path alike. */
  async #inFirstOf(apis: readonly NacosApi[], asked: Asked): Promise<ApiAnswer> {
    let denied: ApiAnswer | undefined
    let absent: RegistryAnswer | undefined
    for (const api of apis) {
      const answer = await this.#askIn(api, asked)
      if (isAbsent(answer)) absent = answer
      else if (isDenied(answer)) denied ??= { api, answer }
      else return { api, answer }
    }
    if (denied !== undefined) return denied
    const { from, status } = absent as RegistryAnswer
    const message = `${from} answered status ${status}: the server has none of the APIs ${this.#apis.join(', ')} there`
    throw new DiscoveryError(message, { failure: 'status', status })
  }

  async #askIn(api: NacosApi, { address, question: ask, token, signal }: Asked): Promise<RegistryAnswer> {
    const question = ask(api)
    const isInHeader = token !== undefined && !this.#tokenInQuery
    const isBearer = isInHeader && address.authorization === undefined && !this.#ownAuthorization
    const headers = {
      ...(question.body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      // Servers of 2.1 to 2.5 go by the names as written here. Those before read the second only.
      ...(isInHeader && { accessToken: token }),
      ...(isBearer && { Authorization: `Bearer ${token}` }),
    }
    const query = isInHeader || token === undefined ? question.query : { ...question.query, accessToken: token }
    const answer = await this.http.ask({ ...question, query: query ?? {}, address, headers, signal })
    return answer
  }
}
