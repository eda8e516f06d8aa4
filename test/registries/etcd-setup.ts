/** @module A client over the fake etcd, in virtual time, and what its watch brings. */

import { vi } from 'vitest'
import { type EtcdDiscoveryOptions, etcdDiscovery } from '../../bindings/discovery/etcd/index.js'
import type { DiscoveryClient, InstanceInit } from '../../bindings/index.js'
import type { FakeEtcd } from './fakes/etcd.js'
import { inProcess } from './in-process.js'

export type Listed = Exclude<InstanceInit, string | URL>

/** Answers at once; waits are their mean, checks come at 95 % of their interval. */
export function clientOf(fake: Pick<FakeEtcd, 'fetch'>, options: EtcdDiscoveryOptions = {}) {
  return etcdDiscovery({ fetch: inProcess(fake), random: () => 0.5, ...options })
}

export async function listOf(client: DiscoveryClient, serviceId = 'orders'): Promise<readonly Listed[]> {
  const list = await client.get?.(serviceId, { signal: new AbortController().signal })
  return (list ?? []) as readonly Listed[]
}

export interface Watching {
  readonly lists: (readonly Listed[])[]
  readonly failures: Error[]
  confirmations: number
  /** Ids of the last list. */
  ids(): (string | undefined)[] | undefined
  stop(): Promise<void>
}

export async function watching(client: DiscoveryClient, serviceId = 'orders'): Promise<Watching> {
  const stop = new AbortController()
  const seen: Watching = {
    lists: [],
    failures: [],
    confirmations: 0,
    ids: () => seen.lists.at(-1)?.map(({ instanceId }) => instanceId),
    async stop() {
      stop.abort()
      await ended
    },
  }
  const watch = client.watch?.(serviceId, {
    signal: stop.signal,
    failed: (error) => seen.failures.push(error as Error),
    confirmed: () => {
      seen.confirmations++
    },
  })
  const ended = (async () => {
    for await (const list of watch ?? []) seen.lists.push(list as readonly Listed[])
  })()
  await settled()
  return seen
}

/** Time goes on by this, and all that is ready then has been done. */
export async function elapse(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
  await settled()
}

/** All that needs no time has been done. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 30; i++) await vi.advanceTimersByTimeAsync(0)
}

export const grpc = (Addr: string, Metadata: unknown = null) => JSON.stringify({ Op: 0, Addr, Metadata })
