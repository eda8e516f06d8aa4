/** @module What the registries of the tests have in common, those in this repository and the real ones. */

import type { DiscoveryClient, Registrar } from '../../bindings/index.js'

/** One instance as a registry is told of it. */
export interface Entry {
  instanceId: string
  host: string
  port: number
  secure?: boolean
  zone?: string
  weight?: number
  metadata?: Record<string, string>
}

/** A registry of this repository: speaks the protocol, and is told what to say without it. */
export interface FakeRegistry {
  /** Answers as the registry would, and ends its waits when the request's signal aborts. */
  fetch(request: Request): Promise<Response>
  add(serviceId: string, entry: Entry): void
  remove(serviceId: string, instanceId: string): void
  /** Ids of those that a client is to see now, sorted. */
  listed(serviceId: string): string[]
  /** Ends timers and waits. */
  close(): void
}

export interface Pauses {
  readonly minMs: number
  readonly maxMs: number
  readonly growth: number
}

/** Of clients whose registry pushes. */
export const PUSHED_PAUSES: Pauses = { minMs: 1_000, maxMs: 30_000, growth: 5 }

/** A registry that the common cases can use, break and mend. */
export interface TestRegistry {
  readonly name: string
  /** A change is in the client's list after this, in ms, where the client is made by `client`. */
  readonly boundMs: number
  /** How the client's pauses after failures grow, on average; each is up to half as long again. Default `PUSHED_PAUSES`. */
  readonly pauses?: Pauses
  /** Whether who was added is still there after `stop` and `start`. */
  readonly remembers: boolean
  /** Starts it, again too, at the same address. */
  start(): Promise<void>
  /** Ends it in good order. */
  stop(): Promise<void>
  /** Ends it at once, connections and all. */
  kill(): Promise<void>
  /** It takes connections and requests, and answers nothing until `resume`. */
  hang(): Promise<void>
  resume(): Promise<void>
  /** Tells the registry by a protocol of its own that has nothing to do with the client under test. */
  add(serviceId: string, entry: Entry): Promise<void>
  remove(serviceId: string, instanceId: string): Promise<void>
  /** Ids of those that a client is to see now, asked by that protocol too. */
  listed?(serviceId: string): Promise<string[]>
  /** A client as a user would make it, only with intervals fit for a test. */
  client(): DiscoveryClient & Partial<Registrar>
  /** Ends everything. */
  dispose(): Promise<void>
}
