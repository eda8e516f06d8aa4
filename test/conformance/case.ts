/** @module What a conformance case is, and what it is run with. */

import type { Fetcher } from 'evenkeel'

/** Base URLs (no path) of the servers that the launcher started; see test/runtime/backends.ts. */
export interface Backends {
  a: string
  b: string
  c: string
  /** A port of loopback on which nobody listens. */
  refused: string
}

/** What not every runtime can do. A launcher that lacks one says why. */
export type Ability =
  /** Sends a request body while it is still being written. */
  | 'stream-request'
  /** Tells an unknown URL scheme from a failed connection. */
  | 'name-bad-scheme'
  /** Sends a path that begins with // as it is. */
  | 'keep-leading-slashes'

export interface Context {
  runtime: string
  backends: Backends
  lacks: Partial<Record<Ability, string>>
  /** A service binding of the runtime that leads to backend a, where it has such a thing. */
  binding?: Fetcher
}

export interface Case {
  name: string
  needs?: Ability
  run(context: Context): void | Promise<void>
}

export interface Failure {
  name: string
  error: string
}

export interface Report {
  runtime: string
  passed: number
  failed: Failure[]
  /** Cases that need what this runtime lacks, each with the reason. */
  skipped: { name: string; reason: string }[]
  /** By policy, of 100 000 seeded picks; undefined where none are made. */
  digests?: Record<string, string>
}
