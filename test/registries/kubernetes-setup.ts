/** @module What the tests of the Kubernetes client share. */

import {
  type KubernetesDiscovery,
  type KubernetesDiscoveryOptions,
  kubernetesDiscovery,
} from '../../bindings/discovery/kubernetes/index.js'
import type { InstanceInit } from '../../bindings/index.js'
import { FakeKubernetes, type FakeKubernetesOptions } from './fakes/kubernetes.js'
import { inProcess } from './in-process.js'
import type { Entry } from './registry.js'

export type Listed = Exclude<InstanceInit, string | URL>

export const API = 'http://api.test:8001'

export const pod = (id: string, last: number, more: Partial<Entry> = {}): Entry => ({
  instanceId: id,
  host: `10.1.0.${last}`,
  port: 8080,
  ...more,
})

/** A client of a fake, without a network. */
export function setup(options: KubernetesDiscoveryOptions = {}, fakeOptions: FakeKubernetesOptions = {}) {
  const fake = new FakeKubernetes(fakeOptions)
  const client = kubernetesDiscovery({ url: API, fetch: inProcess(fake), random: () => 0.5, ...options })
  return { fake, client }
}

/** What a watch says, as it comes. */
export function follow(client: KubernetesDiscovery, serviceId = 'orders') {
  const stop = new AbortController()
  const heard = {
    lists: [] as (readonly Listed[])[],
    failures: [] as unknown[],
    confirmed: 0,
    stop: () => stop.abort(),
  }
  const options = {
    signal: stop.signal,
    failed: (error: unknown) => heard.failures.push(error),
    confirmed: () => heard.confirmed++,
  }
  void (async () => {
    for await (const list of client.watch(serviceId, options)) heard.lists.push(list as readonly Listed[])
  })()
  return heard
}

export const idsOf = (list: readonly InstanceInit[] | undefined) => list?.map((each) => (each as Listed).instanceId)

export const signal = () => new AbortController().signal

export async function listed(client: KubernetesDiscovery, serviceId = 'orders'): Promise<readonly Listed[]> {
  return (await client.get(serviceId, { signal: signal() })) as readonly Listed[]
}

export async function errorOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  return promise.then(
    () => {
      throw new Error('nothing was thrown')
    },
    (error) => error,
  )
}

/** A slice as the API has it, with what a test wants otherwise. */
export function slice(name: string, endpoints: unknown, more: Record<string, unknown> = {}) {
  const { labels = {}, annotations, creationTimestamp, ...rest } = more
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      name,
      ...(annotations !== undefined && { annotations }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      labels: { 'kubernetes.io/service-name': 'orders', ...(labels as object) },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints,
    ...rest,
  }
}

export const endpoint = (uid: string, address: string, more: Record<string, unknown> = {}) => ({
  addresses: [address],
  conditions: { ready: true },
  targetRef: { kind: 'Pod', name: `pod-${uid}`, uid },
  ...more,
})
