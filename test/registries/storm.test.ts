/**
 * @module What arrives at a registry that is back after an outage, of 1 000 clients in virtual time. Counted is each
 * request that is sent to it from its return on, a second: on average over any five seconds in a row, so that chance has
 * no great part in it, and in any one second with an allowance for chance.
 */

import { setMaxListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NO_QUIRKS } from '../../bindings/compat/quirks.js'
import { AskedSource } from '../../bindings/discovery/asked-source.js'
import { NO_CHANGE, type SourceHost } from '../../bindings/discovery/list-source.js'
import { Backoff, CUT_OFF_GROWTH } from '../../bindings/discovery/registry/backoff.js'
import { pause } from '../../bindings/discovery/registry/pause.js'
import { watchLoop } from '../../bindings/discovery/registry/watch-loop.js'
import { WatchedSource } from '../../bindings/discovery/watched-source.js'
import type { DiscoveryClient, WatchOptions } from '../../bindings/index.js'
import { busiest } from './busiest.js'
import { seeded } from './seeded.js'
import { VirtualTime } from './virtual-time.js'

const CLIENTS = 1_000
const INTERVAL_MS = 30_000
const LIST = ['http://a:1']
/** From the start of the clients to the outage, and how long is looked at after it. */
const BEFORE_MS = 60_000
const AFTER_MS = 120_000

let time = new VirtualTime()
beforeEach(() => {
  time = new VirtualTime()
  time.install()
})
afterEach(() => {
  time.restore()
})

const nowMs = () => time.nowMs

/** Notes what reaches it. While it is down nothing does: connections are refused, or hang until the client's limit. */
class StormRegistry {
  /** When requests came. */
  readonly arrivals: number[] = []
  readonly #open = new Set<(error: Error) => void>()
  #isDown = false
  readonly #hangsMs: number

  constructor(hangsMs: number) {
    this.#hangsMs = hangsMs
  }

  async ask(): Promise<readonly string[]> {
    if (this.#isDown) {
      if (this.#hangsMs > 0) await pause(this.#hangsMs, new AbortController().signal)
      throw new Error('no answer')
    }
    this.arrivals.push(nowMs())
    return LIST
  }

  /** Resolves the list, then rejects `broken` when the registry ends or `signal` aborts. */
  async connect(signal: AbortSignal): Promise<{ list: readonly string[]; broken: Promise<never> }> {
    const list = await this.ask()
    const broken = new Promise<never>((_, reject) => {
      this.#open.add(reject)
      signal.addEventListener('abort', () => reject(new Error('left')), { once: true })
    })
    broken.catch(() => {})
    return { list, broken }
  }

  stop(): void {
    this.#isDown = true
    for (const cut of this.#open) cut(new Error('connection reset'))
    this.#open.clear()
  }

  start(): void {
    this.#isDown = false
  }
}

type Start = (registry: StormRegistry, random: () => number, signal: AbortSignal) => void

function hostWith(random: () => number): SourceHost {
  return {
    serviceId: 's',
    clock: nowMs,
    random,
    publish: () => NO_CHANGE,
    doubted() {},
    failed() {},
  }
}

async function drain(lists: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of lists);
}

/** As the registries' clients that poll. */
const polling: Start = (registry, random, signal) => {
  const session = async function* () {
    while (!signal.aborted) {
      yield await registry.ask()
      await pause(INTERVAL_MS * (1 - 0.1 * random()), signal)
    }
  }
  const backoff = new Backoff({ minMs: INTERVAL_MS, maxMs: 2 * INTERVAL_MS }, random)
  void drain(watchLoop(session, { options: { signal }, backoff, clock: nowMs }))
}

/** As the registries' clients whose registry pushes. */
const watching: Start = (registry, random, signal) => {
  const session = async function* () {
    const { list, broken } = await registry.connect(signal)
    yield list
    await broken
  }
  const backoff = new Backoff({ minMs: 1_000, maxMs: INTERVAL_MS, growth: CUT_OFF_GROWTH }, random)
  void drain(watchLoop(session, { options: { signal }, backoff, clock: nowMs }))
}

const settings = { protectMs: 0, quirks: NO_QUIRKS, discoveryTimeoutMs: 5_000 }

/** A user's own client that pushes, and throws when its connection breaks. */
const watchedSource: Start = (registry, random, signal) => {
  const client: DiscoveryClient = {
    name: 'push',
    async *watch(_: string, options: WatchOptions) {
      const { list, broken } = await registry.connect(options.signal)
      yield list
      await broken
    },
  }
  const freshness = { ttlMs: INTERVAL_MS, staleMs: INTERVAL_MS }
  const source = new WatchedSource(client, { ...settings, freshness }, hostWith(random))
  signal.addEventListener('abort', () => source.close(), { once: true })
  source.revive()
}

/** A user's own client that is asked when a pick finds the list old; there is a pick a second. */
const askedSource: Start = (registry, random, signal) => {
  const client: DiscoveryClient = { name: 'ask', get: () => registry.ask() }
  const freshness = { ttlMs: INTERVAL_MS, staleMs: INTERVAL_MS }
  const source = new AskedSource(client, { ...settings, freshness, polling: undefined }, hostWith(random))
  const pick = () => {
    if (signal.aborted) return
    if (!source.isFresh(nowMs())) source.revive()
    setTimeout(pick, 1_000)
  }
  pick()
  signal.addEventListener('abort', () => source.close(), { once: true })
}

interface Storm {
  start: Start
  outageMs: number
  /** Requests that reach nobody hang for so long; 0: they are refused. */
  hangsMs?: number
}

/** What arrives after the outage: in the busiest second, and a second on average over the busiest five. */
async function storm({ start, outageMs, hangsMs = 0 }: Storm) {
  const random = seeded(outageMs + hangsMs)
  const registry = new StormRegistry(hangsMs)
  const stop = new AbortController()
  // All clients of the test leave by it.
  setMaxListeners(0, stop.signal)
  for (let i = 0; i < CLIENTS; i++) setTimeout(() => start(registry, random, stop.signal), INTERVAL_MS * random())
  await time.pass(BEFORE_MS)
  registry.stop()
  await time.pass(outageMs)
  registry.start()
  const backAt = time.nowMs
  await time.pass(AFTER_MS)
  const after = registry.arrivals.filter((at) => at >= backAt)
  stop.abort()
  await time.pass(60_000)
  expect(time.timers).toBe(0)
  return { second: busiest(after, 1_000), mean: busiest(after, 5_000) / 5, after: after.map((at) => at - backAt) }
}

/** Twice what arrives when all is well: 67 a second. */
const BOUND = (2 * CLIENTS) / (INTERVAL_MS / 1_000)
/** A single second may exceed its mean by chance: by three standard deviations of a Poisson distribution. */
const SECOND_BOUND = BOUND + 3 * Math.sqrt(BOUND)

describe('1 000 clients that poll each 30 s', () => {
  for (const outageMs of [15_000, 60_000, 300_000]) {
    it(`send no more than 67 requests a second after an outage of ${outageMs / 1_000} s, refused or hung`, async () => {
      for (const hangsMs of [0, 5_000]) {
        const { second, mean } = await storm({ start: polling, outageMs, hangsMs })
        expect(mean).toBeLessThanOrEqual(BOUND)
        expect(second).toBeLessThanOrEqual(SECOND_BOUND)
      }
    })
  }
})

describe('1 000 clients whose registry pushes, begun again after 1 s up to 30 s', () => {
  for (const [kind, start] of Object.entries({
    'in a registry of this package': watching,
    "of the user's own": watchedSource,
  })) {
    for (const outageMs of [10_000, 15_000, 60_000, 300_000]) {
      it(`${kind}: send no more than 67 requests a second after an outage of ${outageMs / 1_000} s`, async () => {
        const { second, mean, after } = await storm({ start, outageMs })
        expect(mean).toBeLessThanOrEqual(BOUND)
        expect(second).toBeLessThanOrEqual(SECOND_BOUND)
        // All are back within the longest pause, each by one request.
        expect([after.length, (after.at(-1) as number) < 1.5 * INTERVAL_MS]).toEqual([CLIENTS, true])
      })
    }
  }

  it('are back the sooner the shorter it was, so that more arrive at once: 5 s', async () => {
    // Most of them are in their pauses of 5 s then: the bound of 67 does not hold, that of 2 × clients ÷ 5 s does.
    const { mean, after } = await storm({ start: watching, outageMs: 5_000 })
    expect(mean).toBeGreaterThan(BOUND)
    expect(mean).toBeLessThanOrEqual((2 * CLIENTS) / 5)
    expect([after.length, (after.at(-1) as number) < 1.5 * 25_000]).toEqual([CLIENTS, true])
  })

  it('are all back between half a second and one and a half after a blip', async () => {
    const { second, after } = await storm({ start: watching, outageMs: 100 })
    expect([after.length, second]).toEqual([CLIENTS, CLIENTS])
    expect((after[0] as number) >= 400 && (after.at(-1) as number) < 1_400).toBe(true)
  })
})

describe('1 000 clients with a cache of 30 s that are asked for at picks', () => {
  for (const outageMs of [60_000, 300_000]) {
    it(`send no more than 67 requests a second after an outage of ${outageMs / 1_000} s`, async () => {
      const { second, mean } = await storm({ start: askedSource, outageMs })
      expect(mean).toBeLessThanOrEqual(BOUND)
      expect(second).toBeLessThanOrEqual(SECOND_BOUND)
    })
  }

  it('send up to three times as many after 15 s: who had just failed tries again within seconds', async () => {
    const { mean } = await storm({ start: askedSource, outageMs: 15_000 })
    expect(mean).toBeLessThanOrEqual(3 * BOUND)
  })
})
