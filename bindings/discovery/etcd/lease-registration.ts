/** @module A registration: a key that goes with its lease. */

import type { ServiceInstance } from '../../types/instance.js'
import type { RegistrationStatus } from '../../types/registration.js'
import { malformed } from '../registry/reading.js'
import type { RegistrationProtocol } from '../registry/registration.js'
import { int64At, toBase64 } from './encoding.js'
import type { GatewayAnswer } from './gateway.js'
import { isLeaseGone } from './refusals.js'

export interface LeaseHost {
  /** From the first server that answers. */
  ask(path: string, body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<GatewayAnswer>
  readonly revokePath: string
  readonly ttlMs: number
}

/** Of a lease's time: two renewals may fail. */
const RENEWALS = 3

/**
 * gRPC's resolvers know only whether a key is there: OUT_OF_SERVICE takes the key away and keeps the lease.
 * @see https://etcd.io/docs/v3.4/learning/api/#lease-api
 */
export class LeaseRegistration implements RegistrationProtocol {
  readonly renewalMs: number
  readonly #host: LeaseHost
  readonly #ttlSeconds: number
  readonly #key: string
  readonly #value: string
  /** 64 bits, as a text. */
  #lease: string | undefined

  constructor(host: LeaseHost, key: string, value: string) {
    this.#host = host
    this.#key = toBase64(key)
    this.#value = toBase64(value)
    this.#ttlSeconds = Math.ceil(host.ttlMs / 1_000)
    this.renewalMs = (this.#ttlSeconds * 1_000) / RENEWALS
  }

  async register(status: RegistrationStatus, signal: AbortSignal): Promise<void> {
    // An earlier attempt may have got no further than the lease, and that may have expired since.
    if (this.#lease !== undefined && (await this.setStatus(status, signal))) return
    const { value, from } = await this.#host.ask('/lease/grant', { TTL: `${this.#ttlSeconds}` }, signal)
    const { ID } = value
    this.#lease = typeof ID === 'string' && /^-?\d+$/.test(ID) ? ID : malformed(`${from}: ID`, ID, 'a 64-bit number')
    if (!(await this.setStatus(status, signal))) malformed(`${from}: ID`, ID, 'a lease that exists')
  }

  async renew(status: RegistrationStatus, signal: AbortSignal): Promise<boolean> {
    if (this.#lease === undefined) return false
    const { value, from } = await this.#host.ask('/lease/keepalive', { ID: this.#lease }, signal)
    if (int64At(value.TTL, `${from}: TTL`) <= 0) {
      this.#lease = undefined
      return false
    }
    return status === 'OUT_OF_SERVICE' || (await this.#hasKey(signal))
  }

  async setStatus(status: RegistrationStatus, signal: AbortSignal): Promise<boolean> {
    const { ask } = this.#host
    try {
      if (status === 'OUT_OF_SERVICE') await ask('/kv/deleterange', { key: this.#key }, signal)
      else await ask('/kv/put', { key: this.#key, value: this.#value, lease: this.#lease }, signal)
      return true
    } catch (error) {
      if (!isLeaseGone(error)) throw error
      this.#lease = undefined
      return false
    }
  }

  async deregister(signal: AbortSignal): Promise<void> {
    if (this.#lease === undefined) return
    try {
      await this.#host.ask(this.#host.revokePath, { ID: this.#lease }, signal)
    } catch (error) {
      if (!isLeaseGone(error)) throw error
    }
    this.#lease = undefined
  }

  /** Somebody may have deleted it while its lease lives on. */
  async #hasKey(signal: AbortSignal): Promise<boolean> {
    const { value, from } = await this.#host.ask('/kv/range', { key: this.#key, count_only: true }, signal)
    return int64At(value.count, `${from}: count`) > 0
  }
}

/** What Go's `endpoints.Manager` writes; or the fields by name. */
export function writtenValue(instance: ServiceInstance, format: 'grpc' | 'json'): string {
  const { host, port, secure, metadata } = instance
  if (format === 'json') return JSON.stringify({ instanceId: instance.instanceId, host, port, secure, metadata })
  const Addr = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const Metadata = { ...metadata, ...(secure && { secure: 'true' }) }
  return JSON.stringify({ Op: 0, Addr, Metadata: Object.keys(Metadata).length > 0 ? Metadata : null })
}
