/** @module What Nacos is told of an instance. */

import { ConfigError } from '../../errors.js'
import type { ServiceInstance } from '../../types/instance.js'
import type { RegistrationStatus } from '../../types/registration.js'
import type { RegistrationProtocol } from '../registry/registration.js'
import { beatOf, checkTaken } from './answers.js'
import {
  beatQuestion,
  deregisterQuestion,
  type NacosApi,
  registerQuestion,
  type ServiceScope,
  scopeQuery,
} from './api.js'
import { MOST_WEIGHT } from './instances.js'
import type { Servers } from './servers.js'

/** Servers take an instance for unhealthy after 15 s without a beat, and remove it after 30 s. */
const BEAT_MS = 5_000
const LEAST_BEAT_MS = 1_000
const MOST_BEAT_MS = 60_000
/** Where an instance of Nacos says how often it sends beats. */
const INTERVAL_KEY = 'preserved.heart.beat.interval'

export interface RegisteredAs {
  readonly scope: ServiceScope
  readonly cluster: string
  readonly ephemeral: boolean
}

/** @throws EVENKEEL_CONFIG for a weight that servers refuse */
export function registrationProtocol(
  servers: Servers,
  instance: ServiceInstance,
  { scope, cluster, ephemeral }: RegisteredAs,
): RegistrationProtocol {
  const weight = weightOf(instance)
  const metadata = metadataOf(instance)
  let renewalMs = clamped(Number(metadata[INTERVAL_KEY]) || BEAT_MS)
  let mayBeForgotten = false

  /** Whatever names the registration: one that leaves any of it out ends another, or none. */
  const identity = (api: NacosApi) => ({
    ...defined(scopeQuery(api, scope)),
    clusterName: cluster,
    ip: instance.host,
    port: String(instance.port),
    ephemeral: String(ephemeral),
  })

  const register = async (status: RegistrationStatus, signal: AbortSignal) => {
    await servers.ask(
      signal,
      (api) =>
        registerQuestion(api, {
          ...identity(api),
          weight: String(weight),
          enabled: String(status === 'UP'),
          healthy: 'true',
          metadata: JSON.stringify(metadata),
        }),
      (api, answer) => checkTaken(servers.http, api, answer),
    )
    mayBeForgotten = false
  }

  /**
   * With all there is to know while the instance is UP: of one that it has forgotten the server makes a registration
   * from that. It would be an enabled one, so while it is not to be, the beat says no more than whose it is.
   */
  const beat = (status: RegistrationStatus, signal: AbortSignal) => {
    const { host: ip, port } = instance
    const { grouped: serviceName } = scope.service
    const full = { serviceName, cluster, ip, port, weight, metadata, ephemeral, period: renewalMs, scheduled: true }
    return servers.ask(
      signal,
      (api) =>
        beatQuestion(api, scope, {
          ...identity(api),
          ...(api !== 'v3' && status === 'UP' && { beat: JSON.stringify(full) }),
        }),
      (api, answer) => beatOf(servers.http, api, answer),
    )
  }

  return {
    get renewalMs() {
      return renewalMs
    },
    register,
    async renew(status, signal) {
      // Persistent instances never expire, and the server looks after them itself.
      if (!ephemeral) return true
      // A server that was away may have lost it, and some then take a beat for a registration of its own.
      if (mayBeForgotten) return false
      try {
        const { isKnown, intervalMs } = await beat(status, signal)
        if (intervalMs !== undefined) renewalMs = clamped(intervalMs)
        return isKnown
      } catch (error) {
        mayBeForgotten = true
        throw error
      }
    },
    /** The same as making it: v3 has nothing else, and an update by v1 or v2 would outlive the registration. */
    async setStatus(status, signal) {
      await register(status, signal)
      return true
    },
    async deregister(signal) {
      await servers.ask(
        signal,
        (api) => deregisterQuestion(api, identity(api)),
        (api, answer) => checkTaken(servers.http, api, answer),
      )
    },
  }
}

function weightOf({ metadata }: ServiceInstance): number {
  const weight = metadata.weight === undefined ? 1 : Number(metadata.weight)
  if (weight >= 0 && weight <= MOST_WEIGHT) return weight
  const message = `the weight of an instance to register must be from 0 to ${MOST_WEIGHT}, not ${metadata.weight}`
  throw new ConfigError(message, { option: 'weight' })
}

/** Less what Nacos has fields for, or says itself. */
function metadataOf({ metadata, secure }: ServiceInstance): Record<string, string> {
  const kept = Object.entries(metadata).filter(
    ([key]) => key !== 'weight' && key !== 'status' && !key.startsWith('nacos.'),
  )
  return { ...Object.fromEntries(kept), ...(secure && { secure: 'true' }) }
}

function defined(query: ReturnType<typeof scopeQuery>): Record<string, string> {
  const { namespaceId, ...rest } = query
  return namespaceId === undefined ? rest : { namespaceId, ...rest }
}

function clamped(ms: number): number {
  return Math.min(Math.max(ms, LEAST_BEAT_MS), MOST_BEAT_MS)
}
