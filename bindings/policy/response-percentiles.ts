/** @module Percentiles of response times, published a period late as Ribbon's DataDistribution does. */

import type { ResponsePercentiles } from '../types/answers.js'

const PERCENTILES = [10, 25, 50, 75, 90, 95, 98, 99, 99.5] as const

/** Of an idle period: zeros, or nothing of its own. */
export type IdlePeriod = 'zeros' | 'keeps'

/**
 * Collects the last `samples` response times of the current period and publishes the percentiles of the last complete
 * one. No timer: periods end when somebody looks or adds.
 */
export class PercentilesPublisher {
  readonly #samples: number
  readonly #periodMs: number
  readonly #idle: IdlePeriod
  #fromMs: number
  #ring: number[] = []
  #next = 0
  #published: ResponsePercentiles = NO_PERCENTILES

  constructor(samples: number, periodMs: number, idle: IdlePeriod, nowMs: number) {
    this.#samples = samples
    this.#periodMs = periodMs
    this.#idle = idle
    this.#fromMs = nowMs
  }

  add(ms: number, nowMs: number): void {
    this.#publish(nowMs)
    this.#ring[this.#next] = ms
    this.#next = (this.#next + 1) % this.#samples
  }

  /** Of the last complete period; NaN before any had samples. */
  at(nowMs: number): ResponsePercentiles {
    this.#publish(nowMs)
    return this.#published
  }

  #publish(nowMs: number): void {
    // Where the clock has gone back, the period begins anew.
    this.#fromMs = Math.min(this.#fromMs, nowMs)
    const ended = Math.floor((nowMs - this.#fromMs) / this.#periodMs)
    if (ended < 1) return
    this.#fromMs += ended * this.#periodMs
    const wasIdle = ended > 1 || this.#ring.length === 0
    if (wasIdle && this.#idle === 'zeros') this.#published = allOf(0)
    else if (this.#ring.length > 0) this.#published = percentilesOf(this.#ring)
    this.#ring = []
    this.#next = 0
  }
}

/** Between the two nearest samples, in proportion; at least one sample. */
export function percentilesOf(samples: readonly number[]): ResponsePercentiles {
  const sorted = Float64Array.from(samples).sort()
  return record((percent) => {
    const place = (percent / 100) * sorted.length
    const [low, high] = [Math.floor(place), Math.ceil(place)]
    if (high >= sorted.length) return sorted[sorted.length - 1] as number
    const [below, above] = [sorted[low] as number, sorted[high] as number]
    return below + (place - low) * (above - below)
  })
}

function allOf(value: number): ResponsePercentiles {
  return record(() => value)
}

function record(at: (percent: number) => number): ResponsePercentiles {
  return Object.fromEntries(PERCENTILES.map((percent) => [percent, at(percent)])) as ResponsePercentiles
}

export const NO_PERCENTILES = allOf(Number.NaN)
