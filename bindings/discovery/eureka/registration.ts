/** @module What a service tells Eureka of itself: a lease, heartbeats, and a status that overrides its own. */

import { type Check, duration, object, text } from '../../config/check.js'
import { msOf } from '../../config/duration.js'
import { ConfigError, DiscoveryError } from '../../errors.js'
import type { ServiceInstance } from '../../types/instance.js'
import type { RegistrationOptions, RegistrationStatus } from '../../types/registration.js'
import type { RegistrationProtocol } from '../registry/registration.js'
import { type EurekaServers, segment } from './servers.js'

export interface EurekaRegistrationOptions extends RegistrationOptions {
  /** From one heartbeat to the next. Default 30 000. */
  renewalIntervalMs?: number
  /** Without a heartbeat the server lets the instance expire after this, or up to twice as long. Default 90 000. */
  leaseDurationMs?: number
  /** For clients that prefer addresses. Default: the host. */
  ipAddr?: string
  /** Several are separated by commas. Default: the service id. */
  vipAddress?: string
  /** Default: the service id. */
  secureVipAddress?: string
  /** A URL, or a path of the instance. Default '/'. */
  homePageUrl?: string
  /** A URL, or a path of the instance. Default: none. */
  statusPageUrl?: string
  /** A URL, or a path of the instance. Default: none. */
  healthCheckUrl?: string
}

type OwnOptions = Omit<EurekaRegistrationOptions, keyof RegistrationOptions>

const RENEWAL_MS = 30_000
const LEASE_MS = 90_000

const OWN_CHECKS = {
  renewalIntervalMs: duration(1),
  leaseDurationMs: duration(1),
  ipAddr: text,
  vipAddress: text,
  secureVipAddress: text,
  homePageUrl: text,
  statusPageUrl: text,
  healthCheckUrl: text,
} satisfies Record<keyof OwnOptions, Check>
const checkOwn = object(OWN_CHECKS)

/** What all registrations share, and what is Eureka's. @throws EVENKEEL_CONFIG naming the option */
export function protocolOptionsOf(options: EurekaRegistrationOptions): [RegistrationOptions, OwnOptions] {
  const parts: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
  for (const [key, value] of Object.entries(options)) parts[Object.hasOwn(OWN_CHECKS, key) ? 1 : 0][key] = value
  checkOwn(parts[1], 'register')
  const own: OwnOptions = parts[1]
  const renewalMs = msOf(own.renewalIntervalMs) ?? RENEWAL_MS
  const leaseMs = msOf(own.leaseDurationMs) ?? LEASE_MS
  if (leaseMs <= renewalMs) {
    const message = `must be longer than renewalIntervalMs (${renewalMs}), or it expires between heartbeats: not ${leaseMs}`
    throw new ConfigError(`register.leaseDurationMs ${message}`, { option: 'register.leaseDurationMs' })
  }
  return parts
}

export class EurekaProtocol implements RegistrationProtocol {
  readonly renewalMs: number
  readonly #instance: ServiceInstance
  readonly #servers: EurekaServers
  readonly #options: OwnOptions
  readonly #path: string
  /** When the instance last changed, by its own clock: a server that knows an older state asks for it anew. */
  #dirtyAt = 0

  constructor(instance: ServiceInstance, servers: EurekaServers, options: OwnOptions) {
    this.renewalMs = msOf(options.renewalIntervalMs) ?? RENEWAL_MS
    this.#instance = instance
    this.#servers = servers
    this.#options = options
    this.#path = `/apps/${segment(instance.serviceId.toUpperCase())}`
  }

  /**
   * The status of a registration counts only where the server knows the instance under no other: for OUT_OF_SERVICE it
   * is told by an override too.
   */
  async register(status: RegistrationStatus, signal: AbortSignal): Promise<void> {
    // The server keeps the older state where the time is not newer, and clocks are set back.
    this.#dirtyAt = Math.max(Date.now(), this.#dirtyAt + 1)
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ instance: this.#body(status) })
    await this.#servers.tell({ path: this.#path, method: 'POST', headers, body }, [204, 200], signal)
    if (status === 'UP' || (await this.setStatus(status, signal))) return
    const message = `eureka does not know "${this.#instance.instanceId}", which it has just registered`
    throw new DiscoveryError(message, { failure: 'status', status: 404 })
  }

  renew(status: RegistrationStatus, signal: AbortSignal): Promise<boolean> {
    return this.#tell('', 'PUT', { status }, signal)
  }

  /** An override for UP first: the server takes back an override only where there is one. */
  async setStatus(status: RegistrationStatus, signal: AbortSignal): Promise<boolean> {
    const known = await this.#tell('/status', 'PUT', { value: status }, signal)
    return known && status === 'UP' ? this.#tell('/status', 'DELETE', { value: status }, signal) : known
  }

  async deregister(signal: AbortSignal): Promise<void> {
    await this.#servers.tell({ path: this.#pathOfInstance(), method: 'DELETE' }, [200, 204, 404], signal)
  }

  /** Whether the server knows the instance. */
  async #tell(what: string, method: string, query: Record<string, string>, signal: AbortSignal): Promise<boolean> {
    const path = `${this.#pathOfInstance()}${what}`
    const dirty = { ...query, lastDirtyTimestamp: this.#dirtyAt }
    return (await this.#servers.tell({ path, method, query: dirty }, [200, 204, 404], signal)) !== 404
  }

  #pathOfInstance(): string {
    return `${this.#path}/${segment(this.#instance.instanceId)}`
  }

  #body(status: RegistrationStatus): Record<string, unknown> {
    const { instanceId, serviceId, host, port, secure, metadata } = this.#instance
    const { ipAddr = host, vipAddress = serviceId, secureVipAddress = serviceId, homePageUrl = '/' } = this.#options
    const { statusPageUrl, healthCheckUrl } = this.#options
    const dirtyAt = String(this.#dirtyAt)
    return {
      instanceId,
      hostName: host,
      app: serviceId.toUpperCase(),
      ipAddr,
      status,
      overriddenStatus: 'UNKNOWN',
      port: { $: secure ? 80 : port, '@enabled': String(!secure) },
      securePort: { $: secure ? port : 443, '@enabled': String(secure) },
      countryId: 1,
      dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
      leaseInfo: {
        renewalIntervalInSecs: secondsOf(this.renewalMs),
        durationInSecs: secondsOf(msOf(this.#options.leaseDurationMs) ?? LEASE_MS),
      },
      metadata,
      vipAddress,
      secureVipAddress,
      homePageUrl: this.#urlOf(homePageUrl),
      ...(statusPageUrl !== undefined && { statusPageUrl: this.#urlOf(statusPageUrl) }),
      ...(healthCheckUrl !== undefined && {
        [secure ? 'secureHealthCheckUrl' : 'healthCheckUrl']: this.#urlOf(healthCheckUrl),
      }),
      isCoordinatingDiscoveryServer: 'false',
      lastUpdatedTimestamp: dirtyAt,
      lastDirtyTimestamp: dirtyAt,
    }
  }

  #urlOf(page: string): string {
    if (!page.startsWith('/')) return page
    const { host, port, secure } = this.#instance
    return `${secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${page}`
  }
}

/** The protocol has whole seconds. */
function secondsOf(ms: number): number {
  return Math.max(1, Math.round(ms / 1_000))
}
