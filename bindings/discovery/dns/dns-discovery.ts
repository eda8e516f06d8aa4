/** @module Instances from DNS: address records with a port, or SRV records. */

import type { DiscoveryClient, WatchOptions } from '../../types/extension.js'
import type { InstanceInit } from '../../types/instance.js'
import { Backoff } from '../registry/backoff.js'
import { pause } from '../registry/pause.js'
import { registryAddress } from '../registry/registry-address.js'
import { watchLoop } from '../registry/watch-loop.js'
import { customResolver } from './custom-resolver.js'
import { dohResolver } from './doh.js'
import { type Listing, Lookup } from './lookup.js'
import { onAbort } from './on-abort.js'
import { type DnsDiscoveryOptions, settingsOf } from './options.js'
import { Questions } from './questions.js'
import type { Resolve } from './records.js'
import { systemResolver } from './system-resolver.js'

export interface DnsDiscovery extends DiscoveryClient {
  get(
    serviceId: string,
    options: { signal: AbortSignal; partlyFailed?: (error: unknown) => void },
  ): Promise<readonly InstanceInit[]>
  watch(serviceId: string, options: WatchOptions): AsyncIterable<readonly InstanceInit[]>
  describe(serviceId: string): Record<string, string>
}

/** Clients that heard the same answer at the same time ask again at different times: up to so much of the TTL later. */
const SPREAD = 0.1

/** After failures it is asked less and less often, up to so many times the usual interval. */
const MOST_INTERVALS = 4

/**
 * Lists a service by its A, AAAA or SRV records, and asks again as their TTL says, within bounds. A name that doesn't
 * exist is nobody; a name server that fails, or doesn't answer, leaves the last list.
 *
 * A change is seen after the records' TTL (within `minTtlMs` and `maxTtlMs`) and a tenth of it, and what caches on the
 * way add. Breaks when instances come and go faster than that; DNS knows no health: use health checks or
 * outlier ejection beside it.
 * @throws EVENKEEL_CONFIG naming the option; where the runtime resolves no names and no `resolver` is given
 * @see RFC 1035, RFC 2782 (SRV), RFC 8484 and its JSON form
 * @example
 * const lb = createLoadBalancer({
 *   services: { orders: { discovery: dnsDiscovery({ name: '_http._tcp.{service}.lan' }) } },
 * })
 * @example
 * dnsDiscovery({ name: '{service}.prod.svc.cluster.local', port: 8080 })
 */
export function dnsDiscovery(options: DnsDiscoveryOptions = {}): DnsDiscovery {
  const settings = settingsOf(options)
  const { minTtlMs, maxTtlMs, limitMs, clock, random } = settings
  const { resolve, name: resolver } = resolverOf(options, limitMs)
  const questions = new Questions(resolve, { minTtlMs, limitMs, clock })
  const lookups = new Map<string, Lookup>()
  const lookupOf = (serviceId: string) => {
    let lookup = lookups.get(serviceId)
    if (lookup === undefined) {
      lookup = new Lookup(serviceId, settings, questions)
      lookups.set(serviceId, lookup)
    }
    return lookup
  }

  async function* lists(serviceId: string, given: WatchOptions, range: { minMs: number; maxMs: number }) {
    const stop = new AbortController()
    const leave = onAbort(given.signal, () => stop.abort(given.signal.reason))
    const { signal } = stop
    const options: WatchOptions = {
      signal,
      failed: (error) => given.failed?.(error),
      confirmed: () => given.confirmed?.(),
    }
    let told: readonly InstanceInit[] | undefined
    let isFirst = true
    const look = async function* (): AsyncGenerator<readonly InstanceInit[]> {
      for (;;) {
        const { list, dueAt, freshMs, failure }: Listing = await lookupOf(serviceId).look(signal)
        range.minMs = Math.max(freshMs, 2 * minTtlMs)
        range.maxMs = Math.max(MOST_INTERVALS * freshMs, range.minMs, maxTtlMs)
        if (list !== told) yield (told = list)
        else if (failure === undefined) options.confirmed?.()
        if (failure !== undefined) options.failed?.(failure)
        const leftMs = Math.max(dueAt - clock(), 0)
        // Who began together, as after a deployment, goes on apart.
        const earlierMs = isFirst ? Math.max(leftMs - minTtlMs, 0) * random() : -freshMs * SPREAD * random()
        isFirst = false
        // Timers leave out what is less than a millisecond: early, the answer is still the remembered one.
        await pause(Math.ceil(leftMs - earlierMs), signal)
        signal.throwIfAborted()
      }
    }
    // Half of the mean is the shortest pause: no failure is asked for twice within minTtlMs.
    try {
      yield* watchLoop(look, { options, backoff: new Backoff(range, random), clock })
    } finally {
      leave()
    }
  }

  return {
    name: 'dns',
    ...(options.order !== undefined && { order: options.order }),
    async get(serviceId, { signal, partlyFailed }) {
      const { list, failure } = await lookupOf(serviceId).look(signal)
      if (failure !== undefined) partlyFailed?.(failure)
      return list
    },
    watch: (serviceId, options) =>
      lists(serviceId, options, { minMs: 2 * minTtlMs, maxMs: Math.max(2 * minTtlMs, maxTtlMs) }),
    describe: (serviceId) => ({ resolver, ...lookupOf(serviceId).describe() }),
    close: async () => lookups.clear(),
  }
}

function resolverOf(options: DnsDiscoveryOptions, limitMs: number): { resolve: Resolve; name: string } {
  const { resolver = 'system', servers } = options
  if (typeof resolver === 'function') return { resolve: customResolver(resolver), name: 'a function' }
  if (resolver === 'system') {
    const system = systemResolver(servers, limitMs)
    return servers === undefined ? system : { ...system, name: `${system.name}: ${servers.join(', ')}` }
  }
  const address = registryAddress(resolver.doh, 'dnsDiscovery.resolver.doh')
  return { resolve: dohResolver(address, options), name: address.base }
}
