/** @module The balancer: services by name, and a `fetch` that finds the service in the URL. */

import { urlOf } from './client/input.js'
import { hostOf } from './client/uri.js'
import { quirksOf } from './compat/quirks.js'
import { msOf } from './config/duration.js'
import { checkBalancerOptions, checkOverrides, discoveryOf } from './config/option-checks.js'
import { settingsOf } from './config/settings.js'
import { coreOf } from './core/core.js'
import { OpenClients } from './discovery/open-clients.js'
import { ClosedError, ConfigError, UnknownServiceError } from './errors.js'
import { AsyncScope } from './runtime/async-scope.js'
import { defaultClock } from './runtime/host.js'
import { ASYNC_DISPOSE } from './service/dispose.js'
import type { ServiceHost } from './service/host.js'
import { BalancedService } from './service/service.js'
import { show } from './show.js'
import type { Explanation, ServiceStats } from './types/answers.js'
import type { LoadBalancer, Service } from './types/balancer.js'
import type { FetchLike, InstanceInit } from './types/instance.js'
import type { CallOverrides, Discovery, LoadBalancerOptions, ServiceOptions } from './types/options.js'
import type { Lease, PickRequest, WaitOptions } from './types/request.js'

/**
 * Makes a balancer. Everything is checked here; nothing is asked, drawn or timed until the first call.
 * @throws EVENKEEL_CONFIG naming the option at fault; EVENKEEL_WASM where the core can't be loaded
 * @example
 * const lb = createLoadBalancer({ services: { stock: ['http://10.0.0.1:8080', 'http://10.0.0.2:8080'] } })
 * const response = await lb.fetch('http://stock/items/42')
 */
export function createLoadBalancer<const Id extends string = string>(
  options: LoadBalancerOptions<Services<Id>> & { discovery: Discovery },
): LoadBalancer<Id | (string & {})>
export function createLoadBalancer<const Id extends string = string>(
  options?: LoadBalancerOptions<Services<Id>>,
): LoadBalancer<Id>
export function createLoadBalancer(options: LoadBalancerOptions = {}): LoadBalancer {
  return new Balancer(options)
}

/** By their names alone, so that what is said of each is held to the options that there are. */
type Services<Id extends string> = Readonly<Record<Id, ServiceOptions | readonly InstanceInit[]>>

class Balancer implements LoadBalancer {
  readonly fetch: FetchLike
  readonly #options: LoadBalancerOptions
  readonly #host: ServiceHost
  readonly #services = new Map<string, BalancedService>()
  /** Service ids in lower case, as a parsed URL has its host. */
  readonly #byLowerCase = new Map<string, BalancedService>()
  readonly #clients = new OpenClients()
  #closing: Promise<void> | undefined

  constructor(options: LoadBalancerOptions) {
    checkBalancerOptions(options)
    this.#options = options
    this.#host = {
      core: coreOf(options.module),
      zone: options.zone,
      instanceId: options.instanceId,
      quirks: quirksOf(options.compat),
      observers: options.lifecycle ?? [],
      observing: new AsyncScope(),
      transformers: options.transformers ?? [],
      clock: options.clock ?? defaultClock(),
      seed: options.seed,
      honoursSignals: options.fetch === undefined,
      transport: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    }
    this.fetch = (input, init) => this.#fetch(input, init)
    if (options.defaults !== undefined) this.#checkDefaults()
    if (options.discovery !== undefined) this.#clients.own(discoveryOf(options.discovery, 'discovery'))
    try {
      for (const [serviceId, service] of Object.entries(options.services ?? {})) {
        this.#define(serviceId, service, `services.${serviceId}`)
      }
    } catch (error) {
      // All or none: what was defined before the mistake gives back what it holds.
      for (const service of this.#services.values()) service.close()
      throw error
    }
    for (const service of this.#services.values()) if (service.settings.eager) service.source.revive()
  }

  pick(serviceId: string, request?: PickRequest): Lease | undefined {
    return this.#named(serviceId).pick(request)
  }

  async choose(serviceId: string, request?: PickRequest, options?: WaitOptions): Promise<Lease | undefined> {
    return this.#named(serviceId).choose(request, options)
  }

  async explain(serviceId: string, request?: PickRequest): Promise<Explanation> {
    return this.#named(serviceId).explain(request)
  }

  with(overrides: CallOverrides): Pick<LoadBalancer, 'fetch' | 'pick' | 'choose'> {
    return new Overridden(
      overrides,
      (serviceId) => this.#named(serviceId),
      (input, init, settings) => this.#fetch(input, init, settings),
    )
  }

  service(serviceId: string): Service {
    return this.#named(serviceId)
  }

  define(serviceId: string, options: ServiceOptions): Service {
    this.#checkOpen()
    const service = this.#define(serviceId, options, `services.${serviceId}`)
    if (service.settings.eager) service.source.revive()
    return service
  }

  async remove(serviceId: string): Promise<void> {
    this.#checkOpen()
    const service = this.#services.get(serviceId)
    if (service === undefined) throw this.#unknown(serviceId)
    this.#services.delete(serviceId)
    const lower = serviceId.toLowerCase()
    if (this.#byLowerCase.get(lower) === service) {
      this.#byLowerCase.delete(lower)
      const next = [...this.#services.values()].find((other) => other.serviceId.toLowerCase() === lower)
      if (next !== undefined) this.#byLowerCase.set(lower, next)
    }
    service.close()
    const { client } = service.source
    if (client !== undefined) await this.#clients.leave(client)
  }

  async ready(options: WaitOptions = {}): Promise<void> {
    this.#checkOpen()
    const eager = [...this.#services.values()].filter((service) => service.settings.eager)
    await Promise.all(eager.map((service) => service.source.ready(options)))
  }

  stats(): Record<string, ServiceStats> {
    this.#checkOpen()
    return Object.fromEntries([...this.#services].map(([serviceId, service]) => [serviceId, service.stats()]))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const service of this.#services.values()) service.close()
    await this.#clients.close()
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  #fetch(input: string | URL | Request, init?: RequestInit, overrides?: CallOverrides): Promise<Response> {
    try {
      this.#checkOpen()
      const service = this.#serviceOf(input)
      return service === undefined ? this.#host.transport(input, init) : service.call(input, init, overrides)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The service that a URL's host names; undefined: none, and such calls are to pass through. */
  #serviceOf(input: string | URL | Request): BalancedService | undefined {
    const url = urlOf(input)
    const host = hostOf(url)
    if (host === undefined) {
      if (this.#options.unknownService === 'passthrough') return undefined
      throw new ConfigError(`${show(url)} names no service: a URL like http://service-id/path is needed`, {
        option: 'url',
      })
    }
    const known =
      this.#services.get(host) ?? (typeof input === 'string' ? undefined : this.#byLowerCase.get(host.toLowerCase()))
    if (known !== undefined) return known
    if (this.#options.unknownService === 'passthrough') return undefined
    if (this.#mayDefine) return this.#define(host, {}, `services.${host}`)
    throw this.#unknown(host)
  }

  /** Whether a name makes a service by being used. */
  get #mayDefine(): boolean {
    return this.#options.discovery !== undefined && this.#options.unknownService !== 'error'
  }

  #named(serviceId: string): BalancedService {
    this.#checkOpen()
    const known = this.#services.get(serviceId)
    if (known !== undefined) return known
    if (this.#mayDefine) return this.#define(serviceId, {}, `services.${serviceId}`)
    throw this.#unknown(serviceId)
  }

  /** What every service is to have must be fit for one, whether or not any is defined yet. */
  #checkDefaults(): void {
    const settings = settingsOf('', { instances: [] }, 'defaults', this.#options, this.#host.quirks)
    new BalancedService('', settings, { ...this.#host, observers: [] }, 'defaults').close()
  }

  #define(serviceId: string, options: ServiceOptions | readonly InstanceInit[], where: string): BalancedService {
    if (typeof serviceId !== 'string' || serviceId === '') {
      throw new ConfigError(`a service id must be a non-empty string, not ${show(serviceId)}`, { option: 'services' })
    }
    if (this.#services.has(serviceId)) {
      throw new ConfigError(`service "${serviceId}" is defined already: remove() it first, or update() its list`, {
        option: where,
        serviceId,
      })
    }
    const service = new BalancedService(
      serviceId,
      settingsOf(serviceId, options, where, this.#options, this.#host.quirks),
      this.#host,
      where,
    )
    const { client } = service.source
    if (client !== undefined) {
      const { health, quirks } = service.settings
      this.#clients.use(client, health !== undefined && quirks.has('health-keeps-client-open'))
    }
    this.#services.set(serviceId, service)
    const lower = serviceId.toLowerCase()
    if (!this.#byLowerCase.has(lower)) this.#byLowerCase.set(lower, service)
    return service
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError('this load balancer is closed')
  }

  #unknown(serviceId: string): UnknownServiceError {
    const names = [...this.#services.keys()]
    const near = names.find((name) => name.toLowerCase() === String(serviceId).toLowerCase())
    const hint =
      near !== undefined
        ? `did you mean "${near}"?`
        : names.length === 0
          ? 'none is defined'
          : `known: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`
    return new UnknownServiceError(`there is no service ${show(serviceId)}; ${hint}`, { serviceId: String(serviceId) })
  }
}

/** A balancer seen with per-call overrides. */
class Overridden implements Pick<LoadBalancer, 'fetch' | 'pick' | 'choose'> {
  readonly fetch: FetchLike
  readonly #overrides: CallOverrides
  readonly #named: (serviceId: string) => BalancedService

  constructor(
    overrides: CallOverrides,
    named: (serviceId: string) => BalancedService,
    fetch: (input: string | URL | Request, init: RequestInit | undefined, settings: CallOverrides) => Promise<Response>,
  ) {
    checkOverrides(overrides)
    const timeoutMs = msOf(overrides.timeoutMs)
    const read = timeoutMs === undefined ? overrides : { ...overrides, timeoutMs }
    this.#overrides = read
    this.#named = named
    this.fetch = (input, init) => fetch(input, init, read)
  }

  pick(serviceId: string, request?: PickRequest): Lease | undefined {
    return this.#named(serviceId).take(this.#merged(request), 1, this.#overrides.waitUntil)
  }

  async choose(serviceId: string, request?: PickRequest, options?: WaitOptions): Promise<Lease | undefined> {
    const { timeoutMs, waitUntil } = this.#overrides
    return this.#named(serviceId).choose(this.#merged(request), {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...options,
      waitUntil,
    })
  }

  #merged(request: PickRequest = {}): PickRequest {
    const { key, hint, attributes } = this.#overrides
    return {
      ...(key !== undefined && { key }),
      ...(hint !== undefined && { hint }),
      ...(attributes !== undefined && { attributes }),
      ...request,
    }
  }
}
