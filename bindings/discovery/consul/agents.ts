/** @module Consul's HTTP API, as far as it is used: questions with the common parameters and the token. */

import { msOf } from '../../config/duration.js'
import { DiscoveryError } from '../../errors.js'
import { waitFor } from '../../runtime/wait.js'
import { messageOf } from '../message-of.js'
import { Endpoints } from '../registry/endpoints.js'
import { arrayAt, objectAt } from '../registry/reading.js'
import { type RegistryAddress, registryAddress } from '../registry/registry-address.js'
import { type RegistryAnswer, RegistryHttp, type RegistryQuestion } from '../registry/registry-http.js'
import { indexOf, type Standing, standingOf } from './headers.js'
import type { ConsulDiscoveryOptions } from './options.js'

const DEFAULT_URL = 'http://127.0.0.1:8500'
/** Consul's own default is 5 min, which with its sixteenth is longer than Node's `fetch` waits for headers. */
const DEFAULT_WAIT_MS = 240_000
const LEAST_STALE_WAIT_MS = 10_000
/** Servers answer up to a sixteenth of the wait later, so that not all questions end at once. */
const LATEST_ANSWER = 17 / 16
/** After an answer that was too old the leader is asked for so long. */
const LEADER_MS = 60_000
const TOKEN_TIMEOUT_MS = 5_000
/** Of tokens that change: questions under way may have the one before. */
const TOKENS_HIDDEN = 2

/** Where a blocking question goes on. */
export interface Place {
  readonly address: RegistryAddress
  readonly index: bigint
}

export interface HealthAnswer extends Place {
  readonly entries: readonly unknown[]
  readonly standing: Standing
}

export class ConsulAgents {
  readonly addresses: readonly RegistryAddress[]
  readonly #endpoints: Endpoints
  readonly #http: RegistryHttp
  readonly #options: ConsulDiscoveryOptions
  readonly #clock: () => number
  #leaderUntil = Number.NEGATIVE_INFINITY
  /** What the token function gave last. */
  #tokens: string[] = []

  /** @throws EVENKEEL_CONFIG naming url or token */
  constructor(options: ConsulDiscoveryOptions, clock: () => number) {
    const { url = DEFAULT_URL } = options
    const urls = Array.isArray(url) ? (url as readonly (string | URL)[]) : [url as string | URL]
    this.addresses = urls.map((each, i) =>
      registryAddress(each, `consulDiscovery.url${urls.length === 1 ? '' : `[${i}]`}`),
    )
    this.#endpoints = new Endpoints('Consul', this.addresses)
    this.#http = new RegistryHttp('consul', options)
    if (typeof options.token === 'string') this.#http.keepSecret(options.token, 'consulDiscovery.token')
    this.#options = options
    this.#clock = clock
  }

  get shown(): string {
    return this.#endpoints.shown
  }

  /** How long Consul is asked to wait. */
  get waitMs(): number {
    const waitMs = msOf(this.#options.waitMs) ?? DEFAULT_WAIT_MS
    const maxStaleMs = msOf(this.#options.maxStaleMs)
    return maxStaleMs === undefined ? waitMs : Math.min(waitMs, Math.max(maxStaleMs, LEAST_STALE_WAIT_MS))
  }

  /** An answer was too old: none is taken for now from who may be behind. */
  get asksLeader(): boolean {
    return this.#clock() < this.#leaderUntil
  }

  /**
   * Everybody of the service, whatever their health.
   * @param after what is there already: held back until there is something newer, and asked only where that is from
   * @param known an index that was answered before: an answer from before that is asked again of the leader
   * @throws EVENKEEL_DISCOVERY
   */
  async health(serviceId: string, signal: AbortSignal, after?: Place, known = 0n): Promise<HealthAnswer> {
    const mayBeOld = this.#mayBeOld
    const answer = await this.#health(serviceId, signal, mayBeOld, after)
    if (!mayBeOld) return answer
    const { standing, entries, index } = answer
    if (index < known) return this.#health(serviceId, signal, false)
    const maxStaleMs = msOf(this.#options.maxStaleMs)
    if (maxStaleMs !== undefined && (standing.isLeaderless || (standing.ageMs ?? 0) > maxStaleMs)) {
      this.#leaderUntil = this.#clock() + LEADER_MS
      return this.#health(serviceId, signal, false)
    }
    if (standing.isLeaderless && entries.length === 0) {
      throw new DiscoveryError('a Consul server that knows no leader lists nobody, which need not be true', {
        failure: 'status',
        status: 200,
      })
    }
    return answer
  }

  /** The names of all services that have the tags. */
  async services(signal: AbortSignal): Promise<readonly string[]> {
    const { tags = [], near, filter, ...common } = this.#options
    const query = { ...commonQuery(common), ...this.#modeQuery(this.#mayBeOld, false) }
    return this.#endpoints.ask(signal, async (address) => {
      const answer = await this.#ask({ address, path: '/v1/catalog/services', query, signal })
      const names = Object.entries(objectAt(this.#http.json(answer), 'the services'))
      const has = (own: unknown) => tags.every((tag) => Array.isArray(own) && own.includes(tag))
      return names
        .filter(([, own]) => has(own))
        .map(([name]) => name)
        .sort()
    })
  }

  /** Tells one agent something; what it says to that is for the caller to judge. */
  async put(address: RegistryAddress, path: string, signal: AbortSignal, query = {}, body?: object) {
    const { namespace: ns, partition } = this.#options
    return this.#ask({
      address,
      path,
      method: 'PUT',
      query: { ns, partition, ...query },
      signal,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  }

  /** @throws EVENKEEL_DISCOVERY for any status but 200 */
  accepted(answer: RegistryAnswer): void {
    this.#http.accepted(answer)
  }

  get #mayBeOld(): boolean {
    const { consistency, cached } = this.#options
    return (consistency === 'stale' || cached === true) && !this.asksLeader
  }

  async #health(serviceId: string, signal: AbortSignal, mayBeOld: boolean, after?: Place): Promise<HealthAnswer> {
    const path = `/v1/health/service/${encodeURIComponent(serviceId)}`
    const { tags, filter, near } = this.#options
    const query = { ...commonQuery(this.#options), tag: tags, filter, near, ...this.#modeQuery(mayBeOld, true) }
    const ask = async (address: RegistryAddress): Promise<HealthAnswer> => {
      const { waitMs } = this
      const wait = after && { index: String(after.index), wait: `${Math.round(waitMs)}ms` }
      const answer = await this.#ask({
        address,
        path,
        query: { ...query, ...wait },
        signal,
        ...(after && { waitMs: waitMs * LATEST_ANSWER }),
      })
      const entries = arrayAt(this.#http.json(answer), `${answer.from}: the answer`)
      const standing = standingOf(answer.headers)
      if (standing.isFiltered && entries.length === 0) {
        throw new DiscoveryError(
          `${answer.from}: the token may see no instance of it (X-Consul-Results-Filtered-By-ACLs)`,
          {
            failure: 'denied',
            status: answer.status,
          },
        )
      }
      return { address, entries, standing, index: indexOf(answer.headers) }
    }
    return after === undefined ? this.#endpoints.ask(signal, ask) : ask(after.address)
  }

  #modeQuery(mayBeOld: boolean, hasCache: boolean): Record<string, string | undefined> {
    const { consistency, cached } = this.#options
    return {
      stale: mayBeOld && consistency === 'stale' ? '' : undefined,
      consistent: consistency === 'consistent' ? '' : undefined,
      cached: mayBeOld && hasCache && cached ? '' : undefined,
    }
  }

  async #ask(question: RegistryQuestion): Promise<RegistryAnswer> {
    const token = await this.#token(question.signal)
    const headers = { ...(token !== undefined && { 'x-consul-token': token }), ...question.headers }
    const answer = await this.#http.ask({ ...question, headers })
    return answer
  }

  async #token(signal: AbortSignal): Promise<string | undefined> {
    const { token: given, requestTimeoutMs } = this.#options
    if (typeof given !== 'function') return given
    const timeoutMs = msOf(requestTimeoutMs) ?? TOKEN_TIMEOUT_MS
    try {
      const asked = (async () => given())()
      const token = await waitFor(asked, { signal, timeoutMs }, 'the token function')
      if (typeof token !== 'string') throw new TypeError('it gave no string')
      this.#hide(token)
      return token
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const message = `there is no token for Consul: ${messageOf(error)}`
      throw new DiscoveryError(message, { failure: 'denied', cause: error })
    }
  }

  /** This one and the one before. */
  #hide(token: string): void {
    if (this.#tokens.at(-1) === token) return
    this.#http.keepSecret(token, 'token')
    this.#tokens = [...this.#tokens.filter((each) => each !== token), token]
    if (this.#tokens.length > TOKENS_HIDDEN) this.#http.unhide(this.#tokens.shift() as string)
  }
}

function commonQuery({ datacenter, namespace, partition, peer, nodeMeta = {} }: ConsulDiscoveryOptions) {
  return {
    dc: datacenter,
    ns: namespace,
    partition,
    peer,
    'node-meta': Object.entries(nodeMeta).map(([key, value]) => `${key}:${value}`),
  }
}
