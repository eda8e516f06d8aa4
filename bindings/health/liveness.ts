/** @module Who of a list is alive, as far as its checks have told. */

import { isSameInstance } from '../instance.js'
import type { ServiceInstance } from '../types/instance.js'
import type { Verdict } from './probe.js'

/** What one instance's check said. */
export interface Answer extends Verdict {
  readonly instance: ServiceInstance
  readonly tookMs: number
  /** When it came, by the clock. */
  readonly at: number
  /** The round that asked. */
  readonly round: number
}

export class Liveness {
  /** The alive ones come in the order of their answers, not of the list. */
  readonly #byAnswers: boolean
  /** By instance id: the last answer, and whether it is known to have been a candidate and gone. */
  readonly #answers = new Map<string, Answer & { readonly ejected: boolean }>()
  /** Who passed, in the order of the answers. */
  #passed = new Map<string, ServiceInstance>()
  /** Nobody has been heard yet, and all count as alive. */
  #trusting: boolean
  /** All counted as alive before the first round. */
  #trusted: boolean

  /** @param trusting everybody is alive until the first answers */
  constructor(byAnswers: boolean, trusting: boolean) {
    this.#byAnswers = byAnswers
    this.#trusting = trusting
    this.#trusted = trusting
  }

  /** Indexes of those who are alive. */
  aliveOf(list: readonly ServiceInstance[]): number[] {
    if (!this.#byAnswers) return list.flatMap((instance, i) => (this.isAlive(instance) ? [i] : []))
    if (this.#trusting) return list.map((_, i) => i)
    const indexes = new Map(list.map((instance, i) => [instance.instanceId, i]))
    return [...this.#passed.values()].flatMap((passed) => {
      const index = indexes.get(passed.instanceId)
      return index !== undefined && isSameInstance(passed, list[index] as ServiceInstance) ? [index] : []
    })
  }

  isAlive(instance: ServiceInstance): boolean {
    if (this.#trusting) return true
    const passed = this.#passed.get(instance.instanceId)
    return passed !== undefined && isSameInstance(passed, instance)
  }

  /** Whether an answer to that round or a later one is in force. */
  wasHeardSince(round: number, instance: ServiceInstance): boolean {
    const answer = this.#answers.get(instance.instanceId)
    return answer !== undefined && isSameInstance(answer.instance, instance) && answer.round >= round
  }

  /** Why an instance is not alive. */
  reasonOf(instance: ServiceInstance): string {
    const answer = this.#answers.get(instance.instanceId)
    if (answer === undefined || !isSameInstance(answer.instance, instance)) return 'health check: not checked yet'
    return `health check: ${answer.reason ?? 'no answer yet in this round'}`
  }

  /** SCLB's incremental results: only those who have answered so far in this round. True if that changes anything. */
  passedSoFar(answers: readonly Answer[]): boolean {
    this.#trusting = false
    return this.#pass(answers.filter(({ alive }) => alive).map(({ instance }) => instance))
  }

  /**
   * Takes the answers of a round, or of its part: who has not answered stays what it was. `turns` are the answers
   * of those who were candidates and are none any more, and of those who are candidates again.
   * @param present the list in force
   */
  conclude(answers: readonly Answer[], present: readonly ServiceInstance[]): { changed: boolean; turns: Answer[] } {
    const turns: Answer[] = []
    const heard = new Set(answers.map(({ instance }) => instance.instanceId))
    const unheard = present.filter((instance) => !heard.has(instance.instanceId) && this.isAlive(instance))
    for (const answer of answers) {
      const { instance, alive } = answer
      const before = this.#answers.get(instance.instanceId)
      const known = before !== undefined && isSameInstance(before.instance, instance) ? before : undefined
      const leaves = !alive && (known === undefined ? this.#trusted : known.alive)
      const returns = alive && known?.ejected === true
      if (leaves || returns) turns.push(answer)
      this.#answers.set(instance.instanceId, { ...answer, ejected: leaves || (known?.ejected === true && !alive) })
    }
    const wasTrusting = this.#trusting
    this.#trusting = false
    this.#trusted = false
    const ids = new Set(present.map(({ instanceId }) => instanceId))
    for (const id of this.#answers.keys()) if (!ids.has(id)) this.#answers.delete(id)
    const passed = answers.flatMap(({ instance, alive }) => (alive ? [instance] : []))
    return { changed: this.#pass([...unheard, ...passed]) || wasTrusting, turns }
  }

  /** Everybody is alive until the next answers. Tells who is a candidate again. */
  revive(): Answer[] {
    const turns = [...this.#answers.values()].filter(({ ejected }) => ejected).map((one) => ({ ...one, alive: true }))
    this.#answers.clear()
    this.#trusting = true
    this.#trusted = true
    return turns
  }

  #pass(instances: readonly ServiceInstance[]): boolean {
    const before = [...this.#passed.values()]
    this.#passed = new Map(instances.map((instance) => [instance.instanceId, instance]))
    if (before.length !== instances.length) return true
    if (this.#byAnswers) return !before.every((one, i) => isSameInstance(one, instances[i] as ServiceInstance))
    return !before.every((one) => this.isAlive(one))
  }
}
