/** @module The token that stands for user and password; 5 minutes unused and the server forgets it. */

import { textAt } from '../registry/reading.js'
import type { RegistryHttp } from '../registry/registry-http.js'
import { isAuthOff } from './refusals.js'

/** Tokens whose last use may still be told of by an error. */
const KEPT_TOKENS = 4

export class Token {
  readonly #credentials: { readonly name: string; readonly password: string } | undefined
  readonly #http: RegistryHttp
  /** Empty: the cluster wants none. */
  #known: string | undefined
  /** Those that no error may tell. */
  #hidden: readonly string[] = []

  constructor(username: string | undefined, password: string | undefined, http: RegistryHttp) {
    this.#http = http
    if (username === undefined || password === undefined) return
    this.#credentials = { name: username, password }
    http.hide(password)
    // As it stands in the question, which a proxy may repeat.
    http.hide(JSON.stringify(password).slice(1, -1))
  }

  /** Whether there is a user to have one. */
  get isWanted(): boolean {
    return this.#credentials !== undefined
  }

  /**
   * Requests share the token, never the question for it: on Workers a promise belongs to its request.
   * @param authenticate asks the server for one
   */
  async get(authenticate: (credentials: { name: string; password: string }) => Promise<unknown>): Promise<string> {
    if (this.#credentials === undefined) return ''
    if (this.#known !== undefined) return this.#known
    let token = ''
    try {
      token = textAt(await authenticate(this.#credentials), "etcd's token")
    } catch (error) {
      if (!isAuthOff(error)) throw error
    }
    this.#hide(token)
    this.#known = token
    return token
  }

  /** Another's that came meanwhile stays. */
  drop(token: string): void {
    if (this.#known === token) this.#known = undefined
  }

  /** Several may be had at once, and each is replaced before long: they must not add up. */
  #hide(token: string): void {
    if (token === '' || this.#hidden.includes(token)) return
    this.#http.hide(token)
    const hidden = [...this.#hidden, token]
    for (const old of hidden.slice(0, -KEPT_TOKENS)) this.#http.unhide(old)
    this.#hidden = hidden.slice(-KEPT_TOKENS)
  }
}
