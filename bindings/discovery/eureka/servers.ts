/** @module The questions of Eureka's protocol, each to whichever server answers. */

import { DiscoveryError } from '../../errors.js'
import { Endpoints } from '../registry/endpoints.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import { type RegistryAnswer, RegistryHttp, type RegistryQuestion } from '../registry/registry-http.js'
import { type Applications, applicationIn, applicationsIn, type RawInstance } from './applications.js'
import type { EurekaSettings } from './options.js'

/** A full registry has about a kilobyte an instance. */
const MOST_ANSWER_BYTES = 32 * 2 ** 20

/** Java's client begins at its first server anew so often, on average, so that load evens out after a failure. */
const SESSION_MS = 1_200_000

/** The server writes XML for whoever does not ask for JSON, and `fetch` asks for anything. */
const JSON_HEADERS = { accept: 'application/json' }

const FULL = '/apps/'
const DELTA = '/apps/delta'

/** What a server says of the whole registry. */
export interface ServerApplications extends Applications {
  readonly server: RegistryAddress
}

type Question = Omit<RegistryQuestion, 'address' | 'signal'>

export class EurekaServers {
  readonly #settings: EurekaSettings
  readonly #http: RegistryHttp
  /** They have answered as Eureka does. */
  readonly #proven = new Set<RegistryAddress>()
  #endpoints: Endpoints
  #sessionEndsAt: number

  constructor(settings: EurekaSettings) {
    this.#settings = settings
    this.#http = new RegistryHttp('eureka', settings.transport, MOST_ANSWER_BYTES)
    for (const { authorization } of settings.addresses) this.#http.keepSecret(authorization, 'eurekaDiscovery.url')
    this.#endpoints = new Endpoints('eureka', settings.addresses)
    this.#sessionEndsAt = this.#endOfSession()
  }

  get shown(): string {
    return this.#endpoints.shown
  }

  /** Everything. */
  full(signal: AbortSignal): Promise<ServerApplications> {
    return this.#ask({ path: FULL, query: this.#regions() }, signal, (answer, server) => {
      return { ...this.#applications(answer, server), server }
    })
  }

  /** What has changed in the last minutes; undefined: the server does not say. */
  delta(signal: AbortSignal): Promise<ServerApplications | undefined> {
    return this.#ask({ path: DELTA, query: this.#regions() }, signal, (answer, server) => {
      if (answer.status === 403 || answer.status === 404) return undefined
      return { ...this.#applications(answer, server), server }
    })
  }

  /** Those of one service, of any status. */
  service(serviceId: string, signal: AbortSignal): Promise<readonly RawInstance[]> {
    const { lookup } = this.#settings
    const path = lookup === 'app' ? `/apps/${segment(serviceId.toUpperCase())}` : `/${lookup}s/${segment(serviceId)}`
    return this.#ask({ path }, signal, async (answer, server) => {
      if (answer.status === 404) {
        await this.#prove(server, answer, signal)
        return []
      }
      if (lookup !== 'app') return this.#applications(answer, server).instances
      const instances = applicationIn(this.#http.json(answer), answer.from)
      this.#proven.add(server)
      return instances
    })
  }

  /** Tells the server something. @returns the status of its answer, one of `statuses` */
  tell(question: Question, statuses: readonly number[], signal: AbortSignal): Promise<number> {
    return this.#ask(question, signal, (answer) => this.#http.accepted(answer, statuses).status)
  }

  #applications(answer: RegistryAnswer, server: RegistryAddress): Applications {
    const applications = applicationsIn(this.#http.json(answer), answer.from)
    this.#proven.add(server)
    return applications
  }

  /**
   * That a 404 is Eureka's word for nobody: it is also what a server says of a path that begins at the wrong place.
   * @throws EVENKEEL_DISCOVERY if the server knows no path of the protocol, or can't say
   */
  async #prove(address: RegistryAddress, unknown: RegistryAnswer, signal: AbortSignal): Promise<void> {
    if (this.#proven.has(address)) return
    for (const path of [DELTA, FULL]) {
      const answer = await this.#http.ask({ path, headers: JSON_HEADERS, address, signal })
      if (answer.status === 404) continue
      // Told no changes, or not ready yet: in Eureka's words.
      if (answer.status !== 403) this.#http.json(answer)
      this.#proven.add(address)
      return
    }
    const hint = `as it does for ${FULL}: url must be where the protocol begins, as http://host:8761/eureka`
    throw new DiscoveryError(`${unknown.from} answered status 404, ${hint}`, { failure: 'status', status: 404 })
  }

  #ask<T>(
    question: Question,
    signal: AbortSignal,
    read: (answer: RegistryAnswer, server: RegistryAddress) => T | Promise<T>,
  ): Promise<T> {
    if (this.#settings.clock() >= this.#sessionEndsAt) {
      this.#sessionEndsAt = this.#endOfSession()
      this.#endpoints = new Endpoints('eureka', this.#settings.addresses)
    }
    const headers = { ...JSON_HEADERS, ...question.headers }
    return this.#endpoints.ask(signal, async (address) => {
      const answer = await this.#http.ask({ ...question, headers, address, signal })
      return read(answer, address)
    })
  }

  #regions(): Record<string, string> {
    const { regions } = this.#settings
    return regions.length === 0 ? {} : { regions: regions.join(',') }
  }

  #endOfSession(): number {
    const { clock, random } = this.#settings
    return clock() + SESSION_MS * (0.5 + random())
  }
}

/** A part of a path; colons, which ids are full of, may stay. */
export function segment(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':')
}

/** A question that a server took too long to answer. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DiscoveryError && error.failure === 'timeout'
}
