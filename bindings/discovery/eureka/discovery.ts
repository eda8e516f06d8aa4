/** @module The discovery client for Eureka. */

import { ClosedError } from '../../errors.js'
import type { DiscoveryClient, WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import type { Registration, RegistrationInit } from '../../types/registration.js'
import { ListKeeper } from '../registry/list-keeper.js'
import { OpenWatches } from '../registry/open-watches.js'
import { pause } from '../registry/pause.js'
import { ProtocolRegistration, registrantOf } from '../registry/registration.js'
import { askedPauseMs } from '../registry/watch-loop.js'
import type { RawInstance } from './applications.js'
import { type Entry, entryOf, vipsOf } from './entry.js'
import { listOf } from './list-of.js'
import { type EurekaDiscoveryOptions, type EurekaSettings, settingsOf } from './options.js'
import { Pace } from './pace.js'
import { EurekaProtocol, type EurekaRegistrationOptions, protocolOptionsOf } from './registration.js'
import { EurekaServers } from './servers.js'
import { SharedRegistry } from './shared-registry.js'

type List = readonly InstanceInit[]

/** What `eurekaDiscovery` makes. */
export interface EurekaDiscovery extends DiscoveryClient {
  get(serviceId: string, options: { signal: AbortSignal }): Promise<List>
  watch(serviceId: string, options: WatchOptions): AsyncIterable<List>
  /** Names of applications in lower case, or VIP addresses, by `lookup`; one download of the whole registry. */
  services(options: { signal: AbortSignal }): Promise<readonly string[]>
  describe(serviceId: string): Record<string, string>
  /** Ends all watches. Registrations stay: each has a `close` of its own. */
  close(): Promise<void>
  /**
   * Registers an instance: its service id in upper case is the application, as it is the VIP address. With status
   * OUT_OF_SERVICE the server is told to override the status, which heartbeats don't undo; 'UP' takes the override
   * back. An override that somebody else has set before holds until `setStatus`.
   * @throws EVENKEEL_CONFIG for an instance or an option that can't be used, and on Workers
   */
  register(instance: RegistrationInit, options?: EurekaRegistrationOptions): Registration
}

/**
 * Instances from Eureka, 1.x protocol, of Spring's server or Netflix's, in JSON over `fetch`. Watched, it downloads
 * the registry once and then asks for changes every `registryFetchIntervalMs`, compares the server's hash, and downloads
 * again where that differs. A change of the registry is in the list after one interval, and the server's own cache,
 * mostly 30 s, comes on top.
 *
 * Breaks when a crashed instance must be gone soon: Eureka lets it expire after 90 to 180 s and may keep it for ever
 * when many expire together, so health checks are needed beside it; and when the servers don't replicate, for then
 * the list is that of whichever server answers.
 * @throws EVENKEEL_CONFIG naming the option
 * @see Netflix/eureka, wiki: Eureka REST operations
 * @example
 * const eureka = eurekaDiscovery({ url: ['http://eureka-1:8761/eureka', 'http://eureka-2:8761/eureka'] })
 * const lb = createLoadBalancer({ discovery: eureka })
 * await lb.fetch('http://orders/1')
 */
export function eurekaDiscovery(options: EurekaDiscoveryOptions): EurekaDiscovery {
  return new EurekaClient(settingsOf(options))
}

class EurekaClient implements EurekaDiscovery {
  readonly name = 'eureka'
  readonly order: number
  readonly #settings: EurekaSettings
  readonly #servers: EurekaServers
  readonly #shared: SharedRegistry
  readonly #keepers = new Map<string, ListKeeper>()
  readonly #watches = new OpenWatches()

  constructor(settings: EurekaSettings) {
    this.order = settings.transport.order ?? 0
    this.#settings = settings
    this.#servers = new EurekaServers(settings)
    this.#shared = new SharedRegistry(this.#servers, settings)
  }

  async get(serviceId: string, { signal }: { signal: AbortSignal }): Promise<List> {
    const list = await this.#ask(serviceId, signal)
    this.#shared.renew(serviceId)
    return list
  }

  watch(serviceId: string, options: WatchOptions): AsyncGenerator<List, void> {
    return this.#watches.run(options, (open) =>
      this.#settings.scope === 'registry'
        ? this.#shared.watch(serviceId, this.#keeperOf(serviceId), open)
        : this.#poll(serviceId, open),
    )
  }

  async services({ signal }: { signal: AbortSignal }): Promise<readonly string[]> {
    const { lookup } = this.#settings
    const { instances } = await this.#servers.full(signal)
    const names = instances.flatMap(({ app, raw }) => (lookup === 'app' ? app.toLowerCase() : vipsOf(raw, lookup)))
    return [...new Set(names)].sort()
  }

  describe(serviceId: string): Record<string, string> {
    const { lookup, scope, regions } = this.#settings
    return {
      address: this.#servers.shown,
      [lookup]: lookup === 'app' ? serviceId.toUpperCase() : serviceId,
      scope,
      ...(regions.length > 0 && { regions: regions.join(', ') }),
      ...this.#shared.describe(),
      ...this.#keepers.get(serviceId)?.remarks,
    }
  }

  async close(): Promise<void> {
    this.#watches.close(new ClosedError('eurekaDiscovery is closed'))
  }

  register(instance: RegistrationInit, options: EurekaRegistrationOptions = {}): Registration {
    const [common, own] = protocolOptionsOf(options)
    const registrant = registrantOf(instance, common)
    const protocol = new EurekaProtocol(registrant, this.#servers, own)
    return new ProtocolRegistration(registrant, protocol, this.#settings, common)
  }

  async #ask(serviceId: string, signal: AbortSignal): Promise<List> {
    const entries = await this.#entries(serviceId, signal)
    return listOf(entries, this.#settings.onlyUp, this.#keeperOf(serviceId))
  }

  /**
   * What a watch would find: asked for a service a server leaves other regions out, and compares VIP addresses exactly,
   * so with `scope` 'registry' everything is asked for where that may make a difference.
   */
  async #entries(serviceId: string, signal: AbortSignal): Promise<readonly Entry[]> {
    const { scope, regions, lookup } = this.#settings
    const read = (instances: readonly RawInstance[]) =>
      instances.map(({ app, raw }) => entryOf(raw, app, this.#settings))
    if (scope === 'service' || regions.length === 0) {
      const entries = read(await this.#servers.service(serviceId, signal))
      if (entries.length > 0 || scope === 'service' || lookup === 'app') return entries
    }
    const name = serviceId.toUpperCase()
    const { instances } = await this.#servers.full(signal)
    return read(instances).filter(({ names }) => names.includes(name))
  }

  /** A question for each service, again and again. */
  async *#poll(serviceId: string, options: WatchOptions): AsyncGenerator<List, void> {
    const { signal } = options
    const pace = new Pace(this.#settings.intervalMs, this.#settings.random)
    let last: List | undefined
    while (!signal.aborted) {
      let waitMs: number
      try {
        const list = await this.#ask(serviceId, signal)
        waitMs = pace.afterAnswer()
        if (list === last) options.confirmed?.()
        else yield (last = list)
      } catch (error) {
        if (signal.aborted) return
        options.failed?.(error)
        waitMs = Math.max(pace.afterFailure(error), askedPauseMs(error))
      }
      await pause(waitMs, signal)
    }
  }

  #keeperOf(serviceId: string): ListKeeper {
    let keeper = this.#keepers.get(serviceId)
    if (keeper === undefined) this.#keepers.set(serviceId, (keeper = new ListKeeper()))
    return keeper
  }
}
