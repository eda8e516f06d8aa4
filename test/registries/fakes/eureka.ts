/**
 * @module A Eureka server, protocol 1.x, as Netflix's eureka-core keeps its registry: leases, overridden statuses, a
 * queue of recent changes, and a response cache. What it was told comes back as it came.
 */

import type { Entry, FakeRegistry } from '../registry.js'
import { applicationsXml } from './eureka-xml.js'

export type Json = Record<string, unknown>

export interface EurekaFakeOptions {
  /** Where the protocol begins. Default '/eureka'. */
  base?: string
  /** Milliseconds since 1970. Default: `Date.now`. */
  clock?: () => number
  /** Answers are up to so old; the real server's 30 000 are too slow for most tests. Default 0. */
  responseCacheMs?: number
  /** How long a change stays in the delta. Default 180 000. */
  deltaRetentionMs?: number
  /** Expired leases are removed so often; 0: never. Default 0, as a server that preserves itself. */
  evictionMs?: number
  /** How it writes: 'legacy' has one element without its array, texts for numbers, and `overriddenstatus`. */
  style?: 'modern' | 'legacy'
}

export interface LoggedRequest {
  method: string
  /** After the base, with the query. */
  path: string
  headers: Record<string, string>
  status: number
}

interface Lease {
  info: Json
  durationMs: number
  /** The real server adds the duration here at each renewal, and once more when it looks whether it has expired. */
  lastUpdateMs: number
}

const STATUSES = ['UP', 'DOWN', 'STARTING', 'OUT_OF_SERVICE', 'UNKNOWN']
const REQUIRED = ['instanceId', 'hostName', 'ipAddr', 'app', 'dataCenterInfo']

export class EurekaFake implements FakeRegistry {
  readonly #options: Required<EurekaFakeOptions>
  readonly #apps = new Map<string, Map<string, Lease>>()
  readonly #overrides = new Map<string, string>()
  #changes: { info: Json; atMs: number }[] = []
  #version = 1
  readonly #cache = new Map<string, { response: Response; tick: number }>()
  #evictedTick = 0

  readonly log: LoggedRequest[] = []
  /** false: it has not copied the registry of its peers yet, and answers 403. */
  ready = true
  /** false: it was told not to tell changes. */
  deltaEnabled = true
  /** Answers in place of the server; undefined: the server does. Throwing, the connection breaks. */
  fault: ((request: Request) => Response | undefined | Promise<Response | undefined>) | undefined
  /** What the server says of its own hash. */
  miscount: (hash: string) => string = (hash) => hash
  /** Changes what is written of an instance. */
  writes: (info: Json) => Json = (info) => info

  constructor(options: EurekaFakeOptions = {}) {
    this.#options = {
      base: '/eureka',
      clock: Date.now,
      responseCacheMs: 0,
      deltaRetentionMs: 180_000,
      evictionMs: 0,
      style: 'modern',
      ...options,
    }
  }

  add(serviceId: string, entry: Entry): void {
    const { instanceId, host, port, secure = false, zone, weight, metadata } = entry
    this.register({
      instanceId,
      hostName: host,
      ipAddr: host,
      app: serviceId.toUpperCase(),
      status: 'UP',
      overriddenStatus: 'UNKNOWN',
      port: { $: secure ? 80 : port, '@enabled': String(!secure) },
      securePort: { $: secure ? port : 443, '@enabled': String(secure) },
      countryId: 1,
      dataCenterInfo: { '@class': 'com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo', name: 'MyOwn' },
      metadata: {
        ...metadata,
        ...(zone !== undefined && { zone }),
        ...(weight !== undefined && { weight: String(weight) }),
      },
      vipAddress: serviceId,
      secureVipAddress: serviceId,
      isCoordinatingDiscoveryServer: 'false',
      lastDirtyTimestamp: String(this.#options.clock()),
    })
  }

  remove(serviceId: string, instanceId: string): void {
    this.cancel(serviceId, instanceId)
  }

  listed(serviceId: string): string[] {
    this.#evict()
    const leases = [...(this.#apps.get(serviceId.toUpperCase())?.values() ?? [])]
    return leases.flatMap(({ info }) => (info.status === 'UP' ? String(info.instanceId) : [])).sort()
  }

  /** What is kept of an instance. */
  instance(serviceId: string, instanceId: string): Json | undefined {
    return this.#lease(serviceId, instanceId)?.info
  }

  /** Forgets everything, changes too: what a restart does. */
  forget(): void {
    this.#apps.clear()
    this.#overrides.clear()
    this.#changes = []
    this.#cache.clear()
  }

  close(): void {}

  register(given: Json): void {
    const nowMs = this.#options.clock()
    let info: Json = { overriddenStatus: 'UNKNOWN', ...given }
    const [app, id] = [String(info.app).toUpperCase(), String(info.instanceId)]
    let leases = this.#apps.get(app)
    if (leases === undefined) this.#apps.set(app, (leases = new Map()))
    const old = leases.get(id)
    if (old !== undefined && Number(old.info.lastDirtyTimestamp) > Number(info.lastDirtyTimestamp)) info = old.info
    const overridden = info.overriddenStatus as string
    if (overridden !== 'UNKNOWN' && !this.#overrides.has(id)) this.#overrides.set(id, overridden)
    info.overriddenStatus = this.#overrides.get(id) ?? info.overriddenStatus
    info.status = this.#statusOf(info, old)
    const durationMs = Number((info.leaseInfo as Json | undefined)?.durationInSecs ?? 90) * 1_000
    leases.set(id, { info, durationMs, lastUpdateMs: nowMs })
    this.#changed(info, 'ADDED')
  }

  cancel(app: string, id: string): boolean {
    this.#overrides.delete(id)
    const leases = this.#apps.get(app.toUpperCase())
    const lease = leases?.get(id)
    if (lease === undefined) return false
    leases?.delete(id)
    if (leases?.size === 0) this.#apps.delete(app.toUpperCase())
    this.#changed(lease.info, 'DELETED')
    return true
  }

  /** As an operator does it by PUT …/status. */
  override(app: string, id: string, status: string, dirtyAt: string | null = null): boolean {
    const lease = this.#lease(app, id)
    if (lease === undefined) return false
    this.#renewLease(lease)
    if (lease.info.status === status) return true
    this.#overrides.set(id, status)
    Object.assign(lease.info, { status, overriddenStatus: status })
    this.#changed(lease.info, 'MODIFIED', dirtyAt)
    return true
  }

  /** As an operator does it by DELETE …/status. */
  removeOverride(app: string, id: string, status: string, dirtyAt: string | null = null): boolean {
    const lease = this.#lease(app, id)
    if (lease === undefined) return false
    this.#renewLease(lease)
    if (!this.#overrides.delete(id)) return true
    Object.assign(lease.info, { status, overriddenStatus: 'UNKNOWN' })
    this.#changed(lease.info, 'MODIFIED', dirtyAt)
    return true
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const logged = {
      method: request.method,
      path: pathname.slice(this.#options.base.length) + search,
      headers: Object.fromEntries(request.headers),
      status: 0,
    }
    this.log.push(logged)
    const response = (await this.fault?.(request)) ?? (await this.#answer(request))
    logged.status = response.status
    return response
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const { base } = this.#options
    if (!pathname.startsWith(`${base}/`)) return new Response(null, { status: 404 })
    const parts = pathname
      .slice(base.length + 1)
      .split('/')
      .filter(Boolean)
      .map(decodeURIComponent)
    this.#evict()
    if (request.method === 'GET') return this.#read(parts, searchParams, request.headers.get('accept') ?? '')
    const [kind, app = '', id, what] = parts
    if (kind !== 'apps') return new Response(null, { status: 404 })
    if (id === undefined) return request.method === 'POST' ? this.#post(app, await request.text()) : status(405)
    return this.#write(request.method, app, id, what, searchParams)
  }

  #write(method: string, app: string, id: string, what: string | undefined, query: URLSearchParams): Response {
    const dirtyAt = query.get('lastDirtyTimestamp')
    const value = query.get('value')
    switch (`${method} ${what ?? ''}`) {
      case 'PUT ':
        return status(this.#renew(app, id, dirtyAt) ? 200 : 404)
      case 'DELETE ':
        return status(this.cancel(app, id) ? 200 : 404)
      case 'PUT status':
        if (this.#lease(app, id) === undefined) return status(404)
        if (value === null || !STATUSES.includes(value)) return status(500)
        return status(this.override(app, id, value, dirtyAt) ? 200 : 404)
      case 'DELETE status':
        return status(this.removeOverride(app, id, value ?? 'UNKNOWN', dirtyAt) ? 200 : 404)
      case 'PUT metadata': {
        const lease = this.#lease(app, id)
        if (lease === undefined) return status(500)
        this.register({ ...lease.info, metadata: { ...(lease.info.metadata as Json), ...Object.fromEntries(query) } })
        return status(200)
      }
      default:
        return status(405)
    }
  }

  #post(app: string, body: string): Response {
    let info: Json
    try {
      info = JSON.parse(body).instance
    } catch {
      return status(400, 'no JSON')
    }
    const missing = REQUIRED.find((field) => !info?.[field] && !(field === 'instanceId' && info?.hostName))
    if (missing !== undefined) return status(400, `Missing ${missing}`)
    if (String(info.app).toUpperCase() !== app.toUpperCase()) return status(400, `Mismatched appName, expecting ${app}`)
    this.register({ ...info, instanceId: info.instanceId ?? info.hostName })
    return status(204)
  }

  #renew(app: string, id: string, dirtyAt: string | null): boolean {
    const lease = this.#lease(app, id)
    if (lease === undefined) return false
    const effective = this.#statusOf(lease.info, lease)
    if (effective === 'UNKNOWN') return false
    lease.info.status = effective
    this.#renewLease(lease)
    return dirtyAt === null || Number(dirtyAt) <= Number(lease.info.lastDirtyTimestamp)
  }

  /** DownOrStarting, OverrideExists, LeaseExists, and then what the instance says of itself. */
  #statusOf(info: Json, lease: Lease | undefined): string {
    const own = STATUSES.includes(String(info.status ?? 'UP')) ? String(info.status ?? 'UP') : 'UNKNOWN'
    if (own !== 'UP' && own !== 'OUT_OF_SERVICE') return own
    const override = this.#overrides.get(String(info.instanceId))
    if (override !== undefined) return override
    const before = lease?.info.status
    return before === 'UP' || before === 'OUT_OF_SERVICE' ? before : own
  }

  #read([kind, ...names]: string[], query: URLSearchParams, accept: string): Response {
    const [name = '', id] = names
    const isJson = accept.includes('json')
    const send = (value: Json | undefined) => this.#send(value, isJson)
    if (kind === 'instances') return send(this.#found(undefined, name))
    if (kind === 'apps' && id !== undefined) return send(this.#found(name, id))
    if (!this.ready) return status(403)
    if (kind === 'apps' && name === 'delta' && !this.deltaEnabled) return status(403)
    const key = `${kind}/${name}?${query.get('regions') ?? ''} ${isJson}`
    return this.#cached(key, () => {
      if (kind === 'apps' && name === '') return send(this.#applications(this.#infos()))
      if (kind === 'apps' && name === 'delta') return send(this.#applications(this.#recent(), this.#infos()))
      if (kind === 'apps') return send(this.#application(name.toUpperCase()))
      const field = kind === 'vips' ? 'vipAddress' : kind === 'svips' ? 'secureVipAddress' : undefined
      if (field === undefined) return status(404)
      const named = this.#infos().filter((info) =>
        String(info[field] ?? '')
          .split(',')
          .includes(name),
      )
      return send(this.#applications(named))
    })
  }

  /** The read-only cache: copies of answers, renewed at every tick. */
  #cached(key: string, make: () => Response): Response {
    const { responseCacheMs, clock } = this.#options
    if (responseCacheMs === 0) return make()
    const tick = Math.floor(clock() / responseCacheMs)
    let kept = this.#cache.get(key)
    if (kept?.tick !== tick) this.#cache.set(key, (kept = { response: make(), tick }))
    return kept.response.clone()
  }

  #send(value: Json | undefined, isJson: boolean): Response {
    if (value === undefined) return status(404)
    const body = isJson ? JSON.stringify(value) : applicationsXml(value)
    return new Response(body, { headers: { 'content-type': isJson ? 'application/json' : 'application/xml' } })
  }

  #infos(): Json[] {
    return [...this.#apps.values()].flatMap((leases) => [...leases.values()].map(({ info }) => info))
  }

  /** Each instance once, as it is now, in the order of its last change. */
  #recent(): Json[] {
    const { clock, deltaRetentionMs } = this.#options
    this.#changes = this.#changes.filter(({ atMs }) => atMs > clock() - deltaRetentionMs)
    const byKey = new Map<string, Json>()
    for (const { info } of this.#changes) {
      const key = `${info.app}/${info.instanceId}`
      byKey.delete(key)
      byKey.set(key, info)
    }
    return [...byKey.values()]
  }

  /** @param counted whose hash it says: of a delta that of the whole registry */
  #applications(infos: readonly Json[], counted = infos): Json {
    const byApp = new Map<string, Json[]>()
    for (const info of infos) {
      const app = String(info.app).toUpperCase()
      const group = byApp.get(app)
      if (group === undefined) byApp.set(app, [info])
      else group.push(info)
    }
    const applications = [...byApp].map(([name, group]) => this.#written(name, group))
    return {
      applications: {
        versions__delta: String(this.#version++),
        apps__hashcode: this.miscount(hashOf(counted)),
        ...this.#array('application', applications),
      },
    }
  }

  #application(name: string): Json | undefined {
    const leases = this.#apps.get(name)
    return (
      leases && {
        application: this.#written(
          name,
          [...leases.values()].map(({ info }) => info),
        ),
      }
    )
  }

  #found(app: string | undefined, id: string): Json | undefined {
    const info = this.#infos().find(
      (each) => each.instanceId === id && (app === undefined || String(each.app).toUpperCase() === app.toUpperCase()),
    )
    return info && { instance: this.#instance(info) }
  }

  #written(name: string, infos: readonly Json[]): Json {
    return {
      name,
      ...this.#array(
        'instance',
        infos.map((info) => this.#instance(info)),
      ),
    }
  }

  #array(name: string, values: readonly Json[]): Json {
    if (this.#options.style === 'modern') return { [name]: values }
    return values.length === 0 ? {} : { [name]: values.length === 1 ? values[0] : values }
  }

  #instance(info: Json): Json {
    return this.writes(this.#options.style === 'modern' ? info : legacy(info))
  }

  #changed(info: Json, actionType: string, dirtyAt: string | null = null): void {
    const atMs = this.#options.clock()
    Object.assign(info, { actionType, lastUpdatedTimestamp: String(atMs) })
    if (dirtyAt !== null && Number(dirtyAt) > Number(info.lastDirtyTimestamp)) info.lastDirtyTimestamp = dirtyAt
    this.#changes.push({ info, atMs })
  }

  #lease(app: string, id: string): Lease | undefined {
    return this.#apps.get(app.toUpperCase())?.get(id)
  }

  #renewLease(lease: Lease): void {
    lease.lastUpdateMs = this.#options.clock() + lease.durationMs
  }

  /** As of the last tick of the real server's timer. */
  #evict(): void {
    const { evictionMs, clock } = this.#options
    if (evictionMs === 0) return
    const tick = Math.floor(clock() / evictionMs)
    if (tick === this.#evictedTick) return
    this.#evictedTick = tick
    for (const [app, leases] of this.#apps) {
      for (const [id, { lastUpdateMs, durationMs }] of leases) {
        if (tick * evictionMs > lastUpdateMs + durationMs) this.cancel(app, id)
      }
    }
  }
}

/** Counted over all instances, UP or not. */
export function hashOf(infos: readonly Json[]): string {
  const counts = new Map<string, number>()
  for (const { status } of infos) counts.set(String(status), (counts.get(String(status)) ?? 0) + 1)
  const sorted = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([name, count]) => `${name}_${count}_`).join('')
}

function legacy(info: Json): Json {
  const { overriddenStatus, port, securePort, metadata, ...rest } = info
  const texts = (given: unknown) => given && { ...(given as Json), $: String((given as Json).$) }
  const isEmpty = Object.keys((metadata as Json | undefined) ?? {}).length === 0
  return {
    ...rest,
    overriddenstatus: overriddenStatus,
    port: texts(port),
    securePort: texts(securePort),
    metadata: isEmpty ? { '@class': 'java.util.Collections$EmptyMap' } : metadata,
  }
}

function status(code: number, text?: string): Response {
  return new Response(text ?? null, { status: code })
}
