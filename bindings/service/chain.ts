/** @module The supplier chain of a service, walked once a pick. */

import { NO_REQUEST } from '../request.js'
import { cutPrevious, RETRY_AWARE } from '../supplier/retry-aware.js'
import type { Stage } from '../supplier/stage.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'
import type { CandidateList, CandidateTree } from './candidates.js'
import type { Step } from './memo.js'

export class Chain {
  /** Runs code that is not evenkeel's. */
  readonly foreign: boolean
  readonly avoidPrevious: boolean
  readonly #stages: readonly Stage[]
  /** The first stages, as far as they depend on no request: their outcome is kept for the whole tree. */
  readonly #fixed: number
  /** Whether a stage wants to know what was picked. */
  readonly hears: boolean
  readonly #hearing: readonly Stage[]
  #tree: CandidateTree | undefined
  #start: CandidateList | undefined
  #fixedSteps: readonly Step[] = []
  #fixedFallbacks: readonly Step[] = []

  constructor(stages: readonly Stage[], avoidPrevious: boolean) {
    this.#stages = stages
    this.avoidPrevious = avoidPrevious
    this.#hearing = stages.filter((stage) => stage.selected !== undefined)
    this.hears = this.#hearing.length > 0
    this.foreign = stages.some((stage) => stage.foreign)
    const open = stages.findIndex((stage) => stage.memo !== 'fixed')
    this.#fixed = open < 0 ? stages.length : open
  }

  /** The candidates of this request. Calls `onFallback` for each stage that offers something other than what was asked. */
  candidates(tree: CandidateTree, request: PickRequest, onFallback: (step: Step) => void): CandidateList {
    if (this.#tree !== tree) this.#begin(tree, request)
    let list = this.#start as CandidateList
    for (let i = 0; i < this.#fixedFallbacks.length; i++) onFallback(this.#fixedFallbacks[i] as Step)
    for (let i = this.#fixed; i < this.#stages.length; i++) {
      const stage = this.#stages[i] as Stage
      const step = stepBy(stage, i, list, request)
      if (step.fellBack) onFallback(step)
      list = step.list
    }
    return list
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

  /** The candidates left for another try of the same call; a list of its own, which the caller frees if it is new. */
  withoutPrevious(list: CandidateList, request: PickRequest, onFallback: (step: Step) => void): CandidateList {
    const cut = cutPrevious(list, request.previous ?? [])
    if (cut.fellBack) onFallback({ ...cut, stage: RETRY_AWARE, from: list })
    return cut.list
  }

  /** Every step for this request, for `explain`. */
  steps(tree: CandidateTree, request: PickRequest): readonly Step[] {
    if (this.#tree !== tree) this.#begin(tree, request)
    const steps = [...this.#fixedSteps]
    let list = this.#start as CandidateList
    for (let i = this.#fixed; i < this.#stages.length; i++) {
      const stage = this.#stages[i] as Stage
      const step = stepBy(stage, i, list, request)
      steps.push(step)
      list = step.list
    }
    return steps
  }

  /** Tells the suppliers that want to know, innermost last as in SCLB. */
  selected(instance: ServiceInstance, request: PickRequest): void {
    for (let i = this.#hearing.length - 1; i >= 0; i--) (this.#hearing[i] as Stage).selected?.(instance, request)
  }

  #begin(tree: CandidateTree, request: PickRequest): void {
    const steps: Step[] = []
    let list = tree.root
    for (let i = 0; i < this.#fixed; i++) {
      const stage = this.#stages[i] as Stage
      const step = stepBy(stage, i, list, request)
      steps.push(step)
      list = step.list
    }
    this.#tree = tree
    this.#start = list
    this.#fixedSteps = steps
    this.#fixedFallbacks = steps.filter((step) => step.fellBack)
  }
}

/** Asks the memo first. What may not be memoised replaces the stage's last answer, so that it is freed in time. */
function stepBy(stage: Stage, index: number, from: CandidateList, request: PickRequest): Step {
  const memo = from.memoOf(index)
  const key = stage.memo === 'keyed' ? stage.key(request) : undefined
  const known = stage.memo === 'never' ? undefined : memo.recall(key)
  if (known !== undefined) return known
  const { list, fellBack, reason } = stage.cut(from, request)
  const step: Step = { stage: stage.name, from, list, fellBack, reason }
  memo.remember(key, step)
  return step
}
