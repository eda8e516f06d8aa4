/** Ribbon's statistics of one server, from what happened to it: every number is worked out anew from the history. */

export interface ModelSettings {
  threshold: number
  factorMs: number
  mostMs: number
  activeExpiryMs: number
  failureWindowMs: number
  requestWindowMs: number
}

export type Verdict = 'heals' | 'trips' | 'none'

type Moment = { at: number } & ({ kind: 'start' } | { kind: 'look' } | { kind: 'end'; ms: number; verdict: Verdict })

export class ModelServerStats {
  readonly #settings: ModelSettings
  readonly #history: Moment[] = []

  constructor(settings: ModelSettings) {
    this.#settings = settings
  }

  start(at: number): void {
    this.#history.push({ kind: 'start', at })
  }

  end(at: number, ms: number, verdict: Verdict): void {
    this.#history.push({ kind: 'end', at, ms, verdict })
  }

  get requests(): number {
    return this.#history.filter(({ kind }) => kind === 'end').length
  }

  /** Looking at it is what forgets the expired. */
  active(now: number): number {
    this.#history.push({ kind: 'look', at: now })
    let [active, changedAt] = [0, Number.NEGATIVE_INFINITY]
    for (const { kind, at } of this.#history) {
      if (kind === 'look') {
        if (at - changedAt > this.#settings.activeExpiryMs) active = 0
        continue
      }
      active = kind === 'start' ? active + 1 : Math.max(active - 1, 0)
      changedAt = at
    }
    return active
  }

  get successive(): number {
    const verdicts = this.#verdicts().map(({ verdict }) => verdict)
    return verdicts.length - 1 - verdicts.lastIndexOf('heals')
  }

  trippedUntil(): number {
    const failedAt = this.#verdicts().findLast(({ verdict }) => verdict === 'trips')?.at
    const blackout = this.#blackout(this.successive)
    return failedAt !== undefined && blackout > 0 ? failedAt + blackout : 0
  }

  get blackoutMs(): number {
    let [total, successive] = [0, 0]
    for (const { verdict } of this.#verdicts()) {
      successive = verdict === 'heals' ? 0 : successive + 1
      if (successive > 0) total += this.#blackout(successive)
    }
    return total
  }

  failuresInWindow(now: number): number {
    const counts = (moment: Moment) => moment.kind === 'end' && moment.verdict === 'trips'
    return this.#buckets(now, this.#settings.failureWindowMs, counts).current
  }

  requestsInWindow(now: number): number {
    return this.#buckets(now, this.#settings.requestWindowMs, ({ kind }) => kind === 'start').before
  }

  /** Each ends with the first that counts or looks after its time, with whom the next begins. */
  #buckets(now: number, width: number, counts: (moment: Moment) => boolean): { before: number; current: number } {
    let [before, current, end] = [0, 0, Number.NEGATIVE_INFINITY]
    for (const moment of [...this.#history, { kind: 'look', at: now } as const]) {
      const isCounted = counts(moment)
      if (!isCounted && moment.kind !== 'look') continue
      if (moment.at > end) [before, current, end] = [current, 0, moment.at + width]
      if (isCounted) current++
    }
    return { before, current }
  }

  get times(): number[] {
    return this.#history.flatMap((moment) => (moment.kind === 'end' && moment.ms >= 0 ? moment.ms : []))
  }

  #verdicts(): { at: number; verdict: Verdict }[] {
    return this.#history.flatMap((moment) =>
      moment.kind === 'end' && moment.verdict !== 'none' ? { at: moment.at, verdict: moment.verdict } : [],
    )
  }

  #blackout(failures: number): number {
    const { threshold, factorMs, mostMs } = this.#settings
    return failures < threshold ? 0 : Math.min(2 ** Math.min(failures - threshold, 16) * factorMs, mostMs)
  }
}
