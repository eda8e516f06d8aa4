/** Model of Ribbon's rules over plain objects: statistics as lists of what happened, lists filtered as Ribbon filters them. */

import { ModelPrng } from './prng.js'

export interface Flags {
  counter: boolean
  tenProbes: boolean
  ignoresDown: boolean
  lifetime: boolean
  zeroFirst: boolean
  drawPerServer: boolean
  dropsGood: boolean
}

interface Row {
  down: boolean
  zone: number
  active: number
  activeAt: number
  successive: number
  failedAt: number
  times: { at: number; ms: number }[]
}

export interface RuleList {
  readonly rows: readonly number[]
  weights?: { update: number; each: number[] }
  /** Where its rotation stands, once it has been picked from. */
  cursor?: number
}

export interface Zone {
  id: number
  instances: number
  tripped: number
  active: number
  load: number
}

export const SETTINGS = { threshold: 3, factorMs: 10_000, mostMs: 30_000, expiryMs: 600_000 }

export class ModelRules {
  readonly rows: Row[] = []
  readonly prng: ModelPrng
  nowMs = 0
  #cursor: number
  #filtered: number
  #updates = 0
  #updatedAt = 0
  #published: { weights: Map<number, number>; size: number } = { weights: new Map(), size: 0 }

  constructor(nameHash: number, seed: number) {
    this.prng = new ModelPrng(nameHash, seed)
    this.#cursor = this.prng.below(1000)
    this.#filtered = this.#cursor
    this.prng.u32()
    this.prng.u32()
  }

  addRow(zone: number): void {
    this.rows.push({ down: false, zone, active: 0, activeAt: 0, successive: 0, failedAt: 0, times: [] })
  }

  start(row: number): void {
    const stats = this.#row(row)
    stats.active++
    stats.activeAt = this.nowMs
  }

  end(row: number, ms: number, tripping: boolean): void {
    const stats = this.#row(row)
    stats.active = Math.max(stats.active - 1, 0)
    stats.activeAt = this.nowMs
    stats.times.push({ at: this.nowMs, ms })
    stats.successive = tripping ? stats.successive + 1 : 0
    if (tripping) stats.failedAt = this.nowMs
  }

  inTurn(list: RuleList, flags: Flags): number {
    const { rows } = list
    for (let probe = 0; rows.length > 0 && probe < (flags.tenProbes ? 10 : rows.length); probe++) {
      const turn = (flags.counter ? this.#cursor : (list.cursor ?? this.#cursor)) + 1
      const next = turn % rows.length
      this.#cursor = list.cursor = flags.counter ? next : turn
      if (!this.#row(rows[next] as number).down) return next
    }
    return -1
  }

  randomUp({ rows }: RuleList): number {
    if (rows.length === 0) return -1
    const up = rows.flatMap((row, i) => (this.#row(row).down ? [] : [i]))
    return up[this.prng.below(rows.length)] ?? -1
  }

  bestAvailable(list: RuleList, flags: Flags): number {
    const open = this.#indexes(list, flags).filter((i) => !this.tripped(list.rows[i] as number))
    const loads = open.map((i) => this.active(list.rows[i] as number))
    return open[loads.indexOf(Math.min(...loads))] ?? this.inTurn(list, flags)
  }

  available(list: RuleList, limit: number, filterTripped: boolean, flags: Flags): number {
    const passes = (index: number) => this.#isAvailable(list.rows[index] as number, limit, filterTripped)
    let index = this.inTurn(list, flags)
    for (let check = 0; check < 11; check++) {
      if (index >= 0 && passes(index)) return index
      index = this.inTurn(list, flags)
    }
    const all = this.#indexes(list, flags)
    const passed = all.filter(passes)
    return this.#turn(passed.length > 0 ? passed : all, flags)
  }

  zoneAvoiding(
    list: RuleList,
    load: number,
    share: number,
    limit: number,
    filterTripped: boolean,
    flags: Flags,
  ): number {
    const zones = this.zones()
    let open = this.#drawOpen(zones, load, share, flags)
    const all = this.#indexes(list, flags)
    const isAvailable = (i: number) => this.#isAvailable(list.rows[i] as number, limit, filterTripped)
    const inOpen = all.filter((i) => {
      if (flags.drawPerServer) open = this.#drawOpen(zones, load, share, flags)
      const { zone } = this.#row(list.rows[i] as number)
      return (zone === 0 || zones.length < 2 || open.has(zone)) && isAvailable(i)
    })
    const choices = [inOpen, all.filter(isAvailable), all]
    return this.#turn(choices.find((one) => one.length > 0) ?? [], flags)
  }

  /** The drawn zone; 0: none. */
  drawZone(load: number, share: number, flags: Flags): number {
    const zones = this.zones()
    if (zones.length < 2) return 0
    const open = this.#drawOpen(zones, load, share, flags)
    if (open.size === zones.length || open.size === 0) return 0
    const left = zones.filter(({ id }) => open.has(id))
    return atPlace(left, 1 + this.prng.below(left.reduce((sum, { instances }) => sum + instances, 0)))
  }

  byResponseTime(
    list: RuleList,
    whole: readonly number[],
    updateMs: number,
    halfMs: number,
    formula: 'sum' | 'max',
    flags: Flags,
  ): number {
    const { rows } = list
    if (rows.length === 0) return -1
    const due = this.#updates === 0 || this.nowMs - this.#updatedAt >= updateMs
    if (due) {
      this.#updates++
      this.#updatedAt = this.nowMs
    }
    if (list.weights?.update !== this.#updates) {
      list.weights = { update: this.#updates, each: this.#weigh(rows, whole, due, halfMs, formula, flags) }
    }
    const { each } = list.weights
    const sums = each.map((_, i) => each.slice(0, i + 1).reduce((a, b) => a + b, 0))
    const total = sums.at(-1) as number
    if (total < 0.001) return this.inTurn(list, flags)
    const point = this.prng.f64() * total
    const index = sums.findIndex((sum) => sum > point || (flags.zeroFirst && sum === point))
    if (!this.#row(rows[index] as number).down) return index
    const ups = rows.flatMap((row, i) => (this.#row(row).down ? [] : [i]))
    // As differences of the sums, to the same bits.
    const own = (i: number) => (i === 0 ? (sums[0] as number) : (sums[i] as number) - (sums[i - 1] as number))
    const left = ups.reduce((sum, i) => sum + own(i), 0)
    if (left < 0.001) return this.inTurn(list, flags)
    let rest = 0
    const again = this.prng.f64() * left
    const weighing = ups.filter((i) => own(i) > 0)
    return weighing.find((i) => (rest += own(i)) > again) ?? (weighing.at(-1) as number)
  }

  tripped(row: number): boolean {
    const { successive, failedAt } = this.#row(row)
    const beyond = successive - SETTINGS.threshold
    if (beyond < 0) return false
    return failedAt + Math.min(2 ** Math.min(beyond, 16) * SETTINGS.factorMs, SETTINGS.mostMs) > this.nowMs
  }

  active(row: number): number {
    const { active, activeAt } = this.#row(row)
    return this.nowMs - activeAt <= SETTINGS.expiryMs ? active : this.#expire(row)
  }

  /** Of all rows. */
  zones(): Zone[] {
    const ids = [...new Set(this.rows.map(({ zone }) => zone))].filter((id) => id > 0).sort((a, b) => a - b)
    return ids.map((id) => {
      const rows = this.rows.flatMap(({ zone }, row) => (zone === id ? [row] : []))
      const open = rows.filter((row) => !this.tripped(row))
      const sum = (of: number[]) => of.reduce((total, row) => total + this.active(row), 0)
      const load = open.length === 0 ? -1 : sum(open) / open.length
      return { id, instances: rows.length, tripped: rows.length - open.length, active: sum(rows), load }
    })
  }

  #drawOpen(zones: readonly Zone[], load: number, share: number, flags: Flags): Set<number> {
    const worst = worstOf(zones, load, share, flags)
    const sum = worst.reduce((total, { instances }) => total + instances, 0)
    return availableOf(zones, load, share, flags, sum === 0 ? 0 : 1 + this.prng.below(sum))
  }

  #weigh(
    rows: readonly number[],
    whole: readonly number[],
    due: boolean,
    halfMs: number,
    formula: 'sum' | 'max',
    flags: Flags,
  ): number[] {
    if (!flags.lifetime)
      return weightsOf(
        rows.map((row) => this.#recentMean(row, halfMs)),
        formula,
      )
    if (due) {
      const weights = weightsOf(
        whole.map((row) => this.#lifetimeMean(row)),
        formula,
      )
      whole.forEach((row, i) => void this.#published.weights.set(row, weights[i] as number))
      this.#published.size = whole.length
    }
    return rows.map((row) => (this.#published.size === whole.length ? (this.#published.weights.get(row) ?? 0) : 0))
  }

  #lifetimeMean(row: number): number {
    const { times } = this.#row(row)
    return times.length === 0 ? 0 : sumOf(times) / times.length
  }

  #recentMean(row: number, halfMs: number): number | undefined {
    const half = Math.floor(this.nowMs / halfMs)
    const of = (which: number) => this.#row(row).times.filter(({ at }) => Math.floor(at / halfMs) === which)
    const count = of(half).length + of(half - 1).length
    return count === 0 ? undefined : (sumOf(of(half)) + sumOf(of(half - 1))) / count
  }

  #indexes({ rows }: RuleList, { ignoresDown }: Flags): number[] {
    return rows.flatMap((row, i) => (ignoresDown || !this.#row(row).down ? [i] : []))
  }

  #isAvailable(row: number, limit: number, filterTripped: boolean): boolean {
    return !(filterTripped && this.tripped(row)) && this.active(row) < limit
  }

  #turn(passed: readonly number[], flags: Flags): number {
    if (passed.length === 0) return -1
    if (!flags.counter) return passed[this.#filtered++ % passed.length] as number
    for (;;) {
      const current = this.#filtered
      this.#filtered = (current + 1) % passed.length
      if (current < passed.length) return passed[current] as number
    }
  }

  #expire(row: number): number {
    this.#row(row).active = 0
    return 0
  }

  #row(row: number): Row {
    return this.rows[row] as Row
  }
}

function weightsOf(means: readonly (number | undefined)[], formula: 'sum' | 'max'): number[] {
  const known = means.filter((mean) => mean !== undefined)
  const sum = known.reduce((a, b) => a + b, 0)
  const top = formula === 'sum' ? sum : Math.max(0, ...known)
  const unknown = known.length === 0 ? 0 : top - sum / known.length
  return means.map((mean) => (mean === undefined ? unknown : Math.max(top - mean, 0)))
}

function sumOf(times: readonly { ms: number }[]): number {
  return times.reduce((sum, { ms }) => sum + ms, 0)
}

/** The zones of which one is to be left out. */
function worstOf(zones: readonly Zone[], trigger: number, share: number, flags: Flags): Zone[] {
  if (zones.length < 2) return []
  const good = zones.filter((zone) => isGood(zone, share))
  let most = 0
  let worst: Zone[] = []
  for (const zone of good) {
    if (Math.abs(zone.load - most) < 1e-6) {
      worst.push(zone)
    } else if (zone.load > most) {
      most = zone.load
      worst = [zone]
    }
  }
  if (most < trigger && good.length === zones.length) return []
  return !flags.dropsGood && (most < 1e-6 || good.length < 2) ? [] : worst
}

/** ZoneAvoidanceRule.getAvailableZones. @param place the draw, from 1 */
export function availableOf(
  zones: readonly Zone[],
  trigger: number,
  share: number,
  flags: Flags,
  place: number,
): Set<number> {
  if (zones.length === 1) return new Set(zones.map(({ id }) => id))
  const open = new Set(zones.filter((zone) => isGood(zone, share)).map(({ id }) => id))
  const worst = worstOf(zones, trigger, share, flags)
  if (worst.length > 0) open.delete(atPlace(worst, place))
  return open
}

function isGood({ instances, tripped, load }: Zone, share: number): boolean {
  return instances > 0 && load >= 0 && tripped / instances < share
}

function atPlace(zones: readonly Zone[], place: number): number {
  let sum = 0
  return zones.find(({ instances }) => (sum += instances) >= place)?.id ?? 0
}
