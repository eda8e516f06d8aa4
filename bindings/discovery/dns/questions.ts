/** @module Questions to name servers, never more than one for a name within a while, whoever wants to know. */

import { isWorkers } from '../../runtime/host.js'
import { limited } from '../registry/limited.js'
import type { DnsAnswer, DnsType, Resolve } from './records.js'

export interface QuestionSettings {
  /** So long an answer, or a failure, is the answer to everybody. */
  readonly minTtlMs: number
  readonly limitMs: number
  readonly clock: () => number
}

/** An answer, with when it came. */
export type Dated = DnsAnswer & { readonly at: number }

type Outcome = { readonly at: number } & ({ readonly answer: Dated } | { readonly error: unknown })

interface Flight {
  readonly outcome: Promise<Dated>
  readonly stop: AbortController
  waiting: number
}

export class Questions {
  readonly #resolve: Resolve
  readonly #settings: QuestionSettings
  readonly #outcomes = new Map<string, Outcome>()
  readonly #flights = new Map<string, Flight>()
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(resolve: Resolve, settings: QuestionSettings) {
    this.#resolve = resolve
    this.#settings = settings
  }

  /**
   * The answer of less than `minTtlMs` ago, or else a new one. A failure is remembered as long.
   * @param leaving rejects when nobody waits any more: one for all questions of a list, which may be hundreds
   * @throws EVENKEEL_DISCOVERY; what `leaving` rejects with
   */
  async ask(name: string, type: DnsType, leaving: Promise<never>): Promise<Dated> {
    const key = `${type} ${name}`
    const last = this.#outcomes.get(key)
    if (last !== undefined && this.#settings.clock() - last.at < this.#settings.minTtlMs) {
      if ('error' in last) throw last.error
      return last.answer
    }
    this.#sweep()
    const flight = this.#flight(key, name, type)
    flight.waiting++
    try {
      return await Promise.race([flight.outcome, leaving])
    } finally {
      if (--flight.waiting === 0) {
        flight.stop.abort()
        // Whoever comes now must not wait for a question that was given up.
        if (this.#flights.get(key) === flight) this.#flights.delete(key)
      }
    }
  }

  #flight(key: string, name: string, type: DnsType): Flight {
    const under = this.#flights.get(key)
    if (under !== undefined) return under
    const stop = new AbortController()
    const outcome = this.#outcome(key, name, type, stop.signal)
    outcome.catch(() => {})
    const flight = { outcome, stop, waiting: 0 }
    // There a promise belongs to the request that made it; the outcome may be shared.
    if (!isWorkers()) this.#flights.set(key, flight)
    return flight
  }

  async #outcome(key: string, name: string, type: DnsType, given: AbortSignal): Promise<Dated> {
    const { limitMs, clock } = this.#settings
    try {
      // A resolver may listen to its signal or not.
      const answer = await limited({ signal: given, limitMs, what: `dns: ${type} ${name}: no answer` }, (signal) =>
        this.#resolve(name, type, signal),
      )
      const dated = { ...answer, at: clock() }
      this.#outcomes.set(key, { at: dated.at, answer: dated })
      return dated
    } catch (error) {
      // Given up is not answered.
      if (!given.aborted) this.#outcomes.set(key, { at: clock(), error })
      throw error
    }
  }

  /** Names that nobody asks for any more are not remembered. */
  #sweep(): void {
    const { minTtlMs, clock } = this.#settings
    const nowMs = clock()
    if (nowMs - this.#sweptAt < minTtlMs) return
    this.#sweptAt = nowMs
    for (const [key, { at }] of this.#outcomes) if (nowMs - at >= minTtlMs) this.#outcomes.delete(key)
  }
}
