/** @module The client: asks for lists, again and again, and registers. */

import { msOf } from '../../config/duration.js'
import { ClosedError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import type { DiscoveryClient, WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import type { Registrar, Registration, RegistrationInit, RegistrationOptions } from '../../types/registration.js'
import { Backoff } from '../registry/backoff.js'
import { ListKeeper } from '../registry/list-keeper.js'
import { OpenWatches } from '../registry/open-watches.js'
import { pause } from '../registry/pause.js'
import { ProtocolRegistration, registrantOf } from '../registry/registration.js'
import { watchLoop } from '../registry/watch-loop.js'
import { listOf } from './answers.js'
import { listQuestion } from './api.js'
import { selectedOf } from './instances.js'
import { checkedAddresses, type NacosDiscoveryOptions } from './options.js'
import { registrationProtocol } from './registering.js'
import { Servers } from './servers.js'
import { type ServiceName, serviceNameOf } from './service-name.js'
import { serviceNames } from './services.js'

/** Where neither the user nor the server says anything. */
const POLL_MS = 10_000
const LEAST_POLL_MS = 1_000
const MOST_POLL_MS = 60_000
/** As long as there is no list at all, calls fail: the first attempts follow one another sooner. */
const COLD_LEAST_MS = 1_000
/** Questions come up to this share earlier, so that clients that began together don't stay in step. */
const SPREAD = 0.1

/** Lists of services, from a Nacos server, and registrations there. */
export interface NacosDiscovery extends DiscoveryClient, Registrar {
  readonly name: 'nacos'
  readonly order: number
  get(serviceId: string, options: { signal: AbortSignal }): Promise<readonly InstanceInit[]>
  watch(serviceId: string, options: WatchOptions): AsyncGenerator<readonly InstanceInit[], void>
  /** Names in the client's group, sorted. The server of 3.x needs the v1 API for that, or rights of an administrator. */
  services(options: { signal: AbortSignal }): Promise<readonly string[]>
  describe(serviceId: string): Record<string, string>
  /** Ends its watches. Registrations live on: each has a `close` of its own. */
  close(): Promise<void>
}

/** What is known of a service. */
interface Known {
  readonly keeper: ListKeeper
  /** What the last answer said besides. */
  remarks: Record<string, string>
}

/**
 * A discovery client of Nacos 1.2 to 3.x, and of servers that speak its HTTP API, by polling: a change is in the list
 * after one interval, 10 s by default. Also registers.
 * @param options all but `url` have defaults; durations in ms
 * @throws EVENKEEL_CONFIG naming the option
 * @see https://nacos.io/docs/latest/manual/user/open-api/
 * @example
 * const lb = createLoadBalancer({ discovery: nacosDiscovery({ url: 'http://nacos:8848', username: 'app', password }) })
 *
 * Breaks when lists must be newer than a second: push is gRPC or UDP, neither of which `fetch` speaks. Breaks when
 * instances are registered under addresses that only their own network knows.
 */
export function nacosDiscovery(options: NacosDiscoveryOptions): NacosDiscovery {
  return new Client(options)
}

class Client implements NacosDiscovery {
  readonly name = 'nacos'
  readonly order: number
  readonly #options: NacosDiscoveryOptions
  readonly #servers: Servers
  readonly #clock: () => number
  readonly #random: () => number
  readonly #known = new Map<string, Known>()
  readonly #watches = new OpenWatches()

  constructor(options: NacosDiscoveryOptions) {
    const addresses = checkedAddresses(options)
    this.#options = options
    this.order = options.order ?? 0
    this.#clock = options.clock ?? defaultClock()
    this.#random = options.random ?? Math.random
    this.#servers = new Servers(addresses, options, this.#clock)
  }

  async get(serviceId: string, { signal }: { signal: AbortSignal }): Promise<readonly InstanceInit[]> {
    return (await this.#ask(serviceId, signal)).list
  }

  watch(serviceId: string, options: WatchOptions): AsyncGenerator<readonly InstanceInit[], void> {
    return this.#watches.run(options, (open) => this.#poll(serviceId, open))
  }

  #poll(serviceId: string, options: WatchOptions): AsyncGenerator<readonly InstanceInit[], void> {
    const { signal } = options
    let intervalMs = msOf(this.#options.pollMs) ?? POLL_MS
    let last: readonly InstanceInit[] | undefined
    // After an outage it is asked no more often than otherwise, also where the server has set the interval.
    const range = {
      get minMs() {
        return last === undefined ? Math.min(COLD_LEAST_MS, intervalMs) : intervalMs
      },
      get maxMs() {
        return 4 * intervalMs
      },
    }
    const backoff = new Backoff(range, this.#random)
    const session = async function* (this: Client) {
      while (!signal.aborted) {
        const { list, pollMs } = await this.#ask(serviceId, signal)
        intervalMs = pollMs
        backoff.reset()
        if (list === last) options.confirmed?.()
        else yield (last = list)
        await pause(intervalMs * (1 - SPREAD * this.#random()), signal)
      }
    }
    return watchLoop(session.bind(this), { options, backoff, clock: this.#clock })
  }

  async services({ signal }: { signal: AbortSignal }): Promise<readonly string[]> {
    const { group } = this.#nameOf('')
    return serviceNames(this.#servers, { group, namespace: this.#namespace }, signal)
  }

  describe(serviceId: string): Record<string, string> {
    const { clusters = [] } = this.#options
    const { api } = this.#servers
    const known = this.#known.get(serviceId)
    return {
      address: this.#servers.shown,
      namespace: this.#namespace ?? 'public',
      group: this.#nameOf(serviceId).group,
      ...(clusters.length > 0 && { clusters: clusters.join(', ') }),
      ...(api !== undefined && { api }),
      ...known?.remarks,
      ...known?.keeper.remarks,
    }
  }

  register(init: RegistrationInit, options: RegistrationOptions = {}): Registration {
    const instance = registrantOf(init, options)
    const { clusters = [], cluster = clusters.length === 1 ? (clusters[0] as string) : 'DEFAULT' } = this.#options
    const { ephemeral = true } = this.#options
    const service = this.#nameOf(instance.serviceId)
    const scope = { service, namespace: this.#namespace }
    const protocol = registrationProtocol(this.#servers, instance, { scope, cluster, ephemeral })
    return new ProtocolRegistration(instance, protocol, { random: this.#random }, options)
  }

  async close(): Promise<void> {
    this.#watches.close(new ClosedError('nacosDiscovery is closed'))
  }

  get #namespace(): string | undefined {
    return this.#options.namespace || undefined
  }

  #nameOf(serviceId: string): ServiceName {
    return serviceNameOf(serviceId, this.#options.group ?? 'DEFAULT_GROUP')
  }

  async #ask(serviceId: string, signal: AbortSignal): Promise<{ list: readonly InstanceInit[]; pollMs: number }> {
    const { clusters = [], clusterFallback = false, pollMs } = this.#options
    const scope = { service: this.#nameOf(serviceId), namespace: this.#namespace }
    const asked = clusterFallback ? [] : clusters
    return this.#servers.ask(
      signal,
      (api) => listQuestion(api, scope, asked),
      (api, answer) => {
        const said = listOf(this.#servers.http, api, answer)
        const { found, unreadable, fellBack } = selectedOf(said, this.#options)
        const known = this.#knownOf(serviceId)
        known.remarks = {
          ...(said.isProtected && { protection: 'too few are healthy: the server lists all of them as healthy' }),
          ...(fellBack && { fallback: `nobody in ${clusters.join(', ')}: other clusters are listed` }),
        }
        return {
          list: known.keeper.keep(found, unreadable),
          pollMs: msOf(pollMs) ?? clamped(said.cacheMs ?? POLL_MS),
        }
      },
    )
  }

  #knownOf(serviceId: string): Known {
    let known = this.#known.get(serviceId)
    if (known === undefined) {
      known = { keeper: new ListKeeper(), remarks: {} }
      this.#known.set(serviceId, known)
    }
    return known
  }
}

function clamped(ms: number): number {
  return Math.min(Math.max(ms, LEAST_POLL_MS), MOST_POLL_MS)
}
