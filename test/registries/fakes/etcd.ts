/**
 * @module etcd 3.4's JSON gateway: kv, watch, lease and auth, as a server of that version was seen to answer
 * (`test/registries/real/etcd-differential.real.ts` asks both the same).
 */

import type { Entry, FakeRegistry } from '../registry.js'
import { BadJson, bytesIn, type Fields, int64In, keyValueOf, message, parsed, refusal, valuesIn } from './etcd-json.js'
import { EtcdError, EtcdStore } from './etcd-store.js'
import { type WatchKnobs, WatchStream } from './etcd-watches.js'

export interface EtcdRequest {
  readonly path: string
  readonly body: string
  readonly authorization: string | null
}

interface User {
  readonly password: string
  /** false: may do nothing. */
  readonly permitted: boolean
}

export class FakeEtcd implements FakeRegistry {
  /** Each that came, in order. */
  readonly requests: EtcdRequest[] = []
  /** Answers in the server's place; undefined: the server answers. */
  fault: (request: EtcdRequest) => Response | Promise<Response> | undefined = () => undefined
  /** The server is cut off from its cluster: it answers nothing that needs a quorum, and its watches are silent. */
  noLeader = false
  /** A token that is not used for so long is forgotten. */
  tokenTtlMs = 300_000
  readonly watches: WatchKnobs = { muted: false, progressMs: 600_000, mostEvents: Number.POSITIVE_INFINITY }
  readonly #store = new EtcdStore((events) => {
    for (const stream of this.#streams.keys()) stream.happened(events)
  })
  /** With its request: a signal tells nothing more once its request is collected. */
  readonly #streams = new Map<WatchStream, Request>()
  /** Empty: authentication is off. */
  readonly #users = new Map<string, User>()
  readonly #tokens = new Map<string, { name: string; expiresAtMs: number }>()
  #tokensMade = 0

  get revision(): number {
    return this.#store.revision
  }

  get openStreams(): number {
    return this.#streams.size
  }

  /** Live leases. */
  get leases(): number {
    return this.#store.leases.size
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname: path } = new URL(request.url)
    const asked = { path, body: await request.text(), authorization: request.headers.get('authorization') }
    this.requests.push(asked)
    const fault = await this.fault(asked)
    if (fault !== undefined) return fault
    // Whoever has gone meanwhile is not watched for.
    request.signal.throwIfAborted()
    const method = path.replace(/^\/v3(beta)?\//, '').replace(/^kv\/lease\//, 'lease/')
    if (method !== path && method === 'watch') return this.#watch(request, asked)
    const answer = method === path ? undefined : this.#methods[method]
    if (answer === undefined) return new Response('Not Found\n', { status: 404 })
    if (request.method !== 'POST') return new Response('Method Not Allowed\n', { status: 405 })
    try {
      return this.#answer(answer(parsed(asked.body), asked.authorization), method === 'lease/keepalive')
    } catch (error) {
      if (error instanceof EtcdError) return refusal(error.code, error.message)
      if (error instanceof BadJson) return refusal(3, error.message)
      throw error
    }
  }

  /** In gRPC's naming format. */
  add(serviceId: string, entry: Entry): void {
    const { instanceId, host, port, secure, zone, weight, metadata } = entry
    const Metadata = {
      ...metadata,
      ...(zone !== undefined && { zone }),
      ...(weight !== undefined && { weight }),
      ...(secure && { secure: true }),
    }
    const Addr = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    this.put(`${serviceId}/${instanceId}`, JSON.stringify({ Op: 0, Addr, Metadata }))
  }

  remove(serviceId: string, instanceId: string): void {
    this.delete(`${serviceId}/${instanceId}`)
  }

  listed(serviceId: string): string[] {
    const prefix = toBytes(`${serviceId}/`)
    const ids = this.#store.range(prefix, prefix.replace(/\/$/, '0')).map(({ key }) => toText(key.slice(prefix.length)))
    return ids.sort()
  }

  put(key: string, value: string): void {
    this.#store.put(toBytes(key), toBytes(value))
  }

  putBytes(key: string, value: string): void {
    this.#store.put(toBytes(key), value)
  }

  delete(key: string): void {
    this.#store.deleteRange(toBytes(key), '')
  }

  /** What a key has, or undefined. */
  value(key: string): string | undefined {
    const [kv] = this.#store.range(toBytes(key), '')
    return kv === undefined ? undefined : toText(kv.value)
  }

  /** All history but the last revision's. */
  compact(): void {
    const { revision, compactRevision } = this.#store
    if (revision > compactRevision) this.#store.compact(revision)
  }

  /** Ends each lease, as a server that forgets. */
  expireLeases(): void {
    for (const id of [...this.#store.leases.keys()]) this.#store.revoke(id)
  }

  /** From now on nobody gets in without a token. */
  addUser(name: string, password: string, permitted = true): void {
    this.#users.set(name, { password, permitted })
  }

  authOff(): void {
    this.#users.clear()
  }

  forgetTokens(): void {
    this.#tokens.clear()
  }

  /** All watches, with a message. */
  cancelWatches(details: Fields): void {
    for (const stream of this.#streams.keys()) stream.cancelAll(details)
  }

  /** Writes into all watch streams. */
  writeToWatches(text: string): void {
    for (const stream of this.#streams.keys()) stream.write(text)
  }

  /** All watch streams, in good order or with an error. */
  endWatches(error?: Error): void {
    for (const stream of this.#streams.keys()) stream.end(error)
    this.#streams.clear()
  }

  close(): void {
    this.endWatches()
    this.#store.close()
  }

  readonly #methods: Record<string, (body: Fields, authorization: string | null) => Fields> = {
    'kv/range': (body, authorization) => {
      this.#mustBePermitted(authorization)
      if (this.noLeader && body.serializable !== true) throw new EtcdError(14, 'no leader')
      return this.#range(body)
    },
    'kv/put': (body, authorization) => {
      this.#mustHaveLeader()
      const key = bytesIn(body, 'key')
      const value = bytesIn(body, 'value')
      this.#mustBePermitted(authorization)
      const previous = this.#store.put(key, value, idIn(body, 'lease'))
      return { prev_kv: body.prev_kv === true && previous !== undefined ? keyValueOf(previous) : undefined }
    },
    'kv/deleterange': (body, authorization) => {
      this.#mustHaveLeader()
      this.#mustBePermitted(authorization)
      const gone = this.#store.deleteRange(bytesIn(body, 'key'), bytesIn(body, 'range_end'))
      return { deleted: gone.length, prev_kvs: body.prev_kv === true ? gone.map((each) => keyValueOf(each)) : [] }
    },
    'kv/compaction': (body) => {
      this.#store.compact(int64In(body, 'revision'))
      return {}
    },
    'lease/grant': (body) => {
      this.#mustHaveLeader()
      const { id, ttlSeconds } = this.#store.grant(int64In(body, 'TTL'), idIn(body, 'ID'))
      return { ID: id, TTL: ttlSeconds }
    },
    'lease/keepalive': (body) => {
      this.#mustHaveLeader()
      const id = idIn(body, 'ID')
      return { ID: id, TTL: this.#store.keepAlive(id)?.ttlSeconds }
    },
    'lease/revoke': (body) => {
      this.#mustHaveLeader()
      this.#store.revoke(idIn(body, 'ID'))
      return {}
    },
    'lease/timetolive': (body) => {
      const id = idIn(body, 'ID')
      const lease = this.#store.leases.get(id)
      if (lease === undefined) return { ID: id, TTL: -1 }
      const keys = body.keys === true ? [...lease.keys].sort().map((key) => btoa(key)) : []
      const leftSeconds = Math.floor((lease.expiresAtMs - Date.now()) / 1_000)
      return { ID: id, TTL: leftSeconds, grantedTTL: lease.ttlSeconds, keys }
    },
    'auth/authenticate': (body) => {
      if (this.#users.size === 0) throw new EtcdError(9, 'authentication is not enabled')
      const { name, password } = body as { name: string; password: string }
      if (this.#users.get(name)?.password !== password) {
        throw new EtcdError(3, 'authentication failed, invalid user ID or password')
      }
      const token = `token-of-${name}.${++this.#tokensMade}`
      this.#tokens.set(token, { name, expiresAtMs: Date.now() + this.tokenTtlMs })
      return { token }
    },
  }

  #answer(fields: Fields, isStream: boolean): Response {
    const value = { header: this.#header(), ...message(fields) }
    if (!isStream) return Response.json(value)
    return new Response(`${JSON.stringify({ result: value })}\n`, { headers: { 'content-type': 'application/json' } })
  }

  #range(body: Fields): Fields {
    const revision = int64In(body, 'revision')
    const all = this.#store.range(bytesIn(body, 'key'), bytesIn(body, 'range_end'), revision)
    if (body.count_only === true) return { count: all.length }
    const [least, most] = [int64In(body, 'min_mod_revision'), int64In(body, 'max_mod_revision') || Infinity]
    const within = all.filter(({ modRevision }) => modRevision >= least && modRevision <= most)
    const limit = int64In(body, 'limit') || Infinity
    return {
      kvs: within.slice(0, limit).map((each) => keyValueOf(each, body.keys_only === true)),
      more: within.length > limit,
      count: all.length,
    }
  }

  #watch(request: Request, { body, authorization }: EtcdRequest): Response {
    let values: Fields[]
    try {
      values = valuesIn(body)
    } catch (error) {
      // Only here it is no argument's fault.
      return refusal(2, (error as Error).message)
    }
    const stream = new WatchStream(
      this.#store,
      this.watches,
      (revision) => this.#header(revision),
      () => this.#streams.delete(stream),
    )
    this.#streams.set(stream, request)
    request.signal.addEventListener('abort', () => {
      stream.end(new Error('the connection is gone'))
      this.#streams.delete(stream)
    })
    for (const value of values) {
      if (value.create_request !== undefined) this.#create(stream, value.create_request as Fields, authorization)
      if (value.cancel_request !== undefined) stream.cancel(int64In(value.cancel_request as Fields, 'watch_id'))
      if (value.progress_request !== undefined) stream.progress()
    }
    return new Response(stream.body, { headers: { 'content-type': 'application/json' } })
  }

  #create(stream: WatchStream, request: Fields, authorization: string | null): void {
    try {
      this.#mustBePermitted(authorization)
    } catch (error) {
      const { code, message: said } = error as EtcdError
      const names: Record<number, string> = { 3: 'InvalidArgument', 7: 'PermissionDenied', 16: 'Unauthenticated' }
      return stream.refuse(`rpc error: code = ${names[code]} desc = ${said}`)
    }
    stream.create(request)
  }

  #header(revision = this.#store.revision): Fields {
    return message({ cluster_id: '14841639068965178418', member_id: '10276657743932975437', revision, raft_term: 2 })
  }

  #mustHaveLeader(): void {
    if (this.noLeader) throw new EtcdError(14, 'no leader')
  }

  #mustBePermitted(authorization: string | null): void {
    if (authorization !== null) {
      const token = this.#tokens.get(authorization)
      if (token === undefined || token.expiresAtMs <= Date.now()) throw new EtcdError(16, 'invalid auth token')
      token.expiresAtMs = Date.now() + this.tokenTtlMs
      if (this.#users.get(token.name)?.permitted === false) throw new EtcdError(7, 'permission denied')
    } else if (this.#users.size > 0) {
      throw new EtcdError(3, 'user name is empty')
    }
  }
}

function idIn(fields: Fields, name: string): string {
  return String(fields[name] ?? '0')
}

function toBytes(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text))
}

function toText(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)))
}
