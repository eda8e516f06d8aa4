/** @module What etcd keeps: keys with revisions, their history down to a compaction, and leases. */

/** Texts of one character a byte: they sort as bytes do. */
export type Bytes = string

export interface KeyValue {
  key: Bytes
  value: Bytes
  createRevision: number
  modRevision: number
  version: number
  /** '0': none. */
  lease: string
}

export interface KeyEvent {
  type: 'PUT' | 'DELETE'
  /** Of a deletion only key and modRevision count. */
  kv: KeyValue
  previous: KeyValue | undefined
}

export interface Lease {
  id: string
  ttlSeconds: number
  expiresAtMs: number
  keys: Set<Bytes>
  cancel(): void
}

export class EtcdError extends Error {
  /** gRPC's. */
  readonly code: number

  constructor(code: number, message: string) {
    super(`etcdserver: ${message}`)
    this.code = code
  }
}

export const NO_KEY = () => new EtcdError(3, 'key is not provided')
const NO_LEASE = () => new EtcdError(5, 'requested lease not found')
const COMPACTED = () => new EtcdError(11, 'mvcc: required revision has been compacted')
const FUTURE = () => new EtcdError(11, 'mvcc: required revision is a future revision')

/** Of a server with the default election timeout of 1 s. */
const LEAST_TTL_SECONDS = 2

export class EtcdStore {
  revision = 1
  compactRevision = -1
  readonly leases = new Map<string, Lease>()
  readonly #keys = new Map<Bytes, KeyValue>()
  /** The keys at the compaction, and what happened since. */
  #base = new Map<Bytes, KeyValue>()
  #history: KeyEvent[] = []
  readonly #changed: (events: readonly KeyEvent[]) => void
  #nextLease = 7_587_000_000_000_000_001n

  /** @param changed told of each revision */
  constructor(changed: (events: readonly KeyEvent[]) => void) {
    this.#changed = changed
  }

  /** In order. @param rangeEnd empty: that key alone; a zero byte: all from there on */
  range(key: Bytes, rangeEnd: Bytes, revision = 0): KeyValue[] {
    if (key === '') throw NO_KEY()
    if (revision > this.revision) throw FUTURE()
    if (revision > 0 && revision < this.compactRevision) throw COMPACTED()
    const keys = revision > 0 ? this.#at(revision) : this.#keys
    if (rangeEnd === '') return [keys.get(key)].filter((each) => each !== undefined)
    return [...keys.values()]
      .filter((each) => isWithin(each.key, key, rangeEnd))
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  put(key: Bytes, value: Bytes, lease = '0'): KeyValue | undefined {
    if (key === '') throw NO_KEY()
    if (lease !== '0' && !this.leases.has(lease)) throw NO_LEASE()
    const previous = this.#keys.get(key)
    if (previous !== undefined) this.leases.get(previous.lease)?.keys.delete(key)
    this.leases.get(lease)?.keys.add(key)
    const modRevision = ++this.revision
    const createRevision = previous?.createRevision ?? modRevision
    const kv = { key, value, createRevision, modRevision, version: (previous?.version ?? 0) + 1, lease }
    this.#keys.set(key, kv)
    this.#happened([{ type: 'PUT', kv, previous }])
    return previous
  }

  deleteRange(key: Bytes, rangeEnd: Bytes): KeyValue[] {
    const gone = this.range(key, rangeEnd)
    this.#delete(gone)
    return gone
  }

  /** Events of these keys from a revision on. */
  since(revision: number): KeyEvent[] {
    return this.#history.filter(({ kv }) => kv.modRevision >= revision)
  }

  compact(revision: number): void {
    if (revision <= this.compactRevision) throw COMPACTED()
    if (revision > this.revision) throw FUTURE()
    this.#base = this.#at(revision)
    // The compaction's own revision can still be watched from.
    this.#history = this.since(revision)
    this.compactRevision = revision
  }

  grant(ttlSeconds: number, id = '0'): Lease {
    if (this.leases.has(id)) throw new EtcdError(9, 'lease already exists')
    const lease = {
      id: id === '0' ? String(this.#nextLease++) : id,
      ttlSeconds: Math.max(ttlSeconds, LEAST_TTL_SECONDS),
      expiresAtMs: 0,
      keys: new Set<Bytes>(),
      cancel: () => {},
    }
    this.leases.set(lease.id, lease)
    this.#renew(lease)
    return lease
  }

  /** undefined: there is none. */
  keepAlive(id: string): Lease | undefined {
    const lease = this.leases.get(id)
    if (lease !== undefined) this.#renew(lease)
    return lease
  }

  revoke(id: string): void {
    const lease = this.leases.get(id)
    if (lease === undefined) throw NO_LEASE()
    lease.cancel()
    this.leases.delete(id)
    const gone = [...lease.keys].sort().map((key) => this.#keys.get(key))
    this.#delete(gone.filter((each) => each !== undefined))
  }

  /** Ends timers. */
  close(): void {
    for (const lease of this.leases.values()) lease.cancel()
  }

  #renew(lease: Lease): void {
    lease.cancel()
    const ttlMs = lease.ttlSeconds * 1_000
    lease.expiresAtMs = Date.now() + ttlMs
    const timer = setTimeout(() => this.revoke(lease.id), ttlMs)
    lease.cancel = () => clearTimeout(timer)
  }

  /** All in one revision. */
  #delete(gone: readonly KeyValue[]): void {
    if (gone.length === 0) return
    this.revision++
    const events = gone.map((previous): KeyEvent => {
      this.#keys.delete(previous.key)
      this.leases.get(previous.lease)?.keys.delete(previous.key)
      return { type: 'DELETE', kv: { ...previous, modRevision: this.revision }, previous }
    })
    this.#happened(events)
  }

  #happened(events: readonly KeyEvent[]): void {
    this.#history.push(...events)
    this.#changed(events)
  }

  #at(revision: number): Map<Bytes, KeyValue> {
    const keys = new Map(this.#base)
    for (const { type, kv } of this.#history) {
      if (kv.modRevision > revision) break
      if (type === 'PUT') keys.set(kv.key, kv)
      else keys.delete(kv.key)
    }
    return keys
  }
}

export function isWithin(candidate: Bytes, key: Bytes, rangeEnd: Bytes): boolean {
  if (rangeEnd === '') return candidate === key
  return candidate >= key && (rangeEnd === '\0' || candidate < rangeEnd)
}
