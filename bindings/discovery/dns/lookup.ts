/** @module The list of one service, from as many questions as it takes. */

import type { InstanceInit } from '../../types/instance.js'
import { type Found, ListKeeper } from '../registry/list-keeper.js'
import { nameOf } from './name.js'
import { onAbort } from './on-abort.js'
import { type DnsSettings, recordFor } from './options.js'
import type { Dated, Questions } from './questions.js'
import type { DnsType } from './records.js'
import { type Target, type Tier, tiersOf } from './srv.js'

export interface Listing {
  readonly list: readonly InstanceInit[]
  /** When the answer that grows old first does so, on the clock. */
  readonly dueAt: number
  /** The same as a time from its arrival on. */
  readonly freshMs: number
  /** Of a part of it: an earlier answer stands in, or there was none. */
  readonly failure: unknown
}

type Family = 'A' | 'AAAA' | 'A+AAAA'

/** One round of questions. */
interface Round {
  /** Rejects when nobody waits for the list any more. */
  readonly leaving: Promise<never>
  readonly unreadable: string[]
  /** By them it is told when to ask again. */
  readonly answers: Dated[]
  /** Good ones, by question; what is not asked any more is forgotten. */
  readonly good: Map<string, Dated>
  failure: unknown
}

export class Lookup {
  readonly #serviceId: string
  readonly #settings: DnsSettings
  readonly #questions: Questions
  readonly #keeper = new ListKeeper()
  /** Of the last round. */
  #good = new Map<string, Dated>()
  #freshMs: number | undefined

  constructor(serviceId: string, settings: DnsSettings, questions: Questions) {
    this.#serviceId = serviceId
    this.#settings = settings
    this.#questions = questions
  }

  /** @throws EVENKEEL_CONFIG */
  get name(): string {
    return nameOf(this.#settings.name, this.#serviceId)
  }

  describe(): Record<string, string> {
    const { name } = this
    return {
      name,
      record: recordFor(name, this.#settings),
      ...(this.#freshMs !== undefined && { refreshMs: String(this.#freshMs) }),
      ...this.#keeper.remarks,
    }
  }

  /** @throws EVENKEEL_DISCOVERY if there is no telling who there is; the signal's reason */
  async look(signal: AbortSignal): Promise<Listing> {
    signal.throwIfAborted()
    let leave = () => {}
    const leaving = new Promise<never>((_, reject) => {
      leave = onAbort(signal, () => reject(signal.reason))
    })
    leaving.catch(() => {})
    try {
      const listing = await this.#look(leaving)
      signal.throwIfAborted()
      return listing
    } finally {
      leave()
    }
  }

  async #look(leaving: Promise<never>): Promise<Listing> {
    const { name } = this
    const record = recordFor(name, this.#settings)
    const round: Round = { leaving, unreadable: [], answers: [], good: new Map(), failure: undefined }
    const found = record === 'SRV' ? await this.#services(name, round) : await this.#addresses(name, record, round)
    this.#good = round.good
    const { dueAt, freshMs } = this.#freshness(round.answers, found.length === 0)
    this.#freshMs = freshMs
    return { list: this.#keeper.keep(found, round.unreadable), dueAt, freshMs, failure: round.failure }
  }

  /** Of answers that say something; where nobody is, whoever comes is to be seen soon. */
  #freshness(answers: readonly Dated[], isEmpty: boolean): { dueAt: number; freshMs: number } {
    const { minTtlMs, maxTtlMs, untoldMs } = this.#settings
    const telling = answers.filter(({ addresses, services }) => addresses.length > 0 || services.length > 0)
    const isShort = isEmpty || telling.length === 0
    let [dueAt, freshMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (const { at, ttlMs } of isShort ? answers : telling) {
      const toldMs = ttlMs === undefined ? untoldMs : Math.min(Math.max(ttlMs, minTtlMs), maxTtlMs)
      const ms = isShort ? minTtlMs : toldMs
      freshMs = Math.min(freshMs, ms)
      // Counted from the answer, which may be one that was remembered.
      dueAt = Math.min(dueAt, at + ms)
    }
    return { dueAt, freshMs }
  }

  async #addresses(name: string, record: Family, round: Round): Promise<readonly Found[]> {
    const port = this.#settings.port as number
    const hosts = await this.#hosts(name, record, round)
    return hosts.map((host) => this.#found(host, port, {}))
  }

  async #services(name: string, round: Round): Promise<readonly Found[]> {
    const { priorities, targetRecord } = this.#settings
    const tiers = tiersOf((await this.#ask(name, 'SRV', round)).services)
    const found: Found[] = []
    for (const tier of tiers) {
      if (targetRecord === undefined) found.push(...tier.map((target) => this.#atTarget(target)))
      else found.push(...(await this.#resolved(tier, targetRecord, round)))
      if (found.length > 0 && priorities === 'lowest') break
    }
    return found
  }

  /**
   * A tier's targets by their addresses; [] if none has any.
   * @throws EVENKEEL_DISCOVERY where that is not known: another tier stands in for targets that are gone, not for a
   * name server that is
   */
  async #resolved(tier: Tier, record: Family, round: Round): Promise<readonly Found[]> {
    const found: Found[] = []
    const all = await Promise.allSettled(tier.map(({ host }) => this.#hosts(host, record, round)))
    let failure: unknown
    for (const [i, each] of all.entries()) {
      const target = tier[i] as Target
      if (each.status === 'rejected') failure ??= each.reason
      const hosts = each.status === 'fulfilled' ? each.value : this.#earlier(target.host, record, round)
      for (const host of hosts) found.push(this.#atAddress(target, host, hosts.length))
    }
    if (failure !== undefined && found.length === 0) throw failure
    round.failure ??= failure
    return found
  }

  /**
   * Of a family that could not be asked for, the addresses that it had.
   * @throws EVENKEEL_DISCOVERY if neither could be, or the other has nobody
   */
  async #hosts(name: string, record: Family, round: Round): Promise<readonly string[]> {
    const families = familiesOf(record)
    const all = await Promise.allSettled(families.map((family) => this.#ask(name, family, round)))
    const failed = all.find((each) => each.status === 'rejected')
    if (failed !== undefined && all.every((each) => each.status === 'rejected')) throw failed.reason
    const hosts = all.flatMap((each, i) =>
      each.status === 'fulfilled' ? each.value.addresses : this.#earlier(name, families[i] as Family, round),
    )
    if (failed !== undefined && hosts.length === 0) throw failed.reason
    round.failure ??= failed?.reason
    return hosts
  }

  async #ask(name: string, type: DnsType, round: Round): Promise<Dated> {
    const answer = await this.#questions.ask(name, type, round.leaving)
    round.good.set(`${type} ${name}`, answer)
    round.unreadable.push(...answer.unreadable)
    round.answers.push(answer)
    return answer
  }

  /** What a name had in the last round. */
  #earlier(name: string, record: Family, round: Round): readonly string[] {
    return familiesOf(record).flatMap((family) => {
      const key = `${family} ${name}`
      const answer = this.#good.get(key)
      if (answer === undefined) return []
      round.good.set(key, answer)
      return answer.addresses
    })
  }

  #found(host: string, port: number, metadata: Record<string, string>, rank = 0): Found {
    const { secure = port === 443 } = this.#settings
    return { instanceId: `${host}:${port}`, host, port, secure, metadata, rank }
  }

  #atTarget({ host, port, priority, weight }: Target): Found {
    return this.#found(host, port, { priority: String(priority), weight: String(weight) }, -priority)
  }

  /** The target's weight is shared among its addresses. */
  #atAddress(target: Target, host: string, addresses: number): Found {
    const weight = Math.max(Math.round((target.weight / addresses) * 1_000), 1) / 1_000
    const metadata = { priority: String(target.priority), weight: String(weight), target: target.host }
    return this.#found(host, target.port, metadata, -target.priority)
  }
}

function familiesOf(record: Family): readonly ('A' | 'AAAA')[] {
  return record === 'A+AAAA' ? ['A', 'AAAA'] : [record]
}
