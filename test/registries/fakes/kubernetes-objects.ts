/** @module The slices that the fake API server keeps, and what has happened to them. */

export interface SliceObject {
  kind?: string
  metadata: {
    name: string
    namespace?: string
    resourceVersion?: string
    creationTimestamp?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  addressType: string
  ports: unknown[]
  endpoints: {
    addresses: string[]
    conditions?: { ready?: boolean | null; serving?: boolean | null; terminating?: boolean | null }
    targetRef?: { kind?: string; name?: string; uid?: string }
  }[]
}

export interface HistoryEvent {
  version: number
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: SliceObject
  /** Its labels before: a watch that selects by them sees it come or go. */
  labelsBefore: Record<string, string> | undefined
}

/** The watch cache of a real server has a window too. */
const KEPT_EVENTS = 200

export class SliceHistory {
  version = 1_000
  /** What is older can't be watched from. */
  compactedVersion = 1_000
  events: HistoryEvent[] = []
  readonly #objects = new Map<string, SliceObject>()
  readonly #isOpaque: boolean

  constructor(isOpaque: boolean) {
    this.#isOpaque = isOpaque
  }

  all(namespace: string | undefined): SliceObject[] {
    const found = [...this.#objects.values()].filter(
      ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
    )
    return found.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  put(slice: SliceObject, namespace: string): void {
    const key = `${namespace}/${slice.metadata.name}`
    const before = this.#objects.get(key)
    const metadata = {
      creationTimestamp: before?.metadata.creationTimestamp ?? new Date(this.version * 1_000).toISOString(),
      ...slice.metadata,
      namespace,
      resourceVersion: this.textOf(++this.version),
    }
    const object = { ...slice, metadata }
    this.#objects.set(key, object)
    this.#remember(before === undefined ? 'ADDED' : 'MODIFIED', object, before?.metadata.labels)
  }

  delete(namespace: string, name: string): void {
    const before = this.#objects.get(`${namespace}/${name}`)
    if (before === undefined) return
    this.#objects.delete(`${namespace}/${name}`)
    // A deletion is a change: the object comes with the version of that.
    const metadata = { ...before.metadata, resourceVersion: this.textOf(++this.version) }
    this.#remember('DELETED', { ...before, metadata }, before.metadata.labels)
  }

  /** Something else of the cluster has changed. */
  advance(): void {
    this.version++
  }

  compact(): void {
    this.events = []
    this.version++
    this.compactedVersion = this.version
  }

  textOf(version: number): string {
    return this.#isOpaque ? `v-${[...version.toString(36)].reverse().join('')}` : String(version)
  }

  versionOf(text: string): number {
    if (!this.#isOpaque) return Number(text)
    return Number.parseInt([...text.slice(2)].reverse().join(''), 36)
  }

  #remember(type: HistoryEvent['type'], object: SliceObject, labelsBefore: HistoryEvent['labelsBefore']): void {
    this.events.push({ version: this.version, type, object, labelsBefore })
    if (this.events.length <= KEPT_EVENTS) return
    const [forgotten] = this.events.splice(0, KEPT_EVENTS / 2).slice(-1)
    this.compactedVersion = forgotten?.version ?? this.compactedVersion
  }
}

export function bodyOf(value: object, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } })
}
