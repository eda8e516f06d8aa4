/**
 * Dynamic weight against the article's formula (test figures: "Spring Cloud LoadBalancer 与服务实例筛选策略", sections
 * 三 and 四, worked out by hand), on the core in all its forms, and beside the model.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLoadBalancer, dynamicWeight, type ServiceInstance, type Supplier } from '../../bindings/index.js'
import { drawBySums, dynamicRow, dynamicWeights, recordDynamic, sumsOf } from '../model/dynamic-weight.js'
import { ModelPrng } from '../model/prng.js'
import { CoreService } from './core-service.js'
import { CORES } from './cores.js'

const UPDATE_MS = 1_000
const EMPTY = Math.exp(-0.1)

/** A core service whose windows are open. */
function windowed(core: ReturnType<(typeof CORES)[string]>, weights: readonly number[], every = 1) {
  const service = new CoreService(core, weights)
  core.exports.openWindows(service.block)
  core.exports.sampleWindows(service.block, every)
  const record = (row: number, count: number, ms: number, nowMs: number, failed = false) => {
    for (let i = 0; i < count; i++) core.exports.recordInWindow(service.block, row, nowMs, ms, failed ? 1 : 0)
  }
  const weightsAt = (list: number, length: number, nowMs: number) => {
    core.exports.pickDynamicWeight(service.block, list, nowMs, UPDATE_MS)
    return service.weights(list, length)
  }
  return { service, record, weightsAt }
}

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  // algorithms.md §6.
  it.each([
    [1, 0.999],
    [10, 0.99],
    [50, 0.951],
    [100, 0.905],
    [200, 0.819],
    [500, 0.607],
    [1000, 0.368],
    [5000, 0.0067],
  ])('a mean of %d ms is a factor of %d', (ms, factor) => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, 100, ms, 5_000)
    const [weight] = weightsAt(service.list([0, 1]), 2, 5_000) as [number]
    expect(weight).toBeCloseTo(Math.exp(-ms / 1000), 12)
    expect(Math.abs(weight - factor)).toBeLessThan(0.0006)
    service.free()
  })

  it.each([
    [0, 1],
    [1, 0.98],
    [5, 0.9],
    [25, 0.5],
    [49, 0.02],
    [50, 0.01],
    [100, 0.01],
  ])('%d failures of 100 are a factor of %d', (failures, factor) => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, failures, 200, 5_000, true)
    record(0, 100 - failures, 200, 5_000)
    expect(weightsAt(service.list([0, 1]), 2, 5_000)[0]).toBeCloseTo(Math.exp(-0.2) * factor, 12)
    service.free()
  })

  it('failures take their time too: the mean is over all outcomes', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, 10, 2_000, 0, true)
    record(0, 90, 100, 0)
    // (10 · 2000 + 90 · 100) / 100 = 290 ms; error rate 0.1.
    expect(weightsAt(service.list([0, 1]), 2, 0)[0]).toBeCloseTo(Math.exp(-0.29) * 0.8, 12)
    service.free()
  })

  it('multiplies the attached weight', () => {
    const { service, record, weightsAt } = windowed(core, [3, 0.5])
    record(0, 100, 100, 0)
    record(1, 100, 500, 0)
    const weights = weightsAt(service.list([0, 1], true), 2, 0)
    expect(weights[0]).toBeCloseTo(3 * Math.exp(-0.1), 12)
    expect(weights[1]).toBeCloseTo(0.5 * Math.exp(-0.5), 12)
    service.free()
  })

  it('without a hundred samples anywhere, each has the factor of an empty window', () => {
    const { service, record, weightsAt } = windowed(core, [1, 4])
    record(1, 99, 5_000, 0, true)
    const weights = weightsAt(service.list([0, 1], true), 2, 0)
    expect(weights[0]).toBeCloseTo(EMPTY, 12)
    expect(weights[1]).toBeCloseTo(4 * EMPTY, 12)
    service.free()
  })

  it('a new instance has the mean weight until its hundredth sample, and goes on from there smoothly', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1, 1])
    record(0, 100, 100, 0)
    record(1, 100, 500, 0)
    record(2, 99, 1_000, 0)
    const list = service.list([0, 1, 2])
    const mean = (Math.exp(-0.1) + Math.exp(-0.5)) / 2
    expect(weightsAt(list, 3, 0)[2]).toBeCloseTo(mean, 12)
    expect(weightsAt(list, 3, 1_000)[2]).toBeCloseTo(mean, 12)
    record(2, 1, 1_000, 1_000)
    expect(weightsAt(list, 3, 2_000)[2]).toBeCloseTo(0.7 * mean + 0.3 * Math.exp(-1), 12)
    service.free()
  })

  it('smooths 0.7 old and 0.3 new at each update, one a second however many picks there are', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, 100, 100, 0)
    const list = service.list([0, 1])
    let expected = Math.exp(-0.1)
    expect(weightsAt(list, 2, 0)[0]).toBeCloseTo(expected, 12)
    record(0, 100, 1_900, 500)
    for (const nowMs of [500, 600, 999]) expect(weightsAt(list, 2, nowMs)[0]).toBeCloseTo(expected, 12)
    for (const nowMs of [1_000, 2_000, 3_500]) {
      // Mean of the window: 1000 ms.
      expected = 0.7 * expected + 0.3 * Math.exp(-1)
      expect(weightsAt(list, 2, nowMs)[0]).toBeCloseTo(expected, 12)
      expect(weightsAt(list, 2, nowMs + 400)[0]).toBeCloseTo(expected, 12)
    }
    service.free()
  })

  it('is updated once a second for all the lists that a row is of', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1, 1])
    record(0, 100, 100, 0)
    const [both, other] = [service.list([0, 1]), service.list([2, 0])]
    weightsAt(both, 2, 0)
    record(0, 100, 1_900, 0)
    const expected = 0.7 * Math.exp(-0.1) + 0.3 * Math.exp(-1)
    expect(weightsAt(both, 2, 1_000)[0]).toBeCloseTo(expected, 12)
    expect(weightsAt(other, 2, 1_500)[1]).toBeCloseTo(expected, 12)
    expect(weightsAt(both, 2, 2_000)[0]).toBeCloseTo(0.7 * expected + 0.3 * Math.exp(-1), 12)
    service.free()
  })

  it('a bucket counts while its second is one of the last sixty', () => {
    const { service, record } = windowed(core, [1, 1])
    record(0, 100, 1_000, 10_999)
    const weightBy = (nowMs: number) => {
      // Without smoothing: a list and a row of the same window, looked at for the first time.
      const again = windowed(core, [1, 1])
      again.record(0, 100, 1_000, 10_999)
      const [weight] = again.weightsAt(again.service.list([0, 1]), 2, nowMs) as [number]
      again.service.free()
      return weight
    }
    expect(weightBy(69_999)).toBeCloseTo(Math.exp(-1), 12)
    expect(weightBy(70_000)).toBeCloseTo(EMPTY, 12)
    expect(weightBy(1e15)).toBeCloseTo(EMPTY, 12)
    service.free()
  })

  it('buckets are used again after sixty seconds, the ones in between emptied', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, 50, 400, 1_000)
    record(0, 50, 700, 31_000)
    // Second 61 takes the place of second 1; second 31 is still of the sixty.
    record(0, 100, 100, 61_000)
    expect(weightsAt(service.list([0, 1]), 2, 61_000)[0]).toBeCloseTo(Math.exp(-0.3), 12)
    service.free()
  })

  it.each([
    ['less than a window: stands still', 40_000, (100 + 300) / 2],
    ['more: the window begins anew', 20_000, 300],
  ])('a clock that goes back by %s', (_, backMs, meanMs) => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, 50, 100, 90_000)
    record(0, 50, 300, backMs)
    expect(weightsAt(service.list([0, 1]), 2, backMs)[0]).toBeCloseTo(Math.exp(-meanMs / 1000), 12)
    service.free()
  })

  it('records every k-th outcome of an instance where it samples', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1], 3)
    const list = service.list([0, 1])
    for (let i = 0; i < 99; i++) {
      record(0, 2, 5_000, 0, true)
      record(0, 1, 200, 0)
    }
    expect(weightsAt(list, 2, 0)[0]).toBeCloseTo(EMPTY, 12)
    record(0, 2, 5_000, 0, true)
    record(0, 1, 200, 0)
    expect(weightsAt(list, 2, 1_000)[0]).toBeCloseTo(0.7 * EMPTY + 0.3 * Math.exp(-0.2), 12)
    service.free()
  })

  it('a row that another instance takes over begins anew', () => {
    const { service, record, weightsAt } = windowed(core, [1, 1])
    record(0, 100, 5_000, 0)
    core.exports.resetRow(service.block, 0)
    expect(weightsAt(service.list([0, 1]), 2, 0)[0]).toBeCloseTo(EMPTY, 12)
    service.free()
  })

  it('draws by weight', () => {
    const { service, record } = windowed(core, [1, 1])
    record(0, 100, 100, 0)
    record(1, 100, 2_000, 0)
    const list = service.list([0, 1])
    const share = Math.exp(-2) / (Math.exp(-0.1) + Math.exp(-2))
    let slow = 0
    for (let i = 0; i < 20_000; i++) slow += core.exports.pickDynamicWeight(service.block, list, 0, UPDATE_MS)
    expect(Math.abs(slow - 20_000 * share)).toBeLessThan(4 * Math.sqrt(20_000 * share * (1 - share)))
    service.free()
  })

  it('picks from nobody, from one, and from those whose weights come to nothing', () => {
    const { service, record } = windowed(core, [1, 1, 1])
    const pick = (list: number) => core.exports.pickDynamicWeight(service.block, list, 0, UPDATE_MS)
    expect(pick(service.list([]))).toBe(-1)
    expect(pick(service.list([2]))).toBe(0)
    for (const row of [0, 1, 2]) record(row, 100, 1e9, 0)
    const list = service.list([0, 1, 2])
    const picked = Array.from({ length: 300 }, () => pick(list))
    expect(new Set(picked)).toEqual(new Set([0, 1, 2]))
    service.free()
  })

  it('weighs and picks as the model does, over random traces', () => {
    const step = fc.record({
      elapsed: fc.oneof(fc.integer({ min: 0, max: 1_500 }), fc.integer({ min: 0, max: 40_000 })),
      row: fc.nat({ max: 4 }),
      count: fc.integer({ min: 0, max: 130 }),
      ms: fc.double({ min: 0, max: 4_000, noNaN: true }),
      failed: fc.boolean(),
      list: fc.nat({ max: 1 }),
    })
    const trace = fc.record({
      seed: fc.integer(),
      every: fc.constantFrom(1, 1, 2),
      weighted: fc.boolean(),
      steps: fc.array(step, { maxLength: 40 }),
    })
    fc.assert(
      fc.property(trace, ({ seed, every, weighted, steps }) => {
        const attached = [1, 2.5, 0.25, 7, 1]
        const { service } = windowed(core, attached, every)
        core.exports.seedBlock(service.block, 7, seed)
        const prng = new ModelPrng(7, seed)
        prng.below(1000)
        prng.u32()
        prng.u32()
        const rows = attached.map(() => dynamicRow())
        const lists = [
          [0, 1, 2, 3, 4],
          [4, 1, 3],
        ].map((members) => ({
          handle: service.list(members, weighted),
          rows: members.map((row) => rows[row] as (typeof rows)[number]),
          bases: members.map((row) => (weighted ? (attached[row] as number) : 1)),
          sums: [] as number[],
          laidAtMs: Number.NEGATIVE_INFINITY,
        }))
        let nowMs = 0
        for (const { elapsed, row, count, ms, failed, list } of steps) {
          nowMs += elapsed
          for (let i = 0; i < count; i++) {
            core.exports.recordInWindow(service.block, row, nowMs, ms, failed ? 1 : 0)
            recordDynamic(rows[row] as (typeof rows)[number], nowMs, ms, failed, every)
          }
          const from = lists[list] as (typeof lists)[number]
          if (nowMs - from.laidAtMs >= UPDATE_MS) {
            from.sums = sumsOf(dynamicWeights(from.rows, from.bases, nowMs, UPDATE_MS))
            from.laidAtMs = nowMs
          }
          for (let i = 0; i < 3; i++) {
            const picked = core.exports.pickDynamicWeight(service.block, from.handle, nowMs, UPDATE_MS)
            expect(picked).toBe(drawBySums(prng, from.sums))
          }
          const weights = service.weights(from.handle, from.rows.length)
          expect(weights).toEqual(from.sums.slice(1).map((sum, i) => sum - (from.sums[i] as number)))
        }
        service.free()
      }),
      { seed: 20260202, numRuns: 150 },
    )
  })
})

describe('dynamicWeight', () => {
  it('refuses options that are none', () => {
    expect(() => dynamicWeight({ updateMs: 0 })).toThrow('dynamicWeight.updateMs')
    expect(() => dynamicWeight({ windowMs: 1 } as object)).toThrow('windowMs')
  })

  it('knows instances again over refreshes, and what is cancelled is no outcome', () => {
    let nowMs = 0
    const lb = createLoadBalancer({
      seed: 3,
      clock: () => nowMs,
      services: { orders: { instances: ['http://a', 'http://b'], policy: dynamicWeight() } },
    })
    const service = lb.service('orders')
    const drawn = (count: number, outcome: (host: string) => object) => {
      let slow = 0
      for (let i = 0; i < count; i++) {
        const lease = service.pick()
        if (lease?.instance.host === 'b') slow++
        lease?.done(outcome(lease.instance.host))
      }
      return slow / count
    }
    drawn(2_000, () => ({ cancelled: true, latencyMs: 60_000 }))
    nowMs += 1_000
    expect(Math.abs(drawn(4_000, (host) => ({ latencyMs: host === 'a' ? 10 : 3_000 })) - 0.5)).toBeLessThan(0.03)
    for (let i = 0; i < 20; i++) {
      nowMs += 1_000
      service.pick()?.done({ cancelled: true })
    }
    service.update(['http://c', 'http://b', 'http://a'])
    nowMs += 1_000
    service.pick()?.done({ cancelled: true })
    // a: e^−0.01, b: e^−3, c: their mean.
    const share = 0.0498 / (0.99 + 0.0498 + 0.52)
    expect(Math.abs(drawn(20_000, () => ({ cancelled: true })) - share)).toBeLessThan(0.01)
  })

  it.each([
    [10_000, 'all outcomes are recorded', 0.0479],
    [10_001, 'every second one is', 0.5],
  ])('of %d instances %s', (count, _, slowShare) => {
    let nowMs = 0
    const only: Supplier = {
      name: 'only',
      filter: (list, { attributes }) => (attributes as { only: number[] }).only.map((i) => list[i] as ServiceInstance),
    }
    const instances = Array.from({ length: count }, (_, i) => ({ host: 'h', port: i }))
    const lb = createLoadBalancer({
      seed: 3,
      clock: () => nowMs,
      services: { orders: { instances, suppliers: [only], policy: 'dynamic-weight' } },
    })
    const service = lb.service('orders')
    const run = (only: number[], outcomes: number, latencyMs: number) => {
      let slow = 0
      for (let i = 0; i < outcomes; i++) {
        const lease = service.pick({ attributes: { only } })
        if (lease?.instance.port === 0) slow++
        lease?.done(Number.isNaN(latencyMs) ? { cancelled: true } : { latencyMs })
      }
      return slow / outcomes
    }
    run([0], 199, 3_000)
    run([1], 400, 10)
    nowMs += 1_000
    // e^−3 against e^−0.01 once the slow one has a hundred samples.
    expect(Math.abs(run([0, 1], 10_000, Number.NaN) - slowShare)).toBeLessThan(0.02)
    lb.close()
  })
})
