/** @module A fake Eureka server and a client of it in one process; time is vitest's where it is faked. */

import {
  type EurekaDiscovery,
  type EurekaDiscoveryOptions,
  eurekaDiscovery,
} from '../../bindings/discovery/eureka/index.js'
import type { InstanceInit } from '../../bindings/index.js'
import { EurekaFake, type EurekaFakeOptions } from './fakes/eureka.js'
import { inProcess } from './in-process.js'

export type Given = Exclude<InstanceInit, string | URL>

export interface World {
  fake: EurekaFake
  client: EurekaDiscovery
  /** Paths of the questions since this was asked last. */
  asked(): string[]
}

export const URL_OF_FAKE = 'http://eureka.test:8761/eureka'

export function world(options: Partial<EurekaDiscoveryOptions> = {}, fakeOptions: EurekaFakeOptions = {}): World {
  const fake = new EurekaFake(fakeOptions)
  const client = eurekaDiscovery({ url: URL_OF_FAKE, fetch: inProcess(fake), random: () => 0, ...options })
  return { fake, client, asked: () => fake.log.splice(0).map(({ method, path }) => `${method} ${path}`) }
}

export interface Watched {
  readonly lists: (readonly Given[])[]
  readonly failures: unknown[]
  confirmed: number
  /** Ids of the newest list. */
  ids(): string[]
  stop(): void
}

/** A watch whose lists are taken as they come. */
export function watching(client: Pick<EurekaDiscovery, 'watch'>, serviceId = 'orders'): Watched {
  const stop = new AbortController()
  const watched: Watched = {
    lists: [],
    failures: [],
    confirmed: 0,
    ids: () => idsOf(watched.lists.at(-1) ?? []),
    stop: () => stop.abort(),
  }
  const take = async () => {
    const lists = client.watch(serviceId, {
      signal: stop.signal,
      failed: (error) => watched.failures.push(error),
      confirmed: () => watched.confirmed++,
    })
    for await (const list of lists) watched.lists.push(list as readonly Given[])
  }
  void take()
  return watched
}

export function idsOf(list: readonly InstanceInit[]): string[] {
  return (list as readonly Given[]).map(({ instanceId }) => instanceId as string)
}

/** One question by `get`. */
export async function got(client: EurekaDiscovery, serviceId = 'orders'): Promise<readonly Given[]> {
  return (await client.get(serviceId, { signal: new AbortController().signal })) as readonly Given[]
}

/** What the promise was rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('it was not rejected')
}

export const entry = (n: number, more: object = {}) => ({
  instanceId: `n${n}:orders:8080`,
  host: `10.0.0.${n}`,
  port: 8080,
  ...more,
})
