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
    const blackout = this.#blackout(this.successive)
    return blackout > 0 ? (this.#verdicts().at(-1)?.at as number) + blackout : 0
  }

  get blackoutMs(): number {
    let [total, successive] = [0, 0]
    for (const { verdict } of this.#verdicts()) {
      successive = verdict === 'heals' ? 0 : successive + 1
      total += this.#blackout(successive)
    }
    return total
  }

  failuresInWindow(now: number): number {
    let [from, count] = [Number.NEGATIVE_INFINITY, 0]
    for (const { verdict, at } of this.#verdicts()) {
      if (verdict !== 'trips') continue
      if (at - from >= this.#settings.failureWindowMs) [from, count] = [at, 0]
      count++
    }
    return now - from < this.#settings.failureWindowMs ? count : 0
  }

  /** Buckets from the first request on; an empty one ends the row of them. */
  requestsInWindow(now: number): number {
    const { requestWindowMs: width } = this.#settings
    const starts = this.#history.filter(({ kind }) => kind === 'start').map(({ at }) => at)
    const buckets: { from: number; count: number }[] = []
    for (const at of starts) {
      const last = buckets.at(-1)
      if (last !== undefined && at - last.from < width) last.count++
      else if (last !== undefined && at - last.from < 2 * width) buckets.push({ from: last.from + width, count: 1 })
      else buckets.push({ from: at, count: 1 })
    }
    const complete = buckets.filter(({ from }) => now - from >= width && now - from < 2 * width)
    return complete.at(-1)?.count ?? 0
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
