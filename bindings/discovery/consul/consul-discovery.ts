/** @module The discovery client for Consul. */

import { ClosedError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import type { DiscoveryClient, WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import type { Registrar, Registration, RegistrationInit, RegistrationOptions } from '../../types/registration.js'
import { Backoff, CUT_OFF_GROWTH } from '../registry/backoff.js'
import { ListKeeper } from '../registry/list-keeper.js'
import { OpenWatches } from '../registry/open-watches.js'
import { ProtocolRegistration, registrantOf } from '../registry/registration.js'
import { watchLoop } from '../registry/watch-loop.js'
import { ConsulAgents, type HealthAnswer } from './agents.js'
import { answers } from './follow.js'
import { readInstances } from './instances.js'
import { type ConsulDiscoveryOptions, checkOptions } from './options.js'
import { Pace } from './pace.js'
import { ConsulRegistration } from './registration.js'

const BACKOFF = { minMs: 1_000, maxMs: 30_000, growth: CUT_OFF_GROWTH }

/** A change that comes after a quiet time is seen at once; one amid others within a second. */
const PACE = { burst: 3, intervalMs: 900 }

/** What is known of a service, for all who watch it or ask for it. */
interface Known {
  readonly keeper: ListKeeper
  answer: HealthAnswer | undefined
  unhealthy: number
}

export interface ConsulDiscovery extends DiscoveryClient, Registrar {
  get(serviceId: string, options: { signal: AbortSignal }): Promise<readonly InstanceInit[]>
  watch(serviceId: string, options: WatchOptions): AsyncIterable<readonly InstanceInit[]>
  services(options: { signal: AbortSignal }): Promise<readonly string[]>
  describe(serviceId: string): Record<string, string>
  close(): Promise<void>
}

/**
 * Instances from Consul: followed by blocking queries, so that a change is seen at once, and within a second while
 * others come one after the other. Where nothing outlives a request (Workers) each refresh asks once. Consul's warnings
 * are listed with their own weight, as its DNS does it, and critical instances are not; see `health`.
 *
 * Breaks when there is a proxy in between that ends quiet requests before `waitMs`, or hides `X-Consul-Index` (a
 * browser does so unless CORS exposes it): then Consul is asked once a second. A connection that died without a word is
 * noticed only after `waitMs` and a sixteenth, plus `requestTimeoutMs`: lower `waitMs` where that is too late.
 * @throws EVENKEEL_CONFIG naming the option
 * @see https://developer.hashicorp.com/consul/api-docs/health and …/features/blocking
 * @example createLoadBalancer({ discovery: consulDiscovery({ url: 'http://127.0.0.1:8500', token: readToken }) })
 */
export function consulDiscovery(options: ConsulDiscoveryOptions = {}): ConsulDiscovery {
  checkOptions(options)
  return new ConsulClient(options)
}

class ConsulClient implements ConsulDiscovery {
  readonly name = 'consul'
  readonly order?: number
  readonly #options: ConsulDiscoveryOptions
  readonly #clock: () => number
  readonly #random: () => number
  readonly #agents: ConsulAgents
  readonly #known = new Map<string, Known>()
  readonly #watches = new OpenWatches()

  constructor(options: ConsulDiscoveryOptions) {
    this.#options = options
    this.#clock = options.clock ?? defaultClock()
    this.#random = options.random ?? Math.random
    this.#agents = new ConsulAgents(options, this.#clock)
    if (options.order !== undefined) this.order = options.order
  }

  async get(serviceId: string, { signal }: { signal: AbortSignal }): Promise<readonly InstanceInit[]> {
    const known = this.#known.get(serviceId)?.answer?.index
    return this.#take(serviceId, await this.#agents.health(serviceId, signal, undefined, known))
  }

  watch(serviceId: string, options: WatchOptions): AsyncGenerator<readonly InstanceInit[], void> {
    return this.#watches.run(options, (open) => this.#follow(serviceId, open))
  }

  #follow(serviceId: string, options: WatchOptions): AsyncGenerator<readonly InstanceInit[], void> {
    const { signal } = options
    const pace = new Pace(PACE, this.#clock)
    const backoff = new Backoff(BACKOFF, this.#random)
    let told: readonly InstanceInit[] | undefined
    const take = (answer: HealthAnswer) => this.#take(serviceId, answer)
    const agents = this.#agents
    const session = async function* () {
      for await (const answer of answers(agents, serviceId, signal, pace)) {
        const list = take(answer)
        if (list === told) options.confirmed?.()
        else yield (told = list)
      }
    }
    return watchLoop(session, { options, backoff, clock: this.#clock })
  }

  async services({ signal }: { signal: AbortSignal }): Promise<readonly string[]> {
    return this.#agents.services(signal)
  }

  register(instance: RegistrationInit, options: RegistrationOptions = {}): Registration {
    const registrant = registrantOf(instance, options)
    const protocol = new ConsulRegistration(registrant, this.#agents, this.#options.registration)
    return new ProtocolRegistration(registrant, protocol, { random: this.#random }, options)
  }

  describe(serviceId: string): Record<string, string> {
    const { datacenter, namespace, partition, peer, tags, filter, near, health = 'warning' } = this.#options
    const { consistency = 'default' } = this.#options
    const { answer, unhealthy = 0, keeper } = this.#known.get(serviceId) ?? {}
    const { standing } = answer ?? {}
    const said = {
      address: this.#agents.shown,
      datacenter,
      namespace,
      partition,
      peer,
      tags: tags?.join(', '),
      filter,
      near,
      health,
      consistency: consistency + (this.#agents.asksLeader ? '; for now from the leader, as an answer was too old' : ''),
      index: answer && String(answer.index),
      backend: standing?.backend,
      lastContactMs: standing?.ageMs === undefined ? undefined : String(standing.ageMs),
      leader: standing?.isLeaderless ? 'none known to the server that answered' : undefined,
      filteredByAcls: standing?.isFiltered ? 'the token may not see all instances' : undefined,
      unhealthy: unhealthy > 0 ? `${unhealthy} not listed` : undefined,
      ...keeper?.remarks,
    }
    return Object.fromEntries(Object.entries(said).filter((each): each is [string, string] => each[1] !== undefined))
  }

  /** Ends its watches. Registrations live on: each has a `close` of its own. */
  async close(): Promise<void> {
    this.#watches.close(new ClosedError('consulDiscovery is closed'))
  }

  #take(serviceId: string, answer: HealthAnswer): readonly InstanceInit[] {
    const { found, unreadable, unhealthy } = readInstances(answer.entries, this.#options)
    let known = this.#known.get(serviceId)
    if (known === undefined) {
      known = { keeper: new ListKeeper(), answer: undefined, unhealthy: 0 }
      this.#known.set(serviceId, known)
    }
    known.answer = { ...answer, entries: [] }
    known.unhealthy = unhealthy
    return known.keeper.keep(found, unreadable)
  }
}
