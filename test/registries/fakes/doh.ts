/** @module A name server that speaks DNS over HTTPS in JSON, with a zone that tests write. */

import type { Entry, FakeRegistry } from '../registry.js'

export type RecordType = 'A' | 'AAAA' | 'CNAME' | 'SRV' | 'TXT'

const NUMBERS: Readonly<Record<RecordType, number>> = { A: 1, CNAME: 5, TXT: 16, AAAA: 28, SRV: 33 }
const SOA = 6

export interface Row {
  type: RecordType
  /** As JSON answers write it: `10.0.0.1`, `10 60 8080 n1.lan.`, `orders.lan.`. */
  data: string
  /** In seconds. Default: the server's. */
  ttl?: number
}

interface AnswerRow {
  name: string
  type: number
  TTL: number
  data: string
}

export interface FakeDohOptions {
  /** Of rows that have none of their own, in seconds. Default 30. */
  ttl?: number
  /** Where `add` puts the SRV records of a service. Default `_http._tcp.<service>.lan`. */
  nameOf?: (serviceId: string) => string
}

const HEADERS = { 'content-type': 'application/dns-json' }

export class FakeDoh implements FakeRegistry {
  /** Questions in their order, as `SRV _http._tcp.orders.lan`. */
  readonly asked: string[] = []
  /** Headers of the last question. */
  lastHeaders = new Headers()
  /** Answers every question with this response code while it is set. */
  rcode: number | undefined
  /** By type: as `rcode`, for questions of it alone. */
  readonly rcodes = new Map<string, number>()
  truncated = false
  /** In place of the answer, while it is set. */
  respond: ((request: Request) => Response | Promise<Response>) | undefined
  readonly #options: FakeDohOptions
  readonly #zone = new Map<string, Row[]>()
  readonly #entries = new Map<string, Map<string, Entry>>()
  /** Servers turn their answers round. */
  #turn = 0

  constructor(options: FakeDohOptions = {}) {
    this.#options = options
  }

  /** Replaces all records of a name; none: the name doesn't exist. */
  put(name: string, rows: readonly Row[]): void {
    if (rows.length === 0) this.#zone.delete(name.toLowerCase())
    else this.#zone.set(name.toLowerCase(), [...rows])
  }

  /** An SRV record of priority 0, whose target is the host itself. */
  add(serviceId: string, entry: Entry): void {
    const entries = this.#entries.get(serviceId) ?? new Map<string, Entry>()
    this.#entries.set(serviceId, entries.set(entry.instanceId, entry))
    this.#write(serviceId, entries)
  }

  remove(serviceId: string, instanceId: string): void {
    const entries = this.#entries.get(serviceId)
    entries?.delete(instanceId)
    if (entries !== undefined) this.#write(serviceId, entries)
  }

  /** DNS has no ids: they are host and port. */
  listed(serviceId: string): string[] {
    const entries = this.#entries.get(serviceId)?.values() ?? []
    return [...new Set([...entries].map(({ host, port }) => `${host}:${port}`))].sort()
  }

  close(): void {}

  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const name = (searchParams.get('name') ?? '').replace(/\.$/, '').toLowerCase()
    const asked = searchParams.get('type') ?? 'A'
    this.asked.push(`${asked} ${name}`)
    this.lastHeaders = request.headers
    if (this.respond !== undefined) return this.respond(request)
    if (request.method !== 'GET') return new Response('Method not allowed', { status: 405 })
    if (!request.headers.get('accept')?.includes('application/dns-json')) {
      return new Response('Unsupported media type', { status: 415 })
    }
    const type = Object.hasOwn(NUMBERS, asked) ? (asked as RecordType) : undefined
    if (name === '' || type === undefined) return Response.json({ error: 'Invalid query' }, { status: 400 })
    return Response.json(this.#answer(name, type), { headers: HEADERS })
  }

  #answer(name: string, type: RecordType): object {
    const { answer, exists } = this.#follow(name, type)
    const rcode = this.rcode ?? this.rcodes.get(type) ?? (exists ? 0 : 3)
    const isAnswered = rcode === 0 && answer.length > 0
    return {
      Status: rcode,
      TC: this.truncated,
      RD: true,
      RA: true,
      AD: false,
      CD: false,
      Question: [{ name, type: NUMBERS[type] }],
      ...(isAnswered && { Answer: answer }),
      ...(!isAnswered && {
        Authority: [{ name: 'lan', type: SOA, TTL: 60, data: 'ns.lan. admin.lan. 1 7200 900 1209600 60' }],
      }),
    }
  }

  /** The rows of a name and of what it is another name for. */
  #follow(name: string, type: RecordType): { answer: AnswerRow[]; exists: boolean } {
    const answer: AnswerRow[] = []
    for (let at = name; ; ) {
      const rows = this.#zone.get(at)
      if (rows === undefined) return { answer, exists: answer.length === 0 ? false : at === name }
      const alias = type === 'CNAME' ? undefined : rows.find((row) => row.type === 'CNAME')
      for (const row of alias ? [alias] : this.#turned(rows.filter((each) => each.type === type))) {
        const { data, ttl = this.#options.ttl ?? 30 } = row
        answer.push({ name: at, type: NUMBERS[row.type], TTL: ttl, data })
      }
      if (alias === undefined || answer.length > 8) return { answer, exists: true }
      at = alias.data.replace(/\.$/, '').toLowerCase()
    }
  }

  #turned(rows: readonly Row[]): Row[] {
    const first = rows.length === 0 ? 0 : this.#turn++ % rows.length
    return [...rows.slice(first), ...rows.slice(0, first)]
  }

  #write(serviceId: string, entries: ReadonlyMap<string, Entry>): void {
    const { nameOf = (id: string) => `_http._tcp.${id}.lan` } = this.#options
    const rows = [...entries.values()].map(({ host, port, weight = 0 }): Row => {
      return { type: 'SRV', data: `0 ${weight} ${port} ${host}.` }
    })
    this.put(nameOf(serviceId), rows)
  }
}
