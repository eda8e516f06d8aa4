/** @module The watch streams of the fake etcd. */

import { bytesIn, eventOf, type Fields, int64In, message } from './etcd-json.js'
import { type Bytes, type EtcdStore, isWithin, type KeyEvent } from './etcd-store.js'

interface Watch {
  id: number
  key: Bytes
  rangeEnd: Bytes
  /** Earlier events are none of its. */
  from: number
  filters: readonly unknown[]
  withPrevious: boolean
  fragment: boolean
  /** undefined: it wants no progress. */
  cancelProgress: (() => void) | undefined
}

export interface WatchKnobs {
  /** Streams stay open and get nothing more, as over a connection that is cut without a word. */
  muted: boolean
  /** From one progress notification to the next. */
  progressMs: number
  /** So many events in one message; more are fragments, for who asks for them. */
  mostEvents: number
}

/** One request's stream, with as many watches as were created in it. */
export class WatchStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #store: EtcdStore
  readonly #knobs: WatchKnobs
  readonly #header: (revision?: number) => Fields
  readonly #watches = new Map<number, Watch>()
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #nextId = 0

  constructor(store: EtcdStore, knobs: WatchKnobs, header: (revision?: number) => Fields, gone: () => void) {
    this.#store = store
    this.#knobs = knobs
    this.#header = header
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: () => {
        this.#forget()
        gone()
      },
    })
  }

  create(request: Fields): void {
    const key = bytesIn(request, 'key')
    const watch: Watch = {
      id: this.#nextId++,
      // The empty key stands for the first there is.
      key: key === '' ? '\0' : key,
      rangeEnd: bytesIn(request, 'range_end'),
      from: int64In(request, 'start_revision') || this.#store.revision + 1,
      filters: (request.filters as unknown[]) ?? [],
      withPrevious: request.prev_kv === true,
      fragment: request.fragment === true,
      cancelProgress: undefined,
    }
    this.#send({ watch_id: watch.id, created: true })
    const { compactRevision } = this.#store
    if (watch.from < compactRevision) {
      this.#send({ watch_id: watch.id, canceled: true, compact_revision: compactRevision }, 0)
      return
    }
    this.#watches.set(watch.id, watch)
    this.#tell(watch, this.#store.since(watch.from))
    if (request.progress_notify === true) this.#notifyLater(watch)
  }

  /** Refused before it began. */
  refuse(reason: string): void {
    this.#send({ watch_id: -1, created: true, canceled: true, cancel_reason: reason })
  }

  cancel(id: number, details: Fields = {}): void {
    this.#watches.get(id)?.cancelProgress?.()
    if (this.#watches.delete(id)) this.#send({ watch_id: id, canceled: true, ...details })
  }

  cancelAll(details: Fields): void {
    for (const id of [...this.#watches.keys()]) this.cancel(id, details)
  }

  /** For all watches of the stream. */
  progress(): void {
    this.#send({ watch_id: -1 })
  }

  happened(events: readonly KeyEvent[]): void {
    for (const watch of this.#watches.values()) this.#tell(watch, events)
  }

  end(error?: Error): void {
    this.#forget()
    try {
      if (error === undefined) this.#controller?.close()
      else this.#controller?.error(error)
    } catch {
      // It had ended.
    }
    this.#controller = undefined
  }

  /** Whatever is to come next, as it stands. */
  write(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text))
  }

  #tell(watch: Watch, events: readonly KeyEvent[]): void {
    const told = events.filter(({ type, kv }) => {
      if (kv.modRevision < watch.from || !isWithin(kv.key, watch.key, watch.rangeEnd)) return false
      return !watch.filters.includes(type === 'PUT' ? 'NOPUT' : 'NODELETE')
    })
    if (told.length === 0) return
    const written = told.map((each) => eventOf(each, watch.withPrevious))
    const size = watch.fragment ? this.#knobs.mostEvents : written.length
    for (let start = 0; start < written.length; start += size) {
      const isLast = start + size >= written.length
      this.#send({ watch_id: watch.id, fragment: !isLast, events: written.slice(start, start + size) })
    }
    // Events are progress enough.
    if (watch.cancelProgress !== undefined) this.#notifyAgain(watch)
  }

  #notifyLater(watch: Watch): void {
    const timer = setTimeout(() => {
      this.#send({ watch_id: watch.id })
      this.#notifyLater(watch)
    }, this.#knobs.progressMs)
    watch.cancelProgress = () => clearTimeout(timer)
  }

  #notifyAgain(watch: Watch): void {
    watch.cancelProgress?.()
    this.#notifyLater(watch)
  }

  #send(fields: Fields, revision?: number): void {
    if (this.#knobs.muted) return
    this.write(`${JSON.stringify({ result: { header: this.#header(revision), ...message(fields) } })}\n`)
  }

  #forget(): void {
    for (const watch of this.#watches.values()) watch.cancelProgress?.()
    this.#watches.clear()
  }
}
