/** @module One supplier at work in one service: how the chain asks it, and how the built-in ones reach the core. */

import { ConfigError } from '../errors.js'
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
  key(request: PickRequest): string | undefined
  cut(list: CandidateList, request: PickRequest): Cut
  selected?(instance: ServiceInstance, request: PickRequest): void
}

/** What a supplier may know of the service it works in. */
export interface StageContext {
  readonly serviceId: string
  readonly zone: string | undefined
  /** The configured hint of this service. */
  readonly hint: string | undefined
}

/** Built-in suppliers carry this: their way through the core. `filter` says the same in plain JavaScript. */
export const STAGE = Symbol('evenkeel.stage')

export interface CoreSupplier extends Supplier {
  [STAGE](context: StageContext): Stage
}

export function stageOf(supplier: Supplier, context: StageContext): Stage {
  return STAGE in supplier ? (supplier as CoreSupplier)[STAGE](context) : foreignStage(supplier, context.serviceId)
}

/** A supplier of the user's own: it sees and returns instances, the chain keeps their rows. */
function foreignStage(supplier: Supplier, serviceId: string): Stage {
  return {
    name: supplier.name,
    memo: supplier.memoKey === undefined ? 'never' : 'keyed',
    foreign: true,
    key: (request) => supplier.memoKey?.(request),
    cut(list, request) {
      const { instances, fellBack, reason } = answerOf(supplier.filter(list.instances, request))
      return { list: sublist(list, instances, supplier.name, serviceId), fellBack, reason }
    },
    ...(supplier.selected && { selected: (instance, request) => supplier.selected?.(instance, request) }),
  }
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

function sublist(
  from: CandidateList,
  instances: readonly ServiceInstance[],
  name: string,
  serviceId: string,
): CandidateList {
  if (instances === from.instances) return from
  if (!Array.isArray(instances)) {
    throw new ConfigError(`supplier "${name}" of service "${serviceId}" must return a list`, {
      serviceId,
      option: 'suppliers',
    })
  }
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
