/** @module Keeps the instances that serve the API version a request asks for. */

import { boolean, type Check, isObject, number, object, refuse, text } from '../config/check.js'
import { ConfigError } from '../errors.js'
import { show } from '../show.js'
import type { Supplied, Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import { cutTo, type Fallback, fallBack, fallback, leaningOf, memoWith } from './fallback.js'
import { isWithin, rangesOf, type SemanticVersion, type VersionRange, versionOf } from './semantic-version.js'
import { ALONE, type CoreSupplier, HIDDEN_REQUEST, STAGE, type StageContext } from './stage.js'
import { finderOf, placesIn, type VersionPlaces } from './version-places.js'

/** Where a request names its version; by default in the header `X-API-Version`. */
export interface ApiVersionOptions extends VersionPlaces {
  /** A request without a version gets no instance, whatever the fallback. Not together with `default`. */
  required?: boolean
  /** The version of requests that name none. */
  default?: string
  /** No instance serves the version, or the request names none and there is no default: 'none' by default. */
  fallback?: Fallback
  /** Where an instance has its versions: `1`, `1,2`, `2+`, `1-3`. Default: `API_VERSION`. */
  metadata?: string
}

const ACCEPTED = 'major[.minor[.patch]] such as 1, 1.2 or v1.2.3'

const mediaType: Check = (value, where) => {
  if (!isObject(value) || Object.keys(value).length === 0)
    refuse(where, value, "an object such as { 'a/b': 'version' }")
  for (const key in value) {
    if (!/^[^/;,\s]+\/[^/;,\s]+$/.test(key)) refuse(`${where}.${key}`, key, 'a media type')
    text(value[key], `${where}.${key}`)
  }
}
const versionText: Check = (value, where) => {
  if (typeof value !== 'string' || versionOf(value) === undefined) refuse(where, value, ACCEPTED)
}
const check = object({
  header: text,
  query: text,
  pathSegment: number({ least: 0, whole: true }),
  mediaType,
  required: boolean,
  default: versionText,
  fallback,
  metadata: text,
})

const NAME = 'api-version'

const THROWING = ['api-version-bad-request', 'api-version-bad-instance'] as const

/**
 * Instances whose metadata has the version of the request: "1" is "1.0" is "v1.0.0"; an instance may have several
 * versions and ranges, both ends included. If none has it, or no version is asked for, the fallback.
 * An instance's version that can't be read never matches and is named in the reason.
 * Breaks when some callers name no version: they get nobody, unless there is a default or a fallback.
 * A request whose version can't be read is served by nobody.
 * @throws EVENKEEL_CONFIG for options that can't be used
 * @see SCLB 5.0 ReactiveApiVersionServiceInstanceListSupplier; ranges: spring-cloud-commons 1628
 * @example apiVersion({ query: 'v', default: '1' })
 */
export function apiVersion(options: ApiVersionOptions = {}): Supplier {
  check(options, 'apiVersion')
  const {
    header,
    query,
    pathSegment,
    mediaType,
    required = false,
    fallback = 'none',
    metadata = 'API_VERSION',
  } = options
  if (required && options.default !== undefined) {
    throw new ConfigError('apiVersion has a default, so required can never apply: give one or the other', {
      option: 'apiVersion.required',
    })
  }
  const isAnyPlace = [header, query, pathSegment, mediaType].some((place) => place !== undefined)
  const places = isAnyPlace ? options : { header: 'X-API-Version' }
  const find = finderOf(places)
  const missing = `the request has no version (${placesIn(places)})`
  const filter = (list: readonly ServiceInstance[], request: PickRequest, context: StageContext): Supplied => {
    const asked = find(request) ?? options.default
    if (asked === undefined) {
      const refused = required && request !== HIDDEN_REQUEST && !context.quirks.has('api-version-required-ignored')
      if (refused) return { list: [], reason: `${missing}, and one is required` }
      return fallBack(fallback, list, request, `${missing}, and there is no default`)
    }
    const version = versionOf(asked)
    if (version === undefined) {
      if (context.quirks.has('api-version-bad-request')) refuseRequest(asked, context)
      return { list: [], reason: `the request asks for version ${show(asked)}, which is none: ${ACCEPTED} is` }
    }
    if (context.quirks.has('api-version-bad-instance')) checkInstances(list, metadata, context)
    const { kept, unreadable, anyVersion } = split(list, version, metadata)
    const besides = unreadable.length === 0 ? '' : `; unreadable: ${idsOf(unreadable)}`
    if (kept.length > 0) return { list: kept, reason: `keeps ${metadata} "${asked}"${besides}` }
    const reason = anyVersion ? `no instance has ${metadata} "${asked}"` : `no instance has ${metadata} metadata`
    return fallBack(fallback, list, request, reason + besides)
  }
  const supplier: CoreSupplier = {
    name: NAME,
    ...(typeof fallback !== 'function' && { memoKey: find }),
    filter: (list, request) => filter(list, request, ALONE),
    [STAGE]: (context) => ({
      name: NAME,
      ...memoWith(fallback, 'keyed'),
      // Some requests and instances make it throw, as code of the user's may.
      foreign: typeof fallback === 'function' || THROWING.some((id) => context.quirks.has(id)),
      mayHideRequest: true,
      leaning: leaningOf(fallback),
      key: find,
      cut: (list, request) => cutTo(list, filter(list.instances, request, context), NAME, context.serviceId),
    }),
  }
  return supplier
}

interface Split {
  readonly kept: readonly ServiceInstance[]
  readonly unreadable: readonly ServiceInstance[]
  readonly anyVersion: boolean
}

function split(list: readonly ServiceInstance[], version: SemanticVersion, key: string): Split {
  // Instances are many, their versions few.
  const known = new Map<string, (VersionRange | undefined)[]>()
  const kept: ServiceInstance[] = []
  const unreadable: ServiceInstance[] = []
  for (const instance of list) {
    const text = instance.metadata[key]
    if (text === undefined) continue
    let ranges = known.get(text)
    if (ranges === undefined) known.set(text, (ranges = rangesOf(text)))
    if (ranges.some((range) => range !== undefined && isWithin(version, range))) kept.push(instance)
    if (ranges.includes(undefined)) unreadable.push(instance)
  }
  return { kept, unreadable, anyVersion: known.size > 0 }
}

function refuseRequest(text: string, { serviceId }: StageContext): never {
  throw new ConfigError(`${NAME}: the request asks for ${show(text)}; accepted: ${ACCEPTED}`, {
    option: NAME,
    ...(serviceId && { serviceId }),
  })
}

/** SCLB knows no ranges: to it an instance has one version, or one that can't be read. */
function checkInstances(list: readonly ServiceInstance[], key: string, { serviceId }: StageContext): void {
  const bad = list.find(({ metadata }) => metadata[key] !== undefined && versionOf(metadata[key]) === undefined)
  if (bad === undefined) return
  const { instanceId, metadata } = bad
  throw new ConfigError(`${NAME}: instance "${instanceId}" has ${key} ${show(metadata[key])}; accepted: ${ACCEPTED}`, {
    option: NAME,
    serviceId,
  })
}

function idsOf(instances: readonly ServiceInstance[]): string {
  return instances.map(({ instanceId }) => `"${instanceId}"`).join(', ')
}
