/** @module The part of a Kubernetes API server that has to do with EndpointSlices, in memory. */

import type { Entry, FakeRegistry } from '../registry.js'
import { bodyOf, SliceHistory, type SliceObject } from './kubernetes-objects.js'
import { isSelected } from './kubernetes-selector.js'
import { WatchStream } from './kubernetes-watch.js'

export interface FakeKubernetesOptions {
  /** Slices hold so many endpoints. The real ones: 100. */
  endpointsPerSlice?: number
  /** How often a watch says how far it is. The real one: about once a minute. */
  bookmarkMs?: number
  /** Resource versions that are no numbers, which the protocol allows. */
  opaque?: boolean
}

export interface Conditions {
  ready?: boolean | null
  serving?: boolean | null
  terminating?: boolean | null
}

export interface LoggedRequest {
  method: string
  path: string
  query: Record<string, string>
  authorization: string | null
  accept: string | null
}

const PATH = /^\/apis\/discovery\.k8s\.io\/v1(?:\/namespaces\/([^/]+))?\/endpointslices(?:\/([^/]+))?$/

export class FakeKubernetes implements FakeRegistry {
  /** Tokens that are taken; empty: none is asked for. */
  tokens: string[] = []
  /** How a watch from a version that is forgotten ends: in its stream, or before it. */
  goneAs: 'event' | 'status' = 'event'
  /** Streams in pieces of so many bytes. */
  chunkBytes: number | undefined
  /** Streams end after so long at most, whatever was asked. */
  watchLimitMs = Number.POSITIVE_INFINITY
  /** Whether streams send bookmarks. */
  bookmarks = true
  /** Answers instead, if it answers. */
  fault: ((request: Request) => Response | Promise<Response> | undefined) | undefined
  /** The last so many. */
  readonly requests: LoggedRequest[] = []
  /** All of them, by kind. */
  readonly counts = { list: 0, watch: 0 }
  readonly history: SliceHistory
  readonly #options: Required<FakeKubernetesOptions>
  readonly #streams = new Set<WatchStream>()
  /** Listed pages that go on: the list as it was, which a token keeps. */
  readonly #continued = new Map<string, { rest: SliceObject[]; version: number }>()
  #tokensMade = 0
  #slicesMade = 0
  #isStalled = false
  #isDown = false

  constructor(options: FakeKubernetesOptions = {}) {
    this.#options = { endpointsPerSlice: 100, bookmarkMs: 60_000, opaque: false, ...options }
    this.history = new SliceHistory(this.#options.opaque)
  }

  get watches(): number {
    return this.#streams.size
  }

  async fetch(request: Request): Promise<Response> {
    if (this.#isDown) throw unreachable()
    const url = new URL(request.url)
    this.#log(request, url)
    const fault = await this.fault?.(request)
    if (fault !== undefined) return fault
    if (!this.#isKnown(request)) return status(401, 'Unauthorized', 'Unauthorized')
    const [, namespace, name] = PATH.exec(url.pathname) ?? []
    if (!PATH.test(url.pathname)) return status(404, 'NotFound', 'the server could not find the requested resource')
    if (request.method !== 'GET') return this.#write(request, namespace ?? 'default', name)
    if (name !== undefined) return this.#one(namespace ?? 'default', name)
    const { searchParams } = url
    const isWatch = /^(?:1|true)$/.test(searchParams.get('watch') ?? '')
    this.counts[isWatch ? 'watch' : 'list']++
    try {
      return isWatch ? this.#watch(request, searchParams, namespace) : this.#list(request, searchParams, namespace)
    } catch (error) {
      return status(400, 'BadRequest', String(error))
    }
  }

  /** Refuses connections and breaks those there are. */
  down(): void {
    this.#isDown = true
    for (const stream of this.#streams) stream.break(unreachable())
  }

  up(): void {
    this.#isDown = false
  }

  /** Streams stay open and say nothing more, not even that they end. */
  stall(): void {
    this.#isStalled = true
    for (const stream of this.#streams) stream.stall()
  }

  unstall(): void {
    this.#isStalled = false
  }

  /** Ends the streams in good order, as a server that is being replaced does. */
  endWatches(): void {
    for (const stream of this.#streams) stream.end()
  }

  /** Cuts them. */
  cutWatches(): void {
    for (const stream of this.#streams) stream.break(unreachable())
  }

  /** A line of one's own to each stream. */
  say(line: unknown): void {
    for (const stream of this.#streams) stream.send(line)
  }

  /** etcd forgets what was before now. */
  compact(): void {
    this.history.compact()
  }

  put(slice: object, namespace = 'default'): void {
    this.history.put(slice as SliceObject, namespace)
    this.#tell()
  }

  delete(name: string, namespace = 'default'): void {
    this.history.delete(namespace, name)
    this.#tell()
  }

  add(serviceId: string, entry: Entry): void {
    this.remove(serviceId, entry.instanceId)
    const [service, namespace] = namesOf(serviceId)
    const shape = shapeOf(service, entry)
    const room = this.#slicesOf(serviceId).find(
      ({ slice }) => slice.endpoints.length < this.#options.endpointsPerSlice && fits(slice, shape),
    )
    const endpoint = {
      addresses: [entry.host],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'n1',
      ...(entry.zone !== undefined && { zone: entry.zone }),
      targetRef: { kind: 'Pod', namespace, name: `pod-${entry.instanceId}`, uid: entry.instanceId },
    }
    if (room !== undefined)
      return this.put({ ...room.slice, endpoints: [...room.slice.endpoints, endpoint] }, namespace)
    const name = `${service}-${(++this.#slicesMade).toString(36).padStart(5, 'x')}`
    this.put({ ...shape, metadata: { ...shape.metadata, name }, endpoints: [endpoint] }, namespace)
  }

  remove(serviceId: string, instanceId: string): void {
    const [, namespace] = namesOf(serviceId)
    for (const { slice } of this.#slicesOf(serviceId)) {
      const endpoints = slice.endpoints.filter((each) => each.targetRef?.uid !== instanceId)
      if (endpoints.length === slice.endpoints.length) continue
      if (endpoints.length === 0) this.delete(slice.metadata.name, namespace)
      else this.put({ ...slice, endpoints }, namespace)
    }
  }

  /** Changes what an endpoint says of itself. */
  change(serviceId: string, instanceId: string, conditions: Conditions): void {
    const [, namespace] = namesOf(serviceId)
    for (const { slice } of this.#slicesOf(serviceId)) {
      if (!slice.endpoints.some((each) => each.targetRef?.uid === instanceId)) continue
      const endpoints = slice.endpoints.map((each) =>
        each.targetRef?.uid === instanceId ? { ...each, conditions: { ...each.conditions, ...conditions } } : each,
      )
      this.put({ ...slice, endpoints }, namespace)
    }
  }

  listed(serviceId: string): string[] {
    const endpoints = this.#slicesOf(serviceId).flatMap(({ slice }) => slice.endpoints)
    const ready = endpoints.filter(({ conditions }) => conditions?.ready !== false)
    const leaving = endpoints.filter(({ conditions }) => conditions?.serving !== false && conditions?.terminating)
    const listed = ready.length > 0 ? ready : leaving
    return [...new Set(listed.map((each) => String(each.targetRef?.uid)))].sort()
  }

  close(): void {
    for (const stream of this.#streams) stream.end()
  }

  #slicesOf(serviceId: string) {
    const [service, namespace] = namesOf(serviceId)
    return this.history
      .all(namespace)
      .map((slice) => ({ slice }))
      .filter(({ slice }) => slice.metadata.labels?.['kubernetes.io/service-name'] === service)
  }

  #log(request: Request, url: URL): void {
    const { method, headers } = request
    const query = Object.fromEntries(url.searchParams)
    const authorization = headers.get('authorization')
    this.requests.push({ method, path: url.pathname, query, authorization, accept: headers.get('accept') })
    if (this.requests.length > 1_000) this.requests.splice(0, 500)
  }

  #isKnown({ headers }: Request): boolean {
    const token = headers.get('authorization')?.replace(/^Bearer /, '')
    return this.tokens.length === 0 || (token !== undefined && this.tokens.includes(token))
  }

  #one(namespace: string, name: string): Response {
    const slice = this.history.all(namespace).find(({ metadata }) => metadata.name === name)
    return slice === undefined ? status(404, 'NotFound', `endpointslices "${name}" not found`) : bodyOf(slice)
  }

  async #write(request: Request, namespace: string, name: string | undefined): Promise<Response> {
    const old = this.history.all(namespace).find((each) => each.metadata.name === name)
    if (request.method === 'POST') {
      const slice = (await request.json()) as SliceObject
      const isThere = this.history.all(namespace).some(({ metadata }) => metadata.name === slice.metadata.name)
      if (isThere) return status(409, 'AlreadyExists', `endpointslices "${slice.metadata.name}" already exists`)
      this.put(slice, namespace)
      return this.#created(namespace, slice.metadata.name, 201)
    }
    if (old === undefined) return status(404, 'NotFound', `endpointslices "${name}" not found`)
    if (request.method === 'DELETE') {
      this.delete(old.metadata.name, namespace)
      return bodyOf({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' })
    }
    if (request.method !== 'PUT') return status(405, 'MethodNotAllowed', 'the server does not allow this method')
    const slice = (await request.json()) as SliceObject
    const { resourceVersion } = slice.metadata
    if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion) {
      return status(409, 'Conflict', 'the object has been modified')
    }
    this.put(slice, namespace)
    return this.#created(namespace, slice.metadata.name, 200)
  }

  #created(namespace: string, name: string, code: number): Response {
    return bodyOf(this.history.all(namespace).find((each) => each.metadata.name === name) ?? {}, code)
  }

  #list(request: Request, search: URLSearchParams, namespace: string | undefined): Response {
    const limit = Number(search.get('limit') ?? 0)
    const token = search.get('continue') ?? ''
    const selector = search.get('labelSelector') ?? ''
    let version = this.history.version
    let items = this.history.all(namespace).filter(({ metadata }) => isSelected(metadata.labels ?? {}, selector))
    if (token !== '') {
      const continued = this.#continued.get(token)
      this.#continued.delete(token)
      if (continued === undefined || continued.version < this.history.compactedVersion) {
        return status(410, 'Expired', 'The provided continue parameter is too old to display a consistent list result.')
      }
      ;({ rest: items, version } = continued)
    }
    const page = limit > 0 ? items.slice(0, limit) : items
    const rest = items.slice(page.length)
    let next: string | undefined
    if (rest.length > 0) {
      next = `c${++this.#tokensMade}`
      this.#continued.set(next, { rest, version })
    }
    const metadata = {
      resourceVersion: this.history.textOf(version),
      ...(next !== undefined && { continue: next, remainingItemCount: rest.length }),
    }
    if (request.headers.get('accept')?.includes('as=PartialObjectMetadataList')) {
      const only = page.map((item) => ({ kind: 'PartialObjectMetadata', metadata: item.metadata }))
      return bodyOf({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata, items: only })
    }
    return bodyOf({ kind: 'EndpointSliceList', apiVersion: 'discovery.k8s.io/v1', metadata, items: page })
  }

  #watch(request: Request, search: URLSearchParams, namespace: string | undefined): Response {
    const from = search.get('resourceVersion') ?? ''
    const selector = search.get('labelSelector') ?? ''
    isSelected({}, selector)
    const isSynthetic = from === '' || from === '0'
    const version = isSynthetic ? this.history.version : this.history.versionOf(from)
    if (!isSynthetic && version < this.history.compactedVersion) {
      const message = `too old resource version: ${from} (${this.history.textOf(this.history.compactedVersion)})`
      if (this.goneAs === 'status') return status(410, 'Expired', message)
      const event = { type: 'ERROR', object: statusObject(410, 'Expired', message) }
      return new Response(`${JSON.stringify(event)}\n`, { headers: { 'content-type': 'application/json' } })
    }
    const askedMs = Number(search.get('timeoutSeconds') ?? 1_800) * 1_000
    const hasBookmarks = this.bookmarks && /^(?:1|true)$/.test(search.get('allowWatchBookmarks') ?? '')
    const stream = new WatchStream({
      history: this.history,
      namespace,
      isSelected: (labels) => isSelected(labels, selector),
      version,
      initial: isSynthetic,
      timeoutMs: Math.min(askedMs, this.watchLimitMs),
      bookmarkMs: hasBookmarks ? this.#options.bookmarkMs : undefined,
      chunkBytes: this.chunkBytes,
      signal: request.signal,
      ended: () => this.#streams.delete(stream),
    })
    this.#streams.add(stream)
    if (this.#isStalled) stream.stall()
    else stream.begin()
    return new Response(stream.body, { headers: { 'content-type': 'application/json' } })
  }

  #tell(): void {
    for (const stream of this.#streams) stream.catchUp()
  }
}

function namesOf(serviceId: string): [service: string, namespace: string] {
  const [service = '', namespace = 'default'] = serviceId.split('.')
  return [service, namespace]
}

/** Everything of a slice that its endpoints share. */
function shapeOf(service: string, { host, port, secure = false, metadata = {} }: Entry) {
  return {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    metadata: {
      labels: {
        ...metadata,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        'kubernetes.io/service-name': service,
      },
    },
    addressType: host.includes(':') ? 'IPv6' : /^[\d.]+$/.test(host) ? 'IPv4' : 'FQDN',
    ports: [{ name: secure ? 'https' : 'http', port, protocol: 'TCP', appProtocol: secure ? 'https' : 'http' }],
  }
}

function fits(slice: SliceObject, shape: ReturnType<typeof shapeOf>): boolean {
  const key = ({ addressType, ports, metadata: { labels } }: Pick<SliceObject, 'addressType' | 'ports' | 'metadata'>) =>
    JSON.stringify([addressType, ports, Object.entries(labels ?? {}).sort()])
  return key(slice) === key(shape as never)
}

function statusObject(code: number, reason: string, message: string) {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
}

export function status(code: number, reason: string, message: string): Response {
  return bodyOf(statusObject(code, reason, message), code)
}

/** As Node's `fetch` has it. */
function unreachable(): TypeError {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:6443'), { code: 'ECONNREFUSED' })
  return new TypeError('fetch failed', { cause })
}
