/** @module What the tests of Consul share: a fake cluster, a client of it, and who follows a service. */

import { type ConsulDiscoveryOptions, consulDiscovery } from '../../bindings/discovery/consul/index.js'
import type { DiscoveryError, InstanceInit } from '../../bindings/index.js'
import { FakeConsul } from './fakes/consul.js'
import { inProcess } from './in-process.js'

export type Listed = Exclude<InstanceInit, string | URL>

export function cluster(options: ConsulDiscoveryOptions = {}) {
  const fake = new FakeConsul()
  const client = consulDiscovery({ fetch: inProcess(fake), random: () => 0.5, ...options })
  const get = async (serviceId = 'orders') => {
    const { signal } = new AbortController()
    return (await client.get(serviceId, { signal })) as readonly Listed[]
  }
  return { fake, client, get }
}

export const entry = (n: number, more: object = {}) => ({
  instanceId: `orders-${n}`,
  host: `10.0.0.${n}`,
  port: 8080,
  ...more,
})

export const idsOf = (list: readonly InstanceInit[] | undefined) =>
  list?.map((each) => (each as Listed).instanceId as string)

/** Follows a service until `stop`. */
export function follow({ client }: Pick<ReturnType<typeof cluster>, 'client'>, serviceId = 'orders') {
  const ended = new AbortController()
  const seen = { lists: [] as (readonly InstanceInit[])[], failures: [] as DiscoveryError[], confirmed: 0 }
  const watch = client.watch(serviceId, {
    signal: ended.signal,
    failed: (error) => seen.failures.push(error as DiscoveryError),
    confirmed: () => seen.confirmed++,
  })
  const over = (async () => {
    for await (const list of watch) seen.lists.push(list)
  })()
  return {
    ...seen,
    get confirmed() {
      return seen.confirmed
    },
    get ids() {
      return idsOf(seen.lists.at(-1))
    },
    async stop() {
      ended.abort()
      await over
    },
  }
}

/** Consul's answer, by hand. */
export function answer(entries: unknown, index: string | undefined, headers: Record<string, string> = {}): Response {
  return new Response(typeof entries === 'string' ? entries : JSON.stringify(entries), {
    headers: { ...(index !== undefined && { 'x-consul-index': index }), 'x-consul-knownleader': 'true', ...headers },
  })
}

export const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: DiscoveryError) => error,
  )
