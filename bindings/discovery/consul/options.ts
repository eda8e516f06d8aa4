/** @module What can be said to `consulDiscovery`, and its checks. */

import {
  array,
  boolean,
  type Check,
  duration,
  isObject,
  map,
  number,
  object,
  oneOf,
  orFalse,
  refuse,
  text,
} from '../../config/check.js'
import { ConfigError } from '../../errors.js'
import { type RegistryTransportOptions, TRANSPORT_CHECKS } from '../registry/transport-options.js'

/** Where an instance's zone stands: in the Meta of the service or of its node, there under `zone` or the key named. */
export type ConsulZone =
  | 'service'
  | 'node'
  | 'locality'
  | 'datacenter'
  | { readonly service: string }
  | { readonly node: string }

export interface ConsulDiscoveryOptions extends RegistryTransportOptions {
  /** One agent, or several in the order of preference. Default `http://127.0.0.1:8500`. */
  url?: string | URL | readonly (string | URL)[]
  /** Sent as `X-Consul-Token`. A function is asked before each question, for tokens that change. */
  token?: string | (() => string | Promise<string>)
  datacenter?: string
  /** Consul Enterprise. */
  namespace?: string
  /** Consul Enterprise. */
  partition?: string
  /** A cluster peering: the services that it exports. */
  peer?: string
  /** An instance must have all of them. */
  tags?: readonly string[]
  /** Its node must have all of them. */
  nodeMeta?: Readonly<Record<string, string>>
  /** In Consul's filter language, as `Service.Meta.version == "2"`. */
  filter?: string
  /** Passed on to Consul. Has no effect on picks: lists are in the order of ids, and the policy chooses. */
  near?: string
  /**
   * default: from the leader; stale: from any server; consistent: from a leader that has made sure that it is one.
   * Default 'default'.
   */
  consistency?: 'default' | 'stale' | 'consistent'
  /**
   * With `consistency: 'stale'` or `cached`: what is older is asked again of the leader, which is then asked for a
   * minute. Also shortens `waitMs` to this, though not below 10 s. Default: any age will do.
   */
  maxStaleMs?: number
  /** From the agent's own cache, which follows the servers in the background. Default false. */
  cached?: boolean
  /**
   * Who is listed by the worst of its checks. passing: only where all pass; warning: also on warnings, with
   * `Weights.Warning`, as Consul's DNS does it; any: all, with metadata `status`. Default 'warning'.
   */
  health?: 'passing' | 'warning' | 'any'
  /**
   * How long Consul may hold a question back until something changes; at most 600 000. Default 240 000: Node's `fetch`
   * gives up after 300 000, and above 280 000 it needs a dispatcher with a longer `headersTimeout`, in `init`.
   */
  waitMs?: number
  /** Default 'service'. */
  zoneFrom?: ConsulZone
  /** Whether instances speak TLS. Default: where metadata has `secure: "true"`, or a `scheme` that is. */
  secure?: boolean
  /** Of services that were registered without a port; else they are left out. */
  defaultPort?: number
  registration?: ConsulRegistrationOptions
}

export interface ConsulRegistrationOptions {
  /** So long without a renewal, and the instance is critical; renewed at a third of it. Default 30 000. */
  ttlMs?: number
  /** So long critical, and it is deregistered; Consul takes nothing below 60 000. false: never. Default 600 000. */
  deregisterAfterMs?: number | false
  tags?: readonly string[]
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const texts = array(isText, 'non-empty strings')

/** The token is not to be seen in an error. */
const token: Check = (value, where) => {
  if (typeof value === 'function' || isText(value)) return
  throw new ConfigError(`${where} must be a non-empty string or a function that returns one`, { option: where })
}

/** Read in full, and without showing credentials, by `registryAddress`. */
const urls: Check = (value, where) => {
  if (Array.isArray(value) && value.length === 0) refuse(where, value, 'the URL of an agent, or several')
}

const zone: Check = (value, where) => {
  if (isObject(value) && Object.keys(value).length === 1) {
    object({ service: text, node: text })(value, where)
    return
  }
  if (isObject(value)) refuse(where, value, 'an object with one of service and node')
  oneOf('service', 'node', 'locality', 'datacenter')(value, where)
}

const shape = object({
  ...TRANSPORT_CHECKS,
  url: urls,
  token,
  datacenter: text,
  namespace: text,
  partition: text,
  peer: text,
  tags: texts,
  nodeMeta: map(text),
  filter: text,
  near: text,
  consistency: oneOf('default', 'stale', 'consistent'),
  maxStaleMs: duration(),
  cached: boolean,
  health: oneOf('passing', 'warning', 'any'),
  waitMs: duration(1_000, 600_000),
  zoneFrom: zone,
  secure: boolean,
  defaultPort: number({ least: 1, most: 65_535, whole: true }, 'a port'),
  registration: object({
    ttlMs: duration(1_000),
    deregisterAfterMs: orFalse(duration(60_000)),
    tags: texts,
  }),
} satisfies Record<keyof ConsulDiscoveryOptions, Check>)

/** @throws EVENKEEL_CONFIG naming the option */
export function checkOptions(options: ConsulDiscoveryOptions): void {
  shape(options, 'consulDiscovery')
  const { cached, consistency, maxStaleMs } = options
  const conflict = (option: string, message: string): never => {
    throw new ConfigError(`consulDiscovery.${message}`, { option: `consulDiscovery.${option}` })
  }
  if (cached && consistency === 'consistent') {
    conflict('cached', "cached can't be had with consistency: 'consistent', which no cache can keep")
  }
  if (maxStaleMs !== undefined && !cached && consistency !== 'stale') {
    conflict('maxStaleMs', "maxStaleMs needs consistency: 'stale' or cached: nothing else is ever stale")
  }
}
