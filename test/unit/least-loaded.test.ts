/** Policies that go by load and latency: worked examples, the theory's bounds, and models. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ENDED_SUCCESS, ORDER_DRAW, ORDER_WEIGHTED } from '../../assembly/layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { createLoadBalancer, leastRequest } from '../../bindings/index.js'
import type { Members } from '../../bindings/service/members.js'
import { type Candidate, fullScan } from '../model/full-scan.js'
import { ModelPrng } from '../model/prng.js'
import { listOf, membersOf } from './core-lists.js'
import { CORES } from './cores.js'

const DECAY_MS = 10_000
const RTT_MS = 30

interface Subject {
  readonly members: Members
  readonly block: Pointer
  readonly list: Pointer
}

function subject(core: Core, weights: readonly number[], order = ORDER_WEIGHTED, seed = 7): Subject {
  const members = membersOf(core, weights, seed)
  return { members, block: members.block, list: listOf(core, members.block, [...weights.keys()], order) }
}

function hold(core: Core, block: Pointer, requests: readonly number[]): void {
  for (const [row, count] of requests.entries()) {
    for (let i = 0; i < count; i++) core.exports.acquireRow(block, row)
  }
}

function see(core: Core, block: Pointer, row: number, ms: number, nowMs = 0): void {
  core.exports.acquireRow(block, row)
  core.exports.completeAfter(block, row, ENDED_SUCCESS, ms, ms, nowMs, DECAY_MS, 1)
}

function counted(picks: number, length: number, pick: () => number): number[] {
  const counts = new Array<number>(length).fill(0)
  for (let i = 0; i < picks; i++) {
    const index = pick()
    counts[index] = (counts[index] as number) + 1
  }
  return counts
}

function chiSquare(counts: readonly number[], weights: readonly number[]): number {
  const picks = counts.reduce((a, b) => a + b)
  const all = weights.reduce((a, b) => a + b)
  return counts.reduce((sum, count, i) => {
    const due = (picks * (weights[i] as number)) / all
    return sum + (count - due) ** 2 / due
  }, 0)
}

/** The most requests that one of `bins` holds when `balls` were leased and none ended. */
function fullest(core: Core, bins: number, balls: number, lease: (block: Pointer, list: Pointer) => number): number {
  const { exports } = core
  const block = exports.createBlock()
  exports.reserveRows(block, bins)
  for (let row = 0; row < bins; row++) exports.resetRow(block, row)
  exports.seedBlock(block, 1, 11)
  const list = listOf(
    core,
    block,
    Array.from({ length: bins }, (_, row) => row),
    ORDER_DRAW,
  )
  const held = new Int32Array(bins)
  for (let i = 0; i < balls; i++) {
    const row = lease(block, list)
    held[row] = (held[row] as number) + 1
  }
  exports.freeList(list)
  exports.freeBlock(block)
  return held.reduce((most, count) => Math.max(most, count), 0)
}

const candidate = fc.record({
  weight: fc.integer({ min: 0, max: 5 }),
  inFlight: fc.integer({ min: 0, max: 4 }),
  ewma: fc.option(
    fc.integer({ min: 0, max: 4 }).map((n) => n * 10),
    { nil: undefined },
  ),
})

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()
  const { exports } = core

  it('least connections: of 10, 5 and 8 requests, the second', () => {
    const { block, list } = subject(core, [1, 1, 1])
    hold(core, block, [10, 5, 8])
    for (let i = 0; i < 20; i++) expect(exports.pickLeastConnections(block, list)).toBe(1)
  })

  it('least connections: load counts for its weight', () => {
    const { block, list } = subject(core, [4, 1, 2])
    // 10/4, 3/1, 6/2.
    hold(core, block, [10, 3, 6])
    for (let i = 0; i < 20; i++) expect(exports.pickLeastConnections(block, list)).toBe(0)
  })

  it('least connections: n requests that stay open are n/T each', () => {
    const { members, block, list } = subject(core, [5, 3, 2])
    for (let i = 0; i < 1_000; i++) exports.acquire(block, list, exports.pickLeastConnections(block, list))
    expect([0, 1, 2].map((row) => members.inFlightAt(row))).toEqual([500, 300, 200])
  })

  it.each<[string, (block: Pointer, list: Pointer) => number]>([
    ['least connections', (block, list) => exports.pickLeastConnections(block, list)],
    ['least response time', (block, list) => exports.pickLeastResponseTime(block, list, 0, DECAY_MS, RTT_MS)],
  ])('%s: those that are level are drawn from, by weight', (_name, pick) => {
    const weights = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    for (const own of [weights.map(() => 1), weights]) {
      const { block, list } = subject(core, own)
      // Chi-square with 9 degrees of freedom: p = 0.001 at 27.9.
      expect(
        chiSquare(
          counted(20_000, 10, () => pick(block, list)),
          own,
        ),
      ).toBeLessThan(27.9)
    }
  })

  it('scans as the models do', () => {
    fc.assert(
      fc.property(fc.array(candidate, { minLength: 2, maxLength: 8 }), fc.integer(), (given, seed) => {
        const own = given.map(({ weight }) => weight)
        const weighted = new Set(own).size > 1
        const { members, block, list } = subject(core, own, ORDER_WEIGHTED, seed)
        const prng = new ModelPrng(1, seed)
        // The block's starts are drawn first.
        for (let i = 0; i < 3; i++) i === 0 ? prng.below(1000) : prng.u32()
        for (const [row, { ewma }] of given.entries()) if (ewma !== undefined) see(core, block, row, ewma)
        hold(
          core,
          block,
          given.map(({ inFlight }) => inFlight),
        )
        const candidates: Candidate[] = given.map((each) => ({ ...each, weight: weighted ? each.weight : 1 }))
        const requests = ({ inFlight }: Candidate) => inFlight
        const wait = ({ inFlight, ewma }: Candidate) => (ewma === undefined ? RTT_MS * inFlight : ewma * (inFlight + 1))
        for (let i = 0; i < 8; i++) {
          expect(exports.pickLeastConnections(block, list)).toBe(fullScan(prng, candidates, requests, weighted))
          expect(exports.pickLeastResponseTime(block, list, 0, DECAY_MS, RTT_MS)).toBe(
            fullScan(prng, candidates, wait, weighted),
          )
        }
        exports.freeList(list)
        members.free()
      }),
      { seed: 20260204, numRuns: 600 },
    )
  })

  it('least response time: latency times requests in flight and one more, for its weight', () => {
    const { block, list } = subject(core, [1, 1, 1])
    for (const [row, ms] of [20, 50, 90].entries()) see(core, block, row, ms)
    const next = () => exports.pickLeastResponseTime(block, list, 0, DECAY_MS, RTT_MS)
    expect(next()).toBe(0)
    // 60, 50, 90; then 60, 100, 90.
    hold(core, block, [2, 0, 0])
    expect(next()).toBe(1)
    hold(core, block, [0, 1, 0])
    expect(next()).toBe(0)
    const uneven = subject(core, [1, 4])
    for (const [row, ms] of [20, 60].entries()) see(core, uneven.block, row, ms)
    expect(exports.pickLeastResponseTime(uneven.block, uneven.list, 0, DECAY_MS, RTT_MS)).toBe(1)
  })

  it('least response time: an unknown one is tried at once, but not flooded', () => {
    const { block, list } = subject(core, [1, 1])
    see(core, block, 0, 20)
    const next = () => exports.acquire(block, list, exports.pickLeastResponseTime(block, list, 0, DECAY_MS, RTT_MS))
    expect(Array.from({ length: 3 }, next)).toEqual([1, 0, 1])
  })

  it('least response time: a slow one is tried again when its latency has been forgotten', () => {
    const { block, list } = subject(core, [1, 1])
    see(core, block, 0, 500)
    see(core, block, 1, 20)
    const next = (nowMs: number) => exports.pickLeastResponseTime(block, list, nowMs, DECAY_MS, RTT_MS)
    expect(next(1_000)).toBe(1)
    see(core, block, 1, 20, 40_000)
    expect(next(40_000)).toBe(0)
  })

  it('peak EWMA: decays, jumps and multiplies as Finagle', () => {
    // Finagle PeakEwma.scala, tau 10 s: factors after 1, 5 and 10 s; 100 ms, then 20 ms 5 s later; then 250 ms.
    for (const [seconds, factor] of [
      [1, 0.904837],
      [5, 0.606531],
      [10, 0.367879],
    ] as const) {
      expect(exports.expNegative(-seconds / 10)).toBeCloseTo(factor, 6)
    }
    const { members, block, list } = subject(core, [1, 1], ORDER_DRAW)
    see(core, block, 0, 100, 0)
    see(core, block, 0, 20, 5_000)
    expect(members.latencyAt(0)).toBeCloseTo(68.5225, 4)
    see(core, block, 0, 250, 5_000)
    expect(members.latencyAt(0)).toBe(250)
    hold(core, block, [3, 0])
    // Its load with three pending is 1000: more than 999, less than 1001.
    const next = () => exports.pickPeakEwma(block, list, 5_000, DECAY_MS, RTT_MS)
    see(core, block, 1, 999, 5_000)
    expect(counted(50, 2, next)).toEqual([0, 50])
    see(core, block, 1, 1_001, 5_000)
    expect(counted(50, 2, next)).toEqual([50, 0])
  })

  it("peak EWMA: Finagle's penalty for the unknown: the idle one costs nothing, the pending one more than any", () => {
    // Long.MaxValue >> 16 nanoseconds.
    const penaltyMs = Number((2n ** 63n - 1n) >> 16n) / 1e6
    const { block, list } = subject(core, [1, 1], ORDER_DRAW)
    see(core, block, 0, 100_000_000)
    const next = () => exports.pickPeakEwma(block, list, 0, DECAY_MS, penaltyMs)
    expect(counted(20, 2, next)).toEqual([0, 20])
    hold(core, block, [0, 1])
    expect(counted(20, 2, next)).toEqual([20, 0])
  })

  it("least request, Envoy's form: the busier of two still gets a quarter; of distinct draws none", () => {
    const { block, list } = subject(core, [1, 1])
    hold(core, block, [1, 0])
    const busier = counted(40_000, 2, () => exports.pickLeastRequestEnvoy(block, list, 2, 1))[0] as number
    expect(Math.abs(busier / 40_000 - 0.25)).toBeLessThan(5 * Math.sqrt((0.25 * 0.75) / 40_000))
    expect(counted(2_000, 2, () => exports.pickLeastRequest(block, list, 2))).toEqual([0, 2_000])
  })

  it("least request, Envoy's form: a bias of 0 rotates by weight, more of it minds requests in flight more", () => {
    const shares = [0, 0.5, 1, 2].map((bias) => {
      const { block, list } = subject(core, [3, 1])
      hold(core, block, [3, 0])
      return (counted(4_000, 2, () => exports.pickLeastRequestEnvoy(block, list, 2, bias))[0] as number) / 4_000
    })
    // 3/4^bias against 1.
    for (const [i, bias] of [0, 0.5, 1, 2].entries()) {
      const heavy = 3 / 4 ** bias
      expect(Math.abs((shares[i] as number) - heavy / (heavy + 1))).toBeLessThan(0.001)
    }
  })

  it('least request: equal loads are shared evenly', () => {
    const weights = new Array<number>(10).fill(1)
    const { block, list } = subject(core, weights)
    for (const pick of [
      () => exports.pickLeastRequest(block, list, 2),
      () => exports.pickLeastRequestEnvoy(block, list, 2, 1),
    ]) {
      expect(chiSquare(counted(100_000, 10, pick), weights)).toBeLessThan(27.9)
    }
  })

  it.each([
    ['finagle', ORDER_DRAW],
    ['envoy', ORDER_WEIGHTED],
  ])("least request, %s's form: no bursts as long as a weight", (form, order) => {
    // envoyproxy/envoy#3284: a hundred requests in a row to a host of weight 100.
    const { block, list } = subject(core, [100, 1], order)
    const open: number[] = []
    let run = 0
    let longest = 0
    let last = -1
    for (let i = 0; i < 20_000; i++) {
      const row =
        form === 'envoy'
          ? exports.acquire(block, list, exports.pickLeastRequestEnvoy(block, list, 2, 1))
          : exports.leaseLeastRequest(block, list, 2)
      run = row === last ? run + 1 : 1
      longest = Math.max(longest, run)
      last = row
      open.push(row)
      if (open.length > 20) exports.complete(block, open.shift() as number, ENDED_SUCCESS)
    }
    expect(longest).toBeLessThan(100)
  })

  it('two choices: n balls into n bins, at most 3 to 4 in one; heavily loaded, 2 above the mean', () => {
    // Azar et al. 1999, Mitzenmacher 2001; measured: 2.80 of 256, 3.35 of 65 536, and 1.8 above 1000 of 100 bins.
    const lease = (block: Pointer, list: Pointer) => exports.leaseLeastRequest(block, list, 2)
    expect(fullest(core, 256, 256, lease)).toBeLessThanOrEqual(3)
    const large = fullest(core, 65_536, 65_536, lease)
    expect(large).toBeGreaterThanOrEqual(3)
    expect(large).toBeLessThanOrEqual(4)
    expect(fullest(core, 100, 100_000, lease) - 1_000).toBeLessThanOrEqual(2)
    // One choice: 83.5 above.
    expect(fullest(core, 100, 100_000, (block, list) => exports.leaseRandom(block, list)) - 1_000).toBeGreaterThan(50)
  })
})

it('two choices: 2^20 balls into 2^20 bins, at most 4 in one', () => {
  const core = (CORES.release as () => Core)()
  const { exports } = core
  expect(fullest(core, 2 ** 20, 2 ** 20, (block, list) => exports.leaseLeastRequest(block, list, 2))).toBe(4)
})

it("activeRequestBias is refused outside of Envoy's form", () => {
  const refusal = { code: 'EVENKEEL_CONFIG', option: 'leastRequest.activeRequestBias' }
  expect(() => leastRequest({ activeRequestBias: 0 })).toThrow(expect.objectContaining(refusal))
  const policy = { type: 'least-request', activeRequestBias: 0 }
  expect(() => createLoadBalancer({ services: { s: { instances: [], policy } } })).toThrow(
    expect.objectContaining({ option: 'services.s.policy.activeRequestBias' }),
  )
})
