/** @module The options of `etcdDiscovery`. */

import { type Check, duration, func, object, oneOf, refuse, text } from '../../config/check.js'
import { ConfigError } from '../../errors.js'
import { type RegistryTransportOptions, TRANSPORT_CHECKS } from '../registry/transport-options.js'
import { checkPrefix, type EtcdPrefix } from './prefix.js'

/** An instance as the value of a key, or as `parse` gives it: with `url`, or with `host` and `port`. */
export interface EtcdInstance {
  url?: string
  host?: string
  port?: number
  secure?: boolean
  /** Default: what the key has after the prefix. */
  instanceId?: string
  weight?: number
  zone?: string
  status?: string
  version?: string
  metadata?: Readonly<Record<string, unknown>>
}

export interface EtcdDiscoveryOptions extends RegistryTransportOptions {
  /** One or several servers of the cluster. Default `http://127.0.0.1:2379`. */
  url?: string | URL | readonly (string | URL)[]
  /**
   * What the keys of a service begin with: a text with `{serviceId}` in it, or a function. End it with what ends a
   * name, else `orders` finds the keys of `orders2` as well. Default `'{serviceId}/'`, as gRPC's naming has it.
   */
  prefix?: EtcdPrefix
  /**
   * Reads a value of one's own format: an instance, the text `host:port`, or undefined for a key that is no instance. What
   * it throws is told, and the key left out. Default: gRPC naming, JSON of `EtcdInstance`, and the text `host:port`.
   */
  parse?: (key: string, value: string) => EtcdInstance | string | undefined
  /** With `password`: a token is asked for, and again when it has expired. */
  username?: string
  password?: string
  /** Where the server has its gateway. Default `'/v3'` (3.4 and later); `'/v3beta'` for 3.3. */
  api?: '/v3' | '/v3beta'
  /** A watch that was silent for so long is checked with a small question. Default 30 000. */
  checkIntervalMs?: number
  /** How `register` writes a value: for gRPC's resolvers, or as `EtcdInstance`. Default `'grpc'`. */
  format?: 'grpc' | 'json'
  /** A registration that is not renewed ends after this; in whole seconds, rounded up. Default 10 000. */
  leaseTtlMs?: number
}

/** What the options are of, in errors. */
export const FACTORY = 'etcdDiscovery'

/** Never shows what it refuses. */
const secret: Check = (value, where) => {
  if (typeof value !== 'string' || value === '') {
    throw new ConfigError(`${where} must be a non-empty string`, { option: where })
  }
}

const urls: Check = (value, where) => {
  if (Array.isArray(value) && value.length === 0) refuse(where, value, 'at least one URL')
}

const check = object({
  ...TRANSPORT_CHECKS,
  url: urls,
  prefix: checkPrefix,
  parse: func('a function that reads a value'),
  username: text,
  password: secret,
  api: oneOf('/v3', '/v3beta'),
  checkIntervalMs: duration(100),
  format: oneOf('grpc', 'json'),
  leaseTtlMs: duration(1),
} satisfies Record<keyof EtcdDiscoveryOptions, Check>)

/** @throws EVENKEEL_CONFIG naming the option */
export function checkOptions(options: EtcdDiscoveryOptions): void {
  check(options, FACTORY)
  const { username, password } = options
  if ((username === undefined) === (password === undefined)) return
  const [given, missing] = username === undefined ? ['password', 'username'] : ['username', 'password']
  throw new ConfigError(`${FACTORY}.${given} needs ${missing} beside it`, { option: `${FACTORY}.${missing}` })
}
