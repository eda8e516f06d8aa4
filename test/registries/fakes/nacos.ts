/**
 * @module A Nacos server: the client parts of its HTTP APIs v1, v2 and v3.
 * Written after the controllers of alibaba/nacos 2.2 and 3.2.
 */

import type { Entry, FakeRegistry } from '../registry.js'
import { NacosLogins } from './nacos-login.js'
import { NacosStore, type Stored, type StoredScope } from './nacos-store.js'

export type FakeApi = 'v1' | 'v2' | 'v3'

/** One question, as it came. */
export interface Logged {
  method: string
  path: string
  params: URLSearchParams
  headers: Headers
  url: string
}

/** What an entry of Nacos has besides. */
export interface NacosEntry {
  cluster?: string
  healthy?: boolean
  enabled?: boolean
  ephemeral?: boolean
  namespace?: string
  /** As it is written. */
  rawWeight?: string
}

const METADATA_INTERVAL = 'preserved.heart.beat.interval'

export class FakeNacos implements FakeRegistry {
  readonly store = new NacosStore()
  readonly logins: NacosLogins
  readonly log: Logged[] = []
  /** Which it has. */
  apis = new Set<FakeApi>(['v1', 'v2', 'v3'])
  /** What it says to the others: 404, or 410 as 3.0 does of APIs that are switched off. */
  absentStatus = 404
  /** Refuses who is not logged in before it looks at the path, as r-nacos does. */
  refusesAllPaths = false
  cacheMillis = 10_000
  /** Whether lists of services are for administrators. */
  adminOnly = false
  /** Answers in place of the server. */
  fault: ((asked: Logged) => Response | Promise<Response> | undefined) | undefined
  /** Changes what is answered. */
  answers: ((response: Response) => Response | Promise<Response>) | undefined

  constructor(now: () => number = () => performance.now()) {
    this.logins = new NacosLogins(now)
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const params = new URLSearchParams(searchParams)
    // Of PUT and DELETE the servlet container reads the URL only.
    if (request.method === 'POST')
      for (const [key, value] of new URLSearchParams(await request.text())) params.append(key, value)
    const path = pathname.replace(/^\/nacos/, '')
    const asked: Logged = { method: request.method, path, params, headers: request.headers, url: request.url }
    this.log.push(asked)
    const fault = await this.fault?.(asked)
    if (fault !== undefined) return fault
    if (path === pathname) return new Response('<html><body>Not Found</body></html>', { status: 404 })
    const response = this.#answer(asked, request)
    return this.answers === undefined ? response : this.answers(response)
  }

  add(serviceId: string, entry: Entry): void {
    this.put(serviceId, entry)
  }

  /** As `add`, with what only Nacos has. */
  put(serviceId: string, entry: Entry, more: NacosEntry = {}): void {
    const { instanceId, host, port, secure, zone, weight = 1, metadata = {} } = entry
    const { cluster = 'DEFAULT', healthy = true, enabled = true, ephemeral = true, rawWeight, namespace } = more
    const stored: Stored = {
      instanceId,
      ip: host,
      port,
      cluster,
      weight: rawWeight ?? weight,
      enabled,
      healthy,
      ephemeral,
      metadata: { ...metadata, ...(zone !== undefined && { zone }), ...(secure && { secure: 'true' }) },
    }
    this.store.put(scopeOf(serviceId, namespace), stored, false)
  }

  remove(serviceId: string, instanceId: string): void {
    const scope = scopeOf(serviceId)
    const stored = this.store.byId(scope, instanceId)
    if (stored !== undefined) this.store.remove(scope, stored)
  }

  listed(serviceId: string): string[] {
    const { hosts } = this.store.list(scopeOf(serviceId), [], true)
    return hosts.map(({ instanceId }) => instanceId).sort()
  }

  close(): void {
    this.store.clear()
  }

  #answer(asked: Logged, request: Request): Response {
    const { method, path, params } = asked
    const isV3Login = path === '/v3/auth/user/login' && this.apis.has('v3')
    if (method === 'POST' && (isV3Login || /^\/v1\/auth\/(users\/)?login$/.test(path))) return this.logins.login(params)
    const api = /^\/(v[123])\//.exec(path)?.[1] as FakeApi | undefined
    const route = routeOf(method, path)
    const refusal = this.logins.refusal(request, params)
    if (refusal !== undefined && this.refusesAllPaths) return refused('v1', refusal, path)
    if (api === undefined || !this.apis.has(api) || route === undefined) return absent(this.absentStatus, path)
    if (route === 'metrics') return Response.json({ status: 'UP' })
    if (refusal !== undefined) return refused(api, refusal, path)
    if (route === 'services') {
      if (this.adminOnly && path.includes('/admin/')) return refused(api, 'authorization failed!', path)
      return this.#services(api, params)
    }
    const missing = (route === 'list' ? ['serviceName'] : ['serviceName', 'ip', 'port']).find(
      (each) => !params.get(each),
    )
    // The full form of a beat has them in itself.
    if (missing !== undefined && !(route === 'beat' && params.has('beat'))) return missingParameter(api, missing)
    const scope = paramScope(params)
    if (route === 'list') return this.#list(api, scope, params)
    if (route === 'beat') return this.#beat(api, scope, params)
    if (route === 'deregister') return this.#deregister(api, scope, params)
    if (api === 'v3' && params.get('heartBeat') === 'true') return this.#lightBeat(scope, params)
    return this.#register(api, scope, params)
  }

  #list(api: FakeApi, scope: StoredScope, params: URLSearchParams): Response {
    const clusters = (params.get(api === 'v1' ? 'clusters' : 'clusterName') ?? '')
      .split(',')
      .filter((each) => each !== '')
    const healthyOnly = api !== 'v3' && params.get('healthyOnly') === 'true'
    const { hosts, reachProtectionThreshold } = this.store.list(scope, clusters, healthyOnly)
    const written = hosts.map((each) => shown(each, scope))
    if (api === 'v3') return success(written)
    const info = {
      name: `${scope.group}@@${scope.name}`,
      groupName: scope.group,
      clusters: clusters.join(','),
      cacheMillis: this.cacheMillis,
      hosts: written,
      lastRefTime: Date.now(),
      checksum: '',
      allIPs: false,
      reachProtectionThreshold,
      valid: true,
    }
    return api === 'v1' ? Response.json(info) : success(info)
  }

  #register(api: FakeApi, scope: StoredScope, params: URLSearchParams): Response {
    const weight = Number(params.get('weight') ?? 1)
    if (!(weight >= 0 && weight <= 10_000)) {
      const message = 'instance format invalid: The weights range from 0.0 to 10000.0'
      return api === 'v1' ? new Response(message, { status: 400 }) : failure(400, 20_003, message)
    }
    const { ip, port, cluster } = placeOf(params)
    const stored: Stored = {
      instanceId: idOf(scope, ip, port, cluster),
      ip,
      port,
      cluster,
      weight,
      enabled: (params.get('enabled') ?? params.get('enable') ?? 'true') === 'true',
      healthy: (params.get('healthy') ?? 'true') === 'true',
      ephemeral: (params.get('ephemeral') ?? 'true') === 'true',
      metadata: JSON.parse(params.get('metadata') ?? '{}'),
    }
    this.store.put(scope, stored, stored.ephemeral)
    return taken(api)
  }

  #beat(api: FakeApi, scope: StoredScope, params: URLSearchParams): Response {
    if (api === 'v2' && !params.get('serviceName')?.includes('@@')) {
      const message = "Param 'serviceName' is illegal, it should be format as 'groupName@@serviceName'"
      return failure(400, 10_000, message)
    }
    const full = JSON.parse(params.get('beat') ?? 'null')
    const place = placeOf(params)
    const { ip, port } = full ?? place
    const cluster = full?.cluster ?? place.cluster
    let stored = this.store.find(scope, ip, port, cluster)
    if (stored === undefined && full !== null) {
      // Made from what the beat says, which is not whether it is enabled.
      const { weight = 1, metadata = {} } = full
      const instanceId = idOf(scope, ip, port, cluster)
      stored = { instanceId, ip, port, cluster, weight, metadata, enabled: true, healthy: true, ephemeral: true }
      this.store.put(scope, stored, true)
    }
    if (stored !== undefined) this.store.beat(scope, stored)
    const own = Number(stored?.metadata[METADATA_INTERVAL])
    const clientBeatInterval = own > 0 ? own : 5_000
    const beat = { clientBeatInterval, code: stored === undefined ? 20_404 : 10_200, lightBeatEnabled: true }
    return Response.json(beat)
  }

  #lightBeat(scope: StoredScope, params: URLSearchParams): Response {
    const { ip, port, cluster } = placeOf(params)
    const stored = this.store.find(scope, ip, port, cluster)
    if (stored === undefined) return failure(200, 21_003, 'instance not found')
    this.store.beat(scope, stored)
    return success('ok')
  }

  /** Ok in any case: of an instance in another group, in another cluster, or of the other kind too. */
  #deregister(api: FakeApi, scope: StoredScope, params: URLSearchParams): Response {
    const { ip, port, cluster } = placeOf(params)
    const ephemeral = (params.get('ephemeral') ?? 'true') === 'true'
    const stored = this.store.find(scope, ip, port, cluster)
    if (stored !== undefined && stored.ephemeral === ephemeral) this.store.remove(scope, stored)
    return taken(api)
  }

  #services(api: FakeApi, params: URLSearchParams): Response {
    const namespace = params.get('namespaceId') || 'public'
    const wanted = params.get(api === 'v3' ? 'groupNameParam' : 'groupName') || 'DEFAULT_GROUP'
    const all = this.store.names(namespace)
    // By part of the name in v3, as its console searches.
    const inGroup = all.filter(({ group }) => (api === 'v3' ? group.includes(wanted) : group === wanted))
    const [page, size] = [Number(params.get('pageNo') ?? 1), Number(params.get('pageSize') ?? 20)]
    const shownNames = inGroup.slice((page - 1) * size, page * size)
    const count = inGroup.length
    if (api === 'v3') {
      const pageItems = shownNames.map(({ group, name }) => ({ name, groupName: group, clusterCount: 1, ipCount: 1 }))
      return success({ totalCount: count, pageNumber: page, pagesAvailable: Math.ceil(count / size), pageItems })
    }
    const names = shownNames.map(({ name }) => name)
    return api === 'v1' ? Response.json({ count, doms: names }) : success({ count, services: names })
  }
}

type Route = 'list' | 'register' | 'deregister' | 'beat' | 'services' | 'metrics'

const ROUTES: readonly (readonly [string, RegExp, Route])[] = [
  ['GET', /^\/(v1\/ns|v2\/ns|v3\/client\/ns)\/instance\/list$/, 'list'],
  ['POST', /^\/(v1\/ns|v2\/ns|v3\/client\/ns)\/instance$/, 'register'],
  ['DELETE', /^\/(v1\/ns|v2\/ns|v3\/client\/ns)\/instance$/, 'deregister'],
  ['PUT', /^\/v[12]\/ns\/instance\/beat$/, 'beat'],
  ['GET', /^\/(v1\/ns|v2\/ns|v3\/admin\/ns)\/service\/list$/, 'services'],
  ['GET', /^\/v1\/ns\/operator\/metrics$/, 'metrics'],
]

function routeOf(method: string, path: string): Route | undefined {
  return ROUTES.find(([verb, pattern]) => verb === method && pattern.test(path))?.[2]
}

function scopeOf(serviceId: string, namespace = 'public'): StoredScope {
  const [group, name] = serviceId.includes('@@') ? serviceId.split('@@') : ['DEFAULT_GROUP', serviceId]
  return { namespace, group: group as string, name: name as string }
}

function paramScope(params: URLSearchParams): StoredScope {
  const name = params.get('serviceName') ?? ''
  const grouped = name.includes('@@') ? name : `${params.get('groupName') || 'DEFAULT_GROUP'}@@${name}`
  return scopeOf(grouped, params.get('namespaceId') || 'public')
}

function placeOf(params: URLSearchParams): Pick<Stored, 'ip' | 'port' | 'cluster'> {
  return {
    ip: params.get('ip') ?? '',
    port: Number(params.get('port')),
    cluster: params.get('clusterName') || 'DEFAULT',
  }
}

const idOf = ({ group, name }: StoredScope, ip: string, port: number, cluster: string) =>
  `${ip}#${port}#${cluster}#${group}@@${name}`

function shown(stored: Stored, { group, name }: StoredScope) {
  const { cluster, ...rest } = stored
  return {
    ...rest,
    clusterName: cluster,
    serviceName: `${group}@@${name}`,
    instanceHeartBeatInterval: 5_000,
    instanceHeartBeatTimeOut: 15_000,
    ipDeleteTimeout: 30_000,
  }
}

const success = (data: unknown) => Response.json({ code: 0, message: 'success', data })
const taken = (api: FakeApi) => (api === 'v1' ? new Response('ok') : success('ok'))

const failure = (status: number, code: number, message: string) =>
  Response.json({ code, message, data: null }, { status })

function missingParameter(api: FakeApi, name: string): Response {
  if (api === 'v1') return new Response(`Param '${name}' is required.`, { status: 400 })
  return failure(400, 10_000, `Required parameter '${name}' type String is not present`)
}

function refused(api: FakeApi, message: string, path: string): Response {
  if (api === 'v3') return failure(403, 10_001, message)
  return Response.json({ timestamp: '', status: 403, error: 'Forbidden', message, path }, { status: 403 })
}

function absent(status: number, path: string): Response {
  return Response.json({ timestamp: '', status, error: status === 410 ? 'Gone' : 'Not Found', path }, { status })
}
