/** @module The supplier chain of a service, walked once a pick. */

import { ConfigError } from '../errors.js'
import { NO_REQUEST } from '../request.js'
import { cutPrevious, RETRY_AWARE } from '../supplier/retry-aware.js'
import type { Stage } from '../supplier/stage.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import type { CandidateList, CandidateTree } from './candidates.js'
import type { Cut, Step } from './memo.js'
import { type Walk, Walks } from './walks.js'

/** How a chain treats what a call has tried. */
export interface RetryAwareness {
  readonly avoidPrevious: boolean
  /** SCLB's: only the first row of only the last instance is left out. */
  readonly oneRow: boolean
  /** SCLB's: if the chain leaves nothing else, the same again. */
  readonly noSecondList: boolean
}

export class Chain {
  /** Runs code that is not evenkeel's. */
  readonly foreign: boolean
  readonly retries: RetryAwareness
  /** Of the stages that go by what the instances did, the shortest; infinite: there are none. */
  readonly periodMs: number
  /** A stage goes by open breakers. */
  readonly breakers: boolean
  readonly #stages: readonly Stage[]
  /** The first stages, as far as they depend on no request: their outcome is kept for the whole tree. */
  readonly #fixed: number
  /** Whether a stage wants to know what was picked. */
  readonly hears: boolean
  readonly #hearing: readonly Stage[]
  /** Walks are remembered: no answer has to be asked for anew, no stage has to hear of what it is offered. */
  readonly #remembers: boolean
  /** Of the stages by whose keys a walk is known again: functions of one kind, quicker to reach than stages of many. */
  readonly #keyed: readonly Stage['key'][]
  readonly #keys: (string | undefined)[] = []
  readonly #walks = new Walks()
  #evictions = 0
  #tree: CandidateTree | undefined
  #start: CandidateList | undefined
  #fixedSteps: readonly Step[] = []
  #fixedFallbacks: readonly Step[] = []

  /** @throws EVENKEEL_CONFIG for suppliers that can't follow each other */
  constructor(stages: readonly Stage[], retries: RetryAwareness, serviceId: string) {
    this.#stages = stages
    this.retries = retries
    this.#hearing = stages.filter((stage) => stage.selected !== undefined)
    this.hears = this.#hearing.length > 0
    this.periodMs = Math.min(...stages.map((stage) => stage.periodMs ?? Number.POSITIVE_INFINITY))
    this.breakers = stages.some((stage) => stage.breakers === true)
    this.foreign = stages.some((stage) => stage.foreign)
    this.#fixed = fixedOf(stages)
    const walked = stages.slice(this.#fixed)
    checkOrder(stages, walked, serviceId)
    this.#remembers = walked.length > 0 && walked.every((stage) => stage.memo !== 'never' && !stage.offered)
    this.#keyed = walked.filter((stage) => stage.memo === 'keyed').map((stage) => stage.key)
  }

  /** The candidates of this request. Calls `onFallback` for each stage that offers something other than what was asked. */
  candidates(tree: CandidateTree, request: PickRequest, onFallback: (step: Step) => void): CandidateList {
    if (this.#tree !== tree) this.#begin(tree, request)
    for (let i = 0; i < this.#fixedFallbacks.length; i++) onFallback(this.#fixedFallbacks[i] as Step)
    const keyed = this.#keyed
    // Code of the user's may pick again while it is asked for its key.
    const keys = this.foreign ? [] : this.#keys
    const last = this.#walks.last
    let asLast = last !== undefined
    // Each key is asked for once a pick: some are drawn.
    for (let i = 0; i < keyed.length; i++) {
      const key = (keyed[i] as Stage['key'])(request)
      keys[i] = key
      if (asLast && (last as Walk).keys[i] !== key) asLast = false
    }
    if (!this.#remembers) return this.#walk(this.#start as CandidateList, keys, request, onFallback)
    const walk = asLast && tree.evictions === this.#evictions ? (last as Walk) : this.#recall(tree, keys, request)
    for (let i = 0; i < walk.fellBack.length; i++) onFallback(walk.fellBack[i] as Step)
    return walk.list
  }

  /** Stages that make a new list at each pick. */
  unremembered(): string[] {
    return this.#stages.filter(({ memo }) => memo === 'never').map(({ name }) => name)
  }

  /** What is left by the first stages, as far as they depend on no request. */
  fixedList(tree: CandidateTree): CandidateList {
    if (this.#tree !== tree) this.#begin(tree, NO_REQUEST)
    return this.#start as CandidateList
  }

  /** The candidates of every request, if they depend on none and nothing has to be told; else undefined. */
  settled(tree: CandidateTree): CandidateList | undefined {
    if (this.#fixed < this.#stages.length || this.#hearing.length > 0) return undefined
    const list = this.fixedList(tree)
    return this.#fixedFallbacks.length > 0 ? undefined : list
  }

  /**
   * What retry-aware makes of the candidates for another try of the same call: those that it has not tried; if there
   * are none, what the chain makes of the instances that it has not tried (preferences then fall back, strict
   * suppliers stay strict: spring-cloud-commons 880); if that is nobody too, the candidates as they are.
   * The caller retires the list if it is a new one.
   */
  withoutPrevious(tree: CandidateTree, list: CandidateList, request: PickRequest): Step {
    const previous = request.previous ?? []
    const cut = cutPrevious(list, previous, this.retries.oneRow)
    const step: Step = { ...cut, stage: RETRY_AWARE, from: list }
    if (!cut.fellBack || this.retries.noSecondList) return step
    const others = this.#othersFor(tree, request)
    return others === undefined ? step : { ...step, list: others, reason: `${cut.reason}: others are offered` }
  }

  /** Every step for this request. @param picking a pick is made of the last one's list */
  steps(tree: CandidateTree, request: PickRequest, picking = false): readonly Step[] {
    if (this.#tree !== tree) this.#begin(tree, request)
    return [...this.#fixedSteps, ...this.#stepsFrom(this.#start as CandidateList, this.#fixed, request, picking)]
  }

  /** Strict stages that come after a preference, each with the preference before it: there may be a match it hid. */
  misplaced(): { strict: string; after: string }[] {
    return this.#stages.flatMap(({ name, leaning }, i) => {
      const before = this.#stages.slice(0, i).find((stage) => stage.leaning === 'preference')
      return leaning === 'strict' && before !== undefined ? [{ strict: name, after: before.name }] : []
    })
  }

  /** Tells the suppliers that want to know, innermost last as in SCLB. */
  selected(instance: ServiceInstance, request: PickRequest): void {
    for (let i = this.#hearing.length - 1; i >= 0; i--) (this.#hearing[i] as Stage).selected?.(instance, request)
  }

  #begin(tree: CandidateTree, request: PickRequest): void {
    const steps: Step[] = []
    let list = tree.root
    for (let i = 0; i < this.#fixed; i++) {
      const step = stepBy(this.#stages[i] as Stage, i, list, request, undefined)
      steps.push(step)
      list = step.list
    }
    this.#tree = tree
    this.#start = list
    this.#fixedSteps = steps
    this.#fixedFallbacks = steps.filter((step) => step.fellBack)
    this.#forgetWalks(tree)
  }

  #forgetWalks(tree: CandidateTree): void {
    this.#walks.clear()
    this.#evictions = tree.evictions
  }

  /** The walk by these keys, remembered or made. */
  #recall(tree: CandidateTree, given: readonly (string | undefined)[], request: PickRequest): Walk {
    if (tree.evictions !== this.#evictions) this.#forgetWalks(tree)
    const known = this.#walks.recall(given)
    if (known !== undefined) return known
    const keys = given.slice()
    const fellBack: Step[] = []
    const list = this.#walk(this.#start as CandidateList, keys, request, (step) => fellBack.push(step))
    const walk = { keys, list, fellBack }
    // What made room for this walk may have belonged to it, and code of the user's may have replaced the tree.
    if (this.#tree === tree && tree.evictions === this.#evictions) this.#walks.remember(walk)
    return walk
  }

  /** @param keys of the keyed stages, in their order */
  #walk(
    start: CandidateList,
    keys: readonly (string | undefined)[],
    request: PickRequest,
    onFallback: (step: Step) => void,
  ): CandidateList {
    let list = start
    let keyed = 0
    for (let i = this.#fixed; i < this.#stages.length; i++) {
      const stage = this.#stages[i] as Stage
      if (stage.offered !== undefined) stage.offered(list)
      const step = stepBy(stage, i, list, request, stage.memo === 'keyed' ? keys[keyed++] : undefined)
      if (step.fellBack) onFallback(step)
      list = step.list
    }
    return list
  }

  #stepsFrom(start: CandidateList, first: number, request: PickRequest, picking: boolean): Step[] {
    const steps: Step[] = []
    let list = start
    for (let i = first; i < this.#stages.length; i++) {
      const stage = this.#stages[i] as Stage
      if (picking && stage.offered !== undefined) stage.offered(list)
      const step = stepBy(stage, i, list, request, keyOf(stage, request))
      steps.push(step)
      list = step.list
    }
    return steps
  }

  /** The chain's answer to a list without what was tried, as a list of its own; undefined if that is nobody. */
  #othersFor(tree: CandidateTree, request: PickRequest): CandidateList | undefined {
    const { list: untried }: Cut = cutPrevious(tree.root, request.previous ?? [], false)
    if (untried === tree.root) return undefined
    const { list } = this.#stepsFrom(untried, 0, request, false).at(-1) ?? { list: untried }
    const others = list.length === 0 ? undefined : list.copy()
    tree.retire(untried)
    return others
  }
}

function checkOrder(stages: readonly Stage[], walked: readonly Stage[], serviceId: string): void {
  const late = walked.find((stage) => stage.beforeRequests)
  const twice = stages.filter((stage) => stage.once)[1]
  if (late === undefined && twice === undefined) return
  const message =
    late === undefined
      ? `"${twice?.name}" can be listed once`
      : `"${late.name}" depends on no request: list it before "${walked[0]?.name}"`
  throw new ConfigError(`suppliers of service "${serviceId}": ${message}`, { serviceId, option: 'suppliers' })
}

/** How many of the first stages depend on no request. */
function fixedOf(stages: readonly Stage[]): number {
  const open = stages.findIndex((stage) => stage.memo !== 'fixed')
  return open < 0 ? stages.length : open
}

function keyOf(stage: Stage, request: PickRequest): string | undefined {
  return stage.memo === 'keyed' ? stage.key(request) : undefined
}

/** Asks the memo first. What may not be memoised replaces the stage's last answer, so that it is freed in time. */
function stepBy(stage: Stage, index: number, from: CandidateList, request: PickRequest, key: string | undefined): Step {
  // Of nobody nothing can be kept: the reason is the layer's that left nobody.
  if (from.length === 0) return { stage: stage.name, from, list: from, fellBack: false, reason: undefined }
  const memo = from.memoOf(index)
  const known = stage.memo === 'never' ? undefined : memo.recall(key)
  if (known !== undefined) return known
  const { list, fellBack, reason } = stage.cut(from, request, key)
  const step: Step = { stage: stage.name, from, list, fellBack, reason }
  memo.remember(key, step)
  return step
}
