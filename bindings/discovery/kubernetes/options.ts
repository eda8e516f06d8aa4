/** @module What the Kubernetes client is told, and the check of it. */

import { boolean, type Check, duration, number, object, oneOf, refuse, text } from '../../config/check.js'
import { ConfigError } from '../../errors.js'
import { registryAddress } from '../registry/registry-address.js'
import { type RegistryTransportOptions, TRANSPORT_CHECKS } from '../registry/transport-options.js'

/** A bearer token, or what gives one; asked before each request, so that it may change. */
export type TokenSource = string | (() => string | Promise<string>)

export interface KubernetesDiscoveryOptions extends RegistryTransportOptions {
  /**
   * The API server, or a gateway to it such as `kubectl proxy`. Default: that of the cluster this process runs in, by
   * KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
   */
  url?: string | URL
  /** Of the services. Default: that of this pod; with a `url`, `default`. A service id may name its own: `orders.shop`. */
  namespace?: string
  /** Default: that of this pod's service account, read again each minute and when it is refused; with a `url`, none. */
  token?: TokenSource
  /**
   * Where `token`, `namespace` and `ca.crt` are. Default: where Kubernetes mounts them, unless there is a `url`: given
   * beside one, it is read too.
   */
  serviceAccountFolder?: string
  /** Name or number of the port that is called. Default: the only one. */
  port?: string | number
  /** Default: by the port, whose protocol or name is `https`, or the label `secured` of the service. */
  secure?: boolean
  /** Of a service with both. Default: the one that has endpoints, IPv4 before IPv6. */
  family?: 'IPv4' | 'IPv6'
  /** The zone this process runs in, for the hints. */
  zone?: string
  /** Whether the hints of topology-aware routing are followed, where `zone` is given. Default true. */
  hints?: boolean
  /**
   * Who is listed while nobody is ready. fallback: those that shut down and still serve; never: nobody.
   * Default fallback.
   */
  serving?: 'fallback' | 'never'
  /** Beside that of the service, as `tier=gold,!canary`. */
  labelSelector?: string
  /** Before a label's name in the metadata. Default `label.`; with '' a label `version` is the instance's version. */
  labelPrefix?: string
  /** Slices a page. Default 500. */
  limit?: number
  /** After so long the API server ends a watch, and the next one begins. Default 300 000. */
  watchTimeoutMs?: number
}

const token: Check = (value, where) => {
  if (typeof value === 'function' || (typeof value === 'string' && value.trim() !== '')) return
  // What was given may be a secret in the wrong shape.
  throw new ConfigError(`${where} must be a non-empty string or a function that returns one`, { option: where })
}

const port: Check = (value, where) => {
  if (typeof value === 'string') return text(value, where)
  const isPort = Number.isInteger(value) && (value as number) > 0 && (value as number) <= 65_535
  if (!isPort) refuse(where, value, 'the name of a port, or a number from 1 to 65535')
}

const anyText: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a string')
}

/** A name of a service or namespace: RFC 1123 label. */
export const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const namespace: Check = (value, where) => {
  if (typeof value !== 'string' || !NAME.test(value)) refuse(where, value, 'the name of a namespace')
}

export const checkOptions = object({
  ...TRANSPORT_CHECKS,
  url: (value, where) => void registryAddress(value as string, where),
  namespace,
  token,
  serviceAccountFolder: text,
  port,
  secure: boolean,
  family: oneOf('IPv4', 'IPv6'),
  zone: text,
  hints: boolean,
  serving: oneOf('fallback', 'never'),
  labelSelector: text,
  labelPrefix: anyText,
  limit: number({ least: 1, whole: true }),
  watchTimeoutMs: duration(1_000),
} satisfies Record<keyof KubernetesDiscoveryOptions, Check>)
