/** @module Instances from etcd's keys, through its JSON gateway. */

import { msOf } from '../../config/duration.js'
import { ClosedError, ConfigError } from '../../errors.js'
import { defaultClock } from '../../runtime/host.js'
import type { DiscoveryClient, WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import type { Registrar, Registration, RegistrationInit, RegistrationOptions } from '../../types/registration.js'
import { Backoff, CUT_OFF_GROWTH } from '../registry/backoff.js'
import { Endpoints } from '../registry/endpoints.js'
import { ListKeeper } from '../registry/list-keeper.js'
import { OpenWatches } from '../registry/open-watches.js'
import { ProtocolRegistration, registrantOf } from '../registry/registration.js'
import { type RegistryAddress, registryAddress } from '../registry/registry-address.js'
import { RegistryHttp } from '../registry/registry-http.js'
import { watchLoop } from '../registry/watch-loop.js'
import { rangeOf } from './encoding.js'
import { type EntryReader, entryReader } from './entry.js'
import { Gateway, type GatewayAnswer } from './gateway.js'
import { KeyTable } from './key-table.js'
import { keyRangeAt } from './key-value.js'
import { LeaseRegistration, writtenValue } from './lease-registration.js'
import { checkOptions, type EtcdDiscoveryOptions, FACTORY } from './options.js'
import { prefixOf, serviceKeys } from './prefix.js'
import { Token } from './token.js'
import { watchSession } from './watch-session.js'

const DEFAULT_URL = 'http://127.0.0.1:2379'
const CHECK_INTERVAL_MS = 30_000
const LEASE_TTL_MS = 10_000
/** Of a watch's line, in characters: as much as of any answer. */
const MAX_LINE_LENGTH = 8 * 2 ** 20
const BACKOFF = { minMs: 1_000, maxMs: 30_000, growth: CUT_OFF_GROWTH }

export interface EtcdDiscovery extends DiscoveryClient, Registrar {
  get(serviceId: string, options: { signal: AbortSignal }): Promise<readonly InstanceInit[]>
  watch(serviceId: string, options: WatchOptions): AsyncIterable<readonly InstanceInit[]>
  describe(serviceId: string): Record<string, string>
  /** Ends the watches that are under way. Registrations stay: each has a `close` of its own. */
  close(): Promise<void>
}

/**
 * Follows the keys under a service's prefix in etcd 3.4 or later: a range, then a watch from the next revision. A change
 * is in the list within a second. Reads what Go's gRPC naming writes, plain JSON and `host:port`; registers by a lease.
 *
 * Breaks when the JSON gateway is switched off (`--enable-grpc-gateway=false`), when a prefix does not end where the
 * name does (`orders` finds `orders2/…` too), and when the keys of one service are more than `maxAnswerBytes`.
 *
 * @throws EVENKEEL_CONFIG naming the option
 * @see https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/
 * @example
 * const lb = createLoadBalancer({
 *   services: { orders: { discovery: etcdDiscovery({ url: 'http://etcd:2379', prefix: 'services/{serviceId}/' }) } },
 * })
 */
export function etcdDiscovery(options: EtcdDiscoveryOptions = {}): EtcdDiscovery {
  checkOptions(options)
  return new EtcdClient(options)
}

/** What is kept of a service from one question to the next. */
interface Kept {
  readonly keeper: ListKeeper
  revision: number | undefined
}

class EtcdClient implements EtcdDiscovery {
  readonly name = 'etcd'
  readonly order?: number
  readonly services?: (options: { signal: AbortSignal }) => Promise<readonly string[]>
  readonly #options: EtcdDiscoveryOptions
  readonly #endpoints: Endpoints
  readonly #gateway: Gateway
  readonly #prefixOf: (serviceId: string) => string
  readonly #read: EntryReader
  readonly #random: () => number
  readonly #kept = new Map<string, Kept>()
  readonly #watches = new OpenWatches()

  constructor(options: EtcdDiscoveryOptions) {
    this.#options = options
    if (options.order !== undefined) this.order = options.order
    const { url = DEFAULT_URL, username, password, api = '/v3' } = options
    const addresses = [url]
      .flat()
      .map((each, i) => addressOf(each, Array.isArray(url) ? `${FACTORY}.url[${i}]` : `${FACTORY}.url`))
    this.#endpoints = new Endpoints('etcd', addresses, options.clock)
    const http = new RegistryHttp('etcd', options)
    this.#gateway = new Gateway(http, api, new Token(username, password, http))
    this.#prefixOf = prefixOf(options.prefix)
    this.#read = entryReader(options.parse)
    this.#random = options.random ?? Math.random
    const keys = serviceKeys(options.prefix)
    if (keys === undefined) return
    this.services = async ({ signal }) => {
      const { value, from } = await this.#ask('/kv/range', { ...rangeOf(keys.root), keys_only: true }, signal)
      const names = keyRangeAt(value, from).keyValues.map(({ key }) => keys.serviceOf(key))
      return [...new Set(names.filter((name) => name !== undefined))].sort()
    }
  }

  async get(serviceId: string, { signal }: { signal: AbortSignal }): Promise<readonly InstanceInit[]> {
    const { table } = await this.#readAll(this.#prefixOf(serviceId), signal)
    return this.#keep(serviceId, table)
  }

  watch(serviceId: string, options: WatchOptions): AsyncIterable<readonly InstanceInit[]> {
    const { checkIntervalMs, maxAnswerBytes = MAX_LINE_LENGTH, clock = defaultClock() } = this.#options
    const host = {
      gateway: this.#gateway,
      checkIntervalMs: msOf(checkIntervalMs) ?? CHECK_INTERVAL_MS,
      maxLineLength: maxAnswerBytes,
      random: this.#random,
      clock,
      read: (signal: AbortSignal) => this.#readAll(this.#prefixOf(serviceId), signal),
      keep: (table: KeyTable) => this.#keep(serviceId, table),
    }
    const backoff = new Backoff(BACKOFF, this.#random)
    return this.#watches.run(options, (options) =>
      watchLoop(() => watchSession(host, this.#prefixOf(serviceId), options), { options, backoff, clock }),
    )
  }

  describe(serviceId: string): Record<string, string> {
    const kept = this.#kept.get(serviceId)
    return {
      address: this.#endpoints.shown,
      prefix: this.#prefixOf(serviceId),
      ...(kept?.revision !== undefined && { revision: String(kept.revision) }),
      ...kept?.keeper.remarks,
    }
  }

  register(init: RegistrationInit, options: RegistrationOptions = {}): Registration {
    const instance = registrantOf(init, options)
    const { format = 'grpc', leaseTtlMs, api } = this.#options
    const host = {
      ask: (path: string, body: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
        this.#ask(path, body, signal),
      revokePath: api === '/v3beta' ? '/kv/lease/revoke' : '/lease/revoke',
      ttlMs: msOf(leaseTtlMs) ?? LEASE_TTL_MS,
    }
    const key = this.#prefixOf(instance.serviceId) + instance.instanceId
    const protocol = new LeaseRegistration(host, key, writtenValue(instance, format))
    return new ProtocolRegistration(instance, protocol, { random: this.#random }, options)
  }

  async close(): Promise<void> {
    this.#watches.close(new ClosedError('etcdDiscovery is closed'))
  }

  #ask(path: string, body: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<GatewayAnswer> {
    return this.#endpoints.ask(signal, (address) => this.#gateway.ask({ address, path, body, signal }))
  }

  async #readAll(prefix: string, signal: AbortSignal): Promise<{ address: RegistryAddress; table: KeyTable }> {
    return this.#endpoints.ask(signal, async (address) => {
      const { value, from } = await this.#gateway.ask({ address, path: '/kv/range', body: rangeOf(prefix), signal })
      return { address, table: new KeyTable(prefix, this.#read, keyRangeAt(value, from)) }
    })
  }

  #keep(serviceId: string, table: KeyTable): readonly InstanceInit[] {
    let kept = this.#kept.get(serviceId)
    if (kept === undefined) this.#kept.set(serviceId, (kept = { keeper: new ListKeeper(), revision: undefined }))
    const { found, unreadable } = table.entries()
    kept.revision = table.revision
    return kept.keeper.keep(found, unreadable)
  }
}

/** @throws EVENKEEL_CONFIG, without the credentials */
function addressOf(given: string | URL, option: string): RegistryAddress {
  const address = registryAddress(given, option)
  if (address.authorization === undefined) return address
  // etcd would take them for a token, and refuse each question.
  throw new ConfigError(`${option} must be without credentials: use username and password`, { option })
}
