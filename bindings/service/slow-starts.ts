/** @module New instances on their way to their full weight, in steps that picks make when they are due. */

import type { Members } from './members.js'

/** Read from options. */
export interface SlowStart {
  readonly windowMs: number
  /** 1: evenly; more: quicker at first. */
  readonly aggression: number
  /** Of the full weight: not less than this. */
  readonly minShare: number
}

/** Envoy's: so that an instance of this moment has a weight. */
const LEAST_AGE_MS = 1

/**
 * The share of its weight that an instance of this age has.
 * @see Envoy's slow start mode: max(minimum, (max(age, 1 ms) / window)^(1 / aggression))
 */
export function slowStartShare(ageMs: number, { windowMs, aggression, minShare }: SlowStart): number {
  if (ageMs >= windowMs) return 1
  return Math.max(minShare, (Math.max(ageMs, LEAST_AGE_MS) / windowMs) ** (1 / aggression))
}

/** Steps of a window, at most. Each makes the service lay out its weights anew. */
const STEPS = 20

export class SlowStarts {
  readonly #members: Members
  readonly #settings: SlowStart
  /** Weights are whole numbers (SCLB's), also on the way. */
  readonly #whole: boolean
  readonly #begun = new Map<number, { weight: number; startMs: number }>()
  /** When the next step is due; infinite: everybody has all of its weight. */
  nextStepMs = Number.POSITIVE_INFINITY
  /** When they were last looked at. */
  #atMs = Number.NEGATIVE_INFINITY

  constructor(members: Members, settings: SlowStart, whole: boolean) {
    this.#members = members
    this.#whole = whole
    this.#settings = settings
  }

  /** The row's instance is new. */
  begin(row: number, weight: number, nowMs: number): void {
    this.#begun.set(row, { weight, startMs: nowMs })
    this.advance(nowMs)
  }

  /** Another weight for a row that is on its way; false: it is not. */
  retarget(row: number, weight: number): boolean {
    const begun = this.#begun.get(row)
    if (begun === undefined) return false
    begun.weight = weight
    this.#put(row, begun, this.#atMs)
    return true
  }

  /** Whether a step is due, or the clock has gone back. */
  isDue(nowMs: number): boolean {
    return nowMs >= this.nextStepMs || (nowMs < this.#atMs && this.#begun.size > 0)
  }

  /** Forgets rows whose instance has left. */
  forgetDeparted(): void {
    const { byRow } = this.#members
    for (const row of this.#begun.keys()) {
      const instance = byRow[row]
      if (instance === undefined || this.#members.rowOfListed(instance) !== row) this.#begun.delete(row)
    }
    if (this.#begun.size === 0) this.nextStepMs = Number.POSITIVE_INFINITY
  }

  /** Gives everybody the weight of its age. Where the clock has gone back, ages stand still. */
  advance(nowMs: number): void {
    const backMs = Math.max(this.#atMs - nowMs, 0)
    this.#atMs = nowMs
    this.nextStepMs = Number.POSITIVE_INFINITY
    const { windowMs } = this.#settings
    for (const [row, begun] of this.#begun) {
      begun.startMs -= Number.isFinite(backMs) ? backMs : 0
      this.#put(row, begun, nowMs)
      if (nowMs - begun.startMs >= windowMs) this.#begun.delete(row)
      else this.nextStepMs = Math.min(this.nextStepMs, nowMs + windowMs / STEPS, begun.startMs + windowMs)
    }
  }

  /** Two digits keep the cycles of rotations short. */
  #put(row: number, { weight, startMs }: { weight: number; startMs: number }, nowMs: number): void {
    const share = slowStartShare(nowMs - startMs, this.#settings)
    const unit = this.#whole ? 1 : 1_000
    const slow = Math.round(Number((weight * share).toPrecision(2)) * unit) / unit
    this.#members.setWeight(row, share === 1 || weight === 0 ? weight : Math.max(slow, 1 / unit))
  }
}
