/** @module Keeps a client at the instance that it picked last. */

import { object } from '../config/check.js'
import { isSameInstance } from '../instance.js'
import type { CandidateList } from '../service/candidates.js'
import type { Supplier } from '../types/extension.js'
import type { ServiceInstance } from '../types/instance.js'
import { type CoreSupplier, STAGE, type Stage, type StageContext } from './stage.js'

const check = object({})

const NAME = 'same-instance-preference'
const NOTHING_REMEMBERED = 'no instance is remembered'

/**
 * The instance that the service picked last, as long as it is there; it is known by its id, host and port, whatever
 * becomes of its metadata. When it is missing it is forgotten, and the next pick is remembered.
 * One memory for all callers of a service: it is not a session (`stickySession` is). Called by itself, without a
 * service, it remembers nothing and keeps everything.
 * Breaks when there is more load than one instance takes: the others get none.
 * @throws EVENKEEL_CONFIG for any option: it takes none
 * @see SCLB 4.1 SameInstancePreferenceServiceInstanceListSupplier, which compares metadata too
 * @example sameInstancePreference()
 */
export function sameInstancePreference(options: Record<never, never> = {}): Supplier {
  check(options, 'sameInstancePreference')
  const supplier: CoreSupplier = {
    name: NAME,
    memoKey: () => undefined,
    filter: (list) => ({ list, reason: NOTHING_REMEMBERED }),
    [STAGE]: preferenceOf,
  }
  return supplier
}

function preferenceOf({ quirks }: StageContext): Stage {
  const byMetadata = quirks.has('same-instance-by-metadata')
  const isSame = byMetadata ? isEqualInstance : isSameInstance
  const keyOf = byMetadata ? keyOfAll : keyOfIdentity
  let remembered: ServiceInstance | undefined
  let key: string | undefined
  /** The last list that was seen to have the remembered one. */
  let having: CandidateList | undefined
  const remember = (instance: ServiceInstance | undefined) => {
    remembered = instance
    key = instance && keyOf(instance)
    having = undefined
  }
  const indexIn = (list: CandidateList, wanted: ServiceInstance) =>
    list.instances.findIndex((instance) => isSame(instance, wanted))
  return {
    name: NAME,
    memo: 'keyed',
    foreign: false,
    mayHideRequest: true,
    leaning: 'preference',
    key: () => key,
    // The key was asked for before: of a list without the remembered one, its answer is the same as that to no key.
    offered(list) {
      if (remembered === undefined || list === having) return
      if (indexIn(list, remembered) < 0) remember(undefined)
      else having = list
    },
    selected(instance) {
      if (remembered === undefined || !isSame(remembered, instance)) remember(instance)
    },
    cut(list) {
      if (remembered === undefined) return { list, fellBack: false, reason: NOTHING_REMEMBERED }
      const index = indexIn(list, remembered)
      const id = `"${remembered.instanceId}"`
      if (index < 0) return { list, fellBack: false, reason: `${id} was picked last and is not here` }
      const kept = list.length === 1 ? list : list.tree.pickOut(list, [index])
      return { list: kept, fellBack: false, reason: `keeps ${id}, which was picked last` }
    },
  }
}

function keyOfIdentity({ instanceId, host, port }: ServiceInstance): string {
  return JSON.stringify([instanceId, host, port])
}

function keyOfAll({ instanceId, serviceId, host, port, secure, metadata }: ServiceInstance): string {
  return JSON.stringify([instanceId, serviceId, host, port, secure, Object.entries(metadata).sort()])
}

/** SCLB's DefaultServiceInstance.equals. */
export function isEqualInstance(a: ServiceInstance, b: ServiceInstance): boolean {
  return isSameInstance(a, b) && a.serviceId === b.serviceId && a.secure === b.secure && hasSameMetadata(a, b)
}

function hasSameMetadata({ metadata: a }: ServiceInstance, { metadata: b }: ServiceInstance): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
