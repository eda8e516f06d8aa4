/** @module The three HTTP APIs: their paths and parameters, and which of their answers is an answer at all. */

import type { RegistryAnswer, RegistryQuestion } from '../registry/registry-http.js'
import type { ServiceName } from './service-name.js'

/** v1: of all servers before 3.2; v2: of 2.2 to 2.5 (3.0 and 3.1 have it switched off); v3: of 3.0 on. */
export type NacosApi = 'v3' | 'v2' | 'v1'

/** The newest first: newer servers have the older APIs switched off, or not at all. */
export const APIS: readonly NacosApi[] = ['v3', 'v2', 'v1']

/** A question without who is asked. */
export type ApiQuestion = Pick<RegistryQuestion, 'path' | 'query' | 'method' | 'body'>

const INSTANCE_PATHS = { v3: '/v3/client/ns/instance', v2: '/v2/ns/instance', v1: '/v1/ns/instance' } as const

export interface ServiceScope {
  readonly service: ServiceName
  /** Undefined: the server's default. */
  readonly namespace: string | undefined
}

/** What names a service, in the words of an API. */
export function scopeQuery(api: NacosApi, { service, namespace }: ServiceScope) {
  return {
    namespaceId: namespace,
    groupName: service.group,
    serviceName: api === 'v1' ? service.grouped : service.name,
  }
}

/**
 * The list of a service. Unhealthy instances are always asked for: the server protects a service of which too few are
 * healthy only when it sees all of them.
 */
export function listQuestion(api: NacosApi, scope: ServiceScope, clusters: readonly string[]): ApiQuestion {
  const names = clusters.length === 0 ? undefined : clusters.join(',')
  return {
    path: `${INSTANCE_PATHS[api]}/list`,
    query: {
      ...scopeQuery(api, scope),
      ...(api === 'v1' ? { clusters: names } : { clusterName: names }),
      ...(api !== 'v3' && { healthyOnly: 'false' }),
    },
  }
}

/** Makes a registration, or changes it. In the body: metadata may be longer than a URL can be. */
export function registerQuestion(api: NacosApi, fields: Readonly<Record<string, string>>): ApiQuestion {
  return { path: INSTANCE_PATHS[api], method: 'POST', body: `${new URLSearchParams(fields)}` }
}

/** A heartbeat. */
export function beatQuestion(
  api: NacosApi,
  scope: ServiceScope,
  fields: Readonly<Record<string, string>>,
): ApiQuestion {
  if (api === 'v3') return registerQuestion(api, { ...fields, heartBeat: 'true' })
  // Beats name the service in its group in both APIs.
  const query = { ...fields, serviceName: scope.service.grouped }
  return { path: `${INSTANCE_PATHS[api]}/beat`, method: 'PUT', query }
}

/** In the URL: servers read no body here. */
export function deregisterQuestion(api: NacosApi, fields: Readonly<Record<string, string>>): ApiQuestion {
  return { path: INSTANCE_PATHS[api], method: 'DELETE', query: fields }
}

/** The server has no such API: it says 404 in its own words, or 410 where it is switched off. */
export function isAbsent({ status, text }: RegistryAnswer): boolean {
  if (status === 405 || status === 410 || status === 501) return true
  return status === 404 && codeIn(text) === undefined
}

export function isDenied({ status, text }: RegistryAnswer): boolean {
  return status === 401 || status === 403 || codeIn(text) === ACCESS_DENIED
}

export const ACCESS_DENIED = 10_001

/** The code of an answer that has one; v1 lists have none. */
export function codeIn(text: string): number | undefined {
  // Long ones are lists, which nobody is to read twice.
  if (text.length > 4_096 || !text.trimStart().startsWith('{')) return undefined
  try {
    const { code } = JSON.parse(text) as { code?: unknown }
    return typeof code === 'number' ? code : undefined
  } catch {
    return undefined
  }
}
