/** Relative weight: what it promises, by hand-worked values on the core in all its forms, and beside the model. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLoadBalancer, relativeWeight } from '../../bindings/index.js'
import { ModelPrng } from '../model/prng.js'
import { PacedRow, RelativeList } from '../model/relative-weight.js'
import { CoreService } from './core-service.js'
import { CORES } from './cores.js'

const HALF_LIFE_MS = 5_000
const MIN_VOLUME = 5

function paced(core: ReturnType<(typeof CORES)[string]>, weights: readonly number[]) {
  const service = new CoreService(core, weights)
  const { exports } = core
  exports.openPaces(service.block)
  const start = (row: number, nowMs: number) => {
    exports.acquireRow(service.block, row)
    exports.startPaced(service.block, row, nowMs)
  }
  const end = (row: number, nowMs: number, ms: number, failed = false) => {
    exports.complete(service.block, row, 0)
    exports.endPaced(service.block, row, nowMs, ms, failed ? 1 : 0, HALF_LIFE_MS, MIN_VOLUME)
  }
  const calls = (row: number, count: number, ms: number, failed = false, nowMs = 0) => {
    for (let i = 0; i < count; i++) {
      start(row, nowMs)
      end(row, nowMs, ms, failed)
    }
  }
  const weightsAt = (list: number, length: number, nowMs = 0) => {
    exports.pickRelativeWeight(service.block, list, nowMs, HALF_LIFE_MS, MIN_VOLUME)
    return service.weights(list, length)
  }
  const pick = (list: number, nowMs = 0) =>
    exports.pickRelativeWeight(service.block, list, nowMs, HALF_LIFE_MS, MIN_VOLUME)
  return { service, start, end, calls, weightsAt, pick }
}

const close = (actual: readonly number[], expected: readonly number[]) => {
  expect(actual.length).toBe(expected.length)
  actual.forEach((value, i) => {
    expect(value, `${i}`).toBeCloseTo(expected[i] as number, 10)
  })
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  it('weighs by the median latency over the own one', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1, 1])
    calls(0, 5, 10)
    calls(1, 5, 50)
    calls(2, 5, 20)
    close(weightsAt(service.list([0, 1, 2]), 3), [2, 0.4, 1])
    // Of an even number: the mean of the middle two, 30 ms.
    close(weightsAt(service.list([0, 1]), 2), [3, 0.6])
    service.free()
  })

  it('multiplies the attached weight, and gives no more than 10 and no less than 0.02 times it', () => {
    const { service, calls, weightsAt } = paced(core, [4, 1, 0.5])
    calls(0, 5, 1)
    calls(1, 5, 100)
    calls(2, 5, 50_000)
    close(weightsAt(service.list([0, 1, 2], true), 3), [40, 1, 0.01])
    service.free()
  })

  it('judges nobody below the minimum volume, and takes who is unknown for the median', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1, 1])
    calls(0, 4, 10)
    calls(1, 1, 900, true)
    close(weightsAt(service.list([0, 1, 2]), 3), [1, 1, 1])
    calls(0, 1, 10)
    calls(2, 5, 40)
    close(weightsAt(service.list([0, 1, 2]), 3), [2.5, 1, 0.625])
    service.free()
  })

  it('one failure after a long idle time counts one part in five', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1])
    calls(0, 50, 10)
    calls(1, 50, 10)
    calls(0, 1, 10, true, 3_600_000)
    close(weightsAt(service.list([0, 1]), 2, 3_600_000), [0.8 ** 3, 1])
    service.free()
  })

  it('the error share is of what is remembered: with volume, a plain share', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1])
    calls(1, 50, 10)
    calls(0, 90, 10)
    calls(0, 10, 10, true)
    // 10 failures of 100 at the same time: 0.1, by 1/91 + … + 1/100 of what is left.
    close(weightsAt(service.list([0, 1]), 2), [0.9 ** 3, 1])
    service.free()
  })

  it('a slower answer is felt by latency, a faster one by speed', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1, 1, 1, 1])
    for (const row of [0, 1, 2, 3, 4]) calls(row, 9, 10)
    calls(0, 1, 110)
    // 10 + (110 − 10) / 10 = 20 ms; the median stays 10.
    close(weightsAt(service.list([0, 1, 2, 3, 4]), 5), [0.5, 1, 1, 1, 1])
    calls(0, 1, 10)
    // 1/20 + (1/10 − 1/20) / 11.
    close(weightsAt(service.list([0, 1, 2, 3, 4]), 5), [10 * (1 / 20 + 1 / 220), 1, 1, 1, 1])
    service.free()
  })

  it('is as slow as it has been silent with something in flight', () => {
    const { service, start, end, calls, weightsAt } = paced(core, [1, 1, 1])
    for (const row of [0, 1, 2]) calls(row, 5, 10)
    start(0, 0)
    start(0, 900)
    const list = service.list([0, 1, 2])
    close(weightsAt(list, 3, 250), [0.04, 1, 1])
    close(weightsAt(list, 3, 1_000), [0.02, 1, 1])
    // An answer: silent since then, and not since the start of the other.
    end(0, 1_000, Number.NaN)
    close(weightsAt(list, 3, 1_250), [0.04, 1, 1])
    end(0, 1_500, Number.NaN)
    close(weightsAt(list, 3, 1_750), [1, 1, 1])
    service.free()
  })

  it('weights are worked out twenty times in a half-life', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1])
    const list = service.list([0, 1])
    close(weightsAt(list, 2, 0), [1, 1])
    calls(0, 5, 10)
    calls(1, 5, 30)
    close(weightsAt(list, 2, 249), [1, 1])
    close(weightsAt(list, 2, 250), [2, 2 / 3])
    service.free()
  })

  it('of two draws, the one with fewer in flight for its weight', () => {
    const { service, calls, start, pick } = paced(core, [1, 1])
    calls(0, 5, 10)
    calls(1, 5, 30)
    const list = service.list([0, 1])
    // 3 : 1 by weight, 2 : 1 in flight: the fast one has fewer.
    for (let i = 0; i < 2; i++) start(0, 0)
    start(1, 0)
    expect(new Set(Array.from({ length: 50 }, () => pick(list)))).toEqual(new Set([0]))
    for (let i = 0; i < 4; i++) start(0, 0)
    expect(new Set(Array.from({ length: 50 }, () => pick(list)))).toEqual(new Set([1]))
    service.free()
  })

  it('is half way back within one half-life, from however far, at a constant rate of calls', () => {
    for (const [slowMs, slowWeight] of [
      [30, 1 / 3],
      [5_000, 0.02],
    ] as const) {
      const { service, calls, weightsAt } = paced(core, [1, 1, 1])
      const list = service.list([0, 1, 2])
      const answer = (fromMs: number, toMs: number, ms: number) => {
        for (let nowMs = fromMs; nowMs <= toMs; nowMs += 100) {
          calls(0, 1, ms, false, nowMs)
          calls(1, 1, 10, false, nowMs)
          calls(2, 1, 10, false, nowMs)
        }
      }
      answer(0, 60_000, slowMs)
      expect(weightsAt(list, 3, 60_000)[0]).toBeCloseTo(slowWeight, 3)
      answer(60_100, 60_000 + HALF_LIFE_MS, 10)
      const [weight] = weightsAt(list, 3, 60_000 + HALF_LIFE_MS) as [number]
      expect(weight).toBeGreaterThanOrEqual((10 / slowMs + 1) / 2 - 1e-3)
      service.free()
    }
  })

  it('a failing one is below a tenth within 1.2 half-lives, and half way back by three good answers where calls are few', () => {
    const { service, calls, weightsAt } = paced(core, [1, 1, 1])
    const list = service.list([0, 1, 2])
    for (let call = 0; call < 60; call++) for (const row of [0, 1, 2]) calls(row, 1, 10, false, call * 333)
    const failsFrom = 60 * 333
    let weight = 1
    let nowMs = failsFrom
    for (; weight >= 0.1; nowMs += 333) {
      for (const row of [0, 1, 2]) calls(row, 1, 10, row === 0, nowMs)
      weight = weightsAt(list, 3, nowMs)[0] as number
    }
    expect(nowMs - failsFrom).toBeLessThan(1.2 * HALF_LIFE_MS)
    for (let i = 0; i < 40; i++) calls(0, 1, 10, true, (nowMs += 2_000))
    expect(weightsAt(list, 3, nowMs)[0]).toBe(0.02)
    for (let i = 0; i < 3; i++) calls(0, 1, 10, false, (nowMs += 1_250))
    // At volumes of 4.5 and 4.8 half of what is held against it goes, at 5.003 one part in that: 0.2 is left.
    expect(weightsAt(list, 3, nowMs)[0]).toBeCloseTo(0.8 ** 3, 3)
    service.free()
  })

  it('an idle one does not take what would be more than its weight', () => {
    const { service, calls, start, pick } = paced(core, [1, 1])
    calls(0, 5, 10)
    calls(1, 5, 10)
    calls(1, 500, 10, true)
    const list = service.list([0, 1])
    start(0, 0)
    const failing = Array.from({ length: 1_000 }, () => pick(list)).filter((index) => index === 1).length
    // 0.02 of 1.02 by the first draw, and no more by the second.
    expect(failing).toBeLessThan(40)
    service.free()
  })

  it('tries one below half of its weight after a quarter of a half-life, with one pick of twenty at most', () => {
    const { service, calls, pick } = paced(core, [1, 1])
    calls(0, 5, 10)
    calls(1, 5, 10)
    calls(1, 500, 10, true)
    const list = service.list([0, 1])
    const picked = (nowMs: number) => Array.from({ length: 1_000 }, () => pick(list, nowMs))
    const drawn = picked(1_249).filter((index) => index === 1).length
    // 0.02 of 1.02 by weight: 19.6.
    expect(drawn).toBeLessThan(35)
    // The first to be probed is the very next pick: the last thousand were more than twenty.
    expect(pick(list, 1_500)).toBe(1)
    service.free()
  })

  it('picks from nobody and from one', () => {
    const { service, pick } = paced(core, [1])
    expect(pick(service.list([]))).toBe(-1)
    expect(pick(service.list([0]))).toBe(0)
    service.free()
  })

  it('weighs and picks as the model does, over random traces', () => {
    const step = fc.record({
      elapsed: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 3_000 })),
      list: fc.nat({ max: 1 }),
      ends: fc.nat({ max: 3 }),
      lease: fc.nat(),
      ms: fc.oneof({ weight: 9, arbitrary: fc.double({ min: 0, max: 500, noNaN: true }) }, fc.constant(Number.NaN)),
      failed: fc.integer({ min: 0, max: 3 }).map((one) => one === 0),
    })
    const trace = fc.record({
      seed: fc.integer(),
      weighted: fc.boolean(),
      steps: fc.array(step, { maxLength: 250, size: 'max' }),
    })
    fc.assert(
      fc.property(trace, ({ seed, weighted, steps }) => {
        const attached = [1, 2.5, 0.25, 7, 1]
        const { service, start, end, pick } = paced(core, attached)
        core.exports.seedBlock(service.block, 7, seed)
        const prng = new ModelPrng(7, seed)
        prng.below(1000)
        prng.u32()
        prng.u32()
        const rows = attached.map(() => new PacedRow())
        const lists = [
          [0, 1, 2, 3, 4],
          [4, 1, 3],
        ].map((members) => ({
          members,
          handle: service.list(members, weighted),
          model: new RelativeList(
            members.map((row) => rows[row] as PacedRow),
            members.map((row) => (weighted ? (attached[row] as number) : 1)),
            HALF_LIFE_MS,
            MIN_VOLUME,
          ),
        }))
        const open: number[] = []
        let nowMs = 0
        for (const each of steps) {
          nowMs += each.elapsed
          const { handle, model, members } = lists[each.list] as (typeof lists)[number]
          const picked = pick(handle, nowMs)
          expect(picked).toBe(model.pick(prng, nowMs))
          const row = members[picked] as number
          start(row, nowMs)
          ;(rows[row] as PacedRow).start(nowMs)
          open.push(row)
          for (let i = 0; i < each.ends && open.length > 0; i++) {
            const [ended] = open.splice(each.lease % open.length, 1) as [number]
            end(ended, nowMs, each.ms, each.failed)
            ;(rows[ended] as PacedRow).end(nowMs, each.ms, each.failed, HALF_LIFE_MS, MIN_VOLUME)
          }
        }
        service.free()
      }),
      { seed: 20260303, numRuns: 150 },
    )
  })
})

interface Behaviour {
  readonly latencyMs: (nowMs: number) => number
  readonly fails?: (nowMs: number) => boolean
}

/** Calls at even distances, each answered after its latency. Which instance each went to, and when. */
function simulate(servers: readonly Behaviour[], rps: number, untilMs: number, options = {}) {
  let nowMs = 0
  const lb = createLoadBalancer({
    seed: 5,
    clock: () => nowMs,
    services: { orders: { instances: servers.map((_, i) => `http://s${i}`), policy: relativeWeight(options) } },
  })
  const service = lb.service('orders')
  const due: { atMs: number; end: () => void }[] = []
  const sent: { atMs: number; server: number }[] = []
  for (let i = 0; (i * 1_000) / rps < untilMs; i++) {
    const atMs = (i * 1_000) / rps
    for (;;) {
      const next = due.reduce<(typeof due)[number] | undefined>((a, b) => (a && a.atMs <= b.atMs ? a : b), undefined)
      if (next === undefined || next.atMs > atMs) break
      nowMs = next.atMs
      due.splice(due.indexOf(next), 1)
      next.end()
    }
    nowMs = atMs
    const lease = service.pick()
    if (lease === undefined) throw new Error('no lease')
    const server = Number(lease.instance.host.slice(1))
    const { latencyMs, fails } = servers[server] as Behaviour
    const status = fails?.(nowMs) ? 500 : 200
    due.push({ atMs: nowMs + latencyMs(nowMs), end: () => lease.done({ status }) })
    sent.push({ atMs, server })
  }
  lb.close()
  const shareOf = (server: number, fromMs: number, toMs: number) => {
    const within = sent.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    return within.filter((one) => one.server === server).length / within.length
  }
  return { shareOf }
}

describe('relativeWeight', () => {
  it('refuses options that are none', () => {
    expect(() => relativeWeight({ halfLifeMs: 0 })).toThrow('relativeWeight.halfLifeMs')
    expect(() => relativeWeight({ minVolume: 2.5 })).toThrow('relativeWeight.minVolume')
    expect(() => relativeWeight({ floor: 1 } as object)).toThrow('floor')
  })

  it.each([10, 100, 1_000])('10 ms against 50 ms is 3 : 1 or more, at %d calls a second', (rps) => {
    const { shareOf } = simulate([{ latencyMs: () => 10 }, { latencyMs: () => 50 }], rps, 60_000)
    expect(shareOf(0, 10_000, 60_000)).toBeGreaterThan(0.75)
  })

  it.each([20, 200, 2_000])('a slow instance leaves and comes back the same way at %d calls a second', (rps) => {
    const slow = (nowMs: number) => (nowMs >= 10_000 && nowMs < 30_000 ? 300 : 10)
    const servers = [{ latencyMs: slow }, { latencyMs: () => 10 }, { latencyMs: () => 10 }]
    const { shareOf } = simulate(servers, rps, 60_000)
    expect(Math.abs(shareOf(0, 2_000, 10_000) - 1 / 3)).toBeLessThan(0.06)
    expect(shareOf(0, 15_000, 30_000)).toBeLessThan(0.08)
    // Half of the way from there to a third, within one half-life of 5 s.
    expect(shareOf(0, 35_000, 37_000)).toBeGreaterThan((0.08 + 1 / 3) / 2)
    expect(Math.abs(shareOf(0, 45_000, 60_000) - 1 / 3)).toBeLessThan(0.06)
  })

  it('an instance that fails altogether is left within a few seconds at 10 calls a second, and probed', () => {
    const fails = (nowMs: number) => nowMs >= 20_000 && nowMs < 60_000
    const servers = [{ latencyMs: () => 10, fails }, { latencyMs: () => 10 }, { latencyMs: () => 10 }]
    const { shareOf } = simulate(servers, 10, 80_000)
    expect(shareOf(0, 25_000, 60_000)).toBeLessThan(0.1)
    expect(shareOf(0, 25_000, 60_000)).toBeGreaterThan(0)
    expect(shareOf(0, 65_000, 80_000)).toBeGreaterThan((1 / 3 + 0.1) / 2)
  })
})
