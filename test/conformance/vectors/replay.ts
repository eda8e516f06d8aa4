/** @module What replays of Spring Cloud LoadBalancer's vectors share. test/vectors/README.md tells what a vector is. */

import { expect } from 'chai'
import {
  createLoadBalancer,
  type InstanceInit,
  type LoadBalancerOptions,
  type PickRequest,
  type Service,
  type ServiceInstance,
  type ServiceOptions,
} from 'evenkeel'
import { fromSpring } from 'evenkeel/spring'
import type { Case } from '../case.js'
import { describe } from '../failure-text.js'
import { replayable, type Vector } from './without-counterpart.js'

const MOST_SHOWN = 20

/** One case for each group of the file's vectors that have a counterpart. */
export function replayed<V extends Vector>(
  file: { readonly vectors: readonly { readonly id: string }[] },
  check: (vector: V) => void | Promise<void>,
): Case[] {
  return casesOf('SCLB', replayable(file.vectors as readonly V[]), check)
}

/** One case for each group of the vectors; its failure names those that differ. */
export function casesOf<V extends { readonly id: string }>(
  whose: string,
  all: readonly V[],
  check: (vector: V) => void | Promise<void>,
): Case[] {
  const groups = new Map<string, V[]>()
  for (const vector of all) {
    const name = vector.id.replace(/-\d+$/, '')
    groups.set(name, [...(groups.get(name) ?? []), vector])
  }
  return [...groups].map(([name, vectors]) => ({
    name: `${whose}'s ${name}, ${vectors.length} of its vectors`,
    async run() {
      const failures: string[] = []
      for (const vector of vectors) {
        try {
          await check(vector)
        } catch (error) {
          failures.push(`${vector.id}: ${describe(error)}`)
        }
      }
      if (failures.length === 0) return
      const shown = failures.slice(0, MOST_SHOWN).join('\n')
      throw new Error(`${failures.length} of ${vectors.length} differ\n${shown}`)
    },
  }))
}

/** The service `svc` of a balancer that is SCLB's in everything, for as long as it is used. */
export async function withService(
  options: ServiceOptions,
  use: (service: Service) => void | Promise<void>,
  balancer: Omit<LoadBalancerOptions, 'services'> = {},
): Promise<void> {
  const lb = createLoadBalancer({ compat: 'spring', seed: 1, ...balancer, services: { svc: options } })
  try {
    await use(lb.service('svc'))
  } finally {
    await lb.close()
  }
}

/** Instances by place, each with its metadata. */
export function placed(metadata: readonly Readonly<Record<string, string>>[]): InstanceInit[] {
  return named(
    metadata.map((_, place) => `i${place}`),
    metadata,
  )
}

/** Instances as SCLB's tests have them: the host is the id. */
export function named(
  ids: readonly string[],
  metadata: readonly Readonly<Record<string, string>>[] = [],
): InstanceInit[] {
  return ids.map((id, place) => ({ instanceId: id, host: id, port: 8080, metadata: metadata[place] ?? {} }))
}

/** Metadata with one key, which is left out where it is null. */
export function tagged(key: string, values: readonly (string | null)[]): Record<string, string>[] {
  return values.map((value) => (value === null ? {} : { [key]: value }))
}

/** The places of those whom the policy would get, copies included. */
export async function candidates(service: Service, request?: PickRequest): Promise<number[]> {
  const { candidates } = await service.explain(request)
  const place = placeIn(service)
  return candidates.map(place)
}

/** The place of who is picked; null: nobody is. */
export function pick(service: Service, request?: PickRequest): number | null {
  const lease = service.pick(request)
  lease?.done()
  return lease === undefined ? null : placeIn(service)(lease.instance)
}

function placeIn(service: Service): (instance: ServiceInstance) => number {
  const places = new Map(service.instances().map((instance, place) => [instance, place]))
  return (instance) => places.get(instance) ?? -1
}

/** Headers with several values, one line each. */
export function lines(headers: Readonly<Record<string, readonly string[]>>): [string, string][] {
  return Object.entries(headers).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]))
}

type Properties = Readonly<Record<string, string | number | boolean>>

/** What a Spring file with these properties below spring.cloud.loadbalancer has for its service `svc`, and for all. */
export function springOptions(properties: Properties): { service: ServiceOptions; defaults: ServiceOptions } {
  const text = springText({ 'spring.cloud.discovery.client.simple.instances.svc[0].host': 'unused' }, '')
  const { options } = fromSpring(text + springText(properties), { format: 'properties' })
  return { service: options.services?.svc as ServiceOptions, defaults: options.defaults ?? {} }
}

export function springText(properties: Properties, prefix = 'spring.cloud.loadbalancer.'): string {
  return Object.entries(properties)
    .map(([key, value]) => `${escaped(prefix + key)}=${escaped(String(value))}\n`)
    .join('')
}

/** As java.util.Properties writes it. */
function escaped(text: string): string {
  return text.replace(/[\\ :=#!]/g, '\\$&')
}

/** What stands for an exception of Java's: evenkeel refuses the options, the instance or the request. */
export async function expectRefusal(act: () => unknown): Promise<void> {
  let result: unknown
  try {
    result = await act()
  } catch (error) {
    expect((error as { code?: unknown }).code, describe(error)).to.equal('EVENKEEL_CONFIG')
    return
  }
  expect.fail(`expected a refusal, not ${JSON.stringify(result)}`)
}
