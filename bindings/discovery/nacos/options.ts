/** @module The options of nacosDiscovery, checked. */

import { array, boolean, type Check, duration, object, oneOf, refuse, text } from '../../config/check.js'
import { ConfigError } from '../../errors.js'
import { type RegistryAddress, registryAddress } from '../registry/registry-address.js'
import { type RegistryTransportOptions, TRANSPORT_CHECKS } from '../registry/transport-options.js'
import type { NacosApi } from './api.js'

export interface NacosDiscoveryOptions extends RegistryTransportOptions {
  /**
   * One server of the registry, or several: `http://host:8848/nacos`. A URL without a path gets `/nacos`, the path of a
   * server that was told no other. Credentials in it are sent as Basic, for a proxy before the server.
   */
  url: string | URL | readonly (string | URL)[]
  /** The namespace's id, not its name. Default: none, which is the namespace `public`. */
  namespace?: string
  /** Of services whose id names none; an id may be `GROUP@@name`. Default 'DEFAULT_GROUP'. */
  group?: string
  /** Lists instances of these clusters only. Default: of all. */
  clusters?: readonly string[]
  /** Where none of `clusters` has a healthy instance, instances of all clusters are listed. Default false. */
  clusterFallback?: boolean
  /** The cluster that instances are registered in. Default: the only one of `clusters`, else 'DEFAULT'. */
  cluster?: string
  /** Which of the server's HTTP APIs is spoken. Default 'auto': the first that it has of v3, v2 and v1. */
  api?: 'auto' | NacosApi
  /** Logs in, and again before the token expires or when it is refused. */
  username?: string
  password?: string
  /** A token got elsewhere, instead of `username` and `password`; it is not renewed. */
  accessToken?: string
  /**
   * Where the token is sent. Servers of 2.1 to 2.5 find it in a header only if its name keeps its capitals on the way,
   * which HTTP/2, Deno and Workers don't do; they find it in the query in any case, as do all others. Default 'header'.
   */
  tokenIn?: 'header' | 'query'
  /** From one question to the next, in ms, at least 100. Default: what the server says, from 1 000 to 60 000; else 10 000. */
  pollMs?: number
  /**
   * Leaves unhealthy instances out, but for those that the server lists for protection. false: they are listed too,
   * with metadata `status` DOWN. Default true.
   */
  healthyOnly?: boolean
  /**
   * true: lists ephemeral instances only; false: persistent ones only. Instances are registered as ephemeral unless
   * false. Default: lists both, registers ephemeral ones.
   */
  ephemeral?: boolean
}

/** Says nothing of what was given. */
const secret: Check = (value, where) => {
  if (typeof value !== 'string' || value === '') {
    throw new ConfigError(`${where} must be a non-empty string`, { option: where })
  }
}

/** Commas separate clusters in questions. */
const clusterName = (value: unknown) => typeof value === 'string' && value !== '' && !value.includes(',')

const cluster: Check = (value, where) => {
  if (!clusterName(value)) refuse(where, value, 'the name of a cluster, without commas')
}

const group: Check = (value, where) => {
  text(value, where)
  if ((value as string).includes('@@')) refuse(where, value, 'the name of a group, without "@@"')
}

const anyText: Check = (value, where) => {
  if (typeof value !== 'string') refuse(where, value, 'a string')
}

const check = object({
  ...TRANSPORT_CHECKS,
  // Read below.
  url: () => {},
  namespace: anyText,
  group,
  clusters: array(clusterName, 'names of clusters, without commas'),
  clusterFallback: boolean,
  cluster,
  api: oneOf('auto', 'v3', 'v2', 'v1'),
  username: secret,
  password: secret,
  accessToken: secret,
  tokenIn: oneOf('header', 'query'),
  pollMs: duration(100),
  healthyOnly: boolean,
  ephemeral: boolean,
})

const WHERE = 'nacosDiscovery'

/** @throws EVENKEEL_CONFIG naming the option; never with a credential */
export function checkedAddresses(options: NacosDiscoveryOptions): readonly RegistryAddress[] {
  check(options, WHERE)
  const { url, username, password, accessToken } = options
  const together = (is: boolean, option: string, message: string) => {
    if (!is) throw new ConfigError(`${WHERE}.${option}: ${message}`, { option: `${WHERE}.${option}` })
  }
  together((username === undefined) === (password === undefined), 'password', 'username and password go together')
  together(
    username === undefined || accessToken === undefined,
    'accessToken',
    'either a token, or username and password to get one',
  )
  const urls: readonly (string | URL)[] = Array.isArray(url) ? url : [url as string | URL]
  if (urls.length === 0) refuse(`${WHERE}.url`, url, 'one URL or several')
  return urls.map((each, i) => nacosAddress(each, Array.isArray(url) ? `${WHERE}.url[${i}]` : `${WHERE}.url`))
}

function nacosAddress(url: string | URL, option: string): RegistryAddress {
  const { base, authorization } = registryAddress(url, option)
  return { base: new URL(base).pathname === '/' ? `${base}/nacos` : base, authorization }
}
