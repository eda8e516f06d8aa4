/** Model of relative weight, over plain objects. */

import { drawBySums, sumsOf } from './dynamic-weight.js'
import { expNegative } from './exp.js'
import type { ModelPrng } from './prng.js'

export class PacedRow {
  inFlight = 0
  asOfMs = 0
  volume = 0
  errorShare = 0
  latencyMs: number | undefined
  outcomes = 0
  silentSinceMs = 0
  lastStartedMs = 0

  start(nowMs: number): void {
    if (++this.inFlight === 1) this.silentSinceMs = nowMs
    this.lastStartedMs = nowMs
  }

  end(nowMs: number, given: number, failed: boolean, halfLifeMs: number, minVolume: number): void {
    this.inFlight--
    this.volume = this.volume * expNegative((-(nowMs - this.asOfMs) / halfLifeMs) * Math.LN2) + 1
    this.asOfMs = nowMs
    this.silentSinceMs = nowMs
    this.outcomes++
    const bad = 1 / Math.max(this.volume, minVolume)
    const good = this.volume < minVolume ? Math.max(0.5, bad) : bad
    if (failed) {
      this.errorShare += (1 - this.errorShare) * bad
      return
    }
    this.errorShare -= this.errorShare * good
    if (Number.isNaN(given)) return
    const ms = Math.max(given, 0.01)
    const before = this.latencyMs
    if (before === undefined) this.latencyMs = ms
    else if (ms > before) this.latencyMs = before + (ms - before) * bad
    else this.latencyMs = 1 / ((1 - good) / before + good / ms)
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2
}

/** Picks from one list. */
export class RelativeList {
  #sums: number[] = []
  #laidAtMs = Number.NEGATIVE_INFINITY
  #probed = -1
  #picks = 0

  constructor(
    readonly rows: readonly PacedRow[],
    readonly bases: readonly number[],
    readonly halfLifeMs: number,
    readonly minVolume: number,
  ) {}

  pick(prng: ModelPrng, nowMs: number): number {
    if (this.rows.length < 2) return this.rows.length - 1
    if (!(nowMs - this.#laidAtMs < this.halfLifeMs / 20)) this.#lay(nowMs)
    this.#picks++
    if (this.#probed >= 0 && this.#picks >= 20) {
      const probed = this.#probed
      this.#picks = 0
      this.#probed = -1
      return probed
    }
    const first = drawBySums(prng, this.#sums)
    const start = this.#sums[first] as number
    const share = (this.#sums[first + 1] as number) - start
    const point = prng.f64() * ((this.#sums.at(-1) as number) - share)
    const at = point >= start ? point + share : point
    const drawn = this.#sums.slice(0, -1).findLastIndex((sum) => sum <= at)
    const other = drawn !== first ? drawn : first + 1 < this.rows.length ? first + 1 : first - 1
    const weight = (i: number) => (this.#sums[i + 1] as number) - (this.#sums[i] as number)
    const inFlight = (i: number) => (this.rows[i] as PacedRow).inFlight
    const isLess = inFlight(other) * weight(first) < inFlight(first) * weight(other)
    const staysSo = (inFlight(other) + 1) * weight(first) <= (inFlight(first) + 1) * weight(other)
    return isLess && staysSo ? other : first
  }

  #lay(nowMs: number): void {
    const judged = this.rows.filter((row) => row.outcomes >= this.minVolume)
    const latencies = judged.map((row) => row.latencyMs).filter((ms) => ms !== undefined)
    const reference = latencies.length === 0 ? undefined : median(latencies)
    const factors = this.rows.map((row) => this.#factor(row, reference, nowMs))
    this.#sums = sumsOf(factors.map((factor, i) => (this.bases[i] as number) * factor))
    const idle = this.rows.map((row, i) =>
      (factors[i] as number) < 0.5 && row.inFlight === 0 ? nowMs - row.lastStartedMs : -1,
    )
    const longest = Math.max(...idle)
    this.#probed = longest >= this.halfLifeMs / 4 ? idle.indexOf(longest) : -1
    this.#laidAtMs = nowMs
  }

  #factor(row: PacedRow, reference: number | undefined, nowMs: number): number {
    const judged = row.outcomes >= this.minVolume
    const silent = row.inFlight === 0 ? 0 : nowMs - row.silentSinceMs
    let relative = 1
    if (reference !== undefined) {
      const known = judged ? (row.latencyMs ?? reference) : reference
      relative = Math.min(reference / Math.max(known, silent), 10)
    }
    const kept = judged ? 1 - row.errorShare : 1
    return Math.max(relative * (kept * kept * kept), 0.02)
  }
}
