/**
 * @module The policies over an array of objects, as one writes them in plain JavaScript: fields on the object, the
 * engine's own `Math.random` and `Math.exp`. What each chooses follows the core's rules; the draws differ.
 */

export class Backend {
  inFlight = 0
  successes = 0
  failures = 0
  /** Below 0: nothing is known. */
  ewmaMs = -1
  stampMs = 0

  constructor(
    readonly id: number,
    readonly weight = 1,
  ) {}
}

export type Choose = (nowMs: number) => Backend

export function backends(n: number, weightOf: (i: number) => number = () => 1): Backend[] {
  return Array.from({ length: n }, (_, i) => new Backend(i, weightOf(i)))
}

export function roundRobin(list: readonly Backend[]): Choose {
  let next = 0
  return () => list[next++ % list.length] as Backend
}

/** SCLB's interleaved sequence, expanded as SCLB did: an entry for each unit of weight. */
export function weightedRoundRobin(list: readonly Backend[]): Choose {
  const expanded: Backend[] = []
  const most = list.reduce((weight, backend) => Math.max(weight, backend.weight), 0)
  for (let turn = 1; turn <= most; turn++)
    for (const backend of list) if (backend.weight >= turn) expanded.push(backend)
  let next = 0
  return () => expanded[next++ % expanded.length] as Backend
}

export function random(list: readonly Backend[]): Choose {
  return () => list[Math.floor(Math.random() * list.length)] as Backend
}

export function leastRequest(list: readonly Backend[]): Choose {
  return () => {
    const i = Math.floor(Math.random() * list.length)
    let j = Math.floor(Math.random() * (list.length - 1))
    if (j >= i) j++
    const first = list[i] as Backend
    const other = list[j] as Backend
    return other.inFlight < first.inFlight ? other : first
  }
}

const DECAY_MS = 10_000
const DEFAULT_RTT_MS = 30

export function peakEwma(list: readonly Backend[]): Choose {
  return (nowMs) => {
    const i = Math.floor(Math.random() * list.length)
    let j = Math.floor(Math.random() * (list.length - 1))
    if (j >= i) j++
    const first = list[i] as Backend
    const other = list[j] as Backend
    return costOf(other, nowMs) < costOf(first, nowMs) ? other : first
  }
}

function costOf(backend: Backend, nowMs: number): number {
  if (backend.ewmaMs < 0) return DEFAULT_RTT_MS * backend.inFlight
  return backend.ewmaMs * Math.exp((backend.stampMs - nowMs) / DECAY_MS) * (backend.inFlight + 1)
}

/** What Peak EWMA does with a latency. The core also counts it in a histogram; here nobody does. */
export function observe(backend: Backend, latencyMs: number, nowMs: number): void {
  if (latencyMs > backend.ewmaMs) {
    backend.ewmaMs = latencyMs
  } else {
    const kept = Math.exp((backend.stampMs - nowMs) / DECAY_MS)
    backend.ewmaMs = backend.ewmaMs * kept + latencyMs * (1 - kept)
  }
  backend.stampMs = nowMs
}
