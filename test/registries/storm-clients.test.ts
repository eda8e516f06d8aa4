/**
 * @module What arrives at a registry that is back after an outage, of 1 000 real clients of each kind in virtual time.
 * Measured as in `storm.test.ts`: from the registry's return on, a second, on average over any five seconds in a row, and
 * in any one second with an allowance for chance. Who is told of changes is counted by the questions for the list, of
 * which there is one for each return; the watch that follows it is a second one.
 */

import { setMaxListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { busiest } from './busiest.js'
import { CONSTANT_SETUPS, INSTANCES, type SetupName } from './constant-registries.js'
import { seeded } from './seeded.js'
import { VirtualTime } from './virtual-time.js'

const CLIENTS = 1_000
/** The longest pause of clients that are told, on average. */
const LONGEST_PAUSE_MS = 30_000
/** All have begun, and a watch has lasted long enough to be a good one. */
const BEFORE_MS = 45_000

let time = new VirtualTime()
beforeEach(() => {
  time = new VirtualTime()
  time.install()
})
afterEach(() => time.restore())

async function storm(name: SetupName, outageMs: number, afterMs: number) {
  const setup = CONSTANT_SETUPS[name]()
  const { registry, intervalMs = LONGEST_PAUSE_MS } = setup
  const random = seeded(outageMs)
  const stop = new AbortController()
  // All clients of the test leave by it.
  setMaxListeners(0, stop.signal)
  const clock = () => time.nowMs
  let listed = 0
  let failures = 0
  const watch = async () => {
    const client = setup.client({ random, clock, fetch: registry.fetch })
    const options = { signal: stop.signal, failed: () => void failures++ }
    for await (const list of client.watch?.('orders', options) ?? []) if (list.length === INSTANCES) listed++
  }
  for (let i = 0; i < CLIENTS; i++) setTimeout(() => void watch(), intervalMs * random())
  await time.pass(BEFORE_MS)
  expect([listed >= CLIENTS, failures]).toEqual([true, 0])
  registry.stop()
  await time.pass(outageMs)
  expect(failures).toBeGreaterThanOrEqual(CLIENTS / 2)
  const lists: number[] = []
  const all: number[] = []
  registry.onQuestion = (answer) => {
    all.push(time.nowMs)
    if ('body' in answer) lists.push(time.nowMs)
  }
  registry.start()
  await time.pass(afterMs)
  stop.abort()
  await time.pass(60_000)
  expect(time.timers).toBe(0)
  return { bound: (2 * CLIENTS) / (intervalMs / 1_000), lists, all }
}

/** By chance a single second may exceed what is meant by three standard deviations of a Poisson distribution. */
function expectWithin(arrivals: readonly number[], bound: number): void {
  expect(busiest(arrivals, 5_000) / 5).toBeLessThanOrEqual(bound)
  expect(busiest(arrivals, 1_000)).toBeLessThanOrEqual(bound + 3 * Math.sqrt(bound))
}

describe.each(['eureka', 'nacos', 'dns'] as const)('1 000 clients of %s, which is polled', (name) => {
  it.each([60, 300])('send no more than twice their usual rate after an outage of %d s', async (seconds) => {
    const { intervalMs = 0 } = CONSTANT_SETUPS[name]()
    // The longest pause is six intervals.
    const { bound, all } = await storm(name, seconds * 1_000, Math.min(6 * intervalMs, 90_000))
    expect(all.length).toBeGreaterThanOrEqual(CLIENTS)
    expectWithin(all, bound)
  })
})

describe.each(['consul', 'kubernetes', 'etcd'] as const)('1 000 clients of %s, which pushes', (name) => {
  it.each([15, 60, 300])(
    'ask for the list at no more than 67 a second after %d s, each then watches',
    async (seconds) => {
      const { bound, lists, all } = await storm(name, seconds * 1_000, 1.6 * LONGEST_PAUSE_MS)
      // Everybody is back, by a question and the watch that goes on from its answer.
      expect(all.length).toBeGreaterThanOrEqual(2 * CLIENTS)
      expectWithin(lists, bound)
      expectWithin(all, 2 * bound)
    },
  )
})
