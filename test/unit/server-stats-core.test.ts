/** Ribbon's statistics in the core: the formulae of ServerStats, and a model over random histories. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BREAKER_CLOSED, VERDICT_HEALS, VERDICT_NONE, VERDICT_TRIPS } from '../../assembly/server-stats-layout.js'
import type { Core } from '../../bindings/core/core.js'
import type { Pointer } from '../../bindings/core/exports.js'
import { RIBBON_STATS, ServerStatsRecorder } from '../../bindings/policy/server-stats.js'
import { ModelServerStats, type ModelSettings, type Verdict } from '../model/server-stats.js'
import { CORES } from './cores.js'

const VERDICTS: Record<Verdict, number> = { heals: VERDICT_HEALS, trips: VERDICT_TRIPS, none: VERDICT_NONE }

const RIBBON: ModelSettings = {
  threshold: 3,
  factorMs: 10_000,
  mostMs: 30_000,
  activeExpiryMs: 600_000,
  failureWindowMs: 1_000,
  requestWindowMs: 300_000,
}

class Subject {
  readonly exports: Core['exports']
  readonly block: Pointer
  readonly #core: Core
  readonly #recorder = new ServerStatsRecorder(RIBBON_STATS)

  constructor(core: Core, given: Partial<ModelSettings> = {}, rows = 4) {
    this.#core = core
    this.exports = core.exports
    this.block = core.exports.createBlock()
    core.exports.reserveRows(this.block, rows)
    for (let row = 0; row < rows; row++) core.exports.resetRow(this.block, row)
    const { threshold, factorMs, mostMs, activeExpiryMs, failureWindowMs, requestWindowMs } = { ...RIBBON, ...given }
    core.exports.openServerStats(
      this.block,
      threshold,
      factorMs,
      mostMs,
      activeExpiryMs,
      failureWindowMs,
      requestWindowMs,
    )
  }

  start = (now: number, row = 0) => this.exports.startRequest(this.block, row, now)
  end = (now: number, verdict: Verdict, ms = Number.NaN, row = 0) =>
    this.exports.endRequest(this.block, row, now, ms, VERDICTS[verdict])
  until = (row = 0) => this.exports.trippedUntil(this.block, row)
  isTripped = (now: number) => this.exports.isTripped(this.block, 0, now) !== 0
  active = (now: number) => this.exports.activeRequests(this.block, 0, now)
  stats = (now: number, row = 0) => this.#recorder.statsAt(this.#core, this.block, row, now)
}

const settings = fc.record({
  threshold: fc.integer({ min: 0, max: 4 }),
  factorMs: fc.integer({ min: 0, max: 50 }),
  mostMs: fc.integer({ min: 0, max: 400 }),
  activeExpiryMs: fc.integer({ min: 1, max: 300 }),
  failureWindowMs: fc.integer({ min: 1, max: 100 }),
  requestWindowMs: fc.integer({ min: 1, max: 100 }),
})
const moment = fc.record({
  elapsed: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 500 })),
  row: fc.nat({ max: 1 }),
  what: fc.constantFrom(
    'start' as const,
    'start' as const,
    'heals' as const,
    'trips' as const,
    'trips' as const,
    'none' as const,
  ),
  ms: fc.oneof(fc.constant(Number.NaN), fc.double({ min: 0, max: 1e4, noNaN: true })),
  looks: fc.boolean(),
})

describe.each(Object.entries(CORES))('%s core', (_, make) => {
  const core = make()

  /** Ribbon 2.7 ServerStats.getCircuitBreakerBlackoutPeriod: threshold 3, factor 10 s, cap 30 s. */
  it.each([
    [RIBBON, [0, 0, 10_000, 20_000, 30_000, 30_000]],
    [{ factorMs: 1_000, mostMs: 3_600_000 }, [0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000]],
    [{ threshold: 1, factorMs: 5, mostMs: 12 }, [5, 10, 12, 12]],
    [{ mostMs: 0 }, [0, 0, 0, 0, 0]],
  ])('a breaker of %j is open for %j ms after 1, 2, … failures', (given, blackouts) => {
    const subject = new Subject(core, given)
    blackouts.forEach((ms, i) => {
      subject.end(1_000_000 * (i + 1), 'trips')
      expect(subject.until()).toBe(ms === 0 ? 0 : 1_000_000 * (i + 1) + ms)
    })
    expect(subject.stats(0).blackoutMs).toBe(blackouts.reduce((sum, ms) => sum + ms, 0))
  })

  it('doubles sixteen times at most', () => {
    const subject = new Subject(core, { factorMs: 1, mostMs: 2 ** 31 - 1 })
    for (let i = 0; i < 40; i++) subject.end(0, 'trips')
    expect(subject.until()).toBe(65_536)
  })

  it('lets requests through from the very moment on that its time is over', () => {
    const subject = new Subject(core)
    for (let i = 0; i < 3; i++) subject.end(500, 'trips')
    expect([10_499, 10_500].map(subject.isTripped)).toEqual([true, false])
  })

  it('tells when a breaker trips, not when it stays open, and when it has healed', () => {
    const subject = new Subject(core)
    expect([0, 1, 2].map((now) => subject.end(now, 'trips'))).toEqual([0, 0, 10_000])
    expect(subject.end(3, 'trips')).toBe(0)
    expect(subject.until()).toBe(20_003)
    expect(subject.end(20_003, 'trips')).toBe(30_000)
    expect(subject.end(20_004, 'none')).toBe(0)
    expect(subject.end(20_005, 'heals')).toBe(BREAKER_CLOSED)
    expect(subject.end(20_006, 'heals')).toBe(0)
    expect(subject.until()).toBe(0)
  })

  it('forgets who is in flight 600 s after the last change, and never counts below zero', () => {
    const subject = new Subject(core)
    subject.start(0)
    subject.start(0)
    expect([600_000, 600_001].map(subject.active)).toEqual([2, 0])
    subject.end(700_000, 'heals')
    expect(subject.active(700_000)).toBe(0)
    subject.start(700_000)
    expect(subject.active(700_000)).toBe(1)
  })

  it('counts failures in the current second, requests in the last 300 s; the next begin after that with who looks', () => {
    const subject = new Subject(core)
    for (const now of [100, 900, 1_100]) subject.end(now, 'trips')
    expect([1_100, 1_101].map((now) => subject.stats(now).failuresInWindow)).toEqual([3, 0])
    for (const now of [2_101, 2_102]) subject.end(now, 'trips')
    expect(subject.stats(2_102).failuresInWindow).toBe(1)
    const requests = new Subject(core)
    for (const now of [7, 8, 300_007, 300_008]) requests.start(now)
    const counted = [300_008, 600_008, 600_009, 900_009, 900_010].map((now) => requests.stats(now).requestsInWindow)
    expect(counted).toEqual([3, 3, 1, 1, 0])
    requests.start(900_010)
    expect(requests.stats(9_000_000).requestsInWindow).toBe(1)
  })

  it('with a threshold of 0 keeps nobody out before the first failure, and a success does not heal at once', () => {
    const subject = new Subject(core, { threshold: 0 })
    expect([0, 9_999].map(subject.isTripped)).toEqual([false, false])
    expect(subject.end(1_000, 'trips')).toBe(20_000)
    expect(subject.until()).toBe(21_000)
    expect(subject.end(2_000, 'heals')).toBe(0)
    expect([10_999, 11_000].map(subject.isTripped)).toEqual([true, false])
  })

  it('knows the mean, the population variance, the least and the most of all response times', () => {
    const subject = new Subject(core)
    const none = { count: 0, meanMs: Number.NaN, variance: Number.NaN, minMs: Number.NaN, maxMs: Number.NaN }
    expect(subject.stats(0).responseTimes).toEqual(none)
    expect(core.exports.meanResponseMs(subject.block, 0)).toBe(0)
    subject.end(0, 'heals', 40)
    expect(subject.stats(0).responseTimes).toEqual({ count: 1, meanMs: 40, variance: 0, minMs: 40, maxMs: 40 })
    for (const ms of [10, 20, 50, Number.NaN, Number.POSITIVE_INFINITY]) subject.end(0, 'trips', ms)
    expect(subject.stats(0).responseTimes).toEqual({ count: 4, meanMs: 30, variance: 250, minMs: 10, maxMs: 50 })
    expect(core.exports.meanResponseMs(subject.block, 0)).toBe(30)
  })

  it('keeps each row’s numbers when rows are added, and clears those of a row that is used again', () => {
    const subject = new Subject(core, {}, 2)
    subject.start(5, 1)
    subject.end(6, 'trips', 7, 1)
    const before = subject.stats(6, 1)
    core.exports.reserveRows(subject.block, 64)
    expect(subject.stats(6, 1)).toEqual(before)
    core.exports.resetRow(subject.block, 1)
    expect(subject.stats(6, 1)).toEqual(subject.stats(6, 0))
    expect(subject.start(8, 1)).toBe(1)
    expect(subject.start(8, 1)).toBe(0)
  })

  it('says what the model says, over random histories, whoever looks in between', () => {
    fc.assert(
      fc.property(settings, fc.array(moment, { maxLength: 60 }), (given, moments) => {
        const subject = new Subject(core, given)
        const models = [new ModelServerStats(given), new ModelServerStats(given)] as const
        let now = 0
        for (const { elapsed, row, what, ms, looks } of moments) {
          now += elapsed
          const model = models[row] as ModelServerStats
          if (what === 'start') {
            subject.start(now, row)
            model.start(now)
          } else {
            subject.end(now, what, ms, row)
            model.end(now, ms, what)
          }
          if (!looks) continue
          models.forEach((each, i) => {
            const stats = subject.stats(now, i)
            expect(stats.requests).toBe(each.requests)
            expect(stats.active).toBe(each.active(now))
            expect(stats.active).toBeGreaterThanOrEqual(0)
            expect(stats.connectionFailures).toBe(each.successive)
            expect(subject.until(i)).toBe(each.trippedUntil())
            expect(stats.blackoutMs).toBe(each.blackoutMs)
            expect(stats.failuresInWindow).toBe(each.failuresInWindow(now))
            expect(stats.requestsInWindow).toBe(each.requestsInWindow(now))
            const { times } = each
            expect(stats.responseTimes.count).toBe(times.length)
            if (times.length === 0) return
            const meanMs = times.reduce((sum, time) => sum + time, 0) / times.length
            expect(stats.responseTimes.meanMs).toBe(meanMs)
            const variance = times.reduce((sum, time) => sum + (time - meanMs) ** 2, 0) / times.length
            expect(Math.abs(stats.responseTimes.variance - variance)).toBeLessThanOrEqual(1e-6 * (1 + meanMs ** 2))
            expect(stats.responseTimes.minMs).toBe(Math.min(...times))
            expect(stats.responseTimes.maxMs).toBe(Math.max(...times))
          })
        }
        core.exports.freeBlock(subject.block)
      }),
      { seed: 20260101, numRuns: 400 },
    )
  })
})
