/** @module Consul's HTTP API over a catalog in memory: health, catalog and agent, as far as clients of services use it. */

import type { Entry, FakeRegistry } from '../registry.js'
import {
  type CheckStatus,
  ConsulCatalog,
  checkOf,
  type FakeCheck,
  type FakeNode,
  type FakeService,
} from './consul-catalog.js'

/** What may be said of an instance beyond what all registries have. */
export interface ConsulEntry extends Entry {
  node?: string
  status?: CheckStatus
  tags?: readonly string[]
  weights?: { Passing: number; Warning: number }
  locality?: { Region: string; Zone: string }
}

export interface ConsulRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly token: string | undefined
  /** By the fake's clock. */
  readonly atMs: number
}

/** Prefixes of the services that a token may see and change. */
export interface ConsulRights {
  read?: readonly string[]
  write?: readonly string[]
}

const MOST_WAIT_MS = 600_000
const DEFAULT_WAIT_MS = 300_000
const LEAST_DEREGISTER_MS = 60_000
const UNITS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** An answer that ends the handling of a request. */
class Refusal extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(text)
    this.status = status
  }
}

export class FakeConsul implements FakeRegistry {
  readonly catalog = new ConsulCatalog()
  readonly requests: ConsulRequest[] = []
  readonly datacenter: string
  /** The node of the agent that is asked. */
  readonly node: string
  /** Answers in place of the agent, where it answers at all. */
  fault: ((request: Request) => Response | Promise<Response> | undefined) | undefined
  /** Something unrelated is written all the time, and blocking queries notice. */
  isChurning = false
  hasLeader = true
  /** What stale answers say of themselves, in ms. */
  lastContactMs = 0
  /** As from Consul 1.10 on: blocking queries are answered from a stream, which says nothing of a leader. */
  isStreaming = false
  /** Headers that are left out of answers. */
  readonly hiddenHeaders = new Set<string>()
  /** Rights by token; '' is who has none. Undefined: everybody may do everything. */
  rights: Readonly<Record<string, ConsulRights>> | undefined
  /** Says 500 and an older text of checks and services that are unknown, as before Consul 1.11. */
  isOld = false
  readonly #random: () => number
  readonly #clock: () => number

  constructor(options: { node?: string; datacenter?: string; random?: () => number; clock?: () => number } = {}) {
    this.node = options.node ?? 'node-1'
    this.datacenter = options.datacenter ?? 'dc1'
    this.#random = options.random ?? (() => 0.5)
    this.#clock = options.clock ?? (() => performance.now())
    this.addNode({ name: this.node, address: '10.1.0.1' })
  }

  addNode(node: { name: string; address: string; datacenter?: string; meta?: Record<string, string> }): void {
    const { name, address, datacenter = this.datacenter, meta = {} } = node
    const checks = new Map([['serfHealth', checkOf('serfHealth', 'Serf Health Status', 'passing')]])
    this.catalog.nodes.set(name, { name, address, datacenter, meta, checks })
  }

  add(serviceId: string, entry: ConsulEntry): void {
    const { instanceId, host, port, secure, zone, weight, metadata = {}, tags = [], status = 'passing' } = entry
    const checkId = `service:${instanceId}`
    this.catalog.put({
      node: entry.node ?? this.node,
      id: instanceId,
      name: serviceId,
      address: host,
      port,
      tags,
      meta: { ...metadata, ...(zone && { zone }), ...(secure && { secure: 'true' }) },
      weights: entry.weights ?? { Passing: weight ?? 1, Warning: 1 },
      ...(entry.locality && { locality: entry.locality }),
      checks: new Map([[checkId, checkOf(checkId, 'check', status)]]),
    })
  }

  remove(serviceId: string, instanceId: string): void {
    for (const service of this.catalog.of(serviceId)) if (service.id === instanceId) this.catalog.remove(service)
  }

  /** The state of the check that `add` made. */
  setStatus(serviceId: string, instanceId: string, status: CheckStatus): void {
    for (const service of this.catalog.of(serviceId)) {
      const check = service.checks.get(`service:${instanceId}`)
      if (service.id === instanceId && check !== undefined) this.catalog.update(service, check, status)
    }
  }

  listed(serviceId: string): string[] {
    const isHealthy = (service: FakeService) => this.#checksOf(service).every(({ status }) => status !== 'critical')
    const ids = this.catalog.of(serviceId).filter(isHealthy)
    return ids.map(({ id }) => id).sort()
  }

  close(): void {
    this.catalog.close()
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams: query } = new URL(request.url)
    const path = decodeURIComponent(pathname)
    const bearer = request.headers.get('authorization')?.replace(/^Bearer /, '')
    const token = request.headers.get('x-consul-token') ?? query.get('token') ?? bearer
    this.requests.push({ method: request.method, path, query, token, atMs: this.#clock() })
    try {
      const faulty = await this.fault?.(request)
      if (faulty !== undefined) return faulty
      return await this.#answer(request, path, query, this.#rightsOf(token ?? ''))
    } catch (error) {
      if (error instanceof Refusal) return new Response(error.message, { status: error.status })
      throw error
    }
  }

  async #answer(request: Request, path: string, query: URLSearchParams, rights: ConsulRights): Promise<Response> {
    const [, health] = /^\/v1\/health\/service\/(.+)$/.exec(path) ?? []
    const method = (accepted: string) => {
      if (request.method !== accepted) throw new Refusal(405, `method ${request.method} not allowed`)
    }
    if (health !== undefined) {
      method('GET')
      return this.#health(health, query, rights, request.signal)
    }
    if (path === '/v1/catalog/services') {
      method('GET')
      const names = this.catalog.names.filter((name) => may(rights.read, name))
      const tagsOf = (name: string) => [...new Set(this.catalog.of(name).flatMap(({ tags }) => tags))]
      const body = { consul: [], ...Object.fromEntries(names.map((name) => [name, tagsOf(name)])) }
      return this.#said(body, this.catalog.index, query, this.catalog.names.length > names.length)
    }
    if (path === '/v1/status/leader') return Response.json(this.hasLeader ? `${this.#own.address}:8300` : '')
    if (path === '/v1/agent/services') {
      const own = this.catalog.names.flatMap((name) => this.catalog.of(name)).filter(({ node }) => node === this.node)
      return Response.json(Object.fromEntries(own.map((service) => [service.id, serviceJson(service)])))
    }
    if (path === '/v1/agent/service/register') {
      method('PUT')
      await this.#register(request, query, rights)
      return done()
    }
    if (path === '/v1/agent/maintenance') {
      method('PUT')
      this.catalog.setNodeMaintenance(this.#own, isEnabled(query) ? (query.get('reason') ?? '') : undefined)
      return done()
    }
    const [, act, id] = /^\/v1\/agent\/service\/(deregister|maintenance)\/(.+)$/.exec(path) ?? []
    if (act !== undefined && id !== undefined) {
      method('PUT')
      this.#changeService(act, id, query, rights)
      return done()
    }
    const [, word, checkId] = /^\/v1\/agent\/check\/(pass|warn|fail)\/(.+)$/.exec(path) ?? []
    if (word !== undefined && checkId !== undefined) {
      method('PUT')
      this.#updateCheck(word, checkId, query, rights)
      return done()
    }
    throw new Refusal(404, `Invalid URL path: not a recognized HTTP API endpoint`)
  }

  async #health(name: string, query: URLSearchParams, rights: ConsulRights, signal: AbortSignal): Promise<Response> {
    const isPassing = booleanOf(query, 'passing')
    const filter = filterOf(query.get('filter') ?? '')
    if (query.has('stale') && query.has('consistent')) {
      throw new Refusal(400, 'Cannot specify ?stale with ?consistent, conflicting semantics.')
    }
    if (query.has('cached') && query.has('consistent')) {
      throw new Refusal(400, 'Cannot specify ?cached with ?consistent, conflicting semantics.')
    }
    const index = unsignedOf(query.get('index') ?? '0')
    const waitMs = Math.min(goDurationMs(query.get('wait') ?? '') ?? DEFAULT_WAIT_MS, MOST_WAIT_MS)
    const datacenter = query.get('dc') ?? this.datacenter
    if (![...this.catalog.nodes.values()].some((node) => node.datacenter === datacenter)) {
      throw new Refusal(500, 'No path to datacenter')
    }
    if (!this.hasLeader && !query.has('stale')) throw new Refusal(500, 'No cluster leader')
    if (index > 0n && this.isChurning) this.catalog.touch()
    else if (index > 0n) await this.catalog.newer(name, index, waitMs * (1 + this.#random() / 16), signal)
    const all = this.catalog.of(name).filter((service) => this.#isAsked(service, query, datacenter, filter))
    const seen = may(rights.read, name) ? all : []
    const healthy = (service: FakeService) => this.#checksOf(service).every(({ status }) => status === 'passing')
    const entries = this.#near(isPassing ? seen.filter(healthy) : seen, query.get('near'))
    const at = this.isChurning ? this.catalog.index : this.catalog.indexOf(name)
    return this.#said(
      entries.map((service) => this.#entryJson(service)),
      at,
      query,
      seen.length < all.length,
    )
  }

  #isAsked(
    service: FakeService,
    query: URLSearchParams,
    datacenter: string,
    filter: (service: FakeService) => boolean,
  ): boolean {
    const node = this.#nodeOf(service)
    const has = (tag: string) => service.tags.some((own) => own.toLowerCase() === tag.toLowerCase())
    const hasMeta = (pair: string) => {
      const [key = '', ...value] = pair.split(':')
      return node.meta[key] === value.join(':')
    }
    return (
      node.datacenter === datacenter &&
      query.getAll('tag').every(has) &&
      query.getAll('node-meta').every(hasMeta) &&
      filter(service)
    )
  }

  #near(services: FakeService[], near: string | null): FakeService[] {
    if (near === null) return services
    const node = near === '_agent' ? this.node : near
    const isFar = (service: FakeService) => Number(service.node !== node)
    return services.toSorted((a, b) => isFar(a) - isFar(b))
  }

  #said(body: unknown, index: bigint, query: URLSearchParams, isFiltered: boolean): Response {
    const isStream = this.isStreaming && (query.has('index') || query.has('cached')) && !query.has('near')
    const headers = new Headers({
      'content-type': 'application/json',
      'x-consul-index': String(index),
      'x-consul-knownleader': String(this.hasLeader && !isStream),
      'x-consul-lastcontact': String(query.has('stale') ? this.lastContactMs : 0),
      'x-consul-query-backend': isStream ? 'streaming' : 'blocking-query',
      'x-consul-effective-consistency': query.has('stale')
        ? 'stale'
        : query.has('consistent')
          ? 'consistent'
          : 'leader',
      ...(query.has('cached') && { 'x-cache': 'HIT', age: '0' }),
      ...(isFiltered && { 'x-consul-results-filtered-by-acls': 'true' }),
    })
    for (const name of this.hiddenHeaders) headers.delete(name)
    return new Response(JSON.stringify(body), { headers })
  }

  async #register(request: Request, query: URLSearchParams, rights: ConsulRights): Promise<void> {
    const body = (await request.json()) as RegisterBody
    const { Name: name = '', ID: id = name, Meta: meta = {}, Weights: weights = { Passing: 1, Warning: 1 } } = body
    if (name === '') throw new Refusal(400, 'Missing service name')
    if (!Number.isInteger(weights.Passing)) throw new Refusal(400, 'Request decode failed: Weights.Passing is no int')
    if (weights.Passing < 1) throw new Refusal(400, 'Invalid Weights: Passing must be greater than 0')
    if (weights.Warning < 0) throw new Refusal(400, 'Invalid Weights: Warning must be greater or equal than 0')
    for (const key of Object.keys(meta)) {
      if (!/^[A-Za-z0-9_-]+$/.test(key)) throw new Refusal(400, `Invalid Service Meta: Key contains invalid characters`)
    }
    if (!may(rights.write, name)) throw new Refusal(403, 'Permission denied')
    const definitions = [...(body.Check ? [body.Check] : []), ...(body.Checks ?? [])]
    const checks = definitions.map((check, i) => {
      const numbered = definitions.length > 1 ? `:${i + 1}` : ''
      return checkFrom(check, `service:${id}${numbered}`)
    })
    this.catalog.put(
      {
        node: this.node,
        id,
        name,
        address: body.Address ?? '',
        port: body.Port ?? 0,
        tags: body.Tags ?? [],
        meta,
        weights,
        checks: new Map(checks.map((check) => [check.id, check])),
      },
      !booleanOf(query, 'replace-existing-checks'),
    )
  }

  #changeService(act: string, id: string, query: URLSearchParams, rights: ConsulRights): void {
    const service = this.catalog.at(this.node, id)
    if (service === undefined) throw this.#unknown(`service ID "${id}"`)
    if (!may(rights.write, service.name)) throw new Refusal(403, 'Permission denied')
    if (act === 'deregister') {
      this.catalog.remove(service)
      return
    }
    const checkId = `_service_maintenance:${id}`
    const enable = isEnabled(query)
    if (service.checks.has(checkId) === enable) return
    this.catalog.setChecks(service, (checks) => {
      const reason = query.get('reason') ?? ''
      if (enable) checks.set(checkId, checkOf(checkId, 'Service Maintenance Mode', 'critical', reason))
      else checks.delete(checkId)
    })
  }

  #updateCheck(word: string, id: string, query: URLSearchParams, rights: ConsulRights): void {
    const found = this.catalog.checkAt(this.node, id)
    if (found?.check.ttlMs === undefined) {
      if (found === undefined && !this.isOld) throw this.#unknown(`check ID "${id}"`)
      throw new Refusal(500, `CheckID "${id}" does not have associated TTL`)
    }
    if (!may(rights.write, found.service?.name ?? '')) throw new Refusal(403, 'Permission denied')
    const status = ({ pass: 'passing', warn: 'warning', fail: 'critical' } as const)[word as 'pass']
    this.catalog.update(found.service, found.check, status, query.get('note') ?? '')
  }

  #unknown(what: string): Refusal {
    if (this.isOld) return new Refusal(500, `Unknown ${what}`)
    return new Refusal(404, `Unknown ${what}. Ensure that the ID is passed, not the name.`)
  }

  #rightsOf(token: string): ConsulRights {
    const { rights } = this
    if (rights === undefined) return { read: [''], write: [''] }
    const own = Object.hasOwn(rights, token) ? rights[token] : token === '' ? {} : undefined
    if (own === undefined) throw new Refusal(403, 'ACL not found')
    return own
  }

  get #own(): FakeNode {
    return this.catalog.nodes.get(this.node) as FakeNode
  }

  #nodeOf({ node }: FakeService): FakeNode {
    return this.catalog.nodes.get(node) ?? this.#own
  }

  #checksOf(service: FakeService): FakeCheck[] {
    return [...this.#nodeOf(service).checks.values(), ...service.checks.values()]
  }

  #entryJson(service: FakeService): object {
    const { name, address, datacenter, meta, checks } = this.#nodeOf(service)
    const checkJson = (check: FakeCheck, own: FakeService | undefined) => ({
      Node: name,
      CheckID: check.id,
      Name: check.name,
      Status: check.status,
      Notes: '',
      Output: check.output,
      ServiceID: own?.id ?? '',
      ServiceName: own?.name ?? '',
      ServiceTags: own?.tags ?? [],
    })
    return {
      Node: { ID: `id-of-${name}`, Node: name, Address: address, Datacenter: datacenter, Meta: meta },
      Service: { ...serviceJson(service), CreateIndex: Number(service.createIndex) },
      Checks: [
        ...[...checks.values()].map((check) => checkJson(check, undefined)),
        ...[...service.checks.values()].map((check) => checkJson(check, service)),
      ],
    }
  }
}

interface CheckBody {
  CheckID?: string
  Name?: string
  Status?: CheckStatus
  TTL?: string
  DeregisterCriticalServiceAfter?: string
}

interface RegisterBody {
  ID?: string
  Name?: string
  Address?: string
  Port?: number
  Tags?: string[]
  Meta?: Record<string, string>
  Weights?: { Passing: number; Warning: number }
  Check?: CheckBody
  Checks?: CheckBody[]
}

function serviceJson({ id, name, tags, address, port, meta, weights, locality }: FakeService): object {
  return {
    ID: id,
    Service: name,
    Tags: tags,
    Address: address,
    Port: port,
    Meta: meta,
    Weights: weights,
    ...(locality && { Locality: locality }),
  }
}

function checkFrom(body: CheckBody, id: string): FakeCheck {
  const ttlMs = goDurationMs(body.TTL ?? '')
  const deregisterMs = goDurationMs(body.DeregisterCriticalServiceAfter ?? '')
  return {
    ...checkOf(body.CheckID ?? id, body.Name ?? 'check', body.Status ?? 'critical'),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(deregisterMs !== undefined && { deregisterAfterMs: Math.max(deregisterMs, LEAST_DEREGISTER_MS) }),
  }
}

/** As `1m30s`; undefined: none. */
export function goDurationMs(text: string): number | undefined {
  if (text === '') return undefined
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)]
  if (parts.map(([part]) => part).join('') !== text) throw new Refusal(400, 'Invalid wait time')
  return parts.reduce((ms, [, count, unit]) => ms + Number(count) * (UNITS[unit as string] as number), 0)
}

function unsignedOf(text: string): bigint {
  if (!/^\d+$/.test(text)) throw new Refusal(400, 'Invalid index')
  return BigInt(text)
}

/** Named without a value it is true. */
function booleanOf(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)
  if (value === null) return false
  if (/^(|1|t|T|true|True|TRUE)$/.test(value)) return true
  if (/^(0|f|F|false|False|FALSE)$/.test(value)) return false
  throw new Refusal(400, `Invalid value for ?${name}`)
}

function isEnabled(query: URLSearchParams): boolean {
  if (!query.has('enable')) throw new Refusal(400, 'Missing value for enable')
  return booleanOf(query, 'enable')
}

/** The little of Consul's filter language that the tests use. */
function filterOf(text: string): (service: FakeService) => boolean {
  if (text === '') return () => true
  const tests = text.split(/ and /i).map((part): ((service: FakeService) => boolean) => {
    const [, key, value] = /^\s*Service\.Meta\.([\w-]+) == "([^"]*)"\s*$/.exec(part) ?? []
    if (key !== undefined) return ({ meta }) => meta[key] === value
    const [, tag] = /^\s*"([^"]*)" in Service\.Tags\s*$/.exec(part) ?? []
    if (tag !== undefined) return ({ tags }) => tags.includes(tag)
    throw new Refusal(400, 'Failed to create boolean expression evaluator')
  })
  return (service) => tests.every((test) => test(service))
}

function may(prefixes: readonly string[] | undefined, name: string): boolean {
  return prefixes?.some((prefix) => name.startsWith(prefix)) ?? false
}

/** What an agent says when there is nothing to say. */
function done(): Response {
  return new Response(null, { status: 200 })
}
