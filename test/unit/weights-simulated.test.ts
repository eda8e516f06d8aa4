/**
 * Dynamic weight and its repaired form where they differ: the scenarios "drastic slowdown", "black hole" and "fast
 * 503s" of Palantir dialogue's public client simulation. Ten clients, two servers, requests at even distances, a
 * client drawn for each, a 503 sent again up to four times.
 */

import { describe, expect, it } from 'vitest'
import { createLoadBalancer, type Service } from '../../bindings/index.js'

interface Server {
  inFlight: number
  /** What a request that arrives now gets. */
  answer(nowMs: number, inFlight: number): { status: number; ms: number }
}

interface Scenario {
  readonly rps: number
  readonly seconds: number
  /** Nothing counts that is answered later. */
  readonly abortS: number
  readonly servers: () => Server[]
}

const server = (answer: Server['answer']): Server => ({ inFlight: 0, answer })
/** Slower the more it has to do, five times as slow beyond 60 requests. */
const loaded = (baseMs: number, inFlight: number) => ({
  status: 200,
  ms: inFlight > 60 ? 5 * baseMs : baseMs + (baseMs * inFlight) / 60,
})

const drasticSlowdown: Scenario = {
  rps: 200,
  seconds: 20,
  abortS: 600,
  servers: () => [
    server((_, inFlight) => loaded(60, inFlight)),
    server((nowMs, inFlight) => loaded(nowMs >= 3_000 && nowMs < 10_000 ? 10_000 : 60, inFlight)),
  ],
}

const blackHole: Scenario = {
  rps: 200,
  seconds: 10,
  abortS: 30,
  servers: () => [
    server(() => ({ status: 200, ms: 600 })),
    server((nowMs) => ({ status: 200, ms: nowMs < 3_000 ? 600 : 86_400_000 })),
  ],
}

const fast503s: Scenario = {
  rps: 500,
  seconds: 90,
  abortS: 600,
  servers: () => [
    server(() => ({ status: 200, ms: 120 })),
    server((nowMs) => (nowMs >= 3_000 && nowMs < 60_000 ? { status: 503, ms: 0.00001 } : { status: 200, ms: 120 })),
  ],
}

/** Success in percent of what was sent, mean time of what was answered in ms. */
function run(policy: string, { rps, seconds, abortS, servers: make }: Scenario, seed: number) {
  let nowMs = 0
  const clients: Service[] = Array.from({ length: 10 }, (_, client) =>
    createLoadBalancer({
      seed: seed * 100 + client,
      clock: () => nowMs,
      services: { orders: { instances: ['http://s0', 'http://s1'], policy: policy as 'random' } },
    }).service('orders'),
  )
  const servers = make()
  const random = xorshift(seed)
  const queue = new Queue()
  let succeeded = 0
  let answered = 0
  let totalMs = 0
  const attempt = (client: Service, sentMs: number, retries: number) => {
    const lease = client.pick()
    if (lease === undefined) throw new Error('no lease')
    const to = servers[Number(lease.instance.host.slice(1))] as Server
    const { status, ms } = to.answer(nowMs, ++to.inFlight)
    queue.add(nowMs + ms, () => {
      to.inFlight--
      lease.done({ status })
      if (status === 503 && retries < 4) {
        queue.add(nowMs + random() * 250 * 2 ** retries, () => attempt(client, sentMs, retries + 1))
        return
      }
      answered++
      totalMs += nowMs - sentMs
      if (status === 200) succeeded++
    })
  }
  const count = rps * seconds
  for (let i = 0; i < count; i++) {
    const client = clients[Math.floor(random() * clients.length)] as Service
    const atMs = (i * 1_000) / rps
    queue.add(atMs, () => attempt(client, atMs, 0))
  }
  for (let next = queue.take(); next !== undefined && next.atMs <= abortS * 1_000; next = queue.take()) {
    nowMs = next.atMs
    next.act()
    if (answered === count) break
  }
  return { success: (100 * succeeded) / count, meanMs: totalMs / answered }
}

function xorshift(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

interface Event {
  readonly atMs: number
  readonly turn: number
  readonly act: () => void
}

const isBefore = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.turn < b.turn)

/** A binary heap of events by time, those of one time in the order in which they came. */
class Queue {
  readonly #heap: Event[] = []
  #turns = 0

  add(atMs: number, act: () => void): void {
    const heap = this.#heap
    const event = { atMs, turn: this.#turns++, act }
    let i = heap.length
    for (; i > 0; ) {
      const parent = (i - 1) >> 1
      if (!isBefore(event, heap[parent] as Event)) break
      heap[i] = heap[parent] as Event
      i = parent
    }
    heap[i] = event
  }

  take(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0 || last === undefined) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
      if (!isBefore(heap[child] as Event, last)) break
      heap[i] = heap[child] as Event
      i = child
    }
    heap[i] = last
    return first
  }
}

/** Means over five seeds. */
function over(policy: string, scenario: Scenario) {
  const runs = [1, 2, 3, 4, 5].map((seed) => run(policy, scenario, seed))
  const mean = (key: 'success' | 'meanMs') => runs.reduce((sum, one) => sum + one[key], 0) / runs.length
  return { success: mean('success'), meanMs: mean('meanMs') }
}

// Published for these scenarios (algorithms.md §9.2): balanced policy .252 s, 91.4 %, 100 %; dynamic weight 8.45 s,
// 64.9 %, 100 %.
describe('simulated', () => {
  it('drastic slowdown: relative weight answers within 0.2 s on average, dynamic weight after 8 s', () => {
    expect(over('dynamic-weight', drasticSlowdown).meanMs).toBeGreaterThan(7_000)
    const { success, meanMs } = over('relative-weight', drasticSlowdown)
    expect(success).toBe(100)
    expect(meanMs).toBeLessThan(200)
  })

  it('black hole: relative weight loses few requests, dynamic weight a third', () => {
    expect(over('dynamic-weight', blackHole).success).toBeLessThan(68)
    expect(over('relative-weight', blackHole).success).toBeGreaterThan(94)
  })

  it('fast 503s: neither is drawn to the server that fails at once', () => {
    expect(over('dynamic-weight', fast503s).success).toBeGreaterThan(99.9)
    expect(over('relative-weight', fast503s).success).toBeGreaterThan(99.9)
  })
})
