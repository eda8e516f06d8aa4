/** @module One supplier at work in one service: how the chain asks it, and how the built-in ones reach the core. */

import { NO_QUIRKS, type Quirks } from '../compat/quirks.js'
import { ConfigError } from '../errors.js'
import { isThenable, reportOnce } from '../report.js'
import type { CandidateList } from '../service/candidates.js'
import type { Cut } from '../service/memo.js'
import type { Supplied, Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import type { PickRequest } from '../types/request.js'

/** fixed: depends on no request, worked out once a list. keyed: memoised by the key. never: asked each time. */
export type Memo = 'fixed' | 'keyed' | 'never'

export interface Stage {
  readonly name: string
  readonly memo: Memo
  /** Runs code that is not evenkeel's. */
  readonly foreign: boolean
  /** A function by itself: the chain calls it without the stage. */
  readonly key: (request: PickRequest) => string | undefined
  /** @param key what `key` said for this request, if it was asked */
  cut(list: CandidateList, request: PickRequest, key?: string): Cut
  /** A pick was made from a chain with this stage. */
  selected?(instance: ServiceInstance, request: PickRequest): void
  /** The list that this stage is given in a pick. `explain` does not call it. */
  offered?(list: CandidateList): void
  /** With `callGetWithRequestOnDelegates: false` the stages inside of this one see no request. */
  readonly mayHideRequest?: boolean
  /**
   * It goes by what the instances did: asked anew when a list comes, also one that says the same, and for lists that
   * nobody asks for anew this long after, with a pick.
   */
  readonly periodMs?: number
  /** It goes by open breakers. */
  readonly breakers?: boolean
  /** It has one answer for all requests: no stage that goes by a request may come before it. */
  readonly beforeRequests?: boolean
  /** It can be listed once. */
  readonly once?: boolean
  /** Whether it leaves nobody rather than others than those asked for. */
  readonly leaning?: 'strict' | 'preference'
}

/** What the stages inside see whose request is hidden: suppliers that go by a request keep everything. */
export const HIDDEN_REQUEST: PickRequest = Object.freeze({})

/** What a supplier may know of the service it works in. */
export interface StageContext {
  readonly serviceId: string
  readonly zone: string | undefined
  /** The configured hint of this service. */
  readonly hint: string | undefined
  /** Names this client among its fellows. */
  readonly instanceId: string | undefined
  readonly quirks: Quirks
  /** The service's: what tells one client's draws from another's. Taken from the runtime at the first call, if not given. */
  seed(): number
  /** Uniform in [0, 1) from the service's generator; 1 while something is only explained, which draws nothing. */
  draw(): number
  clock(): number
  /** Counts how often stages with a `periodMs` have been due. */
  refreshes(): number
  /** From now on Ribbon's statistics of each instance are kept. */
  recordServerStats(): void
}

/** Ribbon's `ServerListRefreshInterval`: what it filters anew is the list that it asked for anew. */
export const REFILTER_MS = 30_000

/** Of a supplier that is called by itself, outside of a service. */
export const ALONE: StageContext = {
  serviceId: '',
  zone: undefined,
  hint: undefined,
  instanceId: undefined,
  quirks: NO_QUIRKS,
  seed: () => 0,
  draw: () => 1,
  clock: () => 0,
  refreshes: () => 0,
  recordServerStats: () => {},
}

/** Built-in suppliers carry this: their way through the core. `filter` says the same in plain JavaScript. */
export const STAGE = Symbol('evenkeel.stage')

export interface CoreSupplier extends Supplier {
  [STAGE](context: StageContext): Stage
}

export function stageOf(supplier: Supplier, context: StageContext): Stage {
  return STAGE in supplier ? (supplier as CoreSupplier)[STAGE](context) : foreignStage(supplier, context.serviceId)
}

/** The same stages, where those inside of the outermost one that may hide the request see none; SCLB 5.0.4. */
export function withHiddenRequest(stages: readonly Stage[]): Stage[] {
  const outermost = stages.findLastIndex((stage) => stage.mayHideRequest)
  return stages.map((stage, i) => {
    if (i >= outermost) return stage
    return {
      ...stage,
      key: () => stage.key(HIDDEN_REQUEST),
      cut: (list, _, key) => stage.cut(list, HIDDEN_REQUEST, key),
    }
  })
}

/** A supplier of the user's own: it sees and returns instances, the chain keeps their rows. */
function foreignStage(supplier: Supplier, serviceId: string): Stage {
  return {
    name: supplier.name,
    memo: supplier.memoKey === undefined ? 'never' : 'keyed',
    foreign: true,
    key: (request) => supplier.memoKey?.(request),
    cut(list, request) {
      const answer = supplier.filter(list.instances, request)
      handled(answer, supplier)
      if (typeof answer !== 'object' || answer === null) refuseAnswer(supplier.name, serviceId)
      const { instances, fellBack, reason } = answerOf(answer)
      return { list: sublist(list, instances, supplier.name, serviceId), fellBack, reason }
    },
    ...(supplier.selected && {
      selected(instance, request) {
        const answer: unknown = supplier.selected?.(instance, request)
        handled(answer, supplier)
      },
    }),
  }
}

/** A promise is no answer; what it rejects with is told all the same. */
function handled(answer: unknown, supplier: Supplier): void {
  if (isThenable(answer)) answer.then(undefined, (error) => reportOnce(supplier, `supplier "${supplier.name}"`, error))
}

function answerOf(answer: readonly ServiceInstance[] | Supplied): {
  instances: readonly ServiceInstance[]
  fellBack: boolean
  reason: string | undefined
} {
  if (Array.isArray(answer)) return { instances: answer, fellBack: false, reason: undefined }
  const { list, fellBack = false, reason } = answer as Supplied
  return { instances: list, fellBack, reason }
}

function refuseAnswer(name: string, serviceId: string): never {
  throw new ConfigError(`supplier "${name}" of service "${serviceId}" must return a list`, {
    serviceId,
    option: 'suppliers',
  })
}

export function sublist(
  from: CandidateList,
  instances: readonly ServiceInstance[],
  name: string,
  serviceId: string,
): CandidateList {
  if (instances === from.instances) return from
  if (!Array.isArray(instances)) refuseAnswer(name, serviceId)
  const inOrder = indexesInOrder(from, instances)
  if (inOrder.length === instances.length) return from.tree.pickOut(from, inOrder)
  const indexes = new Map<ServiceInstance, number>()
  for (let i = 0; i < from.length; i++) indexes.set(from.instance(i), i)
  return from.tree.pickOut(
    from,
    instances.map((instance) => {
      const index = indexes.get(instance)
      if (index === undefined) {
        throw new ConfigError(
          `supplier "${name}" of service "${serviceId}" returned an instance that it was not given`,
          { serviceId, option: 'suppliers' },
        )
      }
      return index
    }),
  )
}

/** Most answers keep the order: where that is so, the index of each instance. */
function indexesInOrder(from: CandidateList, instances: readonly ServiceInstance[]): number[] {
  const indexes: number[] = []
  for (let i = 0; i < from.length && indexes.length < instances.length; i++) {
    if (from.instance(i) === instances[indexes.length]) indexes.push(i)
  }
  return indexes
}
