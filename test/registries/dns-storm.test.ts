/** @module What 1 000 clients send to a name server that is back after an outage, measured as in storm.test.ts. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dnsDiscovery } from '../../bindings/discovery/dns/index.js'
import { pause } from '../../bindings/discovery/registry/pause.js'
import { seeded } from './seeded.js'
import { VirtualTime } from './virtual-time.js'

const CLIENTS = 1_000
const TTL_MS = 30_000
/** From the start of the clients to the outage; after so long of it their questions are spread as they stay. */
const BEFORE_MS = 90_000
const SPREAD_MS = 60_000
const AFTER_MS = 120_000

/** Twice what arrives when all is well: 67 a second. */
const BOUND = (2 * CLIENTS) / (TTL_MS / 1_000)
/** A single second may exceed its mean by chance: by three standard deviations of a Poisson distribution. */
const SECOND_BOUND = BOUND + 3 * Math.sqrt(BOUND)

let time = new VirtualTime()
beforeEach(() => {
  time = new VirtualTime()
  time.install()
})
afterEach(() => {
  time.restore()
})

interface Storm {
  outageMs: number
  /** Questions hang for so long while it is down; 0: they fail at once. */
  hangsMs: number
  /** Over which the clients begin. */
  beginMs: number
  seed: number
}

async function storm({ outageMs, hangsMs, beginMs, seed }: Storm) {
  const random = seeded(seed)
  const beganAt = time.nowMs
  let isDown = false
  const arrivals: number[] = []
  const resolver = async () => {
    arrivals.push(time.nowMs)
    if (!isDown) return [{ address: '10.0.0.1', ttl: TTL_MS / 1_000 }]
    if (hangsMs > 0) await pause(hangsMs, new AbortController().signal)
    throw Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' })
  }
  const stop = new AbortController()
  for (let i = 0; i < CLIENTS; i++) {
    setTimeout(async () => {
      const discovery = dnsDiscovery({ name: 'orders', port: 80, resolver, random, clock: () => time.nowMs })
      for await (const _ of discovery.watch('orders', { signal: stop.signal }));
    }, beginMs * random())
  }
  await time.pass(BEFORE_MS)
  isDown = true
  const downAt = time.nowMs
  await time.pass(outageMs)
  isDown = false
  const backAt = time.nowMs
  await time.pass(AFTER_MS)
  stop.abort()
  await time.pass(60_000)
  expect(time.timers).toBe(0)
  const between = (fromMs: number, toMs: number) => arrivals.filter((at) => at >= fromMs && at < toMs)
  return [between(beganAt + SPREAD_MS, downAt), between(downAt, backAt), between(backAt, time.nowMs)]
}

/** The most that arrive within a time of that length, whenever it begins. */
function most(arrivals: readonly number[], ms: number): number {
  let busiest = 0
  for (let first = 0, last = 0; last < arrivals.length; last++) {
    while ((arrivals[last] as number) - (arrivals[first] as number) >= ms) first++
    busiest = Math.max(busiest, last - first + 1)
  }
  return busiest
}

describe('1 000 clients of a name with a TTL of 30 s', () => {
  for (const [how, beginMs] of Object.entries({ 'that begin at any time': TTL_MS, 'that begin together': 0 })) {
    for (const outageMs of [15_000, 120_000]) {
      it(`${how}: no more than 67 questions a second before, in and after an outage of ${outageMs / 1_000} s`, async () => {
        for (const hangsMs of [0, 5_000]) {
          for (const arrivals of await storm({ outageMs, hangsMs, beginMs, seed: outageMs + hangsMs })) {
            expect(arrivals.length).toBeGreaterThan(0)
            expect(most(arrivals, 5_000) / 5).toBeLessThanOrEqual(BOUND)
            expect(most(arrivals, 1_000)).toBeLessThanOrEqual(SECOND_BOUND)
          }
        }
      })
    }
  }
})
