/** @module What a service instance is, and what users may write where one is wanted. */

export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Anything with a `fetch`: a Cloudflare service binding, a Hono app, a fake in a test. It is given a `Request`. */
export interface Fetcher {
  fetch: FetchLike
}

/** One running copy of a service. Frozen; a new host or port under the same `instanceId` is a new instance. */
export interface ServiceInstance {
  /** Default: `host:port` (of a URL without a port: its scheme's), or the host alone. */
  readonly instanceId: string
  readonly serviceId: string
  /** IPv6 without brackets; empty for an instance that is only a `fetcher`. */
  readonly host: string
  /** −1: none was given, and no URL whose scheme has one. */
  readonly port: number
  readonly secure: boolean
  readonly scheme?: string
  readonly metadata: Readonly<Record<string, string>>
  /** A service binding instead of an address. */
  readonly fetcher?: Fetcher
}

/** `weight`, `zone`, `hint` and `version` are shorthand for metadata of the same name. */
export type InstanceInit =
  | string
  | URL
  | {
      url?: string | URL
      host?: string
      port?: number
      secure?: boolean
      scheme?: string
      instanceId?: string
      metadata?: Readonly<Record<string, string>>
      fetcher?: Fetcher
      weight?: number
      zone?: string
      hint?: string
      version?: string
    }
