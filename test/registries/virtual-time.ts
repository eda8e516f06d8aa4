/** @module Virtual time for very many timers, of which fake ones that look through all of them at each step are too slow. */

interface Timer {
  readonly id: number
  readonly at: number
  /** Undefined: it has run, or was cleared. */
  run: (() => void) | undefined
}

const realImmediate = setImmediate

/** Takes the place of `setTimeout` and `clearTimeout` from `install` to `restore`. */
export class VirtualTime {
  nowMs = 0
  /** A heap: the next to run is in front. */
  #heap: Timer[] = []
  #pending = 0
  #lastId = 0
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }

  get timers(): number {
    return this.#pending
  }

  install(): void {
    const set = (run: () => void, ms = 0) => this.#add(run, ms)
    globalThis.setTimeout = set as unknown as typeof setTimeout
    globalThis.clearTimeout = ((timer?: Timer) => this.#end(timer)) as unknown as typeof clearTimeout
  }

  restore(): void {
    Object.assign(globalThis, this.#real)
  }

  /** Runs what is due until then, and after each moment all promises that it settles. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms
    await settled()
    for (let next = this.#heap[0]; next !== undefined && next.at <= endMs; next = this.#heap[0]) {
      this.nowMs = next.at
      let isRun = false
      for (let due = this.#heap[0]; due !== undefined && due.at <= this.nowMs; due = this.#heap[0]) {
        this.#removeFirst()
        const { run } = due
        if (run === undefined) continue
        this.#end(due)
        run()
        isRun = true
      }
      if (isRun) await settled()
    }
    this.nowMs = endMs
  }

  /** Lets go of timers that were cleared, which stay until their time comes otherwise. */
  forgetCleared(): void {
    // What is sorted is a heap.
    this.#heap = this.#heap.filter(({ run }) => run !== undefined).sort((a, b) => (isEarlier(a, b) ? -1 : 1))
  }

  #end(timer: Timer | undefined): void {
    if (timer?.run === undefined) return
    timer.run = undefined
    this.#pending--
  }

  #add(run: () => void, ms: number): Timer {
    const timer: Timer = { id: ++this.#lastId, at: this.nowMs + Math.max(0, ms), run }
    this.#pending++
    const heap = this.#heap
    let place = heap.length
    heap.push(timer)
    while (place > 0) {
      const parent = (place - 1) >>> 1
      if (!isEarlier(timer, heap[parent] as Timer)) break
      heap[place] = heap[parent] as Timer
      place = parent
    }
    heap[place] = timer
    return timer
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop() as Timer
    if (heap.length === 0) return
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      if (left >= heap.length) break
      const right = left + 1
      const least = right < heap.length && isEarlier(heap[right] as Timer, heap[left] as Timer) ? right : left
      if (!isEarlier(heap[least] as Timer, last)) break
      heap[place] = heap[least] as Timer
      place = least
    }
    heap[place] = last
  }
}

function isEarlier(a: Timer, b: Timer): boolean {
  return a.at === b.at ? a.id < b.id : a.at < b.at
}

function settled(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve))
}
