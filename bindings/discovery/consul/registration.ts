/** @module Registration with an agent: a service with a TTL check, kept passing. */

import { msOf } from '../../config/duration.js'
import { ConfigError, DiscoveryError } from '../../errors.js'
import type { ServiceInstance } from '../../types/instance.js'
import type { RegistrationStatus } from '../../types/registration.js'
import { Endpoints } from '../registry/endpoints.js'
import type { RegistrationProtocol } from '../registry/registration.js'
import type { RegistryAddress } from '../registry/registry-address.js'
import type { RegistryAnswer } from '../registry/registry-http.js'
import type { ConsulAgents } from './agents.js'
import type { ConsulRegistrationOptions } from './options.js'

const TTL_MS = 30_000
const DEREGISTER_AFTER_MS = 600_000
/** Two renewals may be lost. */
const RENEWALS_A_TTL = 3

/** What Consul takes. */
const META_KEYS = 64
const META_KEY = /^[A-Za-z0-9_-]{1,128}$/
const META_VALUE_LENGTH = 512
const MOST_WEIGHT = 65_535

/**
 * OUT_OF_SERVICE is Consul's maintenance mode: a critical check beside the TTL check, for all clients alike, which says
 * why, outlives a restart of the agent, and does not count towards the deregistration of who is critical.
 */
export class ConsulRegistration implements RegistrationProtocol {
  readonly renewalMs: number
  readonly #agents: ConsulAgents
  readonly #endpoints: Endpoints
  readonly #definition: object
  readonly #id: string
  /** The agent that has the registration. */
  #home: RegistryAddress | undefined
  /** Agents that may still have it, and could not be told. */
  readonly #left = new Set<RegistryAddress>()

  /** @throws EVENKEEL_CONFIG for metadata that Consul doesn't take */
  constructor(instance: ServiceInstance, agents: ConsulAgents, options: ConsulRegistrationOptions = {}) {
    this.#agents = agents
    this.#endpoints = new Endpoints('Consul', agents.addresses)
    this.#id = instance.instanceId
    const ttlMs = msOf(options.ttlMs) ?? TTL_MS
    this.renewalMs = ttlMs / RENEWALS_A_TTL
    this.#definition = definitionOf(instance, ttlMs, options)
  }

  async register(status: RegistrationStatus, signal: AbortSignal): Promise<void> {
    // Nobody is to see it pass before the maintenance mode is on.
    const check = { Status: status === 'UP' ? 'passing' : 'critical' }
    const { Check: ttl, ...service } = this.#definition as { Check: object }
    const body = { ...service, Check: { ...ttl, ...check } }
    await this.#endpoints.ask(signal, async (address) => {
      this.#left.add(address)
      const answer = await this.#agents.put(
        address,
        '/v1/agent/service/register',
        signal,
        { 'replace-existing-checks': 'true' },
        body,
      )
      this.#agents.accepted(answer)
      this.#home = address
      this.#left.delete(address)
    })
    // Also for UP: an agent remembers the maintenance mode of whoever had this id before.
    if (!(await this.setStatus(status, signal))) {
      throw new DiscoveryError(`Consul has forgotten "${this.#id}" at once`, { failure: 'status' })
    }
  }

  async renew(_status: RegistrationStatus, signal: AbortSignal): Promise<boolean> {
    const home = this.#homeNow
    try {
      const path = `/v1/agent/check/pass/${encodeURIComponent(checkIdOf(this.#id))}`
      return this.#isKnown(await this.#agents.put(home, path, signal))
    } catch (error) {
      if (signal.aborted || this.#agents.addresses.length === 1 || !isGone(error)) throw error
      // Made anew at another agent; this one lets it expire, or is told at the end.
      this.#left.add(home)
      return false
    }
  }

  async setStatus(status: RegistrationStatus, signal: AbortSignal): Promise<boolean> {
    const path = `/v1/agent/service/maintenance/${encodeURIComponent(this.#id)}`
    const query = status === 'UP' ? { enable: 'false' } : { enable: 'true', reason: 'out of service' }
    const told = this.#agents.put(this.#homeNow, path, signal, query)
    // Agents of before say that it passes for as long as its TTL lasts: clients are not to believe them.
    const [answer] = await Promise.all([told, status === 'UP' ? undefined : this.#leave(signal)])
    return this.#isKnown(answer)
  }

  async deregister(signal: AbortSignal): Promise<void> {
    const home = this.#homeNow
    this.#left.delete(home)
    const [end] = await Promise.allSettled([this.#deregister(home, signal), this.#leave(signal)])
    if (end.status === 'rejected') throw end.reason
  }

  /** Ends it at the agents that may still have it, as far as they can be told. Never rejects. */
  async #leave(signal: AbortSignal): Promise<void> {
    const leave = async (address: RegistryAddress) => {
      await this.#deregister(address, signal)
      this.#left.delete(address)
    }
    await Promise.allSettled([...this.#left].map(leave))
  }

  async #deregister(address: RegistryAddress, signal: AbortSignal): Promise<void> {
    const path = `/v1/agent/service/deregister/${encodeURIComponent(this.#id)}`
    this.#isKnown(await this.#agents.put(address, path, signal))
  }

  get #homeNow(): RegistryAddress {
    return this.#home ?? this.#endpoints.current
  }

  /** Newer agents say 404 of what they don't know, older ones 500. */
  #isKnown(answer: RegistryAnswer): boolean {
    const { status, text } = answer
    if (status === 404 || (status === 500 && /unknown (check|service)|does not have associated TTL/i.test(text))) {
      return false
    }
    this.#agents.accepted(answer)
    return true
  }
}

function checkIdOf(instanceId: string): string {
  return `service:${instanceId}`
}

function isGone(error: unknown): boolean {
  return error instanceof DiscoveryError && (error.failure === 'unreachable' || error.failure === 'timeout')
}

function definitionOf(instance: ServiceInstance, ttlMs: number, options: ConsulRegistrationOptions): object {
  const { instanceId, serviceId, host, port, secure } = instance
  const meta: Record<string, string> = { ...instance.metadata, ...(secure && { secure: 'true' }) }
  checkMeta(meta)
  const weight = Number(meta.weight)
  const deregisterAfterMs =
    options.deregisterAfterMs === false ? undefined : (msOf(options.deregisterAfterMs) ?? DEREGISTER_AFTER_MS)
  return {
    ID: instanceId,
    Name: serviceId,
    Address: host,
    Port: port,
    Tags: options.tags ?? [],
    Meta: meta,
    // What doesn't fit is read from the metadata, as weights are that Consul has no place for.
    ...(Number.isInteger(weight) &&
      weight >= 1 &&
      weight <= MOST_WEIGHT && { Weights: { Passing: weight, Warning: 1 } }),
    Check: {
      CheckID: checkIdOf(instanceId),
      Name: 'evenkeel',
      TTL: `${ttlMs}ms`,
      ...(deregisterAfterMs !== undefined && { DeregisterCriticalServiceAfter: `${deregisterAfterMs}ms` }),
    },
  }
}

function checkMeta(meta: Readonly<Record<string, string>>): void {
  const keys = Object.keys(meta)
  const refuse = (key: string, what: string): never => {
    throw new ConfigError(`the instance to register: metadata.${key} ${what}`, { option: `metadata.${key}` })
  }
  if (keys.length > META_KEYS) refuse(keys[META_KEYS] as string, `is one more than the ${META_KEYS} that Consul takes`)
  for (const key of keys) {
    if (!META_KEY.test(key)) refuse(key, 'is no key for Consul: at most 128 letters, digits, "-" and "_"')
    if (key.startsWith('consul-')) refuse(key, "has a key of Consul's own")
    if ((meta[key] as string).length > META_VALUE_LENGTH) {
      refuse(key, `is longer than the ${META_VALUE_LENGTH} characters that Consul takes`)
    }
  }
}
