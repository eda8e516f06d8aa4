/** @module What a case works with: the registry, instances, callers; all of it ended with the case. */

import { afterAll, afterEach, beforeAll } from 'vitest'
import type { DiscoveryClient, Registrar, ServiceOptions } from '../../../bindings/index.js'
import { type Entry, PUSHED_PAUSES, type TestRegistry } from '../registry.js'
import { Caller } from './caller.js'
import { type Mendable, mendable } from './mendable.js'
import { TestInstance } from './test-instance.js'

/** A server of Java's takes its time. */
const START_MS = 120_000
/** Of a machine that has other things to do. */
const SLACK_MS = 500

export class World {
  #registry: Mendable | undefined
  #services = 0
  readonly #ends: (() => Promise<unknown>)[] = []
  /** What the registry of the case has been told. */
  readonly #entries = new Map<string, Entry>()
  serviceId = ''

  constructor(make: () => Promise<TestRegistry>) {
    beforeAll(async () => {
      this.#registry = mendable(await make())
      await this.#registry.start()
    }, START_MS)
    afterEach(async () => {
      // Those who ask the registry, before it is down for good.
      for (const end of this.#ends.splice(0).reverse()) await end()
      await this.registry.mend()
      for (const { instanceId } of this.#entries.values()) await this.registry.remove(this.serviceId, instanceId)
      this.#entries.clear()
    }, START_MS)
    afterAll(async () => this.#registry?.dispose())
  }

  get registry(): Mendable {
    if (this.#registry === undefined) throw new Error('the registry was not made')
    return this.#registry
  }

  /** A change is in the list after this. */
  get boundMs(): number {
    return this.registry.boundMs + SLACK_MS
  }

  /** The same now that the registry is up again: the caller may have begun the pause after its last failure just now. */
  boundAfterMs({ told }: Caller): number {
    const { minMs, maxMs, growth } = this.registry.pauses ?? PUSHED_PAUSES
    return this.boundMs + 1.5 * Math.min(minMs * growth ** Math.max(told.length - 1, 0), maxMs)
  }

  /** Every case has a service of its own: registries remember. */
  newService(): string {
    this.serviceId = `orders-${++this.#services}`
    return this.serviceId
  }

  async instances(count: number): Promise<TestInstance[]> {
    const names = Array.from({ length: count }, (_, i) => `${this.serviceId}-${i + 1}`)
    return Promise.all(names.map((name) => this.instance(name)))
  }

  async instance(name: string): Promise<TestInstance> {
    const instance = await TestInstance.start(name)
    this.#ends.push(() => instance.kill())
    return instance
  }

  async add(...instances: readonly (TestInstance | Entry)[]): Promise<void> {
    for (const each of instances) {
      const entry = each instanceof TestInstance ? each.entry() : each
      await this.registry.add(this.serviceId, entry)
      this.#entries.set(entry.instanceId, entry)
    }
  }

  async remove({ name }: TestInstance): Promise<void> {
    await this.registry.remove(this.serviceId, name)
    this.#entries.delete(name)
  }

  /** Tells a registry without a memory again what it was told, after it was down. */
  async remind(): Promise<void> {
    if (this.registry.remembers) return
    for (const entry of this.#entries.values()) await this.registry.add(this.serviceId, entry)
  }

  client(): DiscoveryClient & Partial<Registrar> {
    return this.registry.client()
  }

  caller(options: ServiceOptions = {}, discovery: DiscoveryClient = this.client()): Caller {
    const caller = new Caller(discovery, this.serviceId, options)
    this.#ends.push(() => caller[Symbol.asyncDispose]())
    return caller
  }

  atEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end)
  }
}
