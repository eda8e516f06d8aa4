/** @module One round of checks: what was heard so far, and the checks that are under way. */

import { isSameInstance } from '../instance.js'
import type { ServiceInstance } from '../types/instance.js'
import type { Answer } from './liveness.js'

interface Check {
  readonly instance: ServiceInstance
  // One each: a signal with more than ten listeners makes Node suspect a leak.
  readonly request: AbortController
  /** Undefined while it is being begun. */
  answer: Promise<Answer> | undefined
}

export class Round {
  /** Later rounds have higher numbers. */
  readonly number: number
  /** The number of the first of the rounds that have replaced each other since the last whole one. */
  readonly begunBy: number
  readonly answers: Answer[] = []
  /** Nobody wants its answers any more. */
  aborted = false
  /** By instance id. */
  readonly #checks = new Map<string, Check>()

  constructor(number: number, begunBy = number) {
    this.number = number
    this.begunBy = begunBy
  }

  /** It replaces none. */
  get isFirst(): boolean {
    return this.number === this.begunBy
  }

  /** Whom of the list it has to hear yet. Those whose check is under way come first: no more may run than lanes do. */
  unheard(list: readonly ServiceInstance[]): ServiceInstance[] {
    const heard = new Set(this.answers.map(({ instance }) => instance.instanceId))
    const unheard = list.filter(({ instanceId }) => !heard.has(instanceId))
    const isUnderWay = ({ instanceId }: ServiceInstance) => this.#checks.has(instanceId)
    return [...unheard.filter(isUnderWay), ...unheard.filter((instance) => !isUnderWay(instance))]
  }

  /** Runs a check, or waits for the one that is under way. */
  async check(
    instance: ServiceInstance,
    run: (instance: ServiceInstance, request: AbortController) => Promise<Answer>,
  ): Promise<Answer> {
    const { instanceId } = instance
    let check = this.#checks.get(instanceId)
    if (check === undefined) {
      check = { instance, request: new AbortController(), answer: undefined }
      this.#checks.set(instanceId, check)
      check.answer = run(instance, check.request)
    }
    try {
      // The instance as the list has it now: its metadata may have changed meanwhile.
      return { ...(await (check.answer as Promise<Answer>)), instance }
    } finally {
      this.#checks.delete(instanceId)
    }
  }

  /**
   * Takes over from `earlier`, whose list has changed to `list`: the checks that are under way and the answers that
   * are recent, of those who are still listed. `earlier` is over then.
   */
  goOnWith(earlier: Round, list: readonly ServiceInstance[], isRecent: (answer: Answer) => boolean): void {
    const listed = new Map(list.map((instance) => [instance.instanceId, instance]))
    const isListed = (one: ServiceInstance) => {
      const now = listed.get(one.instanceId)
      return now !== undefined && isSameInstance(now, one)
    }
    for (const answer of earlier.answers) {
      const { instance } = answer
      if (!isListed(instance) || !isRecent(answer)) continue
      this.answers.push({ ...answer, instance: listed.get(instance.instanceId) as ServiceInstance })
    }
    for (const [id, check] of earlier.#checks) {
      if (check.answer === undefined || !isListed(check.instance)) continue
      this.#checks.set(id, check)
      earlier.#checks.delete(id)
    }
    earlier.abort()
  }

  abort(): void {
    this.aborted = true
    for (const { request } of this.#checks.values()) request.abort()
  }
}
