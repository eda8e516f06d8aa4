/** @module One watch of the fake API server. */

import type { HistoryEvent, SliceHistory, SliceObject } from './kubernetes-objects.js'

export interface WatchSetup {
  history: SliceHistory
  namespace: string | undefined
  isSelected(labels: Readonly<Record<string, string>>): boolean
  /** What came up to this is known. */
  version: number
  /** Whether it begins with all there is. */
  initial: boolean
  timeoutMs: number
  bookmarkMs: number | undefined
  chunkBytes: number | undefined
  signal: AbortSignal
  ended(): void
}

export class WatchStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #setup: WatchSetup
  readonly #encoder = new TextEncoder()
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #version: number
  #isOver = false
  #isStalled = false
  #timers: ReturnType<typeof setTimeout>[] = []
  readonly #onAbort = () => this.break(this.#setup.signal.reason)

  constructor(setup: WatchSetup) {
    this.#setup = setup
    this.#version = setup.version
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller
      },
      cancel: () => this.#over(),
    })
    setup.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  begin(): void {
    const { history, namespace, initial, timeoutMs } = this.#setup
    if (initial) {
      for (const object of history.all(namespace)) if (this.#selects(object)) this.send({ type: 'ADDED', object })
    }
    this.catchUp()
    this.#armBookmark()
    this.#timers.push(setTimeout(() => this.#endOnTime(), timeoutMs))
  }

  /** Sends what has happened since. */
  catchUp(): void {
    if (this.#isStalled) return
    const { history } = this.#setup
    for (const event of history.events) if (event.version > this.#version) this.#tell(event)
    this.#version = history.version
  }

  send(line: unknown): void {
    if (this.#isOver || this.#isStalled) return
    const bytes = this.#encoder.encode(`${JSON.stringify(line)}\n`)
    const size = this.#setup.chunkBytes ?? bytes.length
    for (let at = 0; at < bytes.length; at += size) this.#controller.enqueue(bytes.slice(at, at + size))
  }

  stall(): void {
    this.#isStalled = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  end(): void {
    if (this.#isOver) return
    this.#over()
    this.#controller.close()
  }

  break(reason: unknown): void {
    if (this.#isOver) return
    this.#over()
    this.#controller.error(reason)
  }

  #selects(object: SliceObject): boolean {
    const { namespace, isSelected } = this.#setup
    return this.#isHere(object, namespace) && isSelected(object.metadata.labels ?? {})
  }

  #isHere({ metadata }: SliceObject, namespace: string | undefined): boolean {
    return namespace === undefined || metadata.namespace === namespace
  }

  /** What is selected no longer is deleted, as far as this watch is concerned. */
  #tell({ type, object, labelsBefore }: HistoryEvent): void {
    if (!this.#isHere(object, this.#setup.namespace)) return
    const isNow = type !== 'DELETED' && this.#selects(object)
    const wasBefore = labelsBefore !== undefined && this.#setup.isSelected(labelsBefore)
    if (isNow) this.send({ type: wasBefore ? 'MODIFIED' : 'ADDED', object })
    else if (wasBefore) this.send({ type: 'DELETED', object })
  }

  #bookmark(): void {
    const metadata = { resourceVersion: this.#setup.history.textOf(this.#version), creationTimestamp: null }
    const object = { kind: 'EndpointSlice', apiVersion: 'discovery.k8s.io/v1', metadata, endpoints: null, ports: null }
    this.send({ type: 'BOOKMARK', object })
  }

  #armBookmark(): void {
    const { bookmarkMs, history } = this.#setup
    if (bookmarkMs === undefined) return
    this.#timers[0] = setTimeout(() => {
      this.#version = history.version
      this.#bookmark()
      this.#armBookmark()
    }, bookmarkMs)
  }

  /** With a last bookmark, from which the next watch goes on. */
  #endOnTime(): void {
    this.#version = this.#setup.history.version
    if (this.#setup.bookmarkMs !== undefined) this.#bookmark()
    this.end()
  }

  #over(): void {
    this.#isOver = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#setup.signal.removeEventListener('abort', this.#onAbort)
    this.#setup.ended()
  }
}
