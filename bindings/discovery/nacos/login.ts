/** @module The token: got by name and password, renewed before it expires, and when it is refused; never in a hurry. */

import { DiscoveryError } from '../../errors.js'
import { isWorkers } from '../../runtime/host.js'
import { waitFor } from '../../runtime/wait.js'
import { objectAt, textAt } from '../registry/reading.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import type { RegistryAnswer, RegistryHttp } from '../registry/registry-http.js'
import { isAbsent } from './api.js'
import type { NacosDiscoveryOptions } from './options.js'

/** Of 3.x; of 1.2 on; the older alias, which 3.2 still has. */
const PATHS = ['/v3/auth/user/login', '/v1/auth/users/login', '/v1/auth/login']
const DEFAULT_TTL_MS = 18_000_000
/** So much of its life is over when a token is renewed, less up to a tenth of that: clients don't stay in step. */
const RENEWED_AT = 0.9
const SPREAD = 0.1
/** From one login to the next, whatever is refused. */
const LEAST_PAUSE_MS = 5_000

interface Token {
  readonly text: string
  readonly bornMs: number
  readonly renewMs: number
  readonly endMs: number
}

type LoginOptions = Pick<NacosDiscoveryOptions, 'username' | 'password' | 'accessToken' | 'random'>

export class Login {
  readonly #options: LoginOptions
  readonly #http: RegistryHttp
  readonly #clock: () => number
  readonly #random: () => number
  #token: Token | undefined
  /** Which of the paths the server has. */
  #path = 0
  /** A login was refused: until then none is tried, and the refusal stands. */
  #refused: { error: unknown; untilMs: number } | undefined
  #pending: { address: RegistryAddress; token: Promise<Token> } | undefined
  #hidden: string[] = []

  constructor(options: LoginOptions, http: RegistryHttp, clock: () => number) {
    this.#options = options
    this.#http = http
    this.#clock = clock
    this.#random = options.random ?? Math.random
    http.keepSecret(options.accessToken, 'nacosDiscovery.accessToken')
    for (const secret of [options.accessToken, options.password]) for (const form of formsOf(secret)) http.hide(form)
  }

  /** For the next question; undefined: there is nothing to log in with. @throws EVENKEEL_DISCOVERY as the login failed */
  async current(address: RegistryAddress, signal: AbortSignal): Promise<string | undefined> {
    const { username, accessToken } = this.#options
    if (username === undefined) return accessToken
    const token = this.#token
    const nowMs = this.#clock()
    if (token !== undefined && nowMs < token.renewMs) return token.text
    const stillGood = token !== undefined && nowMs < token.endMs ? token.text : undefined
    if (this.#refused !== undefined && nowMs < this.#refused.untilMs) {
      if (stillGood !== undefined) return stillGood
      throw this.#refused.error
    }
    try {
      return (await this.#login(address, signal)).text
    } catch (error) {
      if (signal.aborted || stillGood === undefined) throw error
      return stillGood
    }
  }

  /** In place of one that was refused; undefined: it is too early for another, or there is nothing to log in with. */
  async inPlaceOf(
    refused: string | undefined,
    address: RegistryAddress,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (this.#options.username === undefined) return undefined
    const token = this.#token
    const nowMs = this.#clock()
    if (token !== undefined && token.text !== refused) return token.text
    if (token !== undefined && nowMs - token.bornMs < LEAST_PAUSE_MS) return undefined
    if (this.#refused !== undefined && nowMs < this.#refused.untilMs) return undefined
    return (await this.#login(address, signal)).text
  }

  /** One at a time, for all who wait; but on Workers, where a promise belongs to its request. */
  #login(address: RegistryAddress, signal: AbortSignal): Promise<Token> {
    if (isWorkers()) return this.#ask(address, signal)
    if (this.#pending?.address !== address) {
      // It has a time limit of its own, and one that gives up is not to take it from the others.
      const token = this.#ask(address, new AbortController().signal)
      const pending = { address, token }
      this.#pending = pending
      const end = () => {
        if (this.#pending === pending) this.#pending = undefined
      }
      token.then(end, end)
    }
    return waitFor((this.#pending as { token: Promise<Token> }).token, { signal }, 'logging in')
  }

  async #ask(address: RegistryAddress, signal: AbortSignal): Promise<Token> {
    const answer = await this.#answer(address, signal)
    try {
      const token = this.#read(answer)
      this.#token = token
      this.#refused = undefined
      return token
    } catch (error) {
      const pauseMs = LEAST_PAUSE_MS * (1 + this.#random())
      this.#refused = { error, untilMs: this.#clock() + pauseMs }
      throw error
    }
  }

  async #answer(address: RegistryAddress, signal: AbortSignal): Promise<RegistryAnswer> {
    const { username = '', password = '' } = this.#options
    const body = `${new URLSearchParams({ username, password })}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (let tried = 0; ; tried++) {
      const path = PATHS[this.#path] as string
      const answer = await this.#http.ask({ address, path, method: 'POST', headers, body, signal })
      if (!isAbsent(answer) || tried === PATHS.length) return answer
      this.#path = (this.#path + 1) % PATHS.length
    }
  }

  #read(answer: RegistryAnswer): Token {
    const http = this.#http
    const said = objectAt(http.json(answer), answer.from)
    const { accessToken, tokenTtl } = 'accessToken' in said ? said : objectAt(said.data, `${answer.from}: data`)
    const text = textAt(accessToken, `${answer.from}: accessToken`)
    if (!/^[\x21-\x7e]+$/.test(text)) {
      throw new DiscoveryError(`${answer.from}: accessToken has characters that no header takes`, {
        failure: 'malformed',
      })
    }
    this.#hide(text)
    const ttlMs = typeof tokenTtl === 'number' && tokenTtl > 0 ? tokenTtl * 1_000 : DEFAULT_TTL_MS
    const bornMs = this.#clock()
    const renewMs = bornMs + ttlMs * RENEWED_AT * (1 - SPREAD * this.#random())
    return { text, bornMs, renewMs, endMs: bornMs + ttlMs }
  }

  /** This one and the one before, which questions under way may have. */
  #hide(token: string): void {
    for (const form of formsOf(token)) this.#http.hide(form)
    this.#hidden = [...this.#hidden.filter((each) => each !== token), token]
    if (this.#hidden.length <= 2) return
    for (const form of formsOf(this.#hidden.shift())) this.#http.unhide(form)
  }
}

/** As it is, and as it stands in a query or a form: some transports tell the URL in their errors. */
function formsOf(secret = ''): readonly string[] {
  return [secret, `${new URLSearchParams({ s: secret })}`.slice(2)]
}
