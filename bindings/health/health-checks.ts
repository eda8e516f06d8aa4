/**
 * @module Health checks of one service, after SCLB's HealthCheckServiceInstanceListSupplier: rounds in which all
 * instances are asked, each `intervalMs` after the end of the one before. Instances stay in the list whatever their
 * health; the chain's first stage leaves out who is not alive.
 */

import type { Quirks } from '../compat/quirks.js'
import type { HealthSettings } from '../config/settings.js'
import type { Gate } from '../discovery/list-source.js'
import { isSameInstance } from '../instance.js'
import { reportOnce } from '../report.js'
import { isWorkers, MOST_MS, startTimer } from '../runtime/host.js'
import { holding, waitFor } from '../runtime/wait.js'
import type { FetchLike, ServiceInstance } from '../types/instance.js'
import type { WaitOptions } from '../types/request.js'
import { CheckMeter } from './check-meter.js'
import { checkUrl } from './check-url.js'
import { type Answer, Liveness } from './liveness.js'
import { pooled } from './pooled.js'
import { askByGet, askByPing, probe } from './probe.js'
import { Round } from './round.js'

/** What the checks take from their service. */
export interface HealthHost {
  readonly serviceId: string
  readonly clock: () => number
  readonly transport: FetchLike
  readonly quirks: Quirks
  /** How long after a list has come the next is asked for; Infinity: it is not. */
  readonly refetchMs: number
  /** The list in force. */
  instances(): readonly ServiceInstance[]
  /** Asks discovery for a list, in the background. */
  refetch(): void
  /** Others are alive now. */
  changed(): void
  /** An instance was a candidate and is none any more (`reason`), or is one again. */
  turned(instance: ServiceInstance, reason: string | undefined): void
}

export class HealthChecks implements Gate {
  readonly meter = new CheckMeter()
  readonly #settings: HealthSettings
  readonly #host: HealthHost
  readonly #liveness: Liveness
  /** Without a path, or with a ping that asks nobody, everybody is alive. */
  readonly #asks: boolean
  /** On Workers nothing runs between requests: rounds are made by `check`. */
  readonly #byHand = isWorkers()
  #begun = false
  /** Waiting for `initialDelayMs` to pass. */
  #delayed = false
  #open: boolean
  #closed = false
  #round: Round | undefined
  #begunRounds = 0
  /** The number of the last round whose answers are in force. */
  #concluded = 0
  #cancelRound = () => {}
  #cancelRefetch = () => {}
  /** Who waits for something to be published. */
  #waiting: { promise: Promise<void>; wake: () => void } | undefined

  constructor(settings: HealthSettings, host: HealthHost) {
    this.#settings = settings
    this.#host = host
    this.#asks = settings.ping === undefined ? settings.path.trim() !== '' : settings.ping.asks !== false
    this.#open = this.#byHand || !this.#asks
    // SCLB's order is that of the answers, however often it publishes.
    const byAnswers = settings.publish === 'each' || host.quirks.has('health-publish-each')
    this.#liveness = new Liveness(byAnswers, this.#open)
  }

  /** It is known who is alive. */
  get open(): boolean {
    return this.#open
  }

  /** Why everybody counts as alive without having been asked; undefined: they have been. */
  get unasked(): string | undefined {
    if (!this.#asks) {
      const { ping } = this.#settings
      return `${ping === undefined ? 'the path is empty' : `ping "${ping.name}" asks nobody`}: everybody counts as alive`
    }
    return this.#byHand && this.#concluded === 0 ? 'nobody is checked before check() is called' : undefined
  }

  aliveOf(list: readonly ServiceInstance[]): number[] {
    return this.#liveness.aliveOf(list)
  }

  reasonOf(instance: ServiceInstance): string {
    return this.#liveness.reasonOf(instance)
  }

  begin(): void {
    if (this.#begun || this.#byHand || !this.#asks || this.#closed) return
    this.#begun = true
    const { initialDelayMs } = this.#settings
    if (initialDelayMs === 0) return this.#start()
    this.#delayed = true
    this.#cancelRound = startTimer(() => this.#start(), initialDelayMs)
  }

  passed(options: WaitOptions): Promise<void> {
    this.begin()
    return this.#until(() => this.#open, options)
  }

  /** A list has come; other instances than before are in it if `changed`. */
  listed(changed: boolean): void {
    const revives = this.#host.quirks.has('ribbon-refresh-revives')
    if (revives) this.#revive()
    this.#armRefetch()
    // Without repetition each list is checked once, the same one too.
    if (!this.#begun || this.#delayed || !(changed || revives || !this.#settings.repeat)) return
    const replaced = this.#round
    this.#start()
    // What was heard so far counts, or lists that change faster than checks end would never have anybody alive.
    if (replaced !== undefined && replaced.answers.length > 0) this.#conclude(replaced, false)
  }

  /** No list has come: discovery failed. */
  listFailed(): void {
    this.#armRefetch()
  }

  /**
   * A round now, or the one that is under way; resolves when its answers are in force: if the list changes, those of
   * who was listed and still is.
   */
  check(options: WaitOptions): Promise<void> {
    if (!this.#asks) return Promise.resolve()
    if (this.#byHand) {
      return waitFor(this.#run(this.#newRound()), options, `checking the instances of "${this.#host.serviceId}"`)
    }
    this.#begun = true
    if (this.#round === undefined) this.#start()
    const before = this.#concluded
    const begunBy = this.#round?.begunBy ?? this.#begunRounds
    const listed = this.#host.instances()
    const isHeard = (instance: ServiceInstance) => this.#liveness.wasHeardSince(begunBy, instance)
    const isWhole = () => this.#concluded > before || this.#stillListed(listed).every(isHeard)
    return this.#until(isWhole, options)
  }

  close(): void {
    this.#closed = true
    this.#cancelRound()
    this.#cancelRefetch()
    this.#round?.abort()
    this.#round = undefined
    this.#wake()
  }

  #start(): void {
    if (this.#closed) return
    this.#cancelRound()
    this.#delayed = false
    const replaced = this.#round
    this.#round = this.#newRound(replaced)
    void this.#run(this.#round)
  }

  /**
   * As in SCLB a list that changes during a round begins it anew; if it changes again, the new round goes on where
   * that one is, or checks that take longer than lists last would never be answered. But who was heard an interval
   * ago is asked anew, or it never would be while lists go on changing.
   */
  #newRound(replaced?: Round): Round {
    const round = new Round(++this.#begunRounds, replaced?.begunBy)
    if (replaced === undefined) return round
    const nowMs = this.#host.clock()
    const isRecent = ({ at }: Answer) => nowMs >= at && nowMs - at < this.#settings.intervalMs
    if (replaced.isFirst) replaced.abort()
    else round.goOnWith(replaced, this.#host.instances(), isRecent)
    return round
  }

  /** Never rejects, and whatever happens another round follows. */
  async #run(round: Round): Promise<void> {
    try {
      await this.#hear(round)
      if (this.#isOver(round)) return
      if (this.#round === round) this.#round = undefined
      this.#conclude(round, true)
    } catch (error) {
      round.abort()
      if (this.#round === round) this.#round = undefined
      reportOnce(this, `a round of health checks of "${this.#host.serviceId}"`, error)
    }
    if (this.#closed || this.#byHand || !this.#settings.repeat || this.#round !== undefined) return
    this.#cancelRound()
    this.#cancelRound = startTimer(() => this.#start(), this.#settings.intervalMs)
  }

  #isOver(round: Round): boolean {
    return this.#closed || round.aborted || round.number < this.#concluded
  }

  /** Asks everybody of the list whom the round has not heard. */
  async #hear(round: Round): Promise<void> {
    const { maxConcurrent, publish } = this.#settings
    const isOver = () => this.#isOver(round)
    const ask = async (instance: ServiceInstance) => {
      const answer = await round.check(instance, (instance, request) => this.#ask(instance, request, round.number))
      if (isOver()) return
      this.meter.add(answer.alive, answer.tookMs)
      round.answers.push(answer)
      if (publish === 'each' && answer.alive) this.#publishSoFar(round)
    }
    await pooled(round.unheard(this.#host.instances()), maxConcurrent, ask, isOver)
  }

  async #ask(instance: ServiceInstance, request: AbortController, round: number): Promise<Answer> {
    const { path, port, timeoutMs, accept, ping } = this.#settings
    const { clock, transport, quirks } = this.#host
    const askedAt = clock()
    const ask = (signal: AbortSignal) => {
      if (ping !== undefined) return askByPing(instance, ping, { transport, quirks }, signal)
      const url = checkUrl(instance, { path, port, unbracketed: quirks.has('ipv6-unbracketed') })
      return askByGet(instance, { url, transport, accept }, signal)
    }
    const verdict = await probe(ask, timeoutMs, request)
    const at = clock()
    return { instance, ...verdict, tookMs: at - askedAt, at, round }
  }

  #publishSoFar({ answers }: Round): void {
    if (this.#liveness.passedSoFar(answers)) this.#host.changed()
    this.#open = true
    this.#wake()
  }

  /** @param whole everybody has been heard */
  #conclude(round: Round, whole: boolean): void {
    const { changed, turns } = this.#liveness.conclude(round.answers, this.#host.instances())
    if (whole) this.#concluded = round.number
    this.#open ||= whole || round.answers.some(({ alive }) => alive)
    if (changed) this.#host.changed()
    this.#wake()
    for (const turn of turns) this.#tell(turn)
  }

  /** Ribbon's: a list that comes makes everybody alive until the answers to the round that it begins. */
  #revive(): void {
    const turns = this.#liveness.revive()
    this.#open = true
    this.#host.changed()
    this.#wake()
    for (const turn of turns) this.#tell(turn)
  }

  /** Of `instances` those who are in the list in force. */
  #stillListed(instances: readonly ServiceInstance[]): readonly ServiceInstance[] {
    const now = this.#host.instances()
    if (now === instances) return instances
    const byId = new Map(now.map((instance) => [instance.instanceId, instance]))
    return instances.filter((one) => {
      const current = byId.get(one.instanceId)
      return current !== undefined && isSameInstance(current, one)
    })
  }

  #tell({ instance, alive }: Answer): void {
    this.#host.turned(instance, alive ? undefined : this.#liveness.reasonOf(instance))
  }

  #armRefetch(): void {
    const { refetchMs } = this.#host
    this.#cancelRefetch()
    if (this.#byHand || this.#closed || refetchMs > MOST_MS) return
    this.#cancelRefetch = startTimer(() => {
      this.#armRefetch()
      this.#host.refetch()
    }, refetchMs)
  }

  /** Resolves when that is so, or the service has closed. */
  async #until(isSo: () => boolean, options: WaitOptions): Promise<void> {
    const steps = async () => {
      while (!isSo() && !this.#closed) await this.#nextStep()
    }
    await holding(waitFor(steps(), options, `waiting for the health checks of "${this.#host.serviceId}"`))
  }

  /** Shared by all who wait: never on Workers, where nobody waits for another's round. */
  #nextStep(): Promise<void> {
    if (this.#waiting === undefined) {
      let wake = () => {}
      const promise = new Promise<void>((resolve) => {
        wake = resolve
      })
      this.#waiting = { promise, wake }
    }
    return this.#waiting.promise
  }

  #wake(): void {
    this.#waiting?.wake()
    this.#waiting = undefined
  }
}
